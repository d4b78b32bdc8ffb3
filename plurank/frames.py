"""Data frames of pandas, polars and pyarrow, in and out, by narwhals."""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from types import ModuleType
from typing import Any

import numpy as np

from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.files.extras import extra
from ranking_engine.files.number_forms import cell_number
from ranking_engine.files.tables import SYSTEM_COLUMNS
from ranking_engine.text.names import clean_name, name_problem, shorten

BACKENDS = ("pandas", "polars", "pyarrow")
_ARROW = {"Int64": "int64", "Float64": "float64", "Boolean": "bool", "String": "string"}
_PANDAS = {"Int64": "Int64", "Float64": "Float64", "Boolean": "boolean", "String": "str"}


def is_frame(data: object) -> bool:
    """Whether `data` is a frame of one of the libraries that are read."""
    return type(data).__module__.partition(".")[0] in BACKENDS and hasattr(data, "columns")


def read_frame(frame: Any) -> tuple[list[str], list[str], list[Sequence[object] | FloatArray], str]:  # noqa: ANN401 -- of whichever library
    """Return the names of systems, those of tasks, a column of scores for each task, and the library.

    The systems are the index where it has names (pandas), else the column `system` or `model`, else the first column of
    texts.

    Raises:
        ValueError: no column names the systems, or there is none beside it.
        ImportError: narwhals is not installed.
    """
    nw = extra("narwhals", "frames")
    backend = type(frame).__module__.partition(".")[0]
    if hasattr(frame, "collect"):
        raise ValueError("a LazyFrame has no rows yet; call its collect() first")
    own_names = frame.column_names if backend == "pyarrow" else frame.columns
    names = [label(name) for name in own_names]
    check_names(names, "column", "column")
    wrapped = nw.from_native(frame.set_axis(names, axis=1) if backend == "pandas" else frame, eager_only=True)
    index = nw.maybe_get_index(wrapped)
    columns = list(wrapped.columns)
    # An index of 0, 1, 2, ... names nothing.
    if index is not None and [*index] != [*range(len(index))]:
        systems, tasks = list(index), columns
    else:
        named = [name for name in columns if name.strip().casefold() in SYSTEM_COLUMNS]
        texts = [name for name in columns if wrapped[name].dtype in (nw.String, nw.Object, nw.Categorical)]
        if not (named or texts):
            raise ValueError(
                "no column names the systems: call one `system`, or make the names the index (pandas), "
                "or state them with `systems=[...]`"
            )
        of_systems = (named or texts)[0]
        systems, tasks = wrapped[of_systems].to_list(), [name for name in columns if name != of_systems]
        of_tasks = next((name for name in texts if name != of_systems), None)
        if of_tasks is not None and len(set(systems)) < len(systems):
            raise ValueError(
                f"a frame has one row per system; this one seems to have one per score. In pandas, "
                f"frame.pivot(index={of_systems!r}, columns={of_tasks!r}, values=...) makes it one"
            )
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
    return [label(name) for name in systems], tasks, cells, backend


def label(name: object) -> str:
    """Return a name of an index or a column as text: empty for NaN and the like, the parts of several levels joined."""
    if isinstance(name, tuple):
        return ", ".join(filter(None, map(label, name)))
    return "" if is_missing(name) else str(name)


def is_missing(value: object) -> bool:
    """Whether it is None, NaN, NA or NaT."""
    is_nan = isinstance(value, float) and math.isnan(value)
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")


def check_names(names: Sequence[str], kind: str, place: str) -> None:
    """Raise a ValueError where a name is empty, there twice, too long, or has characters that cannot be shown.

    Args:
        names: of systems, tasks or columns.
        kind: what they are names of.
        place: what each has in a table: a row or a column.
    """
    first: dict[str, int] = {}
    for k, name in enumerate(names, start=1):
        if not name.strip():
            raise ValueError(f"{place} {k}: the {kind} has no name")
        clean = clean_name(name)
        if clean in first:
            raise ValueError(f"{place} {k}: the {kind} {shorten(name)!r} is already {place} {first[clean]}")
        if problem := name_problem(clean, allow_formula=True):
            raise ValueError(f"{place} {k}: the name of the {kind} {shorten(name)!r} {problem}")
        first[clean] = k


