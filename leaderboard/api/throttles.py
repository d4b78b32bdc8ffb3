"""How often one may ask. The rates stand in the settings, the counts in the cache."""

from typing import Any, ClassVar

from django.conf import settings
from rest_framework.throttling import SimpleRateThrottle

from leaderboard.services.attempts import client_address
from leaderboard.services.on_demand import reader_now


class _Throttle(SimpleRateThrottle):
    """Counts by what `ident_of` says; None is not counted."""

    def get_ident(self, request: Any) -> str:  # noqa: ANN401
        """The address that asks, as every limit of this site sees it."""
        return client_address(request)

    def get_rate(self) -> str | None:
        """The rate of this scope, read at each request so that settings may change."""
        return settings.API_RATES[str(self.scope)]

    def get_cache_key(self, request: Any, view: Any) -> str | None:  # noqa: ANN401
        """Where the count is kept."""
        ident = self.ident_of(request)
        return None if ident is None else f"throttle:{self.scope}:{ident}"

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


class OnDemandThrottle(_ByWhom):
    """What is computed when asked for: another missing-score policy or aggregation, a dry run."""

    scope = "on_demand"
    parameters: ClassVar[tuple[str, ...]] = (
        "missing", "aggregation", "weights", "group_weights", "dry_run", "policy", "ties",
    )  # fmt: skip

    def allow_request(self, request: Any, view: Any) -> bool:  # noqa: ANN401
        """Count the request here, and not once more where something is computed for it."""
        if (reader := reader_now()) and self.ident_of(request) is not None:
            reader.is_counted = True
        return super().allow_request(request, view)

    def ident_of(self, request: Any) -> str | None:  # noqa: ANN401
        """Who asks, where they ask for something that is not stored."""
        is_asked = any(request.query_params.get(name) for name in self.parameters)
        is_asked = is_asked or getattr(request.parser_context["view"], "is_on_demand", False)
        asks_by_post = request.method == "POST" and getattr(request.parser_context["view"], "reads_by_post", False)
        return super().ident_of(request) if is_asked or asks_by_post else None


class WriteThrottle(_ByWhom):
    """Whatever changes something."""

    scope = "write"

    def ident_of(self, request: Any) -> str | None:  # noqa: ANN401
        """Who writes."""
        reads = request.method in {"GET", "HEAD"} or getattr(request.parser_context["view"], "reads_by_post", False)
        return None if reads else super().ident_of(request)
