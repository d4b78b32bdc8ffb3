"""How often a reader may have something computed on demand by a page; counted together with their calls of the API."""

from django.conf import settings
from django.http import HttpRequest
from rest_framework.throttling import SimpleRateThrottle

from leaderboard.services.attempts import client_address


class _Allowance(SimpleRateThrottle):
    def __init__(self, scope: str) -> None:
        self.scope = scope
        super().__init__()

    def get_rate(self) -> str | None:
        return settings.API_RATES[str(self.scope)]

    def get_cache_key(self, request: HttpRequest, view: object) -> str:
        is_known = request.user.is_authenticated
        ident = f"user-{request.user.pk}" if is_known else f"address-{client_address(request)}"
        return f"throttle:{self.scope}:{ident}"


def may_ask(request: HttpRequest, scope: str = "on_demand") -> bool:
    """Count the request; False where this reader asked too often of late. `scope` is a key of `API_RATES`."""
    return _Allowance(scope).allow_request(request, None)  # type: ignore[arg-type]
