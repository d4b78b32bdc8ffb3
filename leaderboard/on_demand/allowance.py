"""The rate of on-demand computations per reader; pages and API calls share one count."""

import math

from django.conf import settings
from django.http import HttpRequest
from rest_framework.throttling import SimpleRateThrottle

from leaderboard.common.limits import client_address
from leaderboard.on_demand.budget import reader_now


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


def seconds_to_wait(request: HttpRequest, scope: str = "on_demand") -> int:
    """Count the request; the seconds until this reader may ask again where they asked too often of late, else 0.

    `scope` is a key of `API_RATES`.
    """
    allowance = _Allowance(scope)
    if allowance.allow_request(request, None):  # type: ignore[arg-type]
        return 0
    return max(1, math.ceil(allowance.wait() or 1))


def may_ask(request: HttpRequest, scope: str = "on_demand") -> bool:
    """Count the request, whatever of it is computed; False where this reader asked too often of late."""
    if reader := reader_now():
        reader.is_counted = True
    return not seconds_to_wait(request, scope)
