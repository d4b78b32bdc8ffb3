"""Whoever has an answer is told that it is the same only while it is."""

import random

import pytest
from django.core.cache import cache

from leaderboard.models import Benchmark, System
from tests.leaderboard.api.protocol.figure_addresses import figure_addresses


@pytest.fixture(scope="module")
def published(make_once):
    return make_once.published()


@pytest.fixture
def benchmark(published, make):
    """The toy, as it is in the database."""
    return Benchmark.objects.get(pk=published.pk)


# What a benchmark and its systems say of themselves, none of which makes a revision.
CHANGES = {
    "default rule": (Benchmark, {"default_rule": "copeland"}),
    "name": (Benchmark, {"name": "Renamed"}),
    "fields": (Benchmark, {"metadata_fields": [{"key": "size", "name": "Size", "kind": "number"}]}),
    "tags": (System, {"tags": ["new"]}),
    "organisation": (System, {"organisation": "Acme"}),
    "metadata": (System, {"metadata": {"size": 7}}),
    "baseline": (System, {"baseline": "human"}),
    "about it": (System, {"description": "New.", "url": "https://new.example"}),
}


def body(answer):
    return b"".join(answer.streaming_content) if answer.streaming else answer.content


def test_an_etag_is_another_one_when_and_only_when_the_body_is(benchmark, api, settings):
    settings.API_RATES = dict.fromkeys(settings.API_RATES, "100000/min")
    addresses = figure_addresses(benchmark, system="a", rival="b")
    assert len(addresses) > 60

    def answers():
        got = {}
        for address in addresses:
            answer = api.get(address)
            assert answer.status_code == 200, (address, body(answer))
            got[address] = (answer["ETag"], body(answer))
        return got

    before, changed = answers(), set()
    for name, (model, fields) in CHANGES.items():
        rows = Benchmark.objects.filter(pk=benchmark.pk)
        rows = rows if model is Benchmark else System.objects.filter(benchmark=benchmark, key="a")
        rows.update(**fields)
        after = answers()
        for address in addresses:
            if after[address][1] != before[address][1]:
                changed.add(name)
                assert after[address][0] != before[address][0], f"{name}: {address} has its old ETag"
            else:
                assert after[address][0] == before[address][0], f"{name}: {address} has another ETag"
        before = after
    assert changed == set(CHANGES)


LEFT_OUT = "It takes more time or memory than allowed for an answer on demand"


def test_an_answer_from_which_rules_are_missing_is_not_the_whole_one(make, api, settings):
    settings.API_RATES = dict.fromkeys(settings.API_RATES, "100000/min")
    draw = random.Random(1)
    board = make.published({f"S{i}": [float(draw.randrange(100)) for _ in range(8)] for i in range(40)})
    path = f"benchmarks/{board.key}/rankings/?weights=task-1:3"
    # So few seconds that some rules are done and others are not, however fast the machine is.
    for k in range(20):
        settings.ON_DEMAND_SECONDS = 0.02 * 1.4**k
        partly = api.get(path)
        if partly.status_code == 200:
            break
    assert any(rule["reason"].startswith(LEFT_OUT) for rule in partly.json()["results"])
    settings.ON_DEMAND_SECONDS = 60
    cache.clear()  # a minute later
    whole = api.get(path, If_None_Match=partly["ETag"])
    assert whole.status_code == 200
    assert not any(rule["reason"].startswith(LEFT_OUT) for rule in whole.json()["results"])
    assert api.get(path, If_None_Match=whole["ETag"]).status_code == 304
