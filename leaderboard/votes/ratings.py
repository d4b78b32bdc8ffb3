"""The job that rates a benchmark's votes, and makes the scores of its board of the ratings by category.

The scores come in as those of any submission: as a batch that its owner submits, under an embargo as one that waits for
its end. So revisions, history, exports, studies and rules know nothing of votes.
"""

import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Q
from django.utils.translation import ngettext

from leaderboard.access.audit import Change, changes_between, record_changes
from leaderboard.access.locks import lock_benchmark
from leaderboard.benchmarks.create import prepare_task
from leaderboard.computing.stopwatch import Stopwatch
from leaderboard.models import (
    AuditEntry,
    Benchmark,
    Job,
    Membership,
    Score,
    Submission,
    Task,
    User,
    VoteBatch,
    VoteReport,
    VoteSettings,
)
from leaderboard.models.submissions import Source
from leaderboard.submissions.lifecycle import store_batch, take_batch
from leaderboard.submissions.rows import CheckedRow, CheckedScore, measured_score
from ranking_engine import __version__ as engine_version
from ranking_engine.importers.votes import METRIC, MIN_VOTES
from ranking_engine.text.names import fold_name
from ranking_engine.votes.categories import CategoryScores, category_scores
from ranking_engine.votes.data import Votes
from ranking_engine.votes.packing import joined_votes, unpacked_votes
from ranking_engine.votes.report import category_report, flip_sentence, vote_report

ELO_ORDERS = 5
MAX_ELO_VOTES = 200_000  # each order is gone through vote by vote
MAX_RESAMPLED_VOTES = 1_000_000
REASON = "Categories of votes are tasks."


@dataclass(frozen=True)
class VoteOutcome:
    """What the votes of a benchmark say.

    Attributes:
        change: the change of the benchmark's votes that this is about.
        batch_ids: whose votes were counted.
        report: as `vote_report` has it, with `first_place_text`, `categories` and what could not be computed.
        scores: the ratings by category; None where there are none.
        n_votes: in all.
        seconds: that this took.
    """

    change: int
    batch_ids: list[int]
    report: dict[str, Any]
    scores: CategoryScores | None
    n_votes: int
    seconds: float


def compute_vote_ratings(job: Job, checkpoint: Callable[[float], None]) -> Callable[[], None]:
    """Rate all votes of a benchmark that are accepted now.

    Args:
        job: about the benchmark.
        checkpoint: called now and then with the share that is done.

    Returns:
        What stores the ratings and the scores that come of them.
    """
    stopwatch = Stopwatch()
    benchmark = Benchmark.objects.get(pk=job.subject_id)
    chosen = VoteSettings.objects.get(benchmark=benchmark)  # before the votes: at most these are newer
    batches, votes = _votes_in_force(benchmark)
    checkpoint(0.1)
    if votes is None:
        empty = {"systems": [], "problems": ["no votes are accepted"], "categories": {"categories": [], "problems": []}}
        rated = VoteOutcome(chosen.last_change, [], empty, None, 0, stopwatch.seconds)
        return partial(store_ratings, benchmark, rated)
    problems = [
        f"the covariate {name!r} is left out: not all batches have it"
        for name in chosen.covariates
        if name not in votes.covariate_names
    ]
    cluster = chosen.cluster
    if (cluster == "voter" and votes.voters is None) or (cluster == "prompt" and votes.prompts is None):
        problems.append(f"errors count each vote by itself: no vote says its {cluster}")
        cluster = "vote"
    n_resamples = chosen.n_resamples
    if n_resamples and votes.n_votes > MAX_RESAMPLED_VOTES:
        problems.append(f"intervals are by the sandwich formula: resampling takes too long for {votes.n_votes:,} votes")
        n_resamples = 0
    has_elo = chosen.shows_elo and votes.n_votes <= MAX_ELO_VOTES
    if chosen.shows_elo and not has_elo:
        problems.append(f"no Elo ratings: they are computed for up to {MAX_ELO_VOTES:,} votes")
    report = vote_report(
        votes, chosen.tie_model, cluster=cluster, n_resamples=n_resamples, with_categories=False,
        elo_orders=ELO_ORDERS if has_elo else None,
    )  # fmt: skip
    checkpoint(0.6)
    scores = None
    try:
        scores = category_scores(votes, chosen.tie_model, cluster=cluster)
        report["categories"] = category_report(scores)
    except ValueError as error:
        report["categories"] = {"categories": [], "problems": [str(error)]}
    report["problems"] = [*problems, *report["problems"]]
    report["first_place_text"] = flip_sentence(report["first_place"])
    ids = [batch.pk for batch in batches]
    rated = VoteOutcome(chosen.last_change, ids, report, scores, votes.n_votes, stopwatch.seconds)
    return partial(store_ratings, benchmark, rated)


def _votes_in_force(benchmark: Benchmark) -> tuple[list[VoteBatch], Votes | None]:
    """The accepted batches, oldest first, and their votes as one; None where there are none."""
    batches = list(VoteBatch.objects.filter(benchmark=benchmark, state=VoteBatch.State.ACCEPTED).order_by("pk"))
    if not batches:
        return [], None
    parts = [unpacked_votes(bytes(batch.votes)) for batch in batches]
    shared = set.intersection(*(set(part.votes.covariate_names) for part in parts))
    chosen = VoteSettings.objects.get(benchmark=benchmark)
    return batches, joined_votes(parts, [name for name in chosen.covariates if name in shared])


