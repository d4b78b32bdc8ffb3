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
NO_PLACE = "The body arrives slowly, as those of many others do. Nothing was changed; try again."
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


class BodyMiddleware:
    """A request whose body is slow is told to try again where no thread is free to wait for it.

    `config.processes.web_worker` says so of the connection. Without the body nothing was done.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The answer, or the 503."""
        response = self.get_response(request)
        connection = getattr(request, "environ", {}).get("gunicorn.socket")
        if not getattr(connection, "is_refused", False):
            return response
        return _refusal(request, NO_PLACE, "503_body.html")


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
            return _refusal(request, TOO_MANY, "503.html")
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


def _refusal(request: HttpRequest, message: str, template: str) -> HttpResponse:
    """The 503 of a request that was not begun: JSON under /api/, the page elsewhere."""
    if not request.path_info.startswith(API):
        return _come_again(template, RETRY_SECONDS)
    error = {"error": {"code": "busy", "message": message, "details": []}}
    return _until_later(JsonResponse(error, status=503), RETRY_SECONDS)


def _come_again(template: str, seconds: int) -> HttpResponse:
    return _until_later(HttpResponse(render_to_string(template), status=503), seconds)


def _until_later(response: HttpResponse, seconds: int) -> HttpResponse:
    response["Retry-After"] = str(seconds)
    response["Cache-Control"] = "no-store"
    return response
