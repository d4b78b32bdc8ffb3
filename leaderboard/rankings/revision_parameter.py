"""Which publication an address asks for."""

from django.core.exceptions import BadRequest
from django.utils.translation import gettext

from leaderboard.common.requests import DeadLinkError
from leaderboard.common.text import whole_number
from leaderboard.models import Benchmark, Publication, Revision
from leaderboard.rankings.revisions import publication_at


def publication_asked_for(benchmark: Benchmark, number: str, *, needs_ranks: bool = True) -> Publication | None:
    """What is published, or what `?revision=` names; None where nothing is published yet.

    Args:
        benchmark: of which.
        number: as the address has it.
        needs_ranks: whether more is shown of the revision than its scores.

    Raises:
        BadRequest: that is no number.
        DeadLinkError: the revision is not published.
    """
    if not number:
        return benchmark.publication
    revision_number = stated_revision(number)
    if revision_number is None:
        raise BadRequest(
            gettext("`revision` is %(text)s; expected the number of a revision.") % {"text": repr(number[:40])}
        )
    publication = publication_at(benchmark, revision_number, needs_ranks=needs_ranks)
    if publication is None:
        newest = benchmark.published_number
        text = gettext("Revision %(number)s of %(benchmark)s is not published.")
        if newest:
            text = gettext("Revision %(number)s of %(benchmark)s is not published. The newest one is %(newest)s.")
        raise DeadLinkError(text % {"number": number[:40], "benchmark": benchmark.name, "newest": newest})
    return publication


def revision_query(benchmark: Benchmark, revision: Revision | None) -> str:
    """The end of the address of another page at this revision: `?revision=2`; empty where it is the published one."""
    if revision is None or revision.number == benchmark.published_number:
        return ""
    return f"?revision={revision.number}"


def stated_revision(text: str) -> int | None:
    """The number that a text states; 0, which no revision has, for one that is negative or has too many digits; None
    where it is no number."""
    number = whole_number(text)
    return 0 if number is None and text.isascii() and text.removeprefix("-").isdigit() else number
