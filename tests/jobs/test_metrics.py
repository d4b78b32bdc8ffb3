"""`/metrics/` of a running site: all processes of a web server answer as one, and it answers without its database."""

import os
import signal
import socket
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.conf import settings

from leaderboard.models import Benchmark, JobCount
from tests.exposition import names_with_labels, total, value
from tests.monitoring import OF_PROMETHEUS, expressions
from tests.relay import Relay, through

pytestmark = pytest.mark.services
TOKEN = "a-token-of-more-than-twenty-letters"


@pytest.fixture
def watched(site):
    """A site with two web processes whose numbers may be read."""
    site.n_web = 2
    site.environment |= {"PLURANK_METRICS_TOKEN": TOKEN, "PLURANK_LOG_LEVEL": "WARNING"}
    return site


def numbers(site, timeout: float = 60) -> str:
    request = urllib.request.Request(f"{site.url}/metrics/", headers={"Authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        assert answer.status == 200
        return answer.read().decode()


def ask(site, path: str) -> None:
    urllib.request.urlopen(f"{site.url}{path}", timeout=60).read()


def expect_what_rules_and_dashboard_name(text: str) -> None:
    """Every series that they name is there, with the labels by which they choose and group."""
    exported = names_with_labels(text)
    on_postgresql = {"plurank_database_connections", "plurank_database_connections_max"}
    named = {name for each in expressions() for name in each.series}
    assert {name for name in named - set(exported) if not (settings.IS_SQLITE and name in on_postgresql)} == set()
    assert len(named) > 15
    for each in expressions():
        for name, labels in each.series.items():
            assert labels <= exported.get(name, labels) | OF_PROMETHEUS, name
        of_any = set().union(OF_PROMETHEUS, *(exported.get(name, set()) for name in each.series))
        assert each.grouped <= of_any, each


def web_processes(site) -> list[int]:
    """The processes of gunicorn that answer, without its master."""
    master = site.running["web"].pid
    return [pid for pid in site.processes("web") if pid != master and pid not in site.children("web")]


def test_two_web_processes_answer_as_one_and_forget_nothing_when_one_is_killed(make_committed, watched):
    """Takes some seconds: two processes start, and one starts again."""
    watched.start("web")
    watched.wait_for_web(60)
    before = total(numbers(watched), "http_requests_total", route="styleguide")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: ask(watched, "/styleguide/"), range(40)))
    metrics = numbers(watched)
    assert total(metrics, "http_requests_total", route="styleguide", status="200") - before == 40
    assert value(metrics, "http_request_duration_seconds_count", route="styleguide") == before + 40
    assert value(metrics, "web_memory_bytes", of="all") > value(metrics, "web_memory_bytes", of="largest") > 10**7
    (folder,) = (watched.folder / "metrics").iterdir()
    for _ in range(2):
        killed = web_processes(watched)[0]
        os.kill(killed, signal.SIGKILL)
        watched.wait_until(lambda pid=killed: pid not in web_processes(watched), 20, "the process has ended")
        watched.wait_until(lambda: len(web_processes(watched)) == 2, 30, "another has begun")
        watched.wait_until(
            lambda pid=killed: not (folder / f"counter_{pid}.db").exists(), 20, "what it counted is with the others"
        )
    assert total(numbers(watched), "http_requests_total", route="styleguide") == before + 40
    assert len(list(folder.glob("*.db"))) == 6, "two files for each of two processes, and two for all that have ended"
    watched.kill("web")
    watched.start("web")
    watched.wait_for_web(60)
    (new_folder,) = (watched.folder / "metrics").iterdir()
    assert new_folder != folder, "what the killed server left is gone"


def test_what_workers_did_is_told_by_the_web_server_and_outlives_them(make_committed, watched):
    """Takes some seconds: four processes start."""
    first = make_committed.benchmark()
    watched.start("web", "rankings", "sweep")
    watched.wait_for_web(60)

    def is_counted(n: int) -> bool:
        return value(numbers(watched), "jobs_total", kind="rankings", outcome="done") == n

    watched.wait_until(lambda: is_counted(1), 30, "the job is counted")
    assert Benchmark.objects.get(pk=first.pk).published_number == 1
    metrics = numbers(watched)
    assert [value(metrics, "processes", role=role) for role in ("rankings", "studies", "sweep")] == [1, 0, 1]
    watched.kill("rankings")
    make_committed.accepted(first, {"E": [1.0] * 5})
    watched.start("rankings2")
    watched.wait_until(lambda: is_counted(2), 30, "the job of another worker is counted, too")
    assert total(numbers(watched), "job_duration_seconds_count", kind="rankings") == 2
    expect_what_rules_and_dashboard_name(numbers(watched))
    assert sum(JobCount.objects.filter(kind="rankings").values_list("n", flat=True)) == 2


def test_without_its_database_a_web_server_tells_what_it_counted_itself(make_committed, watched, tmp_path):
    """On PostgreSQL the connections carry nothing any more; on SQLite the file is gone. Takes about 15 seconds."""
    relay = None
    if settings.IS_SQLITE:
        file = Path(watched.environment["DATABASE_URL"].removeprefix("sqlite:///"))
    else:
        parts = settings.DATABASES["default"]
        relay = Relay(parts["HOST"] or "127.0.0.1", int(parts["PORT"] or 5432))
        watched.environment["DATABASE_URL"] = through(relay, watched.environment["DATABASE_URL"])
    watched.start("web")
    watched.wait_for_web(60)
    metrics = numbers(watched)
    assert (value(metrics, "database_up"), value(metrics, "benchmarks")) == (1, 0)
    assert (value(metrics, "database_connections") is None) == settings.IS_SQLITE
    if relay:
        relay.listener.shutdown(socket.SHUT_RDWR)  # so that it takes no further connection
        relay.hang()
    else:
        file.rename(tmp_path / "away")
    with ThreadPoolExecutor(8) as pool:  # each thread of both processes may have a connection
        answers = list(pool.map(lambda _: numbers(watched, timeout=30), range(8)))
    metrics = numbers(watched, timeout=30)
    assert {value(answer, "benchmarks") for answer in [*answers, metrics]} == {None}
    assert {value(answer, "database_up") for answer in [*answers, metrics]} == {0}
    assert total(metrics, "http_requests_total", route="metrics", status="200") >= 9
    assert value(metrics, "web_memory_bytes", of="all") > 10**7
    if relay:
        relay.close()
