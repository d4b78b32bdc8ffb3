"""The answer while the database cannot be written or reached: a 503 that says when to try again."""

import re
import threading
import time
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.template.loader import render_to_string

from leaderboard.common.busy import AWAY_SECONDS, RETRY_SECONDS, is_away, is_busy

SAFE = {"GET", "HEAD", "OPTIONS", "TRACE"}
STUCK_SECONDS = 3.0
# What changes nothing, and is sent because it does not fit into an address; computing has limits of its own.
READS_BY_POST = re.compile(r"/try/|/api/v1/benchmarks/[^/]+/rankings/.*")
API = "/api/"
TOO_MANY = "Too many requests are waiting for the database. Nothing was changed; try again."


class BusyMiddleware:
    """A page that could not reach or write the database becomes a 503 with `Retry-After`."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The request goes on."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """The 503; None for every other exception."""
        if is_busy(exception):
            return _come_again("503.html", RETRY_SECONDS)
        if is_away(exception):
            return _come_again("503_away.html", AWAY_SECONDS)
        return None


class WritesMiddleware:
    """Keeps threads free for readers while requests that change something wait, for a locked row or a database.

    At most `WRITES_AT_ONCE` of them go on at once in a process. A further one waits for its turn; where those under way
    are stuck it is told to try again, at once, so that it takes no thread either.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self._turn = threading.Condition()
        self._began: list[float] = []  # when those under way began, the oldest first

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The answer, or the 503."""
        if request.method in SAFE or READS_BY_POST.fullmatch(request.path_info):
            return self.get_response(request)
        began = self._take_turn()
        if began is None:
            if request.path_info.startswith(API):
                error = {"error": {"code": "busy", "message": TOO_MANY, "details": []}}
                response: HttpResponse = JsonResponse(error, status=503)
            else:
                response = HttpResponse(render_to_string("503.html"), status=503)
            response["Retry-After"] = str(RETRY_SECONDS)
            response["Cache-Control"] = "no-store"
            return response
        try:
            return self.get_response(request)
        finally:
            with self._turn:
                self._began.remove(began)
                self._turn.notify()

    def _take_turn(self) -> float | None:
        """When this request's turn began; None where those under way are stuck."""
        with self._turn:
            while len(self._began) >= settings.WRITES_AT_ONCE:
                patience = self._began[0] + STUCK_SECONDS - time.monotonic()
                if patience <= 0:
                    return None
                self._turn.wait(patience)
            began = time.monotonic()
            self._began.append(began)
            return began


def _come_again(template: str, seconds: int) -> HttpResponse:
    response = HttpResponse(render_to_string(template), status=503)
    response["Retry-After"] = str(seconds)
    response["Cache-Control"] = "no-store"
    return response
