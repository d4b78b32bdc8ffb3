"""Scores as people have them in memory, with the names of systems and tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plurank import frames
from ranking_engine.core.score_matrix import FloatArray


@dataclass(frozen=True, eq=False)
class Scores:
    """A table of scores with its names.

    Attributes:
        values: float64 of shape (n_systems, n_tasks), NaN where a score is missing.
        systems, tasks: the names, different and not empty.
        backend: the library of frames that it came in; None where it was none.
    """

    values: FloatArray
    systems: list[str]
    tasks: list[str]
    backend: str | None = None


def read_scores(scores: object, systems: Sequence[str] | None, tasks: Sequence[str] | None) -> Scores:
    """Read what a board is made of; `Board` says what that may be.

    Raises:
        ValueError: it cannot be read; the message names row and column.
    """
    backend = None
    cells: Sequence[Sequence[object] | FloatArray]
    if isinstance(scores, Mapping):
        task_names: dict[str, None] = {}
        for system, row in scores.items():
            if not isinstance(row, Mapping):
                raise ValueError(  # noqa: TRY004 -- one kind of error for what cannot be read
                    f"{system!r} has {type(row).__name__} for its scores; expected {{system: {{task: score}}}}"
                )
            task_names |= dict.fromkeys(map(frames.label, row))
        if not task_names:
            raise ValueError("there is no score; expected {system: {task: score}}")
        rows = [{frames.label(task): score for task, score in row.items()} for row in scores.values()]
        systems, tasks = [frames.label(system) for system in scores], list(task_names)
        cells = [[row.get(task) for row in rows] for task in tasks]
    elif frames.is_frame(scores) and systems is None:
        systems, tasks, cells, backend = frames.read_frame(scores)
    elif isinstance(scores, (str, bytes)):
        raise ValueError("a text is no table of scores; `plurank.read(path)` reads files")
    else:
        if isinstance(scores, np.ma.MaskedArray):
            scores = np.ma.filled(scores.astype(np.float64), np.nan)
        array = np.asarray(scores, dtype=object)
        if array.ndim != 2 or 0 in array.shape:
            raise ValueError(f"`scores` has shape {array.shape}; expected (n_systems, n_tasks), at least one of each")
        named = tasks if tasks is not None else getattr(scores, "columns", None)
        systems = _names(systems, len(array), "systems", "s")
        tasks = _names(named, array.shape[1], "tasks", "t")
        is_numeric = isinstance(scores, np.ndarray) and scores.dtype.kind in "iuf"
        cells = list(np.asarray(scores, dtype=np.float64).T) if is_numeric else array.T.tolist()
    frames.check_names(systems, "system", "row")
    frames.check_names(tasks, "task", "column")
    return Scores(frames.scores_of(systems, tasks, cells), list(systems), list(tasks), backend)


def _names(names: Sequence[str] | None, count: int, argument: str, prefix: str) -> list[str]:
    if names is None:
        return [f"{prefix}{k + 1}" for k in range(count)]
    if isinstance(names, str) or len(names) != count:
        raise ValueError(f"`{argument}` has {len(names)} names; the scores need {count}")
    return [frames.label(name) for name in names]
