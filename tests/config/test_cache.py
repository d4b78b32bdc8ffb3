"""A cache that is away fails nobody."""

import pytest

from config.backends import cache as module
from config.backends.cache import ForgivingRedisCache
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


def test_a_redis_that_did_not_answer_is_left_alone_for_some_seconds(nowhere, monkeypatch, caplog):
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    for _ in range(50):
        nowhere.get("a")
    assert len(caplog.records) == 1
    now[0] += module.REST_SECONDS + 1
    nowhere.get("a")
    assert len(caplog.records) == 2
