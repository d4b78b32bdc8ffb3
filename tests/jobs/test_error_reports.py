"""What leaves a running site when something goes wrong in it, as a server like Sentry or GlitchTip receives it."""

import gzip
import json
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.conf import settings
from django.db import connection

from leaderboard.accounts.tokens import create_token
from leaderboard.models import Job

pytestmark = pytest.mark.services
ADDRESS, SCORE, SYSTEM, QUERY, COOKIE = (
    "ada@plurank.example",
    92.4137,
    "Unheard-of System",
    "looked-for-this",
    "biscuit",
)


class Receiver(BaseHTTPRequestHandler):
    """Keeps every envelope that is sent, and answers as Sentry does."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.envelopes.append((self.path, dict(self.headers), body.decode()))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


@pytest.fixture
def receiver():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    server.envelopes = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def reporting(site, receiver):
    """A site that reports its errors to the receiver."""
    port = receiver.server_address[1]
    site.environment |= {"SENTRY_DSN": f"http://key@127.0.0.1:{port}/7", "SENTRY_ENVIRONMENT": "staging"}
    return site


def events(receiver) -> list[dict]:
    """The events in what was received: an envelope is a line for itself, then a head and a body for each item."""
    event_bodies = []
    for path, _, text in receiver.envelopes:
        assert path == "/api/7/envelope/"
        lines = text.splitlines()
        items = zip(lines[1::2], lines[2::2], strict=True)
        event_bodies += [json.loads(body) for head, body in items if json.loads(head)["type"] == "event"]
    return event_bodies


def expect_no_data(receiver, *secrets: object) -> None:
    """Nothing of what was worked on is anywhere in what was sent, its headers included."""
    sent = json.dumps(receiver.envelopes)
    assert [secret for secret in secrets if str(secret) in sent] == []
    allowed = {
        "event_id", "timestamp", "level", "platform", "logger", "release", "environment", "server_name", "sdk", "tags",
        "transaction", "logentry", "exception",
    }  # fmt: skip
    assert [set(event) - allowed for event in events(receiver)] == [set() for _ in events(receiver)]
    frames = [
        frame
        for event in events(receiver)
        for value in event["exception"]["values"]
        for frame in value["stacktrace"]["frames"]
    ]
    assert frames
    assert [frame for frame in frames if "vars" in frame] == []


def test_an_error_of_a_view_is_reported_with_its_place_and_id_and_without_what_was_sent(
    make_committed, reporting, receiver
):
    """Takes some seconds: a process starts. A table is missing, which no view expects."""
    benchmark = make_committed.benchmark({}, n_tasks=1)
    _, secret = create_token(benchmark.memberships.get(role="owner").user, name="t", scopes=["submit"], days=30)
    reporting.start("web")
    reporting.wait_for_web(60)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE leaderboard_cellcount RENAME TO gone")
    body = {
        "systems": [{"name": SYSTEM, "scores": {"task-1": SCORE}}],
        "create_systems": True,
    }
    request = urllib.request.Request(
        f"{reporting.url}/api/v1/benchmarks/{benchmark.key}/submissions/?note={QUERY}",
        data=json.dumps(body).encode(),
        headers={
            "Authorization": f"Token {secret}",
            "Content-Type": "application/json",
            "Cookie": f"sessionid={COOKIE}",
            "From": ADDRESS,
            "X-Request-ID": "of-the-proxy-0002",
        },
    )
    with pytest.raises(urllib.error.HTTPError) as answer:
        urllib.request.urlopen(request, timeout=60)
    assert answer.value.code == 500
    answer.value.close()
    (event,) = reporting.wait_until(lambda: events(receiver), 30, "the report has come")
    assert event["tags"] == {"request": "of-the-proxy-0002"}
    assert (event["release"], event["environment"]) == (f"plurank@{settings.PLURANK_VERSION}", "staging")
    error = event["exception"]["values"][-1]
    assert error["type"] == ("OperationalError" if settings.IS_SQLITE else "ProgrammingError")
    assert error["value"] == "left out; the log has it"
    functions = {(frame["module"], frame["function"]) for frame in error["stacktrace"]["frames"]}
    assert any(module.startswith("leaderboard.") for module, _ in functions)
    expect_no_data(receiver, secret, ADDRESS, SCORE, SYSTEM, QUERY, COOKIE, benchmark.name)
    assert "of-the-proxy-0002" in (reporting.folder / "web.log").read_text()


def test_an_error_of_a_job_is_reported_once_with_the_ids_of_job_and_request(make_committed, reporting, receiver):
    """Takes some seconds: a process starts. The job's seed is a text, which the exception repeats."""
    benchmark = make_committed.benchmark()
    job = Job.objects.get(kind="prospects")
    seed = f"{SCORE} of {ADDRESS}"
    Job.objects.exclude(pk=job.pk).delete()
    Job.objects.filter(pk=job.pk).update(parameters=job.parameters | {"seed": seed}, request_id="of-the-proxy-0003")
    reporting.start("studies", "sweep")
    reporting.wait_until(lambda: Job.objects.get(pk=job.pk).state == "failed", 60, "the job was given up")
    assert seed in Job.objects.get(pk=job.pk).error
    (event,) = reporting.wait_until(lambda: events(receiver), 30, "the report has come")
    assert event["tags"] == {
        "request": "of-the-proxy-0003", "job": str(job.pk), "kind": "prospects", "attempt": "1",
    }  # fmt: skip
    assert event["logentry"] == {"message": "%s, attempt %s"}
    assert event["logger"] == "jobs.runner"
    expect_no_data(receiver, seed, SCORE, ADDRESS, benchmark.name)


def test_an_address_that_is_none_is_refused_without_repeating_it(tmp_path):
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=settings.ROOT,
        env={"PATH": "/usr/bin:/bin", "PLURANK_VAR": str(tmp_path), "SENTRY_DSN": "a-secret-key"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "secret" in done.stderr) == (1, False)
    assert done.stderr.startswith("SENTRY_DSN is not the URL of a project")


def test_without_an_address_the_package_is_not_even_imported(tmp_path):
    code = "import django, sys; django.setup(); print([m for m in sys.modules if m.startswith('sentry')])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=settings.ROOT,
        env={"PATH": "/usr/bin:/bin", "PLURANK_VAR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"
