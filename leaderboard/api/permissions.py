"""What a token may do: its scopes. What its user may do to a benchmark is for `selectors.audience` to say."""

from typing import Any

from rest_framework.permissions import BasePermission

from leaderboard.api.problems import ApiError
from leaderboard.models import ApiToken


class HasScope(BasePermission):
    """The token has one of the scopes that the view names; without a token, only reading is open."""

    def has_permission(self, request: Any, view: Any) -> bool:  # noqa: ANN401
        """Whether the request may go on; False leads to a 401.

        Raises:
            ApiError: the token lacks the scope.
        """
        wanted = view.scopes.get(request.method, (ApiToken.Scope.READ,))
        if request.auth is None:
            return request.method in {"GET", "HEAD"} or getattr(view, "reads_by_post", False)
        if not set(wanted) & set(request.auth.scopes):
            names = " or ".join(f"`{scope}`" for scope in wanted)
            message = f"The token {request.auth.name!r} lacks the scope {names} that this needs."
            raise ApiError(403, message, code="insufficient_scope")
        return True
