"""Requests as a server hands them on, before any middleware sees them."""

import io
import json

import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections

from config.processes.requests import Handler


@pytest.fixture
def _open_database():
    """A request would close the database of the test."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def send(method: str, path: str, query: str, charset: str) -> tuple[int, bytes]:
    """A request whose body states a charset; the status and the answer."""
    statuses: list[str] = []
    environ = {
        "REQUEST_METHOD": method, "PATH_INFO": path, "QUERY_STRING": query, "SERVER_NAME": "testserver",
        "SERVER_PORT": "80", "SCRIPT_NAME": "", "CONTENT_LENGTH": "2", "CONTENT_TYPE": f"text/csv; charset={charset}",
        "wsgi.input": io.BytesIO(b"{}"), "wsgi.errors": io.StringIO(), "wsgi.url_scheme": "http",
    }  # fmt: skip
    parts = Handler()(environ, lambda status, *_: statuses.append(status))
    content = b"".join(parts)
    parts.close()
    return int(statuses[0][:3]), content


@pytest.mark.usefixtures("_open_database")
@pytest.mark.parametrize("charset", ["hex", "zip", "rot13", "utf-16", "undefined", "no such", "\x00"])
def test_a_charset_that_python_reads_no_text_in_changes_no_address_and_is_refused_for_a_body(make, charset):
    benchmark = make.published()
    status, page = send("GET", f"/b/{benchmark.key}/", "q=B%C3%A9", charset)
    assert (status, 'value="Bé"' in page.decode()) == (200, True)
    assert send("POST", "/try/", "a=1", charset)[0] == 400
    status, answer = send("POST", f"/api/v1/benchmarks/{benchmark.key}/submissions/", "dry_run=true", charset)
    assert (status, json.loads(answer)["error"]["code"]) == (401, "not_authenticated")
