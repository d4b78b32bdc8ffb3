"""What a request has computed on demand: counted as its reader's, ended with it, and answered where it cannot begin."""

import socket
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string

from leaderboard.computing.pool import AbandonedError
from leaderboard.on_demand import budget as on_demand
from leaderboard.on_demand.allowance import seconds_to_wait
from leaderboard.on_demand.budget import BusyError, Reader, TooOftenError, asked_by

HUNG_UP = 499  # no one reads it: the client is gone; for the log


class ComputingMiddleware:
    """A page whose turn to compute did not come becomes a 503, one that was asked for too often a 429; both say when to
    try again.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The request goes on; what it has computed on demand is counted and ended as its own."""
        reader = Reader(
            may_ask=lambda: seconds_to_wait(request),
            is_gone=lambda: _has_hung_up(request),
            seconds=settings.ON_DEMAND_SECONDS,
        )
        with asked_by(reader):
            response = self.get_response(request)
        if response.status_code == 429 and not response.has_header("Retry-After"):
            response["Retry-After"] = str(on_demand.RETRY_SECONDS)
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """The answer; None for every other exception."""
        if isinstance(exception, TooOftenError):
            response = render(request, "429.html", {"message": str(exception)}, status=429)
            response["Retry-After"] = str(exception.seconds)
        elif isinstance(exception, AbandonedError):
            response = HttpResponse(status=HUNG_UP)
        elif isinstance(exception, BusyError):
            response = HttpResponse(render_to_string("503.html", {"is_computing": True}), status=503)
            response["Retry-After"] = str(on_demand.RETRY_SECONDS)
        else:
            return None
        response["Cache-Control"] = "no-store"
        return response


def _has_hung_up(request: HttpRequest) -> bool:
    """Whether the client has closed its connection, as far as the server says which one it is.

    Gunicorn does; behind a proxy it is the proxy's, which is closed when its client goes. A connection with TLS of its
    own cannot be looked at without reading from it, nor can one on which the next request waits already.
    """
    connection = getattr(request, "environ", {}).get("gunicorn.socket")
    if not isinstance(connection, socket.socket):
        return False
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except (BlockingIOError, InterruptedError):
        return False
    except ValueError:  # TLS
        return False
    except OSError:
        return True
