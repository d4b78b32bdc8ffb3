"""A cache that is away fails nobody; one that is there counts in one step."""

import subprocess
import sys

import pytest

from config.backends import cache as module
from config.backends.cache import CountedMemoryCache, ForgivingRedisCache
from tests.config.redis_server import redis_server, wait_for_redis
from tests.running_site import free_port


@pytest.fixture
def nowhere(monkeypatch) -> ForgivingRedisCache:
    monkeypatch.setattr(ForgivingRedisCache, "_rests_until", 0.0)
    return ForgivingRedisCache(f"redis://127.0.0.1:{free_port()}/0", {"OPTIONS": {"socket_connect_timeout": 1}})


def test_without_redis_nothing_is_found_nothing_is_kept_and_nothing_fails(nowhere):
    nowhere.set("a", 1)
    nowhere.clear()
    answers = [
        nowhere.get("a", "default"),
        nowhere.add("a", 1),
        nowhere.delete("a"),
        nowhere.touch("a"),
        "a" in nowhere,
    ]
    assert answers == ["default", True, False, False, False]
    assert (nowhere.get_many(["a"]), nowhere.set_many({"a": 1})) == ({}, ["a"])
    assert nowhere.get_or_set("a", lambda: 7) == 7
    assert [nowhere.incr("a"), nowhere.incr("a", 5)] == [1, 5]
    assert [nowhere.take("a", 1, 60) for _ in range(2)] == [(True, 1, 60), (True, 1, 60)]


def test_a_redis_that_did_not_answer_is_left_alone_for_some_seconds(nowhere, monkeypatch, caplog):
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    for _ in range(50):
        nowhere.get("a")
    assert len(caplog.records) == 1
    now[0] += module.REST_SECONDS + 1
    nowhere.get("a")
    assert len(caplog.records) == 2


@pytest.fixture
def redis_url(tmp_path):
    from redis import Redis

    port = free_port()
    with redis_server(port, tmp_path), Redis(port=port) as client:
        wait_for_redis(client)
        yield f"redis://127.0.0.1:{port}/0"


@pytest.fixture(params=["memory", "redis"])
def counting(request, monkeypatch):
    """A cache of each kind, empty."""
    monkeypatch.setattr(ForgivingRedisCache, "_rests_until", 0.0)
    if request.param == "memory":
        return CountedMemoryCache("counting", {})
    return ForgivingRedisCache(request.getfixturevalue("redis_url"), {"KEY_PREFIX": "plurank"})


def test_what_is_counted_does_so_for_some_seconds_and_what_is_refused_is_not(counting, monkeypatch):
    now = [1_795_930_000.0]
    monkeypatch.setattr(module.time, "time", lambda: now[0])
    counting.clear()
    answers = []
    for seconds in (0, 4, 1, 4, 0.5, 0.5, 3, 20):
        now[0] += seconds
        answers.append(counting.take("a", 2, 10))
    assert answers == [
        (True, 1, 10), (True, 2, 6), (False, 2, 5), (False, 2, 1), (False, 2, 0.5), (True, 2, 4), (False, 2, 1),
        (True, 1, 10),
    ]  # fmt: skip
    assert counting.take("b", 2, 10) == (True, 1, 10)
    assert counting.take("c", 0, 10) == (False, 0, 10)


def test_what_was_counted_under_a_clock_a_month_ahead_keeps_no_one_from_asking(counting, monkeypatch):
    now = [1_795_930_000.0 + 30 * 24 * 3600]
    monkeypatch.setattr(module.time, "time", lambda: now[0])
    counting.clear()
    assert [counting.take("a", 2, 10).is_allowed for _ in range(3)] == [True, True, False]
    now[0] -= 30 * 24 * 3600
    assert counting.take("a", 2, 10) == (True, 1, 10)


OF_A_PROCESS = """
import sys
from concurrent.futures import ThreadPoolExecutor
from config.backends.cache import ForgivingRedisCache
cache = ForgivingRedisCache(sys.argv[1], {})
print("ready", flush=True)
sys.stdin.readline()
with ThreadPoolExecutor(4) as threads:
    print(sum(taken.is_allowed for taken in threads.map(lambda _: cache.take("a", 100, 3600), range(200))))
"""


def test_processes_and_threads_that_count_at_the_same_moment_never_pass_the_limit_together(redis_url):
    command = [sys.executable, "-c", OF_A_PROCESS, redis_url]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen(command, **pipes) for _ in range(3)]
    assert [process.stdout.readline() for process in processes] == ["ready\n"] * 3
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    assert sum(int(process.communicate(timeout=60)[0]) for process in processes) == 100
