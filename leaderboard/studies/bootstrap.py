"""Rank intervals of a revision, stored as a report: over tasks, and from the standard errors of its scores."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from leaderboard.computing.rankings import TWO_STEP
from leaderboard.computing.stopwatch import Stopwatch
from leaderboard.models import Job, Revision
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.reports import make_report, storing
from leaderboard.rankings.score_matrix import NOTHING_TO_RANK, RevisionMatrix, error_table, revision_matrix
from leaderboard.studies.instances import with_clustered_errors
from ranking_engine.core.aggregation import reweighted
from ranking_engine.stability.bootstrap import (
    BUDGET_SECONDS,
    LEAST_RESAMPLES,
    affordable_resamples,
    rank_intervals,
)
from ranking_engine.stability.resampling.measured_ranks import LEAST_DRAWS, MAX_RANKS, measured_rank_intervals

MEASURED_DRAWS = 1_000
TASKS_PART = 0.8  # of the work: the intervals over tasks
MEASURED_SECONDS = 10.0  # as the costs of the rules are estimated


def compute_bootstrap(job: Job, checkpoint: Callable[[float], None]) -> Callable[[], None]:
    """Rank intervals of every system under every rule, each by itself and all at once."""
    revision = Revision.objects.select_related("configuration").get(pk=job.subject_id)
    stopwatch = Stopwatch()
    table = revision_matrix(revision)
    summary: dict[str, object] = {"status": "undefined", "reason": NOTHING_TO_RANK}
    arrays: dict[str, np.ndarray] = {}
    aggregation = configuration_of(revision).aggregation
    if aggregation == TWO_STEP:
        summary["reason"] = "with two-step aggregation the groups are ranked, and there are too few groups to resample"
    elif table is not None:
        intervals = rank_intervals(
            reweighted(table.matrix, aggregation),
            tuple(table.rules.quick),
            n_resamples=affordable_resamples(table.matrix.n_systems, job.parameters["n_resamples"]),
            level=job.parameters["level"],
            seed=job.parameters["seed"],
            budget=job.parameters.get("budget", BUDGET_SECONDS),
            least=job.parameters.get("least", LEAST_RESAMPLES),
            missing=configuration_of(revision).missing_policy,
            simultaneous=True,
            progress=lambda done, total: checkpoint(TASKS_PART * done / total),
        )
        summary = {
            "status": intervals.status,
            "reason": intervals.reason,
            "n_clusters": intervals.n_clusters,
            "n_resamples": intervals.n_resamples,
            "undefined": dict(intervals.undefined) | dict(intervals.skipped),  # why a rule has no intervals, by rule
            "fewer": {rule: n for rule, n in intervals.n_drawn.items() if n < intervals.n_resamples},  # resamples
            "proven": dict(intervals.proven),  # by rule: the share of resamples whose best order was proven
            # By rule: at most so many ranks an end may be off, for half of the systems and for all.
            "errors": {rule: [int(np.median(off)), int(off.max())] for rule, off in intervals.errors.items()},
            "not_simultaneous": dict(intervals.not_simultaneous),
        }
        for rule in intervals.lower:
            arrays[f"lower_{rule}"] = np.asarray(intervals.lower[rule])
            arrays[f"upper_{rule}"] = np.asarray(intervals.upper[rule])
        for rule, together in intervals.simultaneous.items():
            arrays[f"simultaneous_lower_{rule}"] = np.asarray(together.lower)
            arrays[f"simultaneous_upper_{rule}"] = np.asarray(together.upper)
            arrays[f"possibly_best_{rule}"] = np.asarray(together.possibly_best)
    if table is not None:
        summary["measured"], ends = _measured_part(table, job.parameters, checkpoint)
        arrays |= ends
    report = make_report(
        revision,
        job.kind,
        parameters=job.parameters,
        summary=summary,
        arrays=arrays,
        seconds=stopwatch.seconds,
    )
    return storing(report)


def _measured_part(
    table: RevisionMatrix, parameters: Mapping[str, Any], checkpoint: Callable[[float], None]
) -> tuple[dict[str, Any] | None, dict[str, np.ndarray]]:
    """Summary and ends of the rank intervals from stated standard errors; None where no score that counts has one."""
    errors, is_voting = with_clustered_errors(table, error_table(table)), table.matrix.votes
    n_errors, n_scores = (int((~np.isnan(one[:, is_voting])).sum()) for one in (errors, table.matrix.values))
    if not n_errors:
        return None, {}
    n_draws = min(MEASURED_DRAWS, MAX_RANKS // table.matrix.n_systems)
    summary: dict[str, Any] = {
        "n_draws": n_draws, "n_errors": n_errors, "n_scores": n_scores, "reason": "", "undefined": {},
        "fewer": {},
    }  # fmt: skip
    if table.configuration.aggregation == TWO_STEP:
        return summary | {"reason": "with two-step aggregation single tasks have no weight of their own"}, {}
    if n_draws < LEAST_DRAWS:
        return summary | {"n_draws": 0, "reason": "there are too many systems to rank them again for every draw"}, {}
    ends: dict[str, np.ndarray] = {}
    by_rule = measured_rank_intervals(
        reweighted(table.matrix, table.configuration.aggregation),
        errors,
        tuple(table.rules.quick),
        n_draws=n_draws,
        centres=table.written,
        level=parameters["level"],
        seed=parameters["seed"],
        missing=table.configuration.missing_policy,
        budget=MEASURED_SECONDS,
        progress=lambda done, total: checkpoint(TASKS_PART + (1 - TASKS_PART) * done / total),
    )
    for rule, intervals in by_rule.items():
        if intervals.reason:
            summary["undefined"][rule] = intervals.reason
            continue
        ends |= {f"measured_lower_{rule}": intervals.lower, f"measured_upper_{rule}": intervals.upper}
        if intervals.n_draws < n_draws:
            summary["fewer"][rule] = intervals.n_draws
    return summary, ends
