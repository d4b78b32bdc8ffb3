"""What every template receives."""

from functools import cache, partial

from django.conf import settings
from django.http import HttpRequest
from django.utils.http import urlencode

from leaderboard.common.site_address import site_address
from leaderboard.models import User
from leaderboard.notifications.queries import count_unread

ENTRANCE = "/account/"
# The names of the pages of an account, for the navigation.
ACCOUNT_PAGES = frozenset({
    "account_email", "account_change_password", "tokens", "sessions", "notices", "notice_choices", "mfa_index",
})  # fmt: skip

MAX_WAY_BACK = 1000  # characters of an address that signing in or signing up leads back to


def site(request: HttpRequest) -> dict[str, object]:
    """The site's own facts: its version and the engine's, and how many notices wait, asked for where it is shown."""
    facts: dict[str, object] = {
        "plurank_version": settings.PLURANK_VERSION,
        "engine_version": settings.ENGINE_VERSION,
        "account_pages": ACCOUNT_PAGES,
        "page_url": site_address(request.path),
    }
    user = getattr(request, "user", None)
    if isinstance(user, User):
        # The account of a session comes with it (`accounts/middleware.py`).
        facts["n_unread_notices"] = getattr(user, "n_unread_notices", cache(partial(count_unread, user)))
    elif request.method in ("GET", "HEAD"):
        # Sign-in and sign-up lead back to this page; their own pages pass on what they were given. allauth leads to
        # addresses of this site alone.
        is_entrance = request.path_info.startswith(ENTRANCE)
        page = request.GET.get("next", "") if is_entrance else request.get_full_path()
        if page not in ("", "/") and len(page) <= MAX_WAY_BACK:
            facts["way_back"] = f"?{urlencode({'next': page})}"
    return facts
