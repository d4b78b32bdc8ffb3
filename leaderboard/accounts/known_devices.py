"""Browsers in which a user signed in before, so that strangers who guess passwords do not lock the user out.

Wrong passwords are counted by account. If strangers' guesses counted for everyone, anyone who knows an address could
keep its owner out. So a browser that an account was signed in with gets a cookie, and guesses from it are counted by
themselves: strangers do not use them up, and a stolen browser has no more of them than a stranger has.
The cookie names accounts by keyed hashes and is signed; the server stores nothing of it.
"""

import secrets

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import salted_hmac

from leaderboard.models import User

SALT = "plurank.known-device"
MAX_ACCOUNTS = 5  # of one browser, the last ones
KEPT_SECONDS = 365 * 86_400


def remember_device(request: HttpRequest, response: HttpResponse, user: User) -> None:
    """Have the browser say, from now on, that this account was signed in with it."""
    known = _known(request)
    number = known.pop(_hash(user), None) or secrets.token_urlsafe(12)
    kept = dict([*known.items(), (_hash(user), number)][-MAX_ACCOUNTS:])
    response.set_cookie(
        settings.DEVICE_COOKIE_NAME,
        signing.dumps(kept, salt=SALT),
        max_age=KEPT_SECONDS,
        path=settings.DEVICE_COOKIE_PATH,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def counted_account(request: HttpRequest, email: str) -> str:
    """Under what name wrong passwords of an account count that come from this browser.

    Args:
        request: of someone who tries to sign in.
        email: what they typed, in lower case.

    Returns:
        The address itself, for all browsers that the account was not signed in with; else one of this browser's own.
    """
    known = _known(request)
    if not known:  # of most who come: then nothing is looked up
        return email
    user = User.objects.filter(email=email).first()
    number = known.get(_hash(user)) if user else None
    return f"{email} {number}" if number else email


def _known(request: HttpRequest) -> dict[str, str]:
    try:
        devices = signing.loads(request.COOKIES.get(settings.DEVICE_COOKIE_NAME, ""), salt=SALT, max_age=KEPT_SECONDS)
    except signing.BadSignature:
        return {}
    return devices if isinstance(devices, dict) else {}


def _hash(user: User) -> str:
    """Of the account, and of how often its owner ended all sessions: that forgets browsers too."""
    return salted_hmac(SALT, f"{user.pk} {user.session_generation}", algorithm="sha256").hexdigest()[:16]
