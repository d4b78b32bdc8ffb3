"""What every template receives."""

from functools import cache, partial

from django.conf import settings
from django.http import HttpRequest

from leaderboard.models import User
from leaderboard.notifications.queries import count_unread

# The names of the pages of an account, for the navigation.
ACCOUNT_PAGES = frozenset({
    "account_email", "account_change_password", "tokens", "sessions", "notices", "notice_choices", "mfa_index",
})  # fmt: skip


def site(request: HttpRequest) -> dict[str, object]:
    """The site's own facts: its version and the engine's, and how many notices wait, asked for where it is shown."""
    facts: dict[str, object] = {
        "plurank_version": settings.PLURANK_VERSION,
        "engine_version": settings.ENGINE_VERSION,
        "account_pages": ACCOUNT_PAGES,
    }
    user = getattr(request, "user", None)
    if isinstance(user, User):
        # The account of a session comes with it (`accounts/middleware.py`).
        facts["n_unread_notices"] = getattr(user, "n_unread_notices", cache(partial(count_unread, user)))
    return facts
