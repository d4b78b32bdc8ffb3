"""What becomes of missing scores under a rule that needs them all: a declared policy, never an accident."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.completion.predictions import (
    PREDICTABLE,
    ScorePredictions,
    predict,
    predictable_tasks,
    why_not_predicted,
)
from ranking_engine.core.decimals import rounded_score
from ranking_engine.core.score_matrix import BoolArray, FloatArray, ScoreMatrix
from ranking_engine.text.names import listed

MISSING_POLICIES: Mapping[str, str] = MappingProxyType(
    {
        "undefined": "If a score is missing, a rule that needs all scores gives no ranking, with a reason.",
        "drop_systems": "Systems that lack a score are listed without a rank.",
        "drop_tasks": "Tasks with a missing score are left out.",
        "median": "A missing score is replaced by the median of the task's scores.",
        "worst": "A missing score is replaced by the worst of the task's scores.",
        "predicted": "A missing score is predicted from the other scores; systems that lack one that cannot be "
        "predicted are listed without a rank.",
    }
)
PREDICTED = "predicted"
LEVEL = 0.9  # the share of scores that should be inside the intervals of predicted ones
LEAST_OWN = 3  # scores that a system needs for any of the others to be predicted; and half of the tasks'

NO_SCORE = "no score on any task of weight above 0"


@dataclass(frozen=True, eq=False)
class Completed:
    """A matrix without gaps, made by a policy.

    Attributes:
        matrix: complete, voting tasks only; None where the policy leaves nothing to rank.
        systems: for each row of `matrix`, the index of its system in the original matrix.
        reason: why `matrix` is None; otherwise empty.
        unranked_reasons: why a system was left out, by its original index.
        details: `n_imputed` and `dropped_tasks`, where the policy imputed or dropped something; where it predicted
            scores, `predicted` has how many of each system's, by its name, and `held_out` their error and what
            they explain, see `FilledIn`.
        is_predicted: which scores of `matrix` are predicted, of its shape; None where the policy predicts none.
    """

    matrix: ScoreMatrix | None
    systems: NDArray[np.intp]
    reason: str = ""
    unranked_reasons: Mapping[int, str] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    is_predicted: BoolArray | None = None


def scored_part(matrix: ScoreMatrix) -> Completed:
    """Return the systems with a score on a voting task and the voting tasks, gaps and all."""
    systems = np.flatnonzero(matrix.has_score)
    unscored = {int(i): NO_SCORE for i in np.flatnonzero(~matrix.has_score)}
    if not systems.size:
        reason = (
            "no task has an order and a weight above 0"
            if not matrix.votes.any()
            else "no system has a score on a task of weight above 0"
        )
        return Completed(None, systems, reason, dict.fromkeys(unscored, reason))
    is_whole = not unscored and bool(matrix.votes.all())
    part = matrix if is_whole else matrix.subset(systems, matrix.votes)
    return Completed(part, systems, unranked_reasons=unscored)


def complete(matrix: ScoreMatrix, policy: str) -> Completed:
    """Make `matrix` complete under `policy`, a key of MISSING_POLICIES.

    Gaps are missing scores of scored systems on voting tasks; systems without any score are left out first.
    """
    check_policy(policy)
    scored = scored_part(matrix)
    if scored.matrix is None or scored.matrix.is_complete.all():
        return scored
    return _POLICIES[policy](scored, scored.matrix)


def check_policy(policy: str) -> None:
    """Raise a ValueError unless `policy` is a key of MISSING_POLICIES."""
    if policy not in MISSING_POLICIES:
        raise ValueError(f"`missing` is {policy!r}; expected one of {', '.join(MISSING_POLICIES)}")


def _undefined(scored: Completed, part: ScoreMatrix) -> Completed:
    gaps = np.isnan(part.values)
    n_gaps, n_systems = int(gaps.sum()), int(gaps.any(axis=1).sum())
    reason = (
        f"{n_gaps} missing {'score' if n_gaps == 1 else 'scores'} "
        f"({n_systems} of {part.n_systems} systems {'lacks' if n_systems == 1 else 'lack'} at least one)"
    )
    return _nothing(scored, reason)


def _drop_systems(scored: Completed, part: ScoreMatrix) -> Completed:
    kept = part.is_complete
    if not kept.any():
        return _nothing(scored, f"no system has a score on every task of weight above 0{_empty_tasks(part)}")
    reasons = dict(scored.unranked_reasons)
    for row in np.flatnonzero(~kept):
        gaps = np.isnan(part.values[row])
        reason = f"no score on {int(gaps.sum())} of {part.n_tasks} tasks of weight above 0: {_listed(part, gaps)}"
        reasons[int(scored.systems[row])] = reason
    return Completed(part.subset(systems=kept), scored.systems[kept], unranked_reasons=reasons)


def _drop_tasks(scored: Completed, part: ScoreMatrix) -> Completed:
    kept: BoolArray = np.asarray(~np.isnan(part.values).any(axis=0))
    if not kept.any():
        return _nothing(scored, f"no task of weight above 0 has a score of every system{_empty_tasks(part)}")
    return Completed(
        part.subset(tasks=kept),
        scored.systems,
        unranked_reasons=scored.unranked_reasons,
        details=_dropped(part, ~kept),
    )


def _median(scored: Completed, part: ScoreMatrix) -> Completed:
    return _impute(scored, part, middle)


def middle(numbers: FloatArray) -> float:
    """Return the median, also of numbers whose sum is beyond all floats."""
    ascending = np.sort(numbers)
    return float(halfway(ascending[(len(numbers) - 1) // 2], ascending[len(numbers) // 2]))


def halfway(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return (low + high) / 2, also where low + high is beyond all floats."""
    with np.errstate(over="ignore"):
        total = low + high
    return np.where(np.isinf(total), low / 2 + high / 2, total / 2)


