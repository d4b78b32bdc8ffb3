"""An application for the web server: it answers with the method, the path and the body that arrived."""

import hashlib
from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any

from config.processes.web_worker import HeadsFirst

PART = bytes(range(256)) * 256


class Impatient(HeadsFirst):
    """A worker that closes connections earlier whose clients do not read."""

    reading_seconds = 3.0


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """The answer; a path that begins with `/unread` leaves the body unread.

    `/large/20` and `/parts/20` answer with 20 times PART, at once or part by part.
    """
    path = environ["PATH_INFO"]
    if path.startswith(("/large", "/parts")):
        n = int(path.rpartition("/")[2])
        start_response("200 OK", [("Content-Length", str(n * len(PART)))])
        return [PART * n] if path.startswith("/large") else repeat(PART, n)
    try:
        body = b"" if path.startswith("/unread") else environ["wsgi.input"].read()
    except TimeoutError:
        start_response("503 Busy" if environ["gunicorn.socket"].is_refused else "400 Late", [("Content-Length", "0")])
        return []
    text = f"{environ['REQUEST_METHOD']} {path} {len(body)} {hashlib.sha256(body).hexdigest()[:8]}".encode()
    start_response("200 OK", [("Content-Length", str(len(text)))])
    return [text]
