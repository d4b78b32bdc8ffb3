"""Requests of the client against a small server of the test's own: attempts, keys, limits, addresses."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from plurank.client import InvalidInputError, SiteError, TooManyError, UnreachableError
from plurank.client.transport import SiteConnection


class Script(ThreadingHTTPServer):
    """Answers each request with the next of `answers`: (status, headers, body); the last one again and again."""

    def __init__(self, answers):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.requests = list(answers), []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        length = int(self.headers.get("Content-Length") or 0)
        self.server.requests.append((self.command, self.path, dict(self.headers), self.rfile.read(length)))
        answers = self.server.answers
        status, headers, body = answers.pop(0) if len(answers) > 1 else answers[0]
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_PATCH = do_GET  # noqa: N815 -- as the library calls them

    def log_message(self, *_):
        pass


BUSY = (503, {"Retry-After": "0"}, {"error": {"code": "unavailable", "message": "busy", "details": []}})
LIMIT = (429, {"Retry-After": "0"}, {"error": {"code": "throttled", "message": "too often", "details": []}})


@pytest.fixture
def script():
    servers = []

    def started(*answers):
        servers.append(Script(answers))
        return servers[-1]

    yield started
    for server in servers:
        server.shutdown()
        server.server_close()


def test_what_is_read_is_asked_again_while_the_site_is_busy(script):
    server = script(BUSY, LIMIT, (200, {}, {"key": "glue"}))
    assert SiteConnection(server.url, "secret").get("benchmarks/glue/", revision=None, page_size=3) == {"key": "glue"}
    assert [path for _, path, _, _ in server.requests] == ["/api/v1/benchmarks/glue/?page_size=3"] * 3
    assert {headers["Authorization"] for _, _, headers, _ in server.requests} == {"Token secret"}


def test_what_is_sent_with_a_key_is_sent_again_under_the_same_one_and_else_never(script):
    server = script(BUSY, (201, {}, {"uuid": "1"}))
    assert SiteConnection(server.url).send("x/", {"a": 1}, is_repeatable=True) == {"uuid": "1"}
    keys = [headers["Idempotency-Key"] for _, _, headers, _ in server.requests]
    assert len(keys) == 2
    assert len(set(keys)) == 1
    other = script(BUSY, (201, {}, {}))
    with pytest.raises(SiteError, match="busy"):
        SiteConnection(other.url).send("x/", {"a": 1})
    assert len(other.requests) == 1


def test_a_limit_that_stays_is_an_exception_that_says_when_to_come_again(script):
    server = script((429, {"Retry-After": "1"}, LIMIT[2]))
    with pytest.raises(TooManyError) as refusal:
        SiteConnection(server.url, retries=1).get("x/")
    assert (refusal.value.retry_after, refusal.value.code, len(server.requests)) == (1, "throttled", 2)


def test_pages_are_followed_on_the_same_site_alone(script):
    server = script(
        (200, {}, {"results": [1], "next": "https://elsewhere.example/api/v1/x/?cursor=a"}),
        (200, {}, {"results": [2], "next": None}),
    )
    assert SiteConnection(server.url, "secret").listed("x/") == [1, 2]
    assert [path for _, path, _, _ in server.requests] == ["/api/v1/x/?page_size=1000", "/api/v1/x/?cursor=a"]
    strange = script((200, {}, {"results": [1], "next": "https://elsewhere.example/"}))
    with pytest.raises(SiteError, match="none of its API's"):
        SiteConnection(strange.url).listed("x/")


def test_a_redirect_is_not_followed_with_the_token(script):
    server = script((302, {"Location": "https://elsewhere.example/"}, b""))
    with pytest.raises(SiteError, match="answered with status 302; is this the URL of a site"):
        SiteConnection(server.url, "secret").get("x/")
    assert len(server.requests) == 1


def test_a_refusal_has_each_problem_once_in_the_words_of_the_site(script):
    first, second = "b.csv, line 3, column 'Speed': 'x' is not a number", "b.csv, line 4: the row has 2 cells"
    of_files = [
        {"message": first, "place": "files", "file": "b.csv, line 3, column 'Speed'"},
        {"message": second, "place": "files", "file": "b.csv, line 4"},
    ]
    of_json = [
        {"message": "expected a number", "place": "systems[0].scores.QA"},
        {"message": "too long", "place": "note"},
        {"message": "'high' is not a number", "line": 2, "column": "QA"},
    ]
    said = [
        (of_files[:1], f"Nothing was stored: 1 problem. {first}", ""),
        (of_files, f"Nothing was stored: 2 problems. {first}", f"\n  {second}"),
        (of_json, "Nothing was stored: 3 problems. systems[0].scores.QA: expected a number",
         "\n  note: too long\n  line 2, QA: 'high' is not a number"),
        (of_json[1:] * 7, "Two things.", "\n  note: too long\n  line 2, QA: 'high' is not a number" * 5
         + "\n  and 4 more"),
    ]  # fmt: skip
    for details, message, rest in said:
        server = script((400, {}, {"error": {"code": "invalid", "message": message, "details": details}}))
        with pytest.raises(InvalidInputError) as refusal:
            SiteConnection(server.url).send("x/", {})
        assert (str(refusal.value), refusal.value.details) == (message + rest, tuple(details))


def test_who_does_not_answer_is_unreachable():
    with pytest.raises(UnreachableError, match="did not answer"):
        SiteConnection("http://127.0.0.1:9", retries=0).get("x/")


def test_an_answer_that_is_too_large_is_refused(script, monkeypatch):
    monkeypatch.setattr("plurank.client.transport.MAX_ANSWER", 10)
    with pytest.raises(SiteError, match="answers more than"):
        SiteConnection(script((200, {}, {"long": "x" * 100})).url).get("x/")


@pytest.mark.parametrize(
    ("url", "token", "message"),
    [
        ("boards.example", "", "is not the URL of a site"),
        ("ftp://boards.example", "", "is not the URL of a site"),
        ("http://boards.example", "secret", "a token is not sent over http:// to boards.example"),
        ("https://boards.example", "secret\n", "characters that no token has"),
    ],
)
def test_an_address_that_is_none_and_a_token_in_the_clear_are_refused_at_once(url, token, message):
    with pytest.raises(ValueError, match=message):
        SiteConnection(url, token)
