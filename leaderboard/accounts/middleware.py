"""Who is signed in, with what every page says of them, in one query."""

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare
from django.utils.functional import SimpleLazyObject

from leaderboard.access.audience import Viewer
from leaderboard.common.prepared import PreparedQuery
from leaderboard.models import User
from leaderboard.notifications.queries import unread_count

_NUMBER = -1  # in the place of the number of an account, which is never negative
_ACCOUNT = PreparedQuery(
    lambda: User.objects.filter(pk=_NUMBER, is_active=True).annotate(n_unread_notices=unread_count())
)


class AccountMiddleware(AuthenticationMiddleware):
    """Django's own, but the account comes with the number of its unread notices."""

    def process_request(self, request: HttpRequest) -> None:
        """Let the request know its user, who is read when someone asks for them."""
        super().process_request(request)
        request.user = SimpleLazyObject(lambda: account_of(request))  # type: ignore[assignment]


def account_of(request: HttpRequest) -> Viewer:
    """Whose session this is, with `n_unread_notices`. Whatever is not as usual about a session is left to Django."""
    number, session_hash, backend = map(request.session.get, (SESSION_KEY, HASH_SESSION_KEY, BACKEND_SESSION_KEY))
    if number and session_hash and backend in settings.AUTHENTICATION_BACKENDS:
        user = _ACCOUNT.first({_NUMBER: number})
        if user is not None:
            present = user.get_session_auth_hash()
            if constant_time_compare(session_hash, present):
                return user
            former = user.get_session_auth_fallback_hash()
            if any(constant_time_compare(session_hash, each) for each in former):
                # It knew a former secret key. Django would give it another name: other requests that come at the same
                # moment would be signed out, and the browser would no longer be in the list of its owner.
                request.session[HASH_SESSION_KEY] = present
                return user
    return get_user(request)
