"""Sweep and workers tell systemd that they go on, over a real socket, and one that hangs says nothing and ends."""

import socket
import time
from contextlib import contextmanager

import pytest
from django.conf import settings
from django.db import connection

from leaderboard.models import Heartbeat
from tests.relay import Relay, through

pytestmark = pytest.mark.services


@pytest.fixture
def relay():
    parts = connection.settings_dict
    relay = Relay(parts["HOST"] or "127.0.0.1", int(parts["PORT"] or 5432))
    yield relay
    relay.close()


@contextmanager
def systemd(site):
    """A socket as systemd's; the processes of the site that start from now on know it."""
    path = site.folder / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(path))
        listener.settimeout(90)
        site.environment["NOTIFY_SOCKET"] = str(path)
        yield listener


def test_a_sweep_is_ready_after_its_first_round_and_goes_on_after_each(committed_db, site):
    """Takes about five seconds: a sweep starts."""
    with systemd(site) as listener:
        site.start("sweep")
        assert "READY=1" in listener.recv(1000).decode().splitlines()
        assert Heartbeat.objects.filter(role="sweep").exists()  # the round was completed
        assert ["WATCHDOG=1" in listener.recv(1000).decode().splitlines() for _ in range(2)] == [True, True]


def test_a_worker_is_ready_and_goes_on_until_it_is_unresponsive(make_committed, site):
    """Takes about ten seconds: an unresponsive worker starts, and ends."""
    make_committed.benchmark()
    with systemd(site) as listener:
        site.start("rankings", include="tests.jobs.disturbed.unresponsive")
        assert [listener.recv(1000), listener.recv(1000)] == [b"READY=1", b"WATCHDOG=1"]
        site.start("sweep")
        site.wait_until(lambda: site.running["rankings"].poll() is not None, 30, "the unresponsive worker ends")


@pytest.mark.skipif(settings.IS_SQLITE, reason="SQLite is a file: nothing hangs")
def test_a_sweep_that_hangs_is_silent_says_where_and_ends(committed_db, site, relay: Relay):
    """Takes about ten seconds: a sweep starts, and waits for a database that answers nothing, without a limit."""
    site.environment |= {
        "DATABASE_URL": through(relay, site.environment["DATABASE_URL"]),
        "PLURANK_QUERY_SECONDS": "0",
        "PLURANK_SWEEP_SECONDS": "4",
    }
    with systemd(site) as listener:
        site.start("sweep")
        assert "READY=1" in listener.recv(1000).decode().splitlines()
        relay.hang()
        sweep = site.running["sweep"]
        time.sleep(1.5)  # what it said of the round before
        listener.setblocking(False)
        while True:
            try:
                listener.recv(1000)
            except BlockingIOError:
                break
        assert site.wait_until(sweep.poll, 30, "the sweep ends") == 1
        with pytest.raises(BlockingIOError):
            listener.recv(1000)
    log = (site.folder / "sweep.log").read_text()
    assert "Timeout (0:00:05)!" in log
    assert "sweep.py" in log
