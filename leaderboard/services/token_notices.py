"""Telling people that a token of theirs is about to expire, a week before and a day before."""

from datetime import timedelta

from django.urls import reverse
from django.utils import timezone

from leaderboard.models import ApiToken, NoticeKind
from leaderboard.moments import moment_in_words
from leaderboard.services.notices import tell
from leaderboard.services.tokens import SOON_DAYS

WARN_DAYS = (SOON_DAYS, 1)


def tell_of_expiring_tokens() -> int:
    """Warn the owners of tokens that expire soon, each once a week before and once a day before.

    Returns:
        How many warnings were written at most.
    """
    now = timezone.now()
    soon = ApiToken.objects.filter(expiry__gt=now, expiry__lte=now + timedelta(days=max(WARN_DAYS)))
    return sum(_warn(token) for token in soon.select_related("user").iterator(chunk_size=500))


def _warn(token: ApiToken) -> int:
    days = min(days for days in WARN_DAYS if token.expiry <= timezone.now() + timedelta(days=days))
    return tell(
        [token.user_id],
        NoticeKind.TOKEN,
        key=f"token {token.digest[:32]} {days}",
        text=f"Your API token “{token.name}” expires on {moment_in_words(token.expiry)}. "
        f"Programs that use it need a new one.",
        path=reverse("tokens"),
    )