def _worst(scored: Completed, part: ScoreMatrix) -> Completed:
    return _impute(scored, part, lambda column: float(column.min()))


def _impute(scored: Completed, part: ScoreMatrix, substitute: Callable[[FloatArray], float]) -> Completed:
    """Fill each gap with `substitute` of the task's oriented scores; a task without any score is dropped."""
    scores = part.scores.copy()
    empty: BoolArray = np.asarray(np.isnan(scores).all(axis=0))
    n_imputed = int(np.isnan(scores[:, ~empty]).sum())
    for t in np.flatnonzero(np.isnan(scores).any(axis=0) & ~empty):
        gaps = np.isnan(scores[:, t])
        scores[gaps, t] = substitute(scores[~gaps, t])
    filled = part.with_values(scores * part.directions)
    kept = filled.subset(tasks=~empty) if empty.any() else filled
    details = {"n_imputed": n_imputed, **_dropped(part, empty)}
    return Completed(kept, scored.systems, unranked_reasons=scored.unranked_reasons, details=details)


@dataclass(frozen=True, eq=False)
class FilledIn:
    """The voting scores of a matrix, with those that can be predicted in place of gaps.

    Attributes:
        part: as `scored_part` returns it, gaps and all.
        matrix: `part` with the predicted scores; where there are none, `part` itself.
        is_predicted: bool, shape (n_systems, n_tasks).
        half_width: by task, how far a share LEVEL of predicted scores is from the true ones at most, if scores are
            missing by chance; NaN where no score of the task can be predicted.
        task_error: by task the root of the mean squared error of held-out scores; NaN as there.
        spread: by task that of its scores, as `completion.predictions` has it; NaN as there.
        reason: why no score is predicted, though some are missing; otherwise empty.
    """

    part: Completed
    matrix: ScoreMatrix
    is_predicted: BoolArray
    half_width: FloatArray
    task_error: FloatArray
    spread: FloatArray
    reason: str = ""

    @classmethod
    def with_nothing(cls, part: Completed, matrix: ScoreMatrix, reason: str = "") -> FilledIn:
        """Return `matrix` as it is, without any prediction, for a reason if scores are missing."""
        unknown = np.full(matrix.n_tasks, np.nan)
        return cls(part, matrix, np.zeros(matrix.values.shape, dtype=bool), unknown, unknown, unknown, reason)

    @property
    def error(self) -> float:
        """The root of the mean squared error of held-out scores of the tasks of predicted ones, in units of spread.

        Each task counts as often as a score of it is predicted. NaN where none is.
        """
        counts = self.is_predicted.sum(axis=0)
        of_tasks = (self.task_error[counts > 0] / self.spread[counts > 0]) ** 2
        return float(np.sqrt(np.average(of_tasks, weights=counts[counts > 0]))) if counts.any() else float("nan")

    @property
    def explained(self) -> float:
        """The share of the variance, which is 1 in these units, that predictions of the same scores explain."""
        return 1.0 - self.error**2

    def placed_in(self, matrix: ScoreMatrix) -> ScoreMatrix:
        """Return the whole matrix that this was made of, with the predicted scores."""
        values = matrix.values.copy()
        values[np.ix_(self.part.systems, matrix.votes)] = self.matrix.values
        return matrix.with_values(values)

    def errors_in(self, matrix: ScoreMatrix) -> FloatArray:
        """Return `task_error` in place of the predicted scores of the whole matrix, and 0 elsewhere."""
        errors = np.zeros(matrix.values.shape)
        errors[np.ix_(self.part.systems, matrix.votes)] = np.where(self.is_predicted, self.task_error, 0.0)
        return errors

    @property
    def details(self) -> dict[str, Any]:
        """What a ranking of these scores has to say of them; empty where nothing is predicted."""
        if not self.is_predicted.any():
            return {}
        counts = self.is_predicted.sum(axis=1)
        systems = np.flatnonzero(counts).tolist()
        return {
            "n_imputed": int(counts.sum()),
            "predicted": {self.matrix.system_names[i]: int(counts[i]) for i in systems},
            "held_out": {"error": rounded_score(self.error), "explained": rounded_score(self.explained)},
        }


