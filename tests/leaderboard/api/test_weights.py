"""Rankings under weights of one's own, by address and by body; Borda scores are worked out here by hand."""

import pytest
from django.core.cache import cache

from tests.factories import TOY

pytestmark = pytest.mark.django_db
WEIGHTS = [4, 1, 1, 0.5, 0]


@pytest.fixture(scope="module")
def toy(make_once):
    return make_once.published()


def by_hand():
    """Points for every system strictly below, times the task's weight."""
    return {
        name.lower(): sum(w * sum(scores[t] > other[t] for other in TOY.values()) for t, w in enumerate(WEIGHTS))
        for name, scores in TOY.items()
    }


def test_a_query_and_a_body_give_the_ranking_worked_out_by_hand(toy, make, client):
    path = f"/api/v1/benchmarks/{toy.key}/rankings/borda/"
    by_address = client.get(f"{path}?weights=task-1:4,task-4:1/2,task-5:0").json()
    body = {"weights": {"task-1": 4, "task-2": 1, "task-4": "0.5", "task-5": 0}}
    by_body = client.post(path, body, content_type="application/json").json()
    assert by_body == by_address
    assert {row["system"]: row["score"] for row in by_body["results"]} == by_hand()
    assert by_body["weights"] == {"task-1": "4", "task-4": "0.5", "task-5": "0"}
    assert by_body["winners"] == [{"system": "a", "name": "A"}]


def test_the_verdicts_of_all_rules_follow_the_weights(toy, make, client):
    path = f"/api/v1/benchmarks/{toy.key}/rankings/"
    own = client.get(path).json()
    body = {"weights": {"task-1": 5}}
    answer = client.post(path, body, content_type="application/json").json()
    assert (own["weights"], answer["weights"]) == ({}, {"task-1": "5"})  # five of nine votes rank A first
    winners = {rule["rule"]: [winner["name"] for winner in rule["winners"]] for rule in answer["results"]}
    assert next(rule["winners"] for rule in own["results"] if rule["rule"] == "condorcet")[0]["name"] == "B"
    assert winners["plurality"] == winners["condorcet"] == winners["copeland"] == ["A"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"weights": {"task-9": 1}}, "The benchmark has no task of the key 'task-9'"),
        ({"weights": {"task-1": -1}}, "a weight is never negative"),
        ({"weights": {"task-1": True}}, "The weight of the task 'Task 1' is True; expected a number"),
        ({"weights": [1]}, "`weights` is not an object of weights by key."),
        ({"weight": {}}, "There is no field 'weight'"),
        ({"missing": "guess"}, "`missing` is 'guess'; expected one of"),
        ({"weights": {f"task-{t}": 0 for t in range(1, 6)}}, "At least one task needs a weight above 0"),
    ],
)
def test_a_body_that_cannot_be_answered_is_told_what_is_wrong(toy, make, client, body, message):
    answer = client.post(f"/api/v1/benchmarks/{toy.key}/rankings/", body, content_type="application/json")
    assert (answer.status_code, message in answer.json()["error"]["message"]) == (400, True)


def test_weights_are_computed_within_the_budget_and_as_often_as_is_allowed(toy, make, client, settings):
    path = f"/api/v1/benchmarks/{toy.key}/rankings/borda/?weights=task-1:"
    settings.API_RATES = settings.API_RATES | {"on_demand": "2/min"}
    cache.clear()
    assert [client.get(f"{path}{k}").status_code for k in (2, 3, 4)] == [200, 200, 429]
    cache.clear()
    settings.ON_DEMAND_BUDGET = 100
    assert client.get(f"{path}5").json()["error"]["code"] == "too_expensive"


def test_whoever_sees_no_scores_gets_no_ranking_under_other_weights(make, client):
    benchmark = make.published(score_view="ranks")
    path = f"/api/v1/benchmarks/{benchmark.key}/rankings/"
    assert client.get(path).status_code == 200
    for answer in (client.get(f"{path}?weights=task-1:3"), client.get(f"{path}borda/?weights=task-1:3")):
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden")
    body = {"weights": {"task-1": 3}}
    assert client.post(f"{path}borda/", body, content_type="application/json").status_code == 403
