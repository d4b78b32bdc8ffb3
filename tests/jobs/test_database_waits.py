"""A PostgreSQL that hangs, or a row that somebody keeps locked, takes neither the web server nor the sweep along."""

import json
import socket
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import psycopg
import pytest
from django.conf import settings
from django.db import connection

from leaderboard.models import Heartbeat, Submission
from leaderboard.services.tokens import create_token

pytestmark = [
    pytest.mark.services,
    pytest.mark.skipif(settings.IS_SQLITE, reason="SQLite is a file: nothing is waited for over a network"),
]


class Relay:
    """Passes connections on to PostgreSQL, until `hang`: those that are open then carry nothing any more."""

    def __init__(self, host: str, port: int) -> None:
        self.target = (host, port)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.hung: set[socket.socket] = set()
        self.open: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.create_connection(self.target)
                self.open |= {client, server}
                for pair in ((client, server), (server, client)):
                    threading.Thread(target=self._carry, args=pair, daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if source not in self.hung:  # taken and acknowledged, and never passed on
                    target.sendall(data)
            if source not in self.hung:
                target.shutdown(socket.SHUT_WR)

    def hang(self) -> None:
        self.hung |= self.open

    def close(self) -> None:
        self.listener.close()
        for each in self.open:
            each.close()


@pytest.fixture
def relay():
    parts = connection.settings_dict
    relay = Relay(parts["HOST"] or "127.0.0.1", int(parts["PORT"] or 5432))
    yield relay
    relay.close()


def through(relay: Relay, url: str) -> str:
    """The address of the same database behind the relay."""
    scheme, _, rest = url.partition("://")
    credentials, _, place = rest.rpartition("@")
    return f"{scheme}://{credentials}@127.0.0.1:{relay.port}/{place.partition('/')[2]}"


def status(url: str, timeout: float) -> int:
    try:
        with urllib.request.urlopen(url, timeout=timeout) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def test_after_a_failover_that_leaves_connections_hanging_web_and_sweep_go_on(make_committed, site, relay):
    """Takes about 15 seconds: two processes start, and their statements wait for their limit."""
    make_committed.benchmark()
    site.environment |= {
        "DATABASE_URL": through(relay, site.environment["DATABASE_URL"]),
        "PLURANK_QUERY_SECONDS": "2",
    }
    site.start("web", "sweep")
    site.wait_for_web()
    site.wait_until(Heartbeat.objects.filter(role="sweep").exists, 30, "the sweep is at work")
    with ThreadPoolExecutor(8) as pool:  # each thread of the web server has a connection
        assert set(pool.map(lambda _: status(f"{site.url}/status/", 20), range(16))) == {200}
        relay.hang()
        seen_at = Heartbeat.objects.get(role="sweep").seen_at
        answers = list(pool.map(lambda _: status(f"{site.url}/status/", 30), range(8)))
    assert set(answers) <= {200, 503}
    assert status(f"{site.url}/healthz/", 5) == 200
    site.wait_until(lambda: Heartbeat.objects.get(role="sweep").seen_at > seen_at, 30, "the sweep is back")


def test_while_somebody_keeps_a_benchmark_locked_readers_are_answered_and_submitters_told_to_come_again(
    make_committed, site
):
    """Takes about ten seconds: twelve submitters wait for one row."""
    benchmark = make_committed.benchmark({}, n_tasks=1)
    _, secret = create_token(benchmark.memberships.get(role="owner").user, name="t", scopes=["submit"], days=30)
    site.environment |= {"PLURANK_LOCK_SECONDS": "4"}
    site.start("web")
    site.wait_for_web()

    def submit(n: int) -> int:
        body = {"systems": [{"name": f"System {n}", "scores": {"task-1": n}}], "create_systems": True}
        request = urllib.request.Request(
            f"{site.url}/api/v1/benchmarks/{benchmark.key}/submissions/",
            json.dumps(body).encode(),
            {"Content-Type": "application/json", "Authorization": f"Token {secret}"},
        )
        return status(request, 60)

    with psycopg.connect(site.environment["DATABASE_URL"]) as other, ThreadPoolExecutor(12) as pool:
        other.execute("SELECT * FROM leaderboard_benchmark FOR UPDATE")
        submitters = [pool.submit(submit, n) for n in range(12)]
        time.sleep(3.5)  # those that wait for their turn are told by now that the others are stuck
        assert [status(f"{site.url}/healthz/", 2) for _ in range(5)] == [200] * 5
        assert status(f"{site.url}/b/{benchmark.key}/", 5) == 200
        assert {submitter.result() for submitter in submitters} == {503}
        other.rollback()
    assert not Submission.objects.exists()
    assert {submit(n) for n in range(3)} == {201}
