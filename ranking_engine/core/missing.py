"""What becomes of missing scores under a rule that needs them all: a declared policy, never an accident."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import BoolArray, FloatArray, ScoreMatrix
from ranking_engine.text.names import listed

MISSING_POLICIES: Mapping[str, str] = MappingProxyType(
    {
        "undefined": "If a score is missing, a rule that needs all scores gives no ranking, with a reason.",
        "drop_systems": "Systems that lack a score are listed without a rank.",
        "drop_tasks": "Tasks with a missing score are left out.",
        "median": "A missing score is replaced by the median of the task's scores.",
        "worst": "A missing score is replaced by the worst of the task's scores.",
    }
)

NO_SCORE = "no score on any voting task"


@dataclass(frozen=True, eq=False)
class Completed:
    """A matrix without gaps, made by a policy.

    Attributes:
        matrix: complete, voting tasks only; None where the policy leaves nothing to rank.
        systems: for each row of `matrix`, the index of its system in the original matrix.
        reason: why `matrix` is None; otherwise empty.
        unranked_reasons: why a system was left out, by its original index.
        details: `n_imputed` and `dropped_tasks`, where the policy imputed or dropped something.
    """

    matrix: ScoreMatrix | None
    systems: NDArray[np.intp]
    reason: str = ""
    unranked_reasons: Mapping[int, str] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)


def scored_part(matrix: ScoreMatrix) -> Completed:
    """Return the systems with a score on a voting task and the voting tasks, gaps and all."""
    systems = np.flatnonzero(matrix.has_score)
    unscored = {int(i): NO_SCORE for i in np.flatnonzero(~matrix.has_score)}
    if not systems.size:
        reason = "no task votes" if not matrix.votes.any() else "no system has a score on a voting task"
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
        return _nothing(scored, f"no system has a score on every voting task{_empty_tasks(part)}")
    reasons = dict(scored.unranked_reasons)
    for row in np.flatnonzero(~kept):
        gaps = np.isnan(part.values[row])
        reason = f"no score on {int(gaps.sum())} of {part.n_tasks} voting tasks: {_listed(part, gaps)}"
        reasons[int(scored.systems[row])] = reason
    return Completed(part.subset(systems=kept), scored.systems[kept], unranked_reasons=reasons)


def _drop_tasks(scored: Completed, part: ScoreMatrix) -> Completed:
    kept: BoolArray = np.asarray(~np.isnan(part.values).any(axis=0))
    if not kept.any():
        return _nothing(scored, f"no voting task has a score of every system{_empty_tasks(part)}")
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
}
