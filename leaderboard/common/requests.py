"""Who is asking."""

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from leaderboard.models import User


def signed_in(request: HttpRequest) -> User:
    """The user who signed in.

    Raises:
        PermissionDenied: no one did.
    """
    if not isinstance(request.user, User):
        raise PermissionDenied("Sign in first.")
    return request.user
