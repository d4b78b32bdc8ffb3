"""Addresses that a benchmark follows: added, changed, asked for now, deleted by its owners."""

import re
from datetime import timedelta
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from leaderboard.access.audit import changes_between, record_changes
from leaderboard.access.locks import lock_as_owner
from leaderboard.common.language.reasons import reason_in_page_language
from leaderboard.models import AuditEntry, Benchmark, Fetch, FollowedAddress, User
from leaderboard.notifications.posting import AddressError, read_address
from leaderboard.notifications.webhooks import address_without_secret
from leaderboard.submissions.problems import SubmissionError

MAX_FOLLOWED = 5  # addresses of a benchmark
LEAST_PAUSE = timedelta(minutes=1)  # between two fetches that people ask for
BOARD_PATH = re.compile(r"(?P<prefix>.*)/b/(?P<key>[a-z0-9]+(?:-[a-z0-9]+)*)(?:/.*)?")
Kind, Every = FollowedAddress.Kind, FollowedAddress.Every


class FollowingError(SubmissionError):
    """Something that cannot be done to a followed URL now; the message says why."""


def scores_address(address: str) -> str:
    """Where the API of a Plurank site has the scores of a board.

    Args:
        address: of the page of the board, or of a page below it.

    Raises:
        AddressError: it is no URL of a board.
    """
    parts = urlsplit(address)
    match = BOARD_PATH.fullmatch(parts.path)
    if match is None:
        raise AddressError("This is no URL of a board: it has /b/ and the key of the benchmark in it.")
    return f"{parts.scheme}://{parts.netloc}{match['prefix']}/api/v1/benchmarks/{match['key']}/scores/?format=csv&long=true"


@transaction.atomic
def follow_address(
    benchmark: Benchmark,
    *,
    author: User,
    address: str,
    kind: str,
    every_minutes: int,
    is_direct: bool = False,
    creates_systems: bool = False,
) -> FollowedAddress:
    """Have a benchmark follow an address; it is fetched for the first time within a second or so.

    Args:
        benchmark: that is to follow it.
        author: an owner, in whose name scores come in and whose choices for imports count.
        address: where the scores are.
        kind: a file, a list or a board.
        every_minutes: how often it is fetched.
        is_direct: whether changes join the board without a person.
        creates_systems: whether new systems may be among them.

    Raises:
        ValidationError: the address is none that is fetched, or there is no such kind or interval.
        FollowingError: there are too many.
    """
    try:
        read_address(scores_address(address) if kind == Kind.BOARD else address)
    except AddressError as error:
        raise ValidationError({"address": reason_in_page_language(str(error))}) from error
    if kind not in Kind.values:
        raise ValidationError({"kind": gettext("Choose one of %(values)s.") % {"values": ", ".join(Kind.values)}})
    _require_interval(every_minutes)
    lock_as_owner(benchmark.pk, author)
    if FollowedAddress.objects.filter(benchmark=benchmark).count() >= MAX_FOLLOWED:
        raise FollowingError(
            gettext("A benchmark can follow at most %(max_followed)s URLs; delete one first.")
            % {"max_followed": MAX_FOLLOWED}
        )
    followed = FollowedAddress.objects.create(
        benchmark=benchmark,
        author=author,
        address=address,
        kind=kind,
        every_minutes=every_minutes,
        is_direct=is_direct,
        creates_systems=creates_systems,
        next_at=timezone.now(),
    )
    _record(followed, {}, author)
    return followed


def _require_interval(every_minutes: int) -> None:
    if every_minutes not in Every.values:
        raise ValidationError(
            {
                "every_minutes": gettext("Choose one of %(values)s minutes.")
                % {"values": ", ".join(map(str, Every.values))}
            }
        )


@transaction.atomic
def change_followed(
    followed: FollowedAddress,
    *,
    author: User,
    is_active: bool | None = None,
    every_minutes: int | None = None,
    is_direct: bool | None = None,
    creates_systems: bool | None = None,
) -> FollowedAddress:
    """Switch an address on or off, or change how it is followed; what is None stays.

    Raises:
        ValidationError: there is no such interval.
    """
    lock_as_owner(followed.benchmark_id, author)
    before = _state(followed)
    if every_minutes is not None:
        _require_interval(every_minutes)
        followed.every_minutes = every_minutes
        followed.next_at = min(followed.next_at, timezone.now() + timedelta(minutes=every_minutes))
    if is_direct is not None:
        followed.is_direct = is_direct
    if creates_systems is not None:
        followed.creates_systems = creates_systems
    if is_active is not None:
        followed.is_active, followed.why_off = is_active, ""
        followed.n_failures, followed.failing_since = 0, None
        if is_active:  # from now on it is theirs, and ends with their role
            followed.author, followed.next_at = author, timezone.now()
    followed.save(
        update_fields=[
            "every_minutes", "next_at", "is_direct", "creates_systems", "is_active", "why_off", "n_failures",
            "failing_since", "author",
        ]
    )  # fmt: skip
    _record(followed, before, author)
    return followed


@transaction.atomic
def fetch_soon(followed: FollowedAddress, *, author: User) -> FollowedAddress:
    """Have an address fetched at once, whether it changed or not.

    Raises:
        FollowingError: it is off, or was fetched a moment ago.
    """
    lock_as_owner(followed.benchmark_id, author)
    if not followed.is_active:
        raise FollowingError(gettext("The URL is switched off; switch it on first."))
    now = timezone.now()
    if Fetch.objects.filter(followed=followed, at__gt=now - LEAST_PAUSE).exists():
        raise FollowingError(gettext("It was fetched less than a minute ago; wait a moment."))
    followed.is_asked_for, followed.next_at = True, now
    followed.save(update_fields=["is_asked_for", "next_at"])
    return followed


@transaction.atomic
def delete_followed(followed: FollowedAddress, *, author: User) -> None:
    """Follow a URL no more, and forget its history; scores that came from it stay."""
    lock_as_owner(followed.benchmark_id, author)
    changes = changes_between(AuditEntry.Subject.ADDRESS, str(followed.uuid), _state(followed), {})
    record_changes(followed.benchmark, changes, actor=author)
    followed.delete()


def _state(followed: FollowedAddress) -> dict[str, object]:
    return {
        "address": address_without_secret(followed.address),
        "kind": followed.kind,
        "minutes between fetches": followed.every_minutes,
        "accepted directly": followed.is_direct,
        "new systems": followed.creates_systems,
        "active": followed.is_active,
    }


def _record(followed: FollowedAddress, before: dict[str, object], author: User) -> None:
    changes = changes_between(AuditEntry.Subject.ADDRESS, str(followed.uuid), before, _state(followed))
    record_changes(followed.benchmark, changes, actor=author)
