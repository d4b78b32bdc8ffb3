"""Data frames of pandas, polars and pyarrow, in and out, by narwhals."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.files.extras import extra
from ranking_engine.files.tables import SYSTEM_COLUMNS

BACKENDS = ("pandas", "polars", "pyarrow")
_PANDAS = {"Int64": "Int64", "Float64": "Float64", "Boolean": "boolean", "String": "str"}


def is_frame(data: object) -> bool:
    """Whether `data` is a frame of one of the libraries that are read."""
    return type(data).__module__.partition(".")[0] in BACKENDS and hasattr(data, "columns")


def read_frame(frame: object) -> tuple[list[str], list[str], list[Sequence[object] | FloatArray], str]:
    """Return the names of systems, those of tasks, a column of scores for each task, and the library.

    The systems are the index where it has names (pandas), else the column `system` or `model`, else the first column of
    texts.

    Raises:
        ValueError: no column names the systems, or there is none beside it.
        ImportError: narwhals is not installed.
    """
    nw = extra("narwhals", "frames")
    wrapped = nw.from_native(frame, eager_only=True)
    backend = type(frame).__module__.partition(".")[0]
    index = nw.maybe_get_index(wrapped)
    columns = list(wrapped.columns)
    # An index of 0, 1, 2, ... names nothing.
    if index is not None and [*index] != [*range(len(index))]:
        systems, tasks = list(index), columns
    else:
        named = [name for name in columns if str(name).strip().casefold() in SYSTEM_COLUMNS]
        texts = [name for name in columns if wrapped[name].dtype in (nw.String, nw.Object, nw.Categorical)]
        if not (named or texts):
            raise ValueError(
                "no column names the systems: call one `system`, or make the names the index (pandas), "
                "or state them with `systems=[...]`"
            )
        of_systems = (named or texts)[0]
        systems, tasks = wrapped[of_systems].to_list(), [name for name in columns if name != of_systems]
    if not tasks:
        raise ValueError("the frame has no column of scores beside the names of the systems")
    # All columns of numbers at once: a library takes as long for one as for a hundred.
    schema = wrapped.schema
    numeric = [task for task in tasks if schema[task].is_numeric()]
    is_plain = all(schema[task] == nw.Float64 for task in numeric)
    chosen = wrapped.select(numeric) if is_plain else wrapped.select(nw.col(*numeric).cast(nw.Float64))
    numbers = dict(zip(numeric, np.asarray(chosen.to_numpy(), dtype=np.float64).T, strict=True)) if numeric else {}
    cells: list[Sequence[object] | FloatArray] = [
        numbers[task] if task in numbers else wrapped[task].to_list() for task in tasks
    ]
    return [str(name) for name in systems], [str(name) for name in tasks], cells, backend


def to_frame(columns: Mapping[str, Sequence[object]], backend: str | ModuleType | None) -> Any:  # noqa: ANN401
    """Return columns as a frame of a library: the one named, else the first of BACKENDS that is installed.

    Whole numbers with gaps become nullable integers, so that what is missing is NA and no number.

    Raises:
        ValueError: `backend` is none of BACKENDS.
        ImportError: narwhals, or the library, is not installed.
    """
    nw = extra("narwhals", "frames")
    if backend is None:
        backend = next((name for name in BACKENDS if importlib.util.find_spec(name)), BACKENDS[0])
    name = backend if isinstance(backend, str) else backend.__name__
    if name not in BACKENDS:
        raise ValueError(f"`backend` is {name!r}; expected one of {', '.join(BACKENDS)}")
    extra(name, "frames")
    if name == "pandas":
        pandas = importlib.import_module("pandas")
        return pandas.DataFrame(
            {column: pandas.array(list(values), dtype=_PANDAS[_kind(values)]) for column, values in columns.items()}
        )
    series = {}
    for column, values in columns.items():
        kind = _kind(values)
        cells = [None if value is None else str(value) for value in values] if kind == "String" else list(values)
        series[column] = nw.new_series(column, cells, getattr(nw, kind), backend=name)
    return nw.from_dict(series, backend=name).to_native()


def scores_frame(systems: Sequence[str], tasks: Sequence[str], values: FloatArray, backend: str | None) -> Any:  # noqa: ANN401
    """Return scores as a frame, a row a system: `values` of shape (n_systems, n_tasks), NaN where one is missing.

    Raises:
        ValueError, ImportError: as for `to_frame`.
    """
    frame = to_frame({"system": systems}, backend)
    if hasattr(frame, "set_index"):
        return type(frame)(values.copy(), index=frame.set_index("system").index, columns=list(tasks))
    nw = extra("narwhals", "frames")
    wrapped = nw.from_native(frame)
    numbers = nw.from_numpy(values.copy(), schema=list(tasks), backend=wrapped.implementation)
    return nw.concat([wrapped, numbers], how="horizontal").to_native()


def _kind(values: Sequence[object]) -> str:
    """The type of a column, as narwhals and pandas call it; that of one without any value is whole numbers."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int}:
        return "Int64"
    if kinds <= {int, float}:
        return "Float64"
    return "Boolean" if kinds == {bool} else "String"


def scores_of(
    systems: Sequence[str], tasks: Sequence[str], cells: Sequence[Sequence[object] | FloatArray]
) -> FloatArray:
    """Return float64 of shape (n_systems, n_tasks) from a column of cells for each task; NaN where there is no score.

    Raises:
        ValueError: a cell is no finite number; it names row, system and column.
    """
    values = np.empty((len(systems), len(tasks)))
    for t, (task, column) in enumerate(zip(tasks, cells, strict=True)):
        if isinstance(column, np.ndarray):
            values[:, t] = column
        else:
            values[:, t] = [score_of(cell, i, systems[i], task) for i, cell in enumerate(column)]
    infinite = np.argwhere(np.isinf(values))
    if infinite.size:
        i, t = infinite[0].tolist()
        raise ValueError(
            f"{_place(i, systems[i], tasks[t])}: the score is infinite; leave it empty where it is missing"
        )
    return values


def score_of(cell: object, row: int, system: str, task: str) -> float:
    """Return a cell as a number, NaN where it is empty.

    Raises:
        ValueError: it is no number; it names row, system and column.
    """
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return np.nan
    if isinstance(cell, (bool, np.bool_)) or not isinstance(cell, (int, float, np.integer, np.floating)):
        text = str(cell)
        hint = "leave the cell empty where a score is missing" if text.strip() in ("", "-", "n/a", "N/A") else ""
        hint = hint or "leave the column out if it holds no scores"
        raise ValueError(f"{_place(row, system, task)}: {text[:60]!r} is no number; {hint}")  # noqa: TRY004 -- one kind of error for what is in a table
    return float(cell)


def _place(row: int, system: str, task: str) -> str:
    return f"row {row + 1} ({system}), column {task!r}"
