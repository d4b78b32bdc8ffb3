"""The score matrix: what every rule and every study starts from.

Scores are decimal numbers, rounded when the matrix is built (`ranking_engine.core.decimals`), here and nowhere else,
so that whatever compares two scores of a task may ask whether they are equal.
Systems are rows `i`, tasks are columns `t`. A task *votes* when its weight is positive and its
direction is not unordered; everything called complete, missing or scored looks at voting tasks only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranking_engine.core.checks import (
    check_any_positive,
    check_finite,
    checked_directions,
    checked_gamma,
    checked_group_weights,
    checked_labels,
    checked_names,
    checked_precision,
    checked_row,
    checked_scale,
    checked_values,
    checked_weights,
    frozen,
)
from ranking_engine.core.decimals import as_scores
from ranking_engine.core.weights import WeightLike, over_common_denominator

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

EXACT_FLOAT = 2**53  # integers below it are exact in float64
EXACT_FLOAT32 = 2**24  # and below this one in float32


@dataclass(frozen=True, init=False, eq=False, repr=False)
class ScoreMatrix:
    """Scores of systems on tasks, validated once and never changed.

    Attributes:
        values: `values[i, t]`, float64 of shape (n_systems, n_tasks), the score to 12 significant digits, and to the
            task's precision where it states one; NaN is missing, nothing is infinite.
        system_names, task_names: unique and not empty.
        directions: int8 of shape (n_tasks,): +1 higher is better, -1 lower is better, 0 unordered.
        weights: one exact fraction a task, not negative, not all zero.
        groups: the group of each task, None for a task without one.
        group_weights: the weight of every group that occurs; 1 where none was stated.
        gamma: the optimality threshold, in the tasks' unit, or None.
        minimum, maximum, chance: float64 of shape (n_tasks,), the tasks' scales; NaN where unstated.
        precision: float64 of shape (n_tasks,), the smallest difference on the task that means anything; NaN where
            unstated.
        clusters: the stated cluster of each task, None where none is stated. Tasks of one cluster are not independent
            of each other; `clusters_of` in `ranking_engine.core.clusters` says what counts without a statement.
    """

    values: FloatArray
    system_names: tuple[str, ...]
    task_names: tuple[str, ...]
    directions: NDArray[np.int8]
    weights: tuple[Fraction, ...]
    groups: tuple[str | None, ...]
    group_weights: Mapping[str, Fraction]
    gamma: float | None
    minimum: FloatArray
    maximum: FloatArray
    chance: FloatArray
    precision: FloatArray
    clusters: tuple[str | None, ...]

    def __init__(
        self,
        values: ArrayLike,
        *,
        system_names: Sequence[str] | None = None,
        task_names: Sequence[str] | None = None,
        directions: Sequence[int] | NDArray[Any] | None = None,
        weights: Sequence[WeightLike] | NDArray[Any] | None = None,
        groups: Sequence[str | None] | None = None,
        group_weights: Mapping[str, WeightLike] | None = None,
        gamma: float | None = None,
        minimum: Sequence[float | None] | NDArray[Any] | None = None,
        maximum: Sequence[float | None] | NDArray[Any] | None = None,
        chance: Sequence[float | None] | NDArray[Any] | None = None,
        precision: Sequence[WeightLike | None] | NDArray[Any] | None = None,
        clusters: Sequence[str | None] | None = None,
    ) -> None:
        array = checked_values(values)
        n, T = array.shape
        systems = checked_names(system_names, n, "system_names", "s")
        tasks = checked_names(task_names, T, "task_names", "t")
        check_finite(array, systems, tasks)
        task_precision = checked_precision(precision, tasks)
        task_groups = checked_labels(groups, tasks, "groups", "group")
        fields: dict[str, Any] = {
            "values": frozen(as_scores(array, task_precision)),
            "system_names": systems,
            "task_names": tasks,
            "directions": checked_directions(directions, tasks),
            "weights": checked_weights(weights, tasks),
            "groups": task_groups,
            "group_weights": checked_group_weights(group_weights, task_groups),
            "gamma": checked_gamma(gamma),
            "minimum": checked_scale(minimum, tasks, "minimum"),
            "maximum": checked_scale(maximum, tasks, "maximum"),
            "chance": checked_scale(chance, tasks, "chance"),
            "precision": task_precision,
            "clusters": checked_labels(clusters, tasks, "clusters", "cluster"),
        }
        self._set(fields)

    def _set(self, fields: Mapping[str, Any]) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"ScoreMatrix({self.n_systems} systems, {self.n_tasks} tasks)"

    @property
    def n_systems(self) -> int:
        """The number of rows."""
        return self.values.shape[0]

    @property
    def n_tasks(self) -> int:
        """The number of columns, voting or not."""
        return self.values.shape[1]

    @cached_property
    def scores(self) -> FloatArray:
        """The oriented scores, values x direction: higher is better; NaN on unordered tasks."""
        factors = np.where(self.directions == 0, np.nan, self.directions)
        return frozen(self.values * factors + 0.0)  # + 0.0: no negative zero

    @cached_property
    def votes(self) -> BoolArray:
        """`votes[t]`: the task has a positive weight and an order."""
        positive = np.array([weight.numerator > 0 for weight in self.weights], dtype=bool)
        return frozen(positive & (self.directions != 0))

    @cached_property
    def has_score(self) -> BoolArray:
        """`has_score[i]`: system i has a score on at least one voting task."""
        return frozen(np.asarray(~np.isnan(self.values[:, self.votes]).all(axis=1)))

    @cached_property
    def is_complete(self) -> BoolArray:
        """`is_complete[i]`: system i has a score on every voting task, and there is one."""
        return frozen(np.asarray(~np.isnan(self.values[:, self.votes]).any(axis=1) & self.has_score))

    @cached_property
    def _integers(self) -> tuple[tuple[int, ...], int]:
        voting = [weight if vote else Fraction(0) for weight, vote in zip(self.weights, self.votes, strict=True)]
        return over_common_denominator(voting)

    @cached_property
    def integer_weights(self) -> NDArray[Any]:
        """The weights of the voting tasks as integers over `weight_denominator`; 0 for the other tasks.

        int64 where they sum to less than 2^53, so that every sum of them is exact in float64 too;
        Python integers (dtype object) beyond.
        """
        integers, _ = self._integers
        exact = sum(integers) < EXACT_FLOAT
        return frozen(np.array(integers, dtype=np.int64 if exact else object))

    @property
    def weight_denominator(self) -> int:
        """The least common denominator of the voting tasks' weights."""
        return self._integers[1]

    @property
    def total_weight(self) -> Fraction:
        """The sum of the weights of the voting tasks."""
        integers, denominator = self._integers
        return Fraction(sum(integers), denominator)

    def replace_row(self, i: int, row: ArrayLike) -> ScoreMatrix:
        """Return the matrix in which system `i` has the values `row` (NaN = missing) instead of its own."""
        if not 0 <= i < self.n_systems:
            raise ValueError(f"`i` is {i}; the matrix has systems 0 to {self.n_systems - 1}")
        values = self.values.copy()
        values[i] = self._checked_scores(row, self.system_names[i])
        return self._copied(values=frozen(values))

    def with_row(self, name: str, row: ArrayLike) -> ScoreMatrix:
        """Return the matrix with a further system `name`, last, whose values are `row` (NaN = missing)."""
        names = checked_names((*self.system_names, name), self.n_systems + 1, "system_names", "s")
        values = np.vstack([self.values, self._checked_scores(row, name)])
        return self._copied(values=frozen(values), system_names=names)

    def _checked_scores(self, row: ArrayLike, system: str) -> FloatArray:
        values = checked_row(row, self.n_tasks)
        check_finite(values[None], (system,), self.task_names)
        return as_scores(values, self.precision)

    def with_values(self, values: ArrayLike) -> ScoreMatrix:
        """Return the matrix with other values, of the same shape."""
        return ScoreMatrix(**{**self._fields(), "values": values})

    def with_weights(self, weights: Sequence[WeightLike] | NDArray[Any]) -> ScoreMatrix:
        """Return the matrix with other task weights, in task order."""
        return self._copied(weights=checked_weights(weights, self.task_names))

    def with_gamma(self, gamma: float | None) -> ScoreMatrix:
        """Return the matrix with another optimality threshold."""
        return self._copied(gamma=checked_gamma(gamma))

    def subset(self, systems: ArrayLike | None = None, tasks: ArrayLike | None = None) -> ScoreMatrix:
        """Return the matrix of some systems and tasks, given by indices or as masks, in the order given.

        Parts of a valid matrix are valid, so they are not checked again.
        """
        rows = _as_indices(systems, self.n_systems, "systems")
        columns = _as_indices(tasks, self.n_tasks, "tasks")
        chosen = columns.tolist()
        weights = tuple(self.weights[t] for t in chosen)
        check_any_positive(weights)
        groups = tuple(self.groups[t] for t in chosen)
        return self._copied(
            values=frozen(self.values[rows[:, None], columns]),
            system_names=tuple(self.system_names[i] for i in rows.tolist()),
            task_names=tuple(self.task_names[t] for t in chosen),
            directions=frozen(self.directions[columns]),
            weights=weights,
            groups=groups,
            group_weights={name: w for name, w in self.group_weights.items() if name in groups},
            minimum=frozen(self.minimum[columns]),
            maximum=frozen(self.maximum[columns]),
            chance=frozen(self.chance[columns]),
            precision=frozen(self.precision[columns]),
            clusters=tuple(self.clusters[t] for t in chosen),
        )

    def _fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def _copied(self, **changes: object) -> ScoreMatrix:
        """Return the matrix with some fields changed, which are valid and rounded already."""
        copy = object.__new__(ScoreMatrix)
        copy._set({**self._fields(), **changes})
        return copy


def _as_indices(chosen: ArrayLike | None, n: int, what: str) -> NDArray[np.intp]:
    """Return the indices that are chosen among `n`; at least one, and none twice."""
    if chosen is None:
        return np.arange(n)
    array = np.asarray(chosen)
    indices = np.flatnonzero(array) if array.dtype == bool else array.astype(np.intp)
    if not indices.size:
        raise ValueError(f"`{what}` chooses none of the {n}; a matrix needs at least one")
    if array.dtype != bool and len(np.unique(indices % n)) < len(indices):
        raise ValueError(f"`{what}` chooses one of the {n} twice; names must differ")
    return indices
