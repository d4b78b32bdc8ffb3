"""Eight clients at once through the real web server: nothing is lost, no cap exceeded, and the order did not matter."""

import http.client
import json
import time
from functools import partial

import pytest
from django.conf import settings

from leaderboard.accounts.tokens import create_token
from leaderboard.models import Batch, Benchmark, Submission, SubmissionCount
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.score_matrix import input_hash, revision_matrix
from tests.concurrency import at_once
from tests.running_site import RunningSite

N_CLIENTS, N_EACH, N_BEYOND = 8, 250, 5
NO_LIMIT = {f"PLURANK_API_{kind}_RATE": "1000000/min" for kind in ("ADDRESS", "USER", "TOKEN", "WRITE")}


def latest_hash(benchmark):
    revision = benchmark.revisions.select_related("configuration").latest("number")
    return input_hash(revision_matrix(revision), configuration_of(revision))


def name_of(c: int, i: int) -> str:
    return f"System {c}-{i}"


def scores_of(c: int, i: int) -> list[float]:
    return [float(c), float(i), i / 7]


def submit(port: int, benchmark: Benchmark, secret: str, c: int, i: int) -> tuple[int, int]:
    """Send one system until there is an answer other than "busy": that answer's status, and how often it was busy."""
    cells = {f"task-{t + 1}": value for t, value in enumerate(scores_of(c, i))}
    body = {"systems": [{"name": name_of(c, i), "key": f"s-{c}-{i}", "scores": cells}], "create_systems": True}
    headers = {"Authorization": f"Token {secret}", "Idempotency-Key": f"{c}-{i}", "Content-Type": "application/json"}
    for n_busy in range(100):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        connection.request("POST", f"/api/v1/benchmarks/{benchmark.key}/submissions/", json.dumps(body), headers)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        if answer.status != 503:
            return answer.status, n_busy
        time.sleep(float(answer.headers["Retry-After"]))
    return 503, 100


def submit_all(port: int, benchmark: Benchmark, secrets: list[str], n_each: int) -> list[list[tuple[int, int]]]:
    def by_one(c: int) -> list[tuple[int, int]]:
        return [submit(port, benchmark, secrets[c], c, i) for i in range(n_each)]

    return at_once([partial(by_one, c) for c in range(len(secrets))], seconds=2400)


def secrets_of(make, n: int) -> list[str]:
    return [create_token(make.user(), name="load", scopes=["submit"], days=30)[1] for _ in range(n)]


@pytest.mark.slow  # 2,040 requests, each a transaction of its own: minutes
@pytest.mark.skipif(settings.IS_SQLITE, reason="who waits for SQLite's one lock may wait very long behind others")
def test_many_submissions_at_once_end_in_the_board_of_one_bulk_import(make_committed, committed_db, tmp_path):
    benchmark = make_committed.benchmark({}, n_tasks=3, daily_cap=N_EACH)
    site = RunningSite(tmp_path, committed_db, **NO_LIMIT)
    try:
        site.start("web")
        site.wait_for_web()
        began = time.monotonic()
        outcomes = submit_all(site.port, benchmark, secrets_of(make_committed, N_CLIENTS), N_EACH + N_BEYOND)
        print(f"{N_CLIENTS * (N_EACH + N_BEYOND)} requests in {time.monotonic() - began:.0f} s")
    finally:
        site.stop_all()
    statuses = [[status for status, _ in answers] for answers in outcomes]
    assert statuses == [[201] * N_EACH + [429] * N_BEYOND] * N_CLIENTS
    accepted = Submission.objects.filter(benchmark=benchmark, state="accepted")
    assert accepted.count() == N_CLIENTS * N_EACH
    assert Benchmark.objects.get(pk=benchmark.pk).last_revision_number == N_CLIENTS * N_EACH
    assert set(SubmissionCount.objects.values_list("n_submitted", flat=True)) == {N_EACH}

    bulk = make_committed.benchmark({}, n_tasks=3)
    pairs = [(c, i) for c in range(N_CLIENTS) for i in range(N_EACH)]
    make_committed.accepted(bulk, {f"S {c} {i}": scores_of(c, i) for c, i in pairs})
    assert latest_hash(bulk) == latest_hash(benchmark)


@pytest.mark.slow  # SQLite has one writer; whoever waits too long is told to come again
@pytest.mark.skipif(not settings.IS_SQLITE, reason="PostgreSQL locks rows, not the whole database")
def test_eight_clients_that_hammer_sqlite_lose_nothing(make_committed, committed_db, tmp_path):
    benchmark = make_committed.benchmark({}, n_tasks=3)
    site = RunningSite(tmp_path, committed_db, **NO_LIMIT, PLURANK_SQLITE_WAIT_SECONDS="1")
    try:
        site.start("web")
        site.wait_for_web()
        outcomes = submit_all(site.port, benchmark, secrets_of(make_committed, N_CLIENTS), 15)
        print(f"told to come again: {sum(n_busy for answers in outcomes for _, n_busy in answers)}")
    finally:
        site.stop_all()
    assert [[status for status, _ in answers] for answers in outcomes] == [[201] * 15] * N_CLIENTS
    assert Batch.objects.filter(benchmark=benchmark).count() == N_CLIENTS * 15
    assert Benchmark.objects.get(pk=benchmark.pk).last_revision_number == N_CLIENTS * 15
