"""How much of a benchmark waits for those who decide."""

from django.db.models import Count, OuterRef, Subquery, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce

from leaderboard.models import Submission, VoteBatch


def n_waiting() -> Combinable:
    """Of a query of benchmarks: how many submissions, and batches of votes, need a decision."""
    submissions = Submission.objects.filter(benchmark=OuterRef("pk"), state=Submission.State.PENDING).order_by()
    votes = VoteBatch.objects.filter(benchmark=OuterRef("pk"), state=VoteBatch.State.PENDING).order_by()
    counts = (
        submissions.values("benchmark").annotate(n=Count("batch", distinct=True)).values("n"),
        votes.values("benchmark").annotate(n=Count("pk")).values("n"),
    )
    first, second = (Coalesce(Subquery(rows), Value(0)) for rows in counts)
    return first + second
