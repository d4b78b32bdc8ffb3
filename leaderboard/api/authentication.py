"""Who is asking: `Authorization: Token ...`. Sessions and cookies count for nothing here."""

from typing import Any

from knox.auth import TokenAuthentication as KnoxAuthentication
from rest_framework.exceptions import AuthenticationFailed, Throttled

from leaderboard.models import ApiToken, User
from leaderboard.services.attempts import TooManyAttemptsError, client_address, require_attempt_left, take_attempt
from leaderboard.services.tokens import find_token, is_expired, note_use


class TokenAuthentication(KnoxAuthentication):
    """Knox's header with this site's tokens. A header of another kind is an error, never an anonymous request."""

    def authenticate(self, request: Any) -> tuple[User, ApiToken] | None:  # noqa: ANN401
        """Find the user and the token of the request; None where it has no such header."""
        header = request.META.get("HTTP_AUTHORIZATION", "")
        if not header:
            return None
        kind, _, secret = header.partition(" ")
        if kind.lower() != "token" or not secret.strip():
            raise AuthenticationFailed("Write the header as `Authorization: Token <secret>`.", "invalid_header")
        address = client_address(request)
        try:
            require_attempt_left("token", address=address)
            return self._counted(secret.strip(), address)
        except TooManyAttemptsError as error:
            refused = Throttled(error.seconds)
            refused.detail = str(error)  # type: ignore[assignment]
            raise refused from error

    def _counted(self, secret: str, address: str) -> tuple[User, ApiToken]:
        """Find who it is; a secret that nobody has counts against the address."""
        try:
            return self.authenticate_credentials(secret)
        except AuthenticationFailed as error:
            if error.get_codes() == "invalid_token":
                take_attempt("token", address=address)
            raise

    def authenticate_credentials(self, token: str) -> tuple[User, ApiToken]:
        """Find the user and the token of a secret.

        Raises:
            AuthenticationFailed: there is no such token, its time is over, or its user is not active.
        """
        found = find_token(token) if token.isascii() else None
        if found is None or not found.user.is_active:
            raise AuthenticationFailed("There is no such token; it may have been revoked.", "invalid_token")
        if is_expired(found):
            raise AuthenticationFailed(f"The token {found.name!r} has expired; make a new one.", "token_expired")
        note_use(found)
        return found.user, found
