"""What holds for every request: an id for the logs, a line about how it ended, and headers that Django has none for."""

import logging
import re
import time
import uuid
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from config.logs import logged_as

logger = logging.getLogger("plurank.requests")
_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
_QUIET = {"healthz", "readyz", "metrics"}  # asked every few seconds by programs


class RequestMiddleware:
    """Numbers requests and logs them by the name of their route.

    Never by their address: that of an invitation or of a link in a mail is a secret, and a query says what somebody
    looked for. An id that a proxy in front sent as `X-Request-ID` is kept and sent back.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The answer, with its headers."""
        given = request.headers.get("X-Request-ID", "")
        is_known = bool(_ID.fullmatch(given))
        began = time.monotonic()
        with logged_as(request=given if is_known else uuid.uuid4().hex):
            response = self.get_response(request)
            self._log(request, response, time.monotonic() - began)
        if is_known:
            response["X-Request-ID"] = given
        response.setdefault("Permissions-Policy", settings.PERMISSIONS_POLICY)
        return response

    @staticmethod
    def _log(request: HttpRequest, response: HttpResponseBase, seconds: float) -> None:
        match = request.resolver_match
        route = match.view_name if match else "none"
        level = logging.DEBUG if route in _QUIET else logging.INFO
        facts = {"method": request.method, "route": route, "status": response.status_code, "ms": round(1000 * seconds)}
        if logger.isEnabledFor(level):
            told = f"{facts['method']} {route} {response.status_code} in {facts['ms']} ms"
            logger.log(level, told, extra=facts)