def to_frame(
    columns: Mapping[str, Sequence[object]], backend: str | ModuleType | None, whole: Collection[str] = ()
) -> Any:  # noqa: ANN401 -- of whichever library
    """Return columns as a frame of a library: the one named, else the first of BACKENDS that is installed.

    Whole numbers with gaps become nullable integers, so that what is missing is NA and no number.

    Args:
        columns: by name.
        backend: the name of the library, or the library.
        whole: the columns that are of whole numbers, also where no value is there to say so; others are then decimals,
            except for the first, which names the rows.

    Raises:
        ValueError: `backend` is none of BACKENDS.
        ImportError: the library is not installed.
    """
    if backend is None:
        backend = next((name for name in BACKENDS if importlib.util.find_spec(name)), BACKENDS[0])
    name = backend if isinstance(backend, str) else backend.__name__
    if name not in BACKENDS:
        raise ValueError(f"`backend` is {name!r}; expected one of {', '.join(BACKENDS)}")
    if importlib.util.find_spec(name) is None:
        raise ImportError(
            f"{name} is not installed: install it beside plurank with its extra `frames`, or name another of "
            f"{', '.join(BACKENDS)}"
        )
    kinds: dict[str, str] = {}  # as polars and pandas call them
    typed: dict[str, list[Any]] = {}
    for column, values in columns.items():
        types = {type(value) for value in values if value is not None}
        if not types:
            kind = "Int64" if column in whole else "Float64"
            if not kinds and not len(values):
                kind = "String"  # the names of no rows
        elif types == {int}:
            kind = "Int64"
        elif types <= {int, float}:
            kind = "Float64"
        else:
            kind = "Boolean" if types == {bool} else "String"
        of_kind = {"Float64": float, "String": str}.get(kind)
        kinds[column] = kind
        typed[column] = [value if value is None or of_kind is None else of_kind(value) for value in values]
    if name == "pandas":
        pandas = importlib.import_module("pandas")
        return pandas.DataFrame({c: pandas.array(cells, dtype=_PANDAS[kinds[c]]) for c, cells in typed.items()})
    if name == "polars":
        polars = importlib.import_module("polars")
        return polars.DataFrame([polars.Series(c, cells, getattr(polars, kinds[c])) for c, cells in typed.items()])
    arrow = importlib.import_module("pyarrow")
    return arrow.table({c: arrow.array(cells, _ARROW[kinds[c]]) for c, cells in typed.items()})


def scores_frame(systems: Sequence[str], tasks: Sequence[str], values: FloatArray, backend: str | None) -> Any:  # noqa: ANN401
    """Return scores as a frame, one row per system: `values` of shape (n_systems, n_tasks), NaN where one is missing.

    Raises:
        ValueError, ImportError: as for `to_frame`.
    """
    frame = to_frame({"system": systems}, backend)
    name = type(frame).__module__.partition(".")[0]
    if name == "pandas":
        return type(frame)(values.copy(), index=frame.set_index("system").index, columns=list(tasks))
    columns = [column.copy() for column in values.T]
    if name == "polars":
        polars = importlib.import_module("polars")
        return frame.hstack([polars.Series(t, c).fill_nan(None) for t, c in zip(tasks, columns, strict=True)])
    arrow = importlib.import_module("pyarrow")
    for task, column in zip(tasks, columns, strict=True):
        frame = frame.append_column(task, arrow.array(column, from_pandas=True))  # NaN is null there
    return frame


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
    if is_missing(cell):
        return np.nan
    if isinstance(cell, (bool, np.bool_)) or not isinstance(cell, (Real, Decimal)):
        text = str(cell)
        if text.strip() in ("", "-", "n/a", "N/A"):
            hint = "leave the cell empty where a score is missing"
        elif isinstance(cell, (bool, np.bool_)):
            hint = "the column holds True and False; turn them into 1 and 0 if they are scores"
        elif isinstance(cell, str) and cell_number(text) is not None:
            hint = "the column holds texts; turn them into numbers first, as pandas.to_numeric does"
        else:
            hint = "leave the column out if it holds no scores"
        raise ValueError(f"{_place(row, system, task)}: {text[:60]!r} is not a number; {hint}")  # noqa: TRY004 -- one kind of error for what is in a table
    try:
        return float(cell)
    except OverflowError as error:
        raise ValueError(f"{_place(row, system, task)}: the number is too large for a score") from error


def _place(row: int, system: str, task: str) -> str:
    return f"row {row + 1} ({shorten(system)}), column {shorten(task)!r}"
