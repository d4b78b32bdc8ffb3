"""How often a reader may have something computed on demand by a page; counted together with their calls of the API."""

from django.conf import settings
from django.http import HttpRequest
from rest_framework.throttling import SimpleRateThrottle


class _Allowance(SimpleRateThrottle):
    scope = "on_demand"

    def get_rate(self) -> str | None:
        return settings.API_RATES[str(self.scope)]

    def get_cache_key(self, request: HttpRequest, view: object) -> str:
        is_known = request.user.is_authenticated
        ident = f"user-{request.user.pk}" if is_known else f"address-{self.get_ident(request)}"  # type: ignore[arg-type]
        return f"throttle:{self.scope}:{ident}"


def may_ask(request: HttpRequest) -> bool:
    """Count the request; False where this reader asked too often of late."""
    return _Allowance().allow_request(request, None)  # type: ignore[arg-type]
