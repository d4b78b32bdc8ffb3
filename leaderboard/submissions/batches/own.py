"""Someone's own submissions and drafts, many at once: as many queries for a page as for one."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, F, Max, Min, OuterRef, Q, QuerySet
from django.utils import timezone

from leaderboard.models import Batch, Benchmark, Draft, Job, Membership, Submission, SubmissionEvent, User
from leaderboard.queue.kinds import RANKINGS
from leaderboard.submissions.batches.states import DECISIONS, PUBLISHED, REQUESTS, state_of

Kind = SubmissionEvent.Kind


@dataclass(frozen=True)
class SubmittedBatch:
    """A batch in a list of its uploader's.

    Attributes:
        batch: with its benchmark.
        state: the word that `batch_standing` has for it.
        revision_number: the revision that accepted it.
        n_systems: how many it has.
        updated_at: when anything last happened to it; not when a board was published.
    """

    batch: Batch
    state: str
    revision_number: int | None
    n_systems: int
    updated_at: datetime

    @property
    def published_number(self) -> int | None:
        """The published revision, once that includes it."""
        return self.batch.benchmark.published_number if self.state == PUBLISHED else None


def _seen(user: User) -> Q:
    """Of rows with a benchmark: those whose benchmark its user may still read."""
    roles = Membership.objects.filter(user=user).values("benchmark")
    return ~Q(benchmark__visibility=Benchmark.Visibility.PRIVATE) | Q(benchmark__in=roles)


def own_batches(
    user: User, *, benchmark: str = "", uuids: Collection[UUID] = (), since: datetime | None = None
) -> QuerySet[Batch]:
    """What a user submitted, the newest first.

    Args:
        user: who submitted.
        benchmark: only to the benchmark of this key.
        uuids: only these, where any are named.
        since: only those to which something happened since, or whose benchmark has a new board since.
    """
    rows = Batch.objects.filter(_seen(user), uploader=user).select_related("benchmark").order_by("-pk")
    rows = rows.filter(benchmark__key=benchmark) if benchmark else rows
    rows = rows.filter(uuid__in=uuids) if uuids else rows
    if since is not None:
        events = SubmissionEvent.objects.filter(submission__batch=OuterRef("pk"), at__gte=since)
        has_board = Q(benchmark__publication__published_at__gte=since)
        rows = rows.filter(Q(created_at__gte=since) | Exists(events) | has_board)
    return rows


def own_drafts(user: User, *, benchmark: str = "") -> QuerySet[Draft]:
    """What a user has uploaded and not confirmed yet, the newest first, without the scores."""
    rows = Draft.objects.filter(_seen(user), owner=user, expires_at__gt=timezone.now()).select_related("benchmark")
    return (rows.filter(benchmark__key=benchmark) if benchmark else rows).defer("rows").order_by("-pk")


def states_of(batches: Sequence[Batch]) -> list[SubmittedBatch]:
    """The state of each of several batches, which come with their benchmarks."""
    events = SubmissionEvent.objects.filter(submission__batch__in=batches).exclude(kind__in=REQUESTS).order_by()
    rows = events.values("submission__batch", "kind", "revision__number").annotate(first=Min("pk"), last_at=Max("at"))
    by_batch: dict[int, list[Any]] = {batch.pk: [] for batch in batches}
    for row in rows.order_by("first"):
        by_batch[row["submission__batch"]].append(row)
    is_left = ~Q(state=Submission.State.WITHDRAWN)
    counts = Submission.objects.filter(batch__in=batches).order_by().values("batch")
    systems = {row["batch"]: row for row in counts.annotate(n=Count("pk"), n_left=Count("pk", filter=is_left))}
    # By benchmark the jobs that would publish what is not published yet.
    jobs: dict[int | None, list[Job]] = defaultdict(list)
    waiting = Job.objects.filter(benchmark__in={batch.benchmark_id for batch in batches}, kind=RANKINGS)
    waiting = waiting.filter(sequence__gt=F("benchmark__published_number")).order_by("sequence", "pk")
    for job in waiting.only("benchmark_id", "sequence", "state"):
        jobs[job.benchmark_id].append(job)
    own = []
    for batch in batches:
        happened, n = by_batch[batch.pk], systems[batch.pk]
        decision = next((row for row in happened if row["kind"] in DECISIONS), None)
        revision = decision["revision__number"] if decision else None
        state = state_of(
            decision["kind"] if decision else None,
            is_approved=any(row["kind"] == Kind.APPROVED for row in happened),
            is_any_left=n["n_left"] > 0,
            revision_number=revision,
            published_number=batch.benchmark.published_number,
            jobs=jobs[batch.benchmark_id],
        )
        times = [row["last_at"] for row in happened]
        own.append(SubmittedBatch(batch, state, revision, n["n"], max([batch.created_at, *times])))
    return own
