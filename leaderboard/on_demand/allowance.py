"""How often someone may ask. Pages and API calls share the count of what is computed on demand."""

import math
from typing import Any, cast

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from rest_framework.throttling import SimpleRateThrottle

from config.backends.cache import CountedMemoryCache, CountingRedisCache, Taken
from leaderboard.common.limits import client_address
from leaderboard.on_demand.budget import reader_now

counting = cast("CountedMemoryCache | CountingRedisCache", cache)  # which of them, the settings say


class Rate(SimpleRateThrottle):
    """A rate that several requests at the same moment do not exceed: looking and counting are one step of the cache."""

    num_requests: int
    duration: int
    taken: Taken | None = None  # for the request, where it is counted

    def get_rate(self) -> str | None:
        """The rate of this scope, read at each request so that settings may change."""
        return settings.API_RATES[str(self.scope)]

    def allow_request(self, request: Any, view: Any) -> bool:  # noqa: ANN401
        """Count the request, unless there were too many of late."""
        key = self.get_cache_key(request, view)
        if key is None:
            return True
        self.taken = counting.take(key, self.num_requests, self.duration)
        return self.taken.is_allowed

    def wait(self) -> float:
        """The seconds until the first of the requests that count does so no more."""
        return self.taken.seconds if self.taken else 0.0

    @property
    def n_left(self) -> int:
        """How many more requests there is room for now."""
        return max(0, self.num_requests - self.taken.n) if self.taken else self.num_requests


class _Allowance(Rate):
    def __init__(self, scope: str) -> None:
        self.scope = scope
        super().__init__()

    def get_cache_key(self, request: HttpRequest, view: object) -> str:
        is_known = request.user.is_authenticated
        ident = f"user-{request.user.pk}" if is_known else f"address-{client_address(request)}"
        return f"rate:{self.scope}:{ident}"


def seconds_to_wait(request: HttpRequest, scope: str = "on_demand") -> int:
    """Count the request; the seconds until this reader may ask again where they asked too often of late, else 0.

    `scope` is a key of `API_RATES`.
    """
    allowance = _Allowance(scope)
    return 0 if allowance.allow_request(request, None) else max(1, math.ceil(allowance.wait()))


def may_ask(request: HttpRequest, scope: str = "on_demand") -> bool:
    """Count the request, whatever of it is computed; False where this reader asked too often of late."""
    if reader := reader_now():
        reader.is_counted = True
    return not seconds_to_wait(request, scope)
