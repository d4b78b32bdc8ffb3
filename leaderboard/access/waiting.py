"""How much of a benchmark waits for those who decide."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, QuerySet, Subquery, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce

from leaderboard.models import Submission, SubmissionEvent, VoteBatch


def open_requests() -> QuerySet[SubmissionEvent]:
    """The requests to withdraw accepted scores that no one decided about: nothing happened to the submission since."""
    later = SubmissionEvent.objects.filter(submission=OuterRef("submission"), pk__gt=OuterRef("pk"))
    on_board = Submission.State.ACCEPTED
    requests = SubmissionEvent.objects.filter(kind=SubmissionEvent.Kind.ASKED, submission__state=on_board)
    return requests.filter(~Exists(later))


@dataclass(frozen=True)
class Waiting:
    """How much of a benchmark waits: submissions and batches of votes to decide about, and requests to withdraw."""

    n_sent: int = 0
    n_requests: int = 0


def waiting_at(benchmarks: Collection[int]) -> dict[int, Waiting]:
    """What waits on each of several benchmarks, by their ids; as many as `n_waiting` says of one."""
    submissions, votes, requests = (dict(rows.filter(on_benchmark__in=benchmarks)) for rows in _counts())
    return {pk: Waiting(submissions.get(pk, 0) + votes.get(pk, 0), requests.get(pk, 0)) for pk in benchmarks}


def n_waiting() -> Combinable:
    """Of a query of benchmarks: how many submissions, batches of votes and requests to withdraw need a decision."""
    here = (rows.filter(on_benchmark=OuterRef("pk")).values("n") for rows in _counts())
    first, second, third = (Coalesce(Subquery(rows), Value(0)) for rows in here)
    return first + second + third


def _counts() -> tuple[QuerySet[Any, Any], ...]:
    """(id of a benchmark, number) of what waits: submissions, by their batches; batches of votes; requests."""
    submissions = Submission.objects.filter(state=Submission.State.PENDING).annotate(on_benchmark=F("benchmark"))
    votes = VoteBatch.objects.filter(state=VoteBatch.State.PENDING).annotate(on_benchmark=F("benchmark"))
    requests = open_requests().annotate(on_benchmark=F("submission__benchmark"))
    return (
        submissions.order_by().values_list("on_benchmark").annotate(n=Count("batch", distinct=True)),
        votes.order_by().values_list("on_benchmark").annotate(n=Count("pk")),
        requests.order_by().values_list("on_benchmark").annotate(n=Count("pk")),
    )
