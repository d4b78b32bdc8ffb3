"""What holds for every exchange with the API: who is counted, what other sites may read, what the headers say."""

import math
from typing import Any, ClassVar

from django.http import HttpResponse, HttpResponseBase
from rest_framework.exceptions import Throttled
from rest_framework.request import Request
from rest_framework.views import APIView

from leaderboard.api.protocol.access import AddressThrottle
from leaderboard.api.protocol.parameters import require_known, stated_parameters
from leaderboard.on_demand.allowance import Rate

READS = ("GET", "HEAD")
# Which headers a script of another site may send beside the few that it always may, and which of an answer it may read.
SENT_HEADERS = "Accept, If-None-Match, X-Request-ID"
READ_HEADERS = "Deprecation, ETag, Link, RateLimit, RateLimit-Policy, Retry-After, X-Request-ID"
PREFLIGHT_SECONDS = 86_400
MOST_OF_LINK = 1_500  # characters of an address in a header: proxies refuse answers whose headers are longer than 4 KiB


class Exchange(APIView):
    """A view whose requests are counted and whose answers say so, open to scripts of other sites where it is public."""

    # Whether scripts of other sites may read what everyone may read without a token. No view that looks at a session
    # may say so.
    is_for_other_sites: ClassVar[bool] = True

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:  # noqa: ANN401
        """What a browser asks before a script of another site may read is answered alike for whatever there is."""
        self.counts: list[Rate] = []
        methods = self.allowed_methods
        if request.method != "OPTIONS" or not methods:
            return super().dispatch(request, *args, **kwargs)
        response = HttpResponse(status=204, headers={"Allow": ", ".join(methods)})
        if self.is_for_other_sites and "GET" in methods:
            response["Access-Control-Allow-Origin"] = "*"
            response["Access-Control-Allow-Methods"] = ", ".join(READS)
            response["Access-Control-Allow-Headers"] = SENT_HEADERS
            response["Access-Control-Max-Age"] = str(PREFLIGHT_SECONDS)
        return response

    def initial(self, request: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Who asks, what for and how often, then whether the address says anything that would be ignored."""
        super().initial(request, *args, **kwargs)
        if handler := getattr(self, str(request.method).lower(), None):
            require_known(request.query_params, self.known_parameters(getattr(handler, "__func__", handler)))

    def known_parameters(self, handler: Any) -> frozenset[str]:  # noqa: ANN401
        """The parameters that an address may have; those of the schema."""
        return stated_parameters(self, handler)

    def perform_authentication(self, request: Request) -> None:
        """Count the address first, so that guessing at tokens is counted too."""
        self._count(AddressThrottle(), request)
        super().perform_authentication(request)

    def check_throttles(self, request: Request) -> None:
        """Count the request for its user and its token."""
        for throttle in self.get_throttles():
            self._count(throttle, request)

    def _count(self, rate: Any, request: Request) -> None:  # noqa: ANN401
        is_allowed = rate.allow_request(request, self)
        if rate.taken:  # it counts this kind of request
            self.counts.append(rate)
        if is_allowed:
            return
        wait = max(1, math.ceil(rate.wait()))
        error = Throttled(wait)
        what = rate.scope.replace("_", " ")
        error.detail = f"Too many requests: {rate.rate} are allowed by {what}; try again in {wait} s."  # type: ignore[assignment]
        raise error

    def finalize_response(self, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """Say how many requests are left, and to whom the answer is open."""
        answer = super().finalize_response(request, response, *args, **kwargs)
        if self.counts:
            # As draft-ietf-httpapi-ratelimit-headers has them: q requests in w seconds, r are left, and a place is free
            # again in t seconds.
            policies, states = [], []
            for rate in self.counts:
                policies.append(f'"{rate.scope}";q={rate.num_requests};w={rate.duration}')
                states.append(f'"{rate.scope}";r={rate.n_left};t={max(0, round(rate.wait()))}')
            answer["RateLimit-Policy"], answer["RateLimit"] = ", ".join(policies), ", ".join(states)
        following = response.data.get("next") if isinstance(getattr(response, "data", None), dict) else None
        if following and len(following) <= MOST_OF_LINK:
            answer["Link"] = f'<{following}>; rel="next"'
        is_open = self.is_for_other_sites and request.method in READS and "HTTP_AUTHORIZATION" not in request.META
        if is_open and not answer.cookies:
            answer["Access-Control-Allow-Origin"] = "*"
            answer["Access-Control-Expose-Headers"] = READ_HEADERS
        return answer
