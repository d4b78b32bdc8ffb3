"""Who asks (`Authorization: Bearer ...`, no session, no cookie), what the token is good for, and how often."""

from typing import Any, ClassVar

from knox.auth import TokenAuthentication as KnoxAuthentication
from rest_framework.exceptions import AuthenticationFailed, Throttled
from rest_framework.permissions import BasePermission

from leaderboard.accounts.tokens import find_token, is_expired, note_use
from leaderboard.api.protocol.problems import ApiError
from leaderboard.common.limits import TooManyAttemptsError, client_address, require_attempt_left, take_attempt
from leaderboard.models import ApiToken, User
from leaderboard.on_demand.allowance import Rate
from leaderboard.on_demand.budget import reader_now

KINDS = ("bearer", "token")


class TokenAuthentication(KnoxAuthentication):
    """Knox's header with this site's tokens. A header of another kind is an error, never an anonymous request."""

    def authenticate_header(self, request: Any) -> str:  # noqa: ANN401
        """The scheme that a 401 asks for."""
        return "Bearer"

    def authenticate(self, request: Any) -> tuple[User, ApiToken] | None:  # noqa: ANN401
        """Find the user and the token of the request; None where it has no such header."""
        header = request.META.get("HTTP_AUTHORIZATION", "")
        if not header:
            return None
        kind, _, secret = header.partition(" ")
        if kind.lower() not in KINDS or not secret.strip():
            raise AuthenticationFailed("Write the header as `Authorization: Bearer <secret>`.", "invalid_header")
        address = client_address(request)
        try:
            require_attempt_left("token", address=address)
            try:
                return self.authenticate_credentials(secret.strip())
            except AuthenticationFailed as error:
                if error.get_codes() == "invalid_token":  # a secret that no one has counts against the address
                    take_attempt("token", address=address)
                raise
        except TooManyAttemptsError as error:
            refused = Throttled(error.seconds)
            refused.detail = str(error)  # type: ignore[assignment]
            raise refused from error

    def authenticate_credentials(self, token: str) -> tuple[User, ApiToken]:
        """Find the user and the token of a secret.

        Raises:
            AuthenticationFailed: there is no such token, its time is over, or its user is not active.
        """
        row = find_token(token) if token.isascii() else None
        if row is None or not row.user.is_active:
            raise AuthenticationFailed("There is no such token; it may have been revoked.", "invalid_token")
        if is_expired(row):
            raise AuthenticationFailed(f"The token {row.name!r} has expired; make a new one.", "token_expired")
        note_use(row)
        return row.user, row


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


class _Throttle(Rate):
    """Counts by what `ident_of` says; None is not counted."""

    def get_ident(self, request: Any) -> str:  # noqa: ANN401
        """The address that asks, as every limit of this site sees it."""
        return client_address(request)

    def get_cache_key(self, request: Any, view: Any) -> str | None:  # noqa: ANN401
        """Where the count is kept."""
        ident = self.ident_of(request)
        return None if ident is None else f"rate:{self.scope}:{ident}"

    def ident_of(self, request: Any) -> str | None:  # noqa: ANN401
        """Whose requests are counted together."""
        raise NotImplementedError


class AddressThrottle(_Throttle):
    """Every request from one address, counted before anything is asked of the database."""

    scope = "address"

    def ident_of(self, request: Any) -> str | None:  # noqa: ANN401
        """The address."""
        return self.get_ident(request)


class UserThrottle(_Throttle):
    """Every request of one user, by whichever token."""

    scope = "user"

    def ident_of(self, request: Any) -> str | None:  # noqa: ANN401
        """The user."""
        return str(request.user.pk) if request.user.is_authenticated else None


class TokenThrottle(_Throttle):
    """Every request with one token."""

    scope = "token"

    def ident_of(self, request: Any) -> str | None:  # noqa: ANN401
        """The token."""
        return request.auth.digest if request.auth else None


class _ByWhom(_Throttle):
    def ident_of(self, request: Any) -> str | None:  # noqa: ANN401
        return f"user-{request.user.pk}" if request.user.is_authenticated else f"address-{self.get_ident(request)}"


class _Computing(_ByWhom):
    """What has something computed."""

    def allow_request(self, request: Any, view: Any) -> bool:  # noqa: ANN401
        """Count the request here, and not once more where something is computed for it."""
        if (reader := reader_now()) and self.ident_of(request) is not None:
            reader.is_counted = True
        return super().allow_request(request, view)


class OnDemandThrottle(_Computing):
    """What is computed when asked for: another missing-score policy or aggregation."""

    scope = "on_demand"
    parameters: ClassVar[tuple[str, ...]] = ("missing", "aggregation", "weights", "group_weights", "policy", "ties")
    formats: ClassVar[tuple[str, ...]] = ("eee",)  # an archive, which is packed for each answer

    def ident_of(self, request: Any) -> str | None:  # noqa: ANN401
        """Who asks, where they ask for something that is not stored."""
        is_on_demand = any(request.query_params.get(name) for name in self.parameters)
        is_on_demand = is_on_demand or request.query_params.get("format") in self.formats
        is_on_demand = is_on_demand or getattr(request.parser_context["view"], "is_on_demand", False)
        asks_by_post = request.method == "POST" and getattr(request.parser_context["view"], "reads_by_post", False)
        return super().ident_of(request) if is_on_demand or asks_by_post else None


class DryRunThrottle(_Computing):
    """Writes that are only tried: after trying a folder of files, you may still send as many."""

    scope = "dry_run"

    def ident_of(self, request: Any) -> str | None:  # noqa: ANN401
        """Who tries."""
        return super().ident_of(request) if _is_dry_run(request) else None


class WriteThrottle(_ByWhom):
    """Whatever changes something."""

    scope = "write"

    def ident_of(self, request: Any) -> str | None:  # noqa: ANN401
        """Who writes."""
        return super().ident_of(request) if _is_writing(request) and not _is_dry_run(request) else None


def _is_writing(request: Any) -> bool:  # noqa: ANN401
    reads_by_post = getattr(request.parser_context["view"], "reads_by_post", False)
    return request.method not in {"GET", "HEAD"} and not reads_by_post


def _is_dry_run(request: Any) -> bool:  # noqa: ANN401
    return _is_writing(request) and request.query_params.get("dry_run") == "true"


COUNTS: tuple[type[_Throttle], ...] = (
    AddressThrottle,
    UserThrottle,
    TokenThrottle,
    OnDemandThrottle,
    DryRunThrottle,
    WriteThrottle,
)
