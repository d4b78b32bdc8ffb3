"""The processes of the background say that they live, whatever else is away, and a dead one says nothing more."""

import os
import socket
import time

import pytest
from django.conf import settings

from leaderboard.models import Heartbeat, Job
from ranking_engine import __version__ as engine_version
from tests.running_site import free_port

pytestmark = pytest.mark.services
OFTEN, BEAT_SECONDS = "tests.jobs.disturbed.often", 0.5


def last_beat(role: str):
    return Heartbeat.objects.filter(role=role).values_list("seen_at", flat=True).first()


def test_a_worker_in_a_long_job_goes_on_beating_and_a_dead_one_stops(make_committed, site):
    """Takes some seconds: a worker starts, and beats twice."""
    site.environment["PLURANK_TEST_SECONDS"] = "3600"
    make_committed.benchmark()
    site.start("sweep", through=OFTEN)
    site.start("rankings", include=f"tests.jobs.disturbed.sleepy,{OFTEN}")
    site.wait_until(Job.objects.filter(kind="rankings", state="running").exists, 30, "the job runs")
    first = site.wait_until(lambda: last_beat("rankings"), 30, "the worker beats")
    site.wait_until(lambda: last_beat("rankings") > first, 30, "it beats again")
    assert Job.objects.get(kind="rankings").state == "running"
    site.wait_until(lambda: last_beat("sweep"), 30, "the sweep beats")
    rows = Heartbeat.objects.values_list("role", "name", "host", "pid", "engine_version")
    host = socket.gethostname()
    worker, sweep = (site.running[name].pid for name in ("rankings", "sweep"))
    assert set(rows) == {
        ("rankings", f"rankings-rankings@{host}", host, worker, engine_version),
        ("sweep", "sweep", host, sweep, engine_version),
    }
    site.kill("rankings")
    last, last_of_sweep = last_beat("rankings"), last_beat("sweep")
    site.wait_until(lambda: last_beat("sweep") > last_of_sweep, 30, "the sweep beats again")
    time.sleep(4 * BEAT_SECONDS)
    assert last_beat("rankings") == last


def test_a_worker_without_its_broker_beats_all_the_same(make_committed, site):
    """Takes about ten seconds: a worker starts."""
    if settings.REDIS_URL:
        site.environment["REDIS_URL"] = f"redis://127.0.0.1:{free_port()}/0"
    else:
        (site.folder / "broker").write_text("no folder")
    site.start("rankings")
    site.wait_until(lambda: last_beat("rankings"), 30, "the worker beats")
    os.kill(site.running["rankings"].pid, 0)
