"""Who is asking, and how what they upload is kept meanwhile."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.files.uploadhandler import MemoryFileUploadHandler
from django.http import Http404, HttpRequest
from django.utils.translation import gettext

from leaderboard.models import User


class DeadLinkError(Http404):
    """A link leads to nothing, or no longer. The page shows the text. Of a secret link it is true if that never led
    anywhere, too, so that it tells no one whether there was such a link.
    """


def signed_in(request: HttpRequest) -> User:
    """The user who signed in.

    Raises:
        PermissionDenied: no one did.
    """
    if not isinstance(request.user, User):
        raise PermissionDenied(gettext("Sign in first."))
    return request.user


class InMemoryUpload(MemoryFileUploadHandler):
    """Keeps files in memory whatever their size, which is bounded before: none is ever written to a disk."""

    def handle_raw_input(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Take every file, whatever its size."""
        self.activated = True