@transaction.atomic
def store_ratings(benchmark: Benchmark, rated: VoteOutcome) -> None:
    """Store ratings with the scores that come of them, unless newer ones are there."""
    locked = lock_benchmark(benchmark.pk)
    if VoteReport.objects.filter(benchmark=locked, change__gte=rated.change).exists():
        return
    # The scores are the first owner's submission, who sees every score of the benchmark anyway.
    owner = User.objects.filter(
        Q(memberships__benchmark=locked, memberships__role=Membership.Role.OWNER)
        | Q(organisation_members__organisation__benchmarks=locked, organisation_members__role="owner")
    ).order_by("pk")[0]
    rows = score_rows(locked, rated, _sync_tasks(locked, rated.scores, author=owner))
    batch = None
    if rows:
        n_batches = len(rated.batch_ids)
        note = ngettext(
            "Ratings from %(n_votes)s votes in %(n_batches)s batch.",
            "Ratings from %(n_votes)s votes in %(n_batches)s batches.",
            n_batches,
        ) % {"n_votes": f"{rated.n_votes:,}", "n_batches": f"{n_batches:,}"}
        batch = store_batch(locked, owner, rows, source=Source.VOTES, note=note, is_limited=False)
        take_batch(batch, actor=owner)
    VoteReport.objects.create(
        benchmark=locked,
        change=rated.change,
        scores=batch,
        batches=rated.batch_ids,
        report=zlib.compress(json.dumps(rated.report, allow_nan=False).encode()),
        n_votes=rated.n_votes,
        engine_version=engine_version,
        seconds=rated.seconds,
    )


def _sync_tasks(benchmark: Benchmark, scores: CategoryScores | None, *, author: User) -> dict[str, Task]:
    """Make a task of each category that is none yet; let those rest of which there are no ratings.

    A task without a single score would leave complete-only rules nothing to rank. It is archived until its category has
    ratings again; what owners archived stays archived.

    Args:
        benchmark: which the transaction has locked.
        scores: the ratings by category.
        author: for the audit trail.

    Returns:
        The task of each category, by the category's name.
    """
    if scores is None:
        return {}
    tasks = {task.name_folded: task for task in Task.objects.filter(benchmark=benchmark)}
    of_category: dict[str, Task] = {}
    changes: list[Change] = []
    for name in scores.matrix.task_names:
        if (task := tasks.get(fold_name(name))) is None:
            task = Task(benchmark=benchmark, name=name, metric=METRIC, unit="points", order=len(tasks))
            prepare_task(task).full_clean()
            task.save()
            tasks[task.name_folded] = task
            changes += changes_between(AuditEntry.Subject.TASK, task.key, {}, {"name": task.name})
        of_category[name] = task
    settings = VoteSettings.objects.get(benchmark=benchmark)
    rated, resting = {task.pk for task in of_category.values()}, set(settings.resting_tasks)
    for task in tasks.values():
        archived = task.pk not in rated and not task.is_archived
        back = task.pk in rated and task.is_archived and task.key in resting
        if archived or back:
            before = {"is_archived": task.is_archived}
            task.is_archived = archived
            task.save(update_fields=["is_archived"])
            resting = resting | {task.key} if archived else resting - {task.key}
            changes += changes_between(AuditEntry.Subject.TASK, task.key, before, {"is_archived": archived})
    settings.resting_tasks = sorted(resting)
    settings.save(update_fields=["resting_tasks"])
    record_changes(benchmark, changes, actor=author, reason=REASON)
    return of_category


def score_rows(benchmark: Benchmark, rated: VoteOutcome, task_of: Mapping[str, Task]) -> list[CheckedRow]:
    """One row a system; one without scores for each that had some and has none any more.

    Args:
        benchmark: whose.
        rated: with the ratings by category.
        task_of: by category, its task.
    """
    rows: list[CheckedRow] = []
    scores = rated.scores
    if scores is not None:
        values, errors, counts = scores.matrix.values, scores.board_errors, scores.n_of_systems
        for i, name in enumerate(scores.matrix.system_names):
            row: dict[str, CheckedScore] = {}
            for t, category in enumerate(scores.matrix.task_names):
                if np.isnan(values[i, t]):
                    row[task_of[category].key] = {"missing": Score.MissingReason.NOT_REPORTED}
                    continue
                n, error = int(counts[i, t]), float(errors[i, t])
                has_error = n >= MIN_VOTES and error > 0
                row[task_of[category].key] = measured_score(float(values[i, t]), error if has_error else None, n)
            rows.append({"system": {"name": name}, "scores": row, "line": None})
    here = {fold_name(row["system"]["name"]) for row in rows}
    last = VoteReport.objects.filter(benchmark=benchmark).exclude(scores=None).order_by("-change").first()
    if last is not None and last.scores is not None:
        blank: CheckedScore = {"missing": Score.MissingReason.WITHDRAWN}
        tasks = list(Task.objects.filter(benchmark=benchmark, is_archived=False).values_list("key", flat=True))
        before = Submission.objects.filter(batch=last.scores).select_related("system")
        gone = [row.system.name for row in before if row.system.name_folded not in here]
        rows += [{"system": {"name": name}, "scores": dict.fromkeys(tasks, blank), "line": None} for name in gone]
    return rows
