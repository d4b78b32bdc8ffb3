"""An application for the web server: it answers with the method, the path and the body that arrived."""

import hashlib
from collections.abc import Callable
from typing import Any


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
    """The answer; a path that begins with `/unread` leaves the body unread."""
    path = environ["PATH_INFO"]
    body = b"" if path.startswith("/unread") else environ["wsgi.input"].read()
    text = f"{environ['REQUEST_METHOD']} {path} {len(body)} {hashlib.sha256(body).hexdigest()[:8]}".encode()
    start_response("200 OK", [("Content-Length", str(len(text)))])
    return [text]
