"""How much of a benchmark waits for those who decide."""

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce

from leaderboard.models import Submission, SubmissionEvent, VoteBatch


def open_requests() -> QuerySet[SubmissionEvent]:
    """The requests to withdraw accepted scores that no one decided about: nothing happened to the submission since."""
    later = SubmissionEvent.objects.filter(submission=OuterRef("submission"), pk__gt=OuterRef("pk"))
    on_board = Submission.State.ACCEPTED
    requests = SubmissionEvent.objects.filter(kind=SubmissionEvent.Kind.ASKED, submission__state=on_board)
    return requests.filter(~Exists(later))


def n_waiting() -> Combinable:
    """Of a query of benchmarks: how many submissions, batches of votes and requests to withdraw need a decision."""
    submissions = Submission.objects.filter(benchmark=OuterRef("pk"), state=Submission.State.PENDING).order_by()
    votes = VoteBatch.objects.filter(benchmark=OuterRef("pk"), state=VoteBatch.State.PENDING).order_by()
    requests = open_requests().filter(submission__benchmark=OuterRef("pk")).order_by()
    counts = (
        submissions.values("benchmark").annotate(n=Count("batch", distinct=True)).values("n"),
        votes.values("benchmark").annotate(n=Count("pk")).values("n"),
        requests.values("submission__benchmark").annotate(n=Count("pk")).values("n"),
    )
    first, second, third = (Coalesce(Subquery(rows), Value(0)) for rows in counts)
    return first + second + third
