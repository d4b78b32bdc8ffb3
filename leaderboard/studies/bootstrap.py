"""Stability studies of a revision, stored as reports."""

import time
from collections.abc import Callable

import numpy as np

from leaderboard.computing.rankings import TWO_STEP
from leaderboard.models import Job, Report, Revision
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.reports import make_report
from leaderboard.rankings.score_matrix import NOTHING_TO_RANK, revision_matrix
from ranking_engine.core.aggregation import reweighted
from ranking_engine.stability.bootstrap import (
    BUDGET_SECONDS,
    LEAST_RESAMPLES,
    affordable_resamples,
    rank_intervals,
)


def compute_bootstrap(job: Job, checkpoint: Callable[[float], None]) -> Callable[[], None]:
    """Rank intervals of every system under every rule, each by itself and all at once."""
    revision = Revision.objects.select_related("configuration").get(pk=job.subject_id)
    started = time.perf_counter()
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
            progress=lambda done, total: checkpoint(done / total),
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
    report = make_report(
        revision,
        job.kind,
        parameters=job.parameters,
        summary=summary,
        arrays=arrays,
        seconds=time.perf_counter() - started,
    )

    def write() -> None:
        Report.objects.bulk_create([report])

    return write
