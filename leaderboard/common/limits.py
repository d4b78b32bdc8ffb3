"""Rate limits: failures counted by account and by IP address in the database, so that a restart does not reset them.

A count begins with the first failure and ends some minutes later. Taking an attempt is one conditional UPDATE; no one
gets more of them by trying at the very same time.
"""

import ipaddress
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext, gettext_noop, ngettext

from leaderboard.common.prepared import PreparedQuery
from leaderboard.models import AttemptCount

NAMES = {
    "login": gettext_noop("failed login attempts"),
    "code": gettext_noop("wrong codes"),
    "reset": gettext_noop("requests for a link"),
    "token": gettext_noop("requests with tokens that do not exist"),
    "join": gettext_noop("invitations that do not exist"),
    "other_site": gettext_noop("sign-ins by another site"),
}
MAX_ADDRESS_LENGTH = 64


class TooManyAttemptsError(Exception):
    """There were too many attempts; the message says when there may be another."""

    def __init__(self, kind: str, until: datetime) -> None:
        self.until = until
        self.seconds = max(1, round((until - timezone.now()).total_seconds()))
        minutes = max(1, -(-self.seconds // 60))
        at = f"{until:%H:%M}" if self.seconds < 24 * 3600 else f"{until:%Y-%m-%d %H:%M}"
        super().__init__(
            ngettext(
                "Too many %(attempts)s. Try again in %(minutes)s minute, at %(time)s UTC.",
                "Too many %(attempts)s. Try again in %(minutes)s minutes, at %(time)s UTC.",
                minutes,
            )
            % {"attempts": gettext(NAMES[kind]), "minutes": minutes, "time": at}
        )


def client_address(request: HttpRequest) -> str:
    """The address that asks: what the outermost of our own proxies saw, else the other end of the connection.

    Of X-Forwarded-For only the entries that `settings.PROXIES` proxies added count; whatever a client wrote is
    before them. Addresses of IPv6 are cut to the network of one household (/64), which has more of them than can be
    counted.
    """
    seen = request.META.get("REMOTE_ADDR") or ""
    hops = [hop.strip() for hop in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",") if hop.strip()]
    if settings.PROXIES and hops:
        seen = hops[-min(settings.PROXIES, len(hops))]
    try:
        address = ipaddress.ip_address(seen)
    except ValueError:
        return seen[:MAX_ADDRESS_LENGTH]
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return str(address.ipv4_mapped)
        return str(ipaddress.IPv6Network((int(address), 64), strict=False).network_address)
    return str(address)


@contextmanager
def attempt(kind: str, **whose: str) -> Iterator[None]:
    """Count what is done inside, unless it ends well.

    Args:
        kind: at what, a key of `settings.ATTEMPTS`.
        whose: `account` and `address` of who tries, as far as they are known.

    Raises:
        TooManyAttemptsError: they have to wait.
    """
    take_attempt(kind, **whose)
    yield
    give_back_attempt(kind, **whose)


@transaction.atomic
def take_attempt(kind: str, **whose: str) -> None:
    """Count an attempt, for the account and for the address, or for neither.

    Raises:
        TooManyAttemptsError: they have to wait.
    """
    require_attempt_left(kind, **whose)
    now = timezone.now()
    for of, (most, seconds) in settings.ATTEMPTS[kind].items():
        if of not in whose:
            continue
        hashed, ends_at = _hash(of, whose[of]), now + timedelta(seconds=seconds)
        rows = AttemptCount.objects.filter(kind=kind, whose=hashed)
        left = rows.filter(ends_at__gt=now, n_attempts__lt=most)
        if left.update(n_attempts=F("n_attempts") + 1):
            continue
        if rows.filter(ends_at__lte=now).update(n_attempts=1, ends_at=ends_at):
            continue
        try:
            with transaction.atomic():
                AttemptCount.objects.create(kind=kind, whose=hashed, ends_at=ends_at)
        except IntegrityError as error:  # there is one, made in this moment or used up
            if not left.update(n_attempts=F("n_attempts") + 1):
                raise TooManyAttemptsError(kind, rows.values_list("ends_at", flat=True).get()) from error


_KIND, _WHOSE = "kind?", "whose?"  # in the place of both
_COUNTS = PreparedQuery(lambda: AttemptCount.objects.filter(kind=_KIND, whose=_WHOSE))


def require_attempt_left(kind: str, **whose: str) -> None:
    """Only look whether there is an attempt left; what is refused writes nothing.

    Raises:
        TooManyAttemptsError: they have to wait.
    """
    now = timezone.now()
    for of, (most, _) in settings.ATTEMPTS[kind].items():
        if of in whose:
            count = _COUNTS.first({_KIND: kind, _WHOSE: _hash(of, whose[of])})
            if count and count.ends_at > now and count.n_attempts >= most:
                raise TooManyAttemptsError(kind, count.ends_at)


def give_back_attempt(kind: str, **whose: str) -> None:
    """Remove one successful attempt from the count. Failed ones still count: successes in between hide none."""
    for of in settings.ATTEMPTS[kind].keys() & whose.keys():
        rows = AttemptCount.objects.filter(kind=kind, whose=_hash(of, whose[of]), n_attempts__gt=0)
        rows.update(n_attempts=F("n_attempts") - 1)


def forget_attempts(kind: str, **whose: str) -> None:
    """Forget what failed: who proved to be the owner of an account in another way starts again."""
    for of in settings.ATTEMPTS[kind].keys() & whose.keys():
        AttemptCount.objects.filter(kind=kind, whose=_hash(of, whose[of])).delete()


def _hash(of: str, value: str) -> str:
    return salted_hmac(f"plurank.attempts.{of}", value.casefold(), algorithm="sha256").hexdigest()


def too_many_attempts(request: HttpRequest, error: TooManyAttemptsError) -> HttpResponse:
    """The page that says when to try again, and the same for programs."""
    response = render(request, "429.html", {"message": str(error)}, status=429)
    response["Retry-After"] = str(error.seconds)
    return response
