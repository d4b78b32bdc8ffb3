"""The answer to whoever came while others kept the database from being written: a 503 that says when to come again."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.loader import render_to_string

from leaderboard.services.busy import RETRY_SECONDS, is_busy


class BusyMiddleware:
    """A page that could not write becomes a 503 with `Retry-After`, never an error that somebody has to look at."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The request goes on."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """The 503; None for every other exception."""
        if not is_busy(exception):
            return None
        response = HttpResponse(render_to_string("503.html"), status=503)
        response["Retry-After"] = str(RETRY_SECONDS)
        response["Cache-Control"] = "no-store"
        return response