def prediction_note(details: Mapping[str, Any]) -> str:
    """Return how many scores that a ranking rests on are predicted, and how well that goes; empty where none is.

    Args:
        details: of the ranking.
    """
    counts = details.get("predicted")
    if not counts:
        return ""
    n, n_systems = sum(counts.values()), len(counts)
    scores = "1 score is" if n == 1 else f"{n:,} scores are"
    systems = "1 system" if n_systems == 1 else f"{n_systems:,} systems"
    error, explained = details["held_out"]["error"], details["held_out"]["explained"]
    return (
        f"{scores} predicted from the other scores and not measured, of {systems}. On the tasks where scores are "
        f"predicted, predictions of held-out scores miss by {error:.2g} of the task’s spread (root mean square) and "
        f"explain {100 * explained:.0f} % of the variance."
    )


def filled_in(matrix: ScoreMatrix) -> FilledIn | None:
    """Predict the missing scores of scored systems on voting tasks; None where there is no score at all.

    A score is predicted where predictions of held-out scores explain at least half of the variance of the task, and
    its system has at least LEAST_OWN scores of its own and half of all. It is rounded to a power of ten between a
    hundredth and a thousandth of the task's spread, and stays on the task's scale, between its worst and its best
    measured score. See `completion.predictions`.
    """
    scored = scored_part(matrix)
    if scored.matrix is None:
        return None
    part = scored.matrix
    gaps = np.isnan(part.scores)
    if not gaps.any():
        return FilledIn.with_nothing(scored, part)
    if reason := why_not_predicted(part.scores):
        return FilledIn.with_nothing(scored, part, f"missing scores cannot be predicted: {reason}")
    tasks = predictable_tasks(part.scores)
    predictions = cached_predictions(part.scores[:, tasks].tobytes(), len(tasks))
    is_open = np.zeros(part.n_tasks, dtype=bool)
    is_open[tasks[predictions.explained >= PREDICTABLE]] = True
    is_predicted = gaps & is_open & has_enough_scores(part.scores)[:, None]
    if not is_predicted.any():
        why = (
            f"no task with a gap has scores of which predictions explain {100 * PREDICTABLE:.0f} % of the variance"
            if not (gaps & is_open).any()
            else f"no system with such a gap has {LEAST_OWN} scores of its own and half of all"
        )
        return FilledIn.with_nothing(scored, part, f"missing scores cannot be predicted: {why}")
    step = 10.0 ** (np.floor(np.log10(predictions.spread)) - 2)
    step = np.where(step > 0, step, 1.0)
    predicted = np.full(gaps.shape, np.nan)
    predicted[:, tasks] = np.round(predictions.predicted / step) * step
    least, most = np.fmin.reduce(part.values, axis=0), np.fmax.reduce(part.values, axis=0)
    between = np.clip(predicted * part.directions, least, most)  # again, as rounding can lead beyond them
    on_scale = np.fmin(np.fmax(between, part.minimum), part.maximum)
    of_tasks = np.full((3, part.n_tasks), np.nan)
    of_tasks[:, tasks] = predictions.half_width(LEVEL), predictions.task_error, predictions.spread
    half_width, task_error, spread = np.where(is_open, of_tasks, np.nan)
    return FilledIn(
        scored,
        part.with_values(np.where(is_predicted, on_scale, part.values)),
        is_predicted,
        half_width,
        task_error,
        spread,
    )


