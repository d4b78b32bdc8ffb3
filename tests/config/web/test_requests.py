"""Requests as a server hands them on, before any middleware sees them."""

import io
import json
from types import SimpleNamespace

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


class NeverArrives(io.BytesIO):
    """A body for which the server waits in vain."""

    def read(self, *_) -> bytes:
        raise TimeoutError("too late")


def response_to(method: str, path: str, **more: object) -> tuple[int, dict[str, str], bytes]:
    """The status, the headers and the content of the answer to a request."""
    begun: list = []
    environ = {
        "REQUEST_METHOD": method, "PATH_INFO": path, "QUERY_STRING": "", "SERVER_NAME": "testserver",
        "SERVER_PORT": "80", "SCRIPT_NAME": "", "CONTENT_LENGTH": "2", "wsgi.input": io.BytesIO(b"{}"),
        "wsgi.errors": io.StringIO(), "wsgi.url_scheme": "http", **more,
    }  # fmt: skip
    parts = Handler()(environ, lambda status, headers, *_: begun.extend([status, dict(headers)]))
    content = b"".join(parts)
    parts.close()
    return int(begun[0][:3]), begun[1], content


def send(
    method: str, path: str, query: str, charset: str, *, kind: str = "text/csv", **more: object
) -> tuple[int, bytes]:
    """A request whose body states a charset; the status and the answer."""
    extra = {"QUERY_STRING": query, "CONTENT_TYPE": f"{kind}; charset={charset}"}
    status, _, content = response_to(method, path, **extra, **more)
    return status, content


@pytest.mark.usefixtures("_open_database")
@pytest.mark.parametrize("charset", ["hex", "zip", "rot13", "utf-16", "undefined", "no such", "\x00"])
def test_a_charset_that_python_reads_no_text_in_changes_no_address_and_is_refused_for_a_body(make, charset):
    benchmark = make.published()
    status, page = send("GET", f"/b/{benchmark.key}/", "q=B%C3%A9", charset)
    assert (status, 'value="Bé"' in page.decode()) == (200, True)
    assert send("POST", "/try/", "a=1", charset)[0] == 400
    status, answer = send("POST", f"/api/v1/benchmarks/{benchmark.key}/submissions/", "dry_run=true", charset)
    assert (status, json.loads(answer)["error"]["code"]) == (401, "not_authenticated")


@pytest.mark.usefixtures("_open_database")
def test_a_body_of_the_api_that_does_not_arrive_is_a_bad_request_and_no_error_of_the_site(make, caplog):
    path, late = f"/api/v1/benchmarks/{make.published().key}/rankings/", {"wsgi.input": NeverArrives()}
    status, content = send("POST", path, "", "utf-8", kind="application/json", **late)
    error = {"code": "invalid", "message": "The body did not arrive in time, or not completely.", "details": []}
    assert (status, json.loads(content)) == (400, {"error": error})
    assert [record for record in caplog.records if record.exc_info] == []


@pytest.mark.usefixtures("_open_database")
def test_where_no_thread_is_free_to_wait_for_a_slow_body_the_client_is_told_to_send_it_again(make, caplog):
    late = {"wsgi.input": NeverArrives(), "gunicorn.socket": SimpleNamespace(is_refused=True), "CONTENT_LENGTH": "9"}
    api = f"/api/v1/benchmarks/{make.published().key}/rankings/"
    answers = [
        response_to("POST", path, CONTENT_TYPE=kind, **late)
        for path, kind in (
            (api, "application/json"),
            ("/try/", "application/x-www-form-urlencoded"),
            ("/try/", "multipart/form-data; boundary=x"),
        )
    ]
    assert [(status, headers["Retry-After"]) for status, headers, _ in answers] == [(503, "2")] * 3
    message = "The body arrives slowly, as those of many others do. Nothing was changed; try again."
    assert json.loads(answers[0][2]) == {"error": {"code": "busy", "message": message, "details": []}}
    for _, _, page in answers[1:]:
        assert "What you sent arrives slowly, and the site is busy with others." in page.decode()
    assert [record for record in caplog.records if record.exc_info] == []


@pytest.mark.usefixtures("_open_database")
def test_an_answer_to_head_has_no_body_but_the_length_of_that_of_get(make):
    api = f"/api/v1/benchmarks/{make.published().key}/"
    statuses = {"/healthz/": 200, "/no-such-page/": 404, f"{api}webhooks/": 401, f"{api}submissions/": 405, api: 200}
    heads = {path: response_to("HEAD", path) for path in statuses}
    assert {path: (status, content) for path, (status, _, content) in heads.items()} == {
        path: (status, b"") for path, status in statuses.items()
    }
    for path in ("/healthz/", f"{api}webhooks/", api):
        assert heads[path][1]["Content-Length"] == str(len(response_to("GET", path)[2]))
