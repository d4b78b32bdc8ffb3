"""The checks of a score matrix's parts; each error names the argument, the thing and the likely cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranking_engine.core.decimals import exact_precision
from ranking_engine.core.weights import WeightLike, exact_weight

FloatArray = NDArray[np.float64]
AnyArray = TypeVar("AnyArray", bound=NDArray[Any])


def frozen(array: AnyArray) -> AnyArray:
    """Return `array`, made read-only."""
    array.flags.writeable = False
    return array


def checked_values(values: ArrayLike) -> FloatArray:
    """Return `values` as read-only float64 of shape (n_systems, n_tasks)."""
    try:
        array = np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(f"`values` must be numbers, NaN where a score is missing: {error}") from error
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"`values` has shape {array.shape}; expected (n_systems, n_tasks), at least one of each")
    return frozen(array)


def checked_row(row: ArrayLike, n_tasks: int) -> FloatArray:
    """Return `row` as float64 of shape (n_tasks,)."""
    array = np.asarray(row, dtype=np.float64)
    if array.shape != (n_tasks,):
        raise ValueError(f"`row` has shape {array.shape}; expected ({n_tasks},), one value a task")
    return array


def check_finite(values: FloatArray, systems: tuple[str, ...], tasks: tuple[str, ...]) -> None:
    """Refuse infinite values, naming the first."""
    infinite = np.argwhere(np.isinf(values))
    if infinite.size:
        i, t = infinite[0]
        raise ValueError(f"`values` is infinite for system {systems[i]!r} on task {tasks[t]!r}; NaN means missing")


def checked_names(names: Sequence[str] | None, count: int, argument: str, prefix: str) -> tuple[str, ...]:
    """Return the names, or numbered ones where none are given."""
    if names is None:
        return tuple(f"{prefix}{k + 1}" for k in range(count))
    if isinstance(names, str) or len(names) != count:
        raise ValueError(f"`{argument}` has {len(names)} entries; the matrix needs {count}")
    seen: set[str] = set()
    for position, name in enumerate(names):
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"`{argument}` is {name!r} at position {position}; expected a name")
        if name in seen:
            raise ValueError(f"`{argument}` holds {name!r} twice; names must differ")
        seen.add(name)
    return tuple(names)


def checked_directions(directions: Sequence[int] | NDArray[Any] | None, tasks: tuple[str, ...]) -> NDArray[np.int8]:
    """Return the directions as int8."""
    if directions is None:
        return frozen(np.ones(len(tasks), dtype=np.int8))
    _check_one_a_task(directions, tasks, "directions")
    for task, direction in zip(tasks, directions, strict=True):
        if direction not in (1, -1, 0):
            raise ValueError(
                f"`directions` is {direction!r} for task {task!r}; expected 1 (higher is better), "
                "-1 (lower is better) or 0 (unordered)"
            )
    return frozen(np.array([int(direction) for direction in directions], dtype=np.int8))


def checked_weights(
    weights: Sequence[WeightLike] | NDArray[Any] | None, tasks: tuple[str, ...]
) -> tuple[Fraction, ...]:
    """Return the weights as exact fractions."""
    if weights is None:
        return (Fraction(1),) * len(tasks)
    _check_one_a_task(weights, tasks, "weights")
    exact = tuple(
        exact_weight(weight, f"`weights` for task {task!r}") for task, weight in zip(tasks, weights, strict=True)
    )
    check_any_positive(exact)
    return exact


def check_any_positive(weights: Sequence[Fraction]) -> None:
    """Refuse weights that are all 0."""
    if not any(weights):
        raise ValueError("`weights` are all zero; at least one task must have a positive weight")


def checked_labels(
    labels: Sequence[str | None] | None, tasks: tuple[str, ...], argument: str, what: str
) -> tuple[str | None, ...]:
    """Return the group or the cluster of each task; `what` is the word for one."""
    if labels is None:
        return (None,) * len(tasks)
    _check_one_a_task(labels, tasks, argument)
    for task, label in zip(tasks, labels, strict=True):
        if label is not None and (not isinstance(label, str) or not label.strip()):
            raise ValueError(f"`{argument}` is {label!r} for task {task!r}; expected a {what} name or None")
    return tuple(labels)


def checked_group_weights(
    group_weights: Mapping[str, WeightLike] | None, groups: tuple[str | None, ...]
) -> dict[str, Fraction]:
    """Return the exact weight of every group that occurs."""
    known = dict.fromkeys(group for group in groups if group is not None)
    weights = group_weights or {}
    for name in weights:
        if name not in known:
            raise ValueError(f"`group_weights` names the group {name!r}, to which no task belongs")
    return {name: exact_weight(weights.get(name, 1), f"`group_weights` for group {name!r}") for name in known}


def checked_gamma(gamma: float | None) -> float | None:
    """Return the optimality threshold."""
    if gamma is not None and not np.isfinite(gamma):
        raise ValueError(f"`gamma` is {gamma}; expected a finite number, such as 95 for percentages")
    return None if gamma is None else float(gamma)


def checked_scale(
    bounds: Sequence[float | None] | NDArray[Any] | None, tasks: tuple[str, ...], argument: str
) -> FloatArray:
    """Return one bound of the tasks' scales; NaN where unstated."""
    if bounds is None:
        return frozen(np.full(len(tasks), np.nan))
    _check_one_a_task(bounds, tasks, argument)
    array = np.array([np.nan if bound is None else bound for bound in bounds], dtype=np.float64)
    if np.isinf(array).any():
        raise ValueError(f"`{argument}` is infinite for task {tasks[int(np.isinf(array).argmax())]!r}")
    return frozen(array)


def checked_precision(
    precision: Sequence[WeightLike | None] | NDArray[Any] | None, tasks: tuple[str, ...]
) -> FloatArray:
    """Return the precision of each task's scores; NaN where unstated."""
    if precision is None:
        return frozen(np.full(len(tasks), np.nan))
    _check_one_a_task(precision, tasks, "precision")
    precisions = [
        np.nan
        if value is None or (isinstance(value, float) and np.isnan(value))
        else exact_precision(value, f"`precision` for task {task!r}")
        for task, value in zip(tasks, precision, strict=True)
    ]
    return frozen(np.array(precisions, dtype=np.float64))


def _check_one_a_task(entries: Sequence[Any] | NDArray[Any], tasks: tuple[str, ...], argument: str) -> None:
    if isinstance(entries, str) or len(entries) != len(tasks):
        raise ValueError(f"`{argument}` has {len(entries)} entries; expected one for each of the {len(tasks)} tasks")
