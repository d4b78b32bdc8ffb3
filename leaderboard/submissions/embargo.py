"""The end of an embargo: what was approved under it joins the board, in the order in which it was approved."""

from django.db import transaction
from django.db.models import Min

from leaderboard.access.audience import is_embargoed
from leaderboard.access.locks import lock_benchmark
from leaderboard.models import Batch, Benchmark, Revision, Submission, SubmissionEvent
from leaderboard.submissions.lifecycle import accept_batch
from leaderboard.submissions.problems import SubmissionError

BATCHES_A_SWEEP = 100  # of one benchmark, in one transaction


def end_embargoes() -> int:
    """Accept what was approved under an embargo that is over. Any number of sweepers is harmless.

    Returns:
        How many batches were accepted.
    """
    approved = Submission.objects.filter(state=Submission.State.APPROVED).order_by()
    keys = list(approved.values_list("benchmark", flat=True).distinct())
    over = [b for b in Benchmark.objects.filter(pk__in=keys) if not is_embargoed(b)]
    n_accepted = 0
    for benchmark in over:
        with transaction.atomic():
            # The lock keeps sweepers one after the other, so that the order of approval is kept.
            if is_embargoed(lock_benchmark(benchmark.pk)):
                continue
            waiting = (
                Batch.objects.filter(benchmark=benchmark, submissions__state=Submission.State.APPROVED)
                .filter(submissions__events__kind=SubmissionEvent.Kind.APPROVED)
                .annotate(approved=Min("submissions__events"))
                .order_by("approved")
            )
            for batch in waiting[:BATCHES_A_SWEEP]:
                try:
                    with transaction.atomic():
                        accept_batch(batch, actor=None, reason="The embargo ended.", cause=Revision.Cause.EMBARGO)
                except SubmissionError:  # taken back or rejected since it was read
                    continue
                n_accepted += 1
    return n_accepted
