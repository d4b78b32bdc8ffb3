"""What a benchmark follows, and what was fetched."""

from uuid import UUID

from django.db.models import OuterRef, Subquery
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext

from leaderboard.models import Benchmark, Draft, Fetch, FollowedAddress

SHOWN_FETCHES = 20


def followed_of(benchmark: Benchmark, number: UUID | str) -> FollowedAddress:
    """The address of this number that the benchmark follows.

    Args:
        benchmark: that follows it.
        number: as the address has it, or as a form sent it.

    Raises:
        Http404: there is none.
    """
    try:
        uuid = UUID(str(number))
    except ValueError:
        uuid = UUID(int=0)
    followed = FollowedAddress.objects.select_related("benchmark").filter(benchmark=benchmark, uuid=uuid).first()
    if followed is None:
        raise Http404(gettext("This benchmark follows no URL of this number."))
    return followed


def all_followed(benchmark: Benchmark) -> list[tuple[FollowedAddress, list[Fetch]]]:
    """The addresses that the benchmark follows, each with its last fetches, newest first."""
    rows = FollowedAddress.objects.select_related("author").filter(benchmark=benchmark)
    return [(followed, fetches_of(followed)) for followed in rows]


def fetches_of(followed: FollowedAddress) -> list[Fetch]:
    """The last attempts to fetch from one address, newest first; `draft_owner` says whose draft waits."""
    waiting = Draft.objects.filter(uuid=OuterRef("draft_uuid"), expires_at__gt=timezone.now())
    rows = Fetch.objects.filter(followed=followed).annotate(draft_owner=Subquery(waiting.values("owner")))
    return list(rows.order_by("-pk")[:SHOWN_FETCHES])
