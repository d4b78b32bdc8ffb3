"""Rates are kept exactly, however many requests come at the same moment."""

import sys
import urllib.error
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.test import RequestFactory

from leaderboard.on_demand.allowance import seconds_to_wait
from tests.concurrency import at_once
from tests.config.redis_server import redis_server, wait_for_redis
from tests.running_site import free_port

RATES = {f"PLURANK_{name}_RATE": "40/hour" for name in ("SEARCH", "TRY", "API_ADDRESS")}
TOKEN = "a" * 32
# What is sent to each door, and the status of what is not refused: the table is empty.
DOORS = {
    "/search/?q=a": (None, 200),
    "/try/": (f"csrfmiddlewaretoken={TOKEN}".encode(), 400),
    "/api/v1/rules/": (None, 200),
}


def statuses_at_once(url: str, body: bytes | None) -> dict[int, int]:
    """How often each status came where 16 clients at once send 160 requests together."""
    request = urllib.request.Request(url, body, {"Cookie": f"csrftoken={TOKEN}"})

    def ask(_number: int) -> int:
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return response.status
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    with ThreadPoolExecutor(16) as clients:
        return dict(Counter(clients.map(ask, range(160))))


def test_threads_that_ask_at_the_same_moment_pass_as_often_as_allowed(settings):
    settings.API_RATES = settings.API_RATES | {"search": "400/hour"}
    cache.clear()
    request = RequestFactory().get("/search/", {"q": "a"})
    request.user = AnonymousUser()
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        seconds = at_once([lambda: [seconds_to_wait(request, "search") for _ in range(100)]] * 8)
    finally:
        sys.setswitchinterval(usual)
    answers = [answer for of_thread in seconds for answer in of_thread]
    assert (answers.count(0), len(answers)) == (400, 800)
    assert all(3590 <= answer <= 3600 for answer in answers if answer)


@pytest.mark.services
def test_web_processes_together_accept_as_many_requests_as_each_rate_says(site, tmp_path):
    """Takes about ten seconds."""
    from redis import Redis

    port = free_port()
    site.n_web = 2
    site.environment |= {"REDIS_URL": f"redis://127.0.0.1:{port}/0", **RATES}
    with redis_server(port, tmp_path), Redis(port=port) as client:
        wait_for_redis(client)
        site.start("web")
        site.wait_for_web()
        statuses = {path: statuses_at_once(f"{site.url}{path}", body) for path, (body, _) in DOORS.items()}
    assert statuses == {path: {status: 40, 429: 120} for path, (_, status) in DOORS.items()}