def has_enough_scores(scores: FloatArray) -> BoolArray:
    """Whether each system has LEAST_OWN scores and one on half of the tasks, so that others of it can be predicted.

    Held-out scores are mostly of systems with many scores: their error says little about systems with few.

    Args:
        scores: of the voting tasks, shape (n_systems, n_tasks), NaN where one is missing.
    """
    n_own = (~np.isnan(scores)).sum(axis=1)
    return np.asarray(n_own >= max(LEAST_OWN, scores.shape[1] / 2))


def _predicted(scored: Completed, part: ScoreMatrix) -> Completed:
    filled = filled_in(part)
    assert filled is not None  # noqa: S101 -- `part` has scores
    if filled.reason:
        return _nothing(scored, filled.reason)
    kept = filled.matrix.is_complete
    if not kept.any():
        return _nothing(scored, "no system has a score, measured or predicted, on every task of weight above 0")
    reasons = dict(scored.unranked_reasons)
    for row in np.flatnonzero(~kept):
        gaps = np.isnan(filled.matrix.values[row])
        reasons[int(scored.systems[row])] = (
            f"no score, and none that can be predicted, on {int(gaps.sum())} of {part.n_tasks} tasks of weight above "
            f"0: {_listed(part, gaps)}"
        )
    ranked = dataclasses.replace(
        filled, matrix=filled.matrix.subset(systems=kept), is_predicted=filled.is_predicted[kept]
    )
    return Completed(
        ranked.matrix,
        scored.systems[kept],
        unranked_reasons=reasons,
        details=ranked.details,
        is_predicted=ranked.is_predicted,
    )


@lru_cache(maxsize=4)  # a board is ranked under many rules, a few at a time
def cached_predictions(scores: bytes, n_tasks: int) -> ScorePredictions:
    """Return the predictions of a table of 64-bit numbers, whose arrays are not to be changed."""
    return predict(np.frombuffer(scores).reshape(-1, n_tasks))


def _nothing(scored: Completed, reason: str) -> Completed:
    return Completed(None, scored.systems, reason, scored.unranked_reasons)


def _dropped(part: ScoreMatrix, tasks: BoolArray) -> dict[str, Any]:
    return {"dropped_tasks": [part.task_names[t] for t in np.flatnonzero(tasks)]} if tasks.any() else {}


def _empty_tasks(part: ScoreMatrix) -> str:
    empty: BoolArray = np.asarray(np.isnan(part.values).all(axis=0))
    return f" (no system has a score on {_listed(part, empty)})" if empty.any() else ""


def _listed(part: ScoreMatrix, tasks: BoolArray) -> str:
    return listed([part.task_names[t] for t in np.flatnonzero(tasks)])


_POLICIES: Mapping[str, Callable[[Completed, ScoreMatrix], Completed]] = {
    "undefined": _undefined,
    "drop_systems": _drop_systems,
    "drop_tasks": _drop_tasks,
    "median": _median,
    "worst": _worst,
    "predicted": _predicted,
}
