"""For every request: an id for the logs, a log line with its result, and headers that Django does not set."""

import logging
import re
import time
import uuid
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from config.monitoring.logs import logged_as
from config.monitoring.meters import count_request

logger = logging.getLogger("plurank.requests")
_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
_QUIET = {"healthz", "readyz", "metrics"}  # asked every few seconds by programs


class RequestMiddleware:
    """Numbers requests and logs them by the name of their route.

    Never by their address: that of an invitation or of a link in a mail is a secret, and a query says what someone
    looked for. An id that a proxy in front sent as `X-Request-ID` is kept. Every answer says its id, and the jobs that
    the request causes carry it, too.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The answer, with its headers."""
        given = request.headers.get("X-Request-ID", "")
        request_id = given if _ID.fullmatch(given) else uuid.uuid4().hex
        began = time.monotonic()
        with logged_as(request=request_id):
            response = self.get_response(request)
            seconds = time.monotonic() - began
            route = request.resolver_match.view_name if request.resolver_match else "none"
            level = logging.DEBUG if route in _QUIET else logging.INFO
            if logger.isEnabledFor(level):
                ms = round(1000 * seconds)
                line = f"{request.method} {route} {response.status_code} in {ms} ms"
                facts = {"method": request.method, "route": route, "status": response.status_code, "ms": ms}
                logger.log(level, line, extra=facts)
        count_request(request, response.status_code, seconds)
        response["X-Request-ID"] = request_id
        response.setdefault("Permissions-Policy", settings.PERMISSIONS_POLICY)
        return response
