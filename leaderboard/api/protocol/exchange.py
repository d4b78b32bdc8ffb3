"""What holds for every exchange with the API: who is counted, what other sites may read, what the headers say."""

from typing import Any, ClassVar

from django.http import HttpResponse, HttpResponseBase
from rest_framework.exceptions import Throttled
from rest_framework.request import Request
from rest_framework.views import APIView

from leaderboard.api.protocol.access import AddressThrottle
from leaderboard.api.protocol.parameters import require_known, stated_parameters

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
        self.counts: list[Any] = []
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

    def _count(self, throttle: Any, request: Request) -> None:  # noqa: ANN401
        is_allowed = throttle.allow_request(request, self)
        if hasattr(throttle, "history"):  # it counts this kind of request
            self.counts.append(throttle)
        if is_allowed:
            return
        wait = throttle.wait()
        error = Throttled(wait)
        again = f"try again in {max(1, round(wait))} s" if wait else "try again later"
        what = throttle.scope.replace("_", " ")
        error.detail = f"Too many requests: {throttle.rate} are allowed by {what}; {again}."  # type: ignore[assignment]
        raise error

    def finalize_response(self, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """Say how many requests are left, and to whom the answer is open."""
        answer = super().finalize_response(request, response, *args, **kwargs)
        if self.counts:
            # As draft-ietf-httpapi-ratelimit-headers has them: q requests in w seconds, r are left, and a place is free
            # again in t seconds.
            policies, states = [], []
            for one in self.counts:
                seconds = one.duration - (one.now - one.history[-1]) if one.history else one.duration
                policies.append(f'"{one.scope}";q={one.num_requests};w={one.duration}')
                states.append(
                    f'"{one.scope}";r={max(0, one.num_requests - len(one.history))};t={max(0, round(seconds))}'
                )
            answer["RateLimit-Policy"], answer["RateLimit"] = ", ".join(policies), ", ".join(states)
        following = response.data.get("next") if isinstance(getattr(response, "data", None), dict) else None
        if following and len(following) <= MOST_OF_LINK:
            answer["Link"] = f'<{following}>; rel="next"'
        is_open = self.is_for_other_sites and request.method in READS and "HTTP_AUTHORIZATION" not in request.META
        if is_open and not answer.cookies:
            answer["Access-Control-Allow-Origin"] = "*"
            answer["Access-Control-Expose-Headers"] = READ_HEADERS
        return answer
