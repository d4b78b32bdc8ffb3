"""What the API says of rankings, held against those of the engine."""

import csv
import io

import numpy as np
import pytest

from leaderboard.computing.rankings import site_rules
from leaderboard.models import Benchmark
from ranking_engine import RULES, ScoreMatrix
from ranking_engine.axioms import PROPERTIES, entry
from ranking_engine.stability.bootstrap import rank_intervals
from tests.factories import TOY
from tests.leaderboard.api.conftest import error_of
from tests.leaderboard.api.engine_figures import GAPS, figures, response_figures, winners

BOARDS = {"toy": TOY, "gaps": GAPS}
DRAWS = {"A": [3.0, 2.0], "B": [1.0, 3.0], "C": [2.0, 1.0]}  # A beats C, and B draws with both


@pytest.fixture(scope="module")
def keys(make_once):
    """Those of benchmarks with the boards above."""
    return {name: make_once.published(scores).key for name, scores in (BOARDS | {"draws": DRAWS}).items()}


@pytest.mark.parametrize("rule", site_rules())
@pytest.mark.parametrize("board", BOARDS)
def test_a_ranking_is_what_the_engine_says(keys, make, api, board, rule):
    scores = BOARDS[board]
    response = api.get(f"benchmarks/{keys[board]}/rankings/{rule}/")
    assert response_figures(response) == figures(scores, rule)
    ranks = [row["rank"] or 99 for row in response.json()["results"]]
    assert ranks == sorted(ranks)
    assert [winner["system"] for winner in response.json()["winners"]] == winners(scores, rule)


@pytest.mark.parametrize("rule", ["schulze", "ranked_pairs"])
def test_whom_nobody_beats_is_a_winner_below_the_first_rank(keys, make, api, rule):
    """The score puts A before B, and both are elected."""
    response = api.get(f"benchmarks/{keys['draws']}/rankings/{rule}/").json()
    assert [winner["system"] for winner in response["winners"]] == ["a", "b"]
    ranks = {row["system"]: row["rank"] for row in response["results"]}
    assert ranks == {"a": 1, "b": 2, "c": 3}


@pytest.mark.parametrize("policy", ["undefined", "drop_tasks", "median", "worst"])
def test_another_policy_is_computed_on_demand(keys, make, api, policy):
    response = api.get(f"benchmarks/{keys['gaps']}/rankings/borda/", {"missing": policy})
    assert response_figures(response) == figures(GAPS, "borda", missing=policy)
    assert response.json()["missing"] == policy


def test_a_board_beyond_the_budget_is_refused_with_the_limit(keys, make, api, settings):
    settings.ON_DEMAND_BUDGET = 10
    path = f"benchmarks/{keys['gaps']}/rankings/borda/"
    refusal = error_of(api.get(path, {"missing": "median"}))
    assert (refusal["status"], refusal["code"]) == (422, "too_expensive")
    assert "up to 10 can be computed on demand" in refusal["message"]
    assert api.get(path, {"missing": "drop_systems"}).status_code == 200
    assert error_of(api.get(path, {"missing": "zero"}))["status"] == 400


def test_all_rules_of_a_revision_stand_side_by_side(keys, make, api):
    benchmark = Benchmark.objects.get(key=keys["gaps"])
    answer = api.get(f"benchmarks/{benchmark.key}/rankings/").json()
    assert [head["rule"] for head in answer["results"]] == site_rules()
    for head in answer["results"]:
        assert [winner["system"] for winner in head["winners"]] == winners(GAPS, head["rule"])
    assert answer["input_hash"] == benchmark.publication.revision.input_hash


def test_rank_intervals_come_with_their_study(make, api):
    scores = np.random.default_rng(3).normal(size=(4, 12))
    benchmark = make.benchmark({name: row.tolist() for name, row in zip("ABCD", scores, strict=True)})
    assert api.get(f"benchmarks/{make.publish(benchmark).key}/rankings/borda/").json()["intervals"] is None
    make.publish(benchmark, studies=True)
    answer = api.get(f"benchmarks/{benchmark.key}/rankings/borda/").json()
    assert {job["kind"]: job["state"] for job in answer["jobs"]} == {
        "axioms": "done",
        "bootstrap": "done",
        "prospects": "done",
        "rankings": "done",
        "significance": "done",
    }
    intervals = rank_intervals(
        ScoreMatrix(scores, system_names=tuple("ABCD")), ("borda",), n_resamples=4000, simultaneous=True
    )
    errors, together = intervals.errors["borda"], intervals.simultaneous["borda"]
    assert answer["intervals"] == {
        "status": "computed",
        "reason": "",
        "level": 0.95,
        "n_resamples": 4000,
        "n_clusters": 12,
        "seed": 0,
        "typical_error": int(np.median(errors)),
        "largest_error": int(errors.max()),
        "no_simultaneous": "",
        "measured": None,
    }
    rows = {row["name"]: row for row in answer["results"]}
    for i, name in enumerate("ABCD"):
        row = rows[name]
        alone = [int(intervals.lower["borda"][i]), int(intervals.upper["borda"][i])]
        at_once = [int(together.lower[i]), int(together.upper[i])]
        assert (row["interval"], row["simultaneous_interval"]) == (alone, at_once)
        assert row["possibly_best"] == bool(together.possibly_best[i])
        of_system = api.get(f"benchmarks/{benchmark.key}/systems/{row['system']}/").json()["ranks"]
        (under_borda,) = [rank for rank in of_system if rank["rule"] == "borda"]
        assert {field: under_borda[field] for field in under_borda if field != "rule"} == {
            field: row[field] for field in under_borda if field != "rule"
        }
    table = api.get(f"benchmarks/{benchmark.key}/rankings/borda/?format=csv").content.decode()
    for line in csv.DictReader(io.StringIO(table)):
        row = rows[line["name"]]
        ends = [line[f"{kind}_{end}"] for kind in ("interval", "simultaneous") for end in ("least", "greatest")]
        assert ends == [str(end) for end in (*row["interval"], *row["simultaneous_interval"])]
        assert line["possibly_best"] == ("yes" if row["possibly_best"] else "no")


def test_a_ranking_as_csv(keys, make, api):
    response = api.get(f"benchmarks/{keys['gaps']}/rankings/borda/?format=csv")
    rows = list(csv.DictReader(io.StringIO(response.content.decode())))
    assert {row["system"]: (int(row["rank"]) if row["rank"] else None) for row in rows} == {
        name: place for name, (place, _) in figures(GAPS, "borda").items()
    }
    assert rows[-1]["reason"].startswith("no score on 1 of 3 tasks of weight above 0")


def test_the_catalogue_holds_every_rule(make, api):
    catalogue = api.get("rules/").json()
    assert [rule["key"] for rule in catalogue["results"]] == sorted(RULES)
    copeland = next(rule for rule in catalogue["results"] if rule["key"] == "copeland")
    assert set(copeland["omission"].values()) == {
        "A system can gain under Copeland by leaving out its worst score: only common tasks are compared."
    }


def test_the_properties_of_a_rule_are_those_of_the_catalogue(keys, make, api):
    answer = api.get(f"benchmarks/{keys['toy']}/rankings/borda/properties/").json()
    assert answer["state"] == "computing"
    assert {line["name"]: line["holds"] for line in answer["results"]} == {
        prop.name: entry("borda", key).holds for key, prop in PROPERTIES.items()
    }
    assert api.get(f"benchmarks/{keys['toy']}/rankings/no-rule/properties/").status_code == 404
