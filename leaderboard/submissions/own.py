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
from leaderboard.submissions.status import DECISIONS, REQUESTS, WITHDRAWN

Kind = SubmissionEvent.Kind
LIVE = (Job.State.RUNNING, Job.State.WAITING)


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
        return self.batch.benchmark.published_number if self.state == "published" else None


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
    # By benchmark the jobs that would publish what is not published yet: the revision and the state of each.
    jobs: dict[int, list[tuple[int, str]]] = defaultdict(list)
    waiting = Job.objects.filter(benchmark__in={batch.benchmark_id for batch in batches}, kind="rankings")
    waiting = waiting.filter(sequence__gt=F("benchmark__published_number")).order_by("sequence")
    for benchmark, number, job_state in waiting.values_list("benchmark", "sequence", "state"):
        jobs[benchmark].append((number, job_state))
    own = []
    for batch in batches:
        happened, n = by_batch[batch.pk], systems[batch.pk]
        decision = next((row for row in happened if row["kind"] in DECISIONS), None)
        revision = decision["revision__number"] if decision else None
        if decision is None:
            state = "approved" if any(row["kind"] == Kind.APPROVED for row in happened) else "pending"
        elif n["n_left"] == 0:
            state = WITHDRAWN
        elif decision["kind"] != Kind.ACCEPTED:
            state = str(decision["kind"])
        elif revision is None:
            state = "failed"
        elif batch.benchmark.published_number >= revision:
            state = "published"
        else:  # a newer job that is under way publishes it, too
            later = [job_state for number, job_state in jobs[batch.benchmark_id] if number >= revision]
            is_failed = bool(later) and later[0] == Job.State.FAILED and not set(later) & set(LIVE)
            state = "failed" if is_failed else "accepted"
        times = [row["last_at"] for row in happened]
        own.append(SubmittedBatch(batch, state, revision, n["n"], max([batch.created_at, *times])))
    return own
