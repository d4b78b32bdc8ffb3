"""Rules on positions: a scoring vector says what each position on a task is worth.

A tied system's position depends on the convention: `best` and `worst` give every member of a tie block
the entry at the block's first or last position, `average` the mean of the entries the block occupies.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.profile import Outcome, Profile, TaskSum
from ranking_engine.core.score_matrix import EXACT_FLOAT, FloatArray
from ranking_engine.core.task_order import IntArray, TaskOrder

TIES: Mapping[str, str] = MappingProxyType(
    {
        "worst": "Systems tied on a task all take the worst position of their tie block.",
        "best": "Systems tied on a task all take the best position of their tie block.",
        "average": "Systems tied on a task share the points of the positions that they occupy.",
    }
)

MAX_POINTS = 1e30  # the largest entry of a scoring vector


def plurality(profile: Profile, *, ties: str = "worst") -> Outcome:
    """Return the weight of the tasks on which each system is first (under `worst`, first alone)."""
    return Outcome(positional_scores(profile, plurality_vector(profile.n_systems), ties))


def borda(profile: Profile, *, ties: str = "worst") -> Outcome:
    """Return sum_t w_t (n - position of i on t)."""
    return Outcome(positional_scores(profile, borda_vector(profile.n_systems), ties))


def dowdall(profile: Profile, *, ties: str = "best") -> Outcome:
    """Return sum_t w_t / position of i on t."""
    return Outcome(positional_scores(profile, dowdall_vector(profile.n_systems), ties))


def average_rank(profile: Profile, *, ties: str = "average") -> Outcome:
    """Return minus the weighted mean of the positions of each system."""
    sums = _weighted_sum(points(profile.order, average_rank_vector(profile.n_systems), ties), profile.weights)
    return Outcome(sums / math.fsum(profile.weights.tolist()))


def veto(profile: Profile, *, ties: str = "worst") -> Outcome:
    """Return minus the weight of the tasks on which each system is last."""
    return Outcome(positional_scores(profile, veto_vector(profile.n_systems), ties))


def positional(profile: Profile, *, vector: tuple[float, ...], ties: str = "worst") -> Outcome:
    """Return sum_t w_t `vector`[position of i on t], the vector being padded with 0 or cut to the positions.

    Undefined where padding a negative last entry would make a lower position worth more.
    """
    n = profile.n_systems
    if n > len(vector) and vector[-1] < 0:
        reason = f"the scoring vector ends below 0 and would rise when padded with 0 for {n} systems"
        return Outcome(None, "undefined", reason)
    return Outcome(positional_scores(profile, padded_vector(n, vector=vector), ties))


def compatible_borda(profile: Profile) -> Outcome:
    """Return sum_t w_t E(systems below i on t), all orders that the scores on t allow being equally likely.

    A system without a score on a task may have any place there; the others keep their order, ties count one half.
    Among m systems with a score the one of average rank r is above a system without with probability (m + 1 - r) /
    (m + 1); two systems without are above each other with probability 1/2 (Himmi et al. 2024: compatible rankings).

    `details`: `spread`, by system the standard deviation of its score over these orders, 0 where nothing is missing;
    `n_missing`, how many scores are missing. O(n T log n).
    """
    order, n = profile.order, profile.n_systems
    given = compatible_points(order.first, order.last, n)
    scores = _weighted_sum(given, profile.weights) / profile.denominator
    has = order.first >= 0
    m = has.sum(axis=0)
    k = n - m
    # Of the k systems without a score those below are beta-binomial, with as many slots below as above + m + 1.
    slots = np.where(has, m - (order.first + order.last) / 2, 0.0)
    squares = slots**2 + ((order.last - order.first + 1) ** 2 - 1) / 12  # of a tie block, whose order is open, too
    second = k * slots / (m + 1) + k * (k - 1) * (slots + squares) / ((m + 1) * (m + 2))
    variance = np.where(has, second - (k * slots / (m + 1)) ** 2, (n**2 - 1) / 12)
    shares = profile.weights / profile.denominator
    spread = np.sqrt(_weighted_sum(np.maximum(variance, 0.0), shares**2))
    details = {
        "spread": dict(zip(profile.matrix.system_names, spread.tolist(), strict=True)),
        "n_missing": int((~has).sum()),
    }
    return Outcome(scores, details=details)


def compatible_points(first: IntArray, last: IntArray, n: NDArray[np.integer[Any]] | int) -> FloatArray:
    """Return the expected number of systems below, ties one half; see `compatible_borda`.

    Args:
        first, last: positions of tie blocks, -1 where the score is missing, shape (..., n_systems, n_tasks).
        n: how many systems there are, those without the score included.
    """
    has = first >= 0
    m = has.sum(axis=-2, keepdims=True)
    slots = m - (first + last) / 2  # m + 1 - r
    return np.asarray(np.where(has, (n + 1) * slots / (m + 1) - 1, (n - 1) / 2), dtype=np.float64)


def compatible_contributions(profile: Profile) -> FloatArray | None:
    """Return what each task adds under `compatible_borda`; None where scores are missing: that is no measurement."""
    if np.isnan(profile.scores).any():
        return None
    given = compatible_points(profile.order.first, profile.order.last, profile.n_systems)
    return given * (profile.weights / profile.denominator)


def checked_vector(vector: object) -> tuple[float, ...]:
    """Return a scoring vector, from numbers or a text such as "12,10,8", or raise a ValueError."""
    entries = vector.split(",") if isinstance(vector, str) else vector
    expected = "expected numbers that do not rise, such as 12,10,8"
    if not isinstance(entries, Sequence) or not entries:
        raise ValueError(f"`vector` is {vector!r}; {expected}")
    try:
        numbers = tuple(float(entry) for entry in entries)
    except (TypeError, ValueError) as error:
        raise ValueError(f"`vector` is {vector!r}; {expected}") from error
    is_bounded = all(abs(number) <= MAX_POINTS for number in numbers)  # False for NaN too
    if not is_bounded or any(later > earlier for earlier, later in itertools.pairwise(numbers)):
        raise ValueError(f"`vector` is {vector!r}; {expected}")
    return numbers


def plurality_vector(n: int) -> FloatArray:
    """1, 0, ..., 0."""
    return np.array([1.0, *[0.0] * (n - 1)])


def borda_vector(n: int) -> FloatArray:
    """n - 1, n - 2, ..., 0."""
    return np.arange(n - 1, -1, -1, dtype=np.float64)


def dowdall_vector(n: int) -> FloatArray:
    """1, 1/2, ..., 1/n."""
    return 1 / np.arange(1, n + 1)


def average_rank_vector(n: int) -> FloatArray:
    """-1, -2, ..., -n."""
    return -np.arange(1, n + 1, dtype=np.float64)


def veto_vector(n: int) -> FloatArray:
    """0, ..., 0, -1."""
    return np.array([*[0.0] * (n - 1), -1.0])


def padded_vector(n: int, *, vector: tuple[float, ...]) -> FloatArray:
    """`vector`, padded with 0 or cut."""
    padded = np.zeros(n)
    padded[: len(vector)] = vector[:n]
    return padded


def task_sum_of(vector_of: Callable[..., FloatArray]) -> TaskSum:
    """Return how scores are sums over tasks under a rule with a scoring vector.

    Args:
        vector_of: the points by position, of the number of systems and the rule's own parameters.
    """

    def contributions(profile: Profile, *, ties: str, **parameters: object) -> FloatArray:
        given = points(profile.order, vector_of(profile.n_systems, **parameters), ties)
        return given * (profile.weights / profile.denominator)

    return TaskSum(contributions)


def average_rank_contributions(profile: Profile, *, ties: str) -> FloatArray:
    """Return what each task adds to minus the average rank."""
    given = points(profile.order, average_rank_vector(profile.n_systems), ties)
    return given * (profile.weights / math.fsum(profile.weights.tolist()))


def positional_scores(profile: Profile, vector: FloatArray, ties: str) -> FloatArray:
    """Return sum_t w_t `vector`[position of i on t]; exact where vector and weights are integers."""
    return _weighted_sum(points(profile.order, vector, ties), profile.weights) / profile.denominator


def _weighted_sum(given: FloatArray, weights: FloatArray) -> FloatArray:
    """Return sum_t weights[t] given[i, t] for each row i, whatever the order of the tasks.

    Exact where `given` are halves of integers, `weights` integers and the sums below 2^52; else correctly
    rounded sums of rounded products.
    """
    halves = 2 * given
    is_exact = np.abs(halves).max() * weights.sum() < EXACT_FLOAT and (weights == np.rint(weights)).all()
    if is_exact and (halves == np.rint(halves)).all():
        return given @ weights
    return np.array([math.fsum(row) for row in (given * weights).tolist()])


def points(order: TaskOrder, vector: FloatArray, ties: str) -> FloatArray:
    """Return what each task gives each system, shape (n_systems, n_tasks); `vector` has an entry a position.

    Needs complete scores.
    """
    if ties == "best":
        return vector[order.first]
    if ties == "worst":
        return vector[order.last]
    if ties == "average":
        cumulative = np.concatenate([[0.0], np.cumsum(vector)])
        return (cumulative[order.last + 1] - cumulative[order.first]) / (order.last - order.first + 1)
    raise ValueError(f"`ties` is {ties!r}; expected one of {', '.join(TIES)}")
