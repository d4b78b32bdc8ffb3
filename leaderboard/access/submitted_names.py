"""The names of systems, as their submitters may see them."""

from django.utils.translation import gettext

from leaderboard.access.audience import hides_something
from leaderboard.models import Benchmark, Submission


def name_for_submitter(submission: Submission, benchmark: Benchmark) -> str:
    """The name of a system, or "one system" where its submitter may not learn it.

    A submission that waits does not prove that its system is the submitter's: a board may hide it from them.

    Args:
        submission: with its system.
        benchmark: of the submission.
    """
    is_hidden = hides_something(benchmark) and submission.state != Submission.State.ACCEPTED
    return gettext("one system") if is_hidden else submission.shown_name
