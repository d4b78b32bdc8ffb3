from __future__ import annotations

import numpy as np
import pytest

from ranking_engine import ScoreMatrix, rank, rank_all
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.core.ranking import average_ranks
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability.catalogue import EXPERIMENTS, STUDIES, run_study
from ranking_engine.stability.plan import make_plan, one_by_one_seconds
from ranking_engine.stability.resampling.alone import Alone
from ranking_engine.stability.studies.missing_scores import with_gaps
from ranking_engine.stability.study import cut_by_cost

MATRIX = random_matrix(9, 6, seed=4, kind="uniform", n_levels=5)
RULES = ["borda", "kemeny"]
COST = one_by_one_seconds("kemeny", MATRIX)
SMALL = {
    "missing_scores": {"n_repeats": 7, "levels": [0, 20, 40], "top": 5},
    "system_additions": {"n_orders": 7},
    "task_subsets": {"n_repeats": 7, "n_best": 12, "largest_best": 2},
    "corrupted_tasks": {"n_repeats": 7, "n_reversed": [1, 3], "factors": [2.0]},
    "judge_bootstrap": {"n_trials": 7, "n_resamples": 6, "n_rounds": 2},
    "tasks_needed": {"n_resamples": 7, "sizes": [3, 6]},
    "manipulated_tasks": {"n_repeats": 7, "n_manipulated": [0, 2]},
}


def plan_with(
    budget: float,
    *,
    more_repeats: float = 1.0,
    n_rankings: int = 100,
    n_repeats: int = 50,
    is_fast=lambda rule, matrix: rule == "borda",
):
    parameters = {"rules": RULES, "missing": "median", "budget": budget, "more_repeats": more_repeats}
    return make_plan(MATRIX, parameters, n_rankings, n_repeats, is_fast)


@pytest.mark.parametrize(
    ("tables", "every", "n_repeats"),
    [(100, 1, 50), (60, 2, 25), (34, 3, 17), (10, 10, 5), (4, 25, 2)],
)
def test_a_slow_rule_ranks_as_many_repeats_as_the_budget_buys(tables, every, n_repeats):
    plan = plan_with(tables * COST * 1.0001)
    assert (plan.every("kemeny"), plan.sparse["kemeny"].n_repeats) == (every, n_repeats)
    assert plan.every("borda") == 1
    assert plan.slow_seconds <= tables * COST * 1.0001
    assert plan.by_repeats(plan.parts[0]) == ({1: RULES} if every == 1 else {1: ["borda"], every: ["kemeny"]})


@pytest.mark.parametrize(("share", "every", "n_repeats"), [(1.0, 1, 50), (0.2, 5, 10), (0.05, 25, 2), (0.0, 25, 2)])
def test_repeats_beyond_the_least_take_only_their_share_of_the_budget(share, every, n_repeats):
    plan = plan_with(100 * COST * 1.0001, more_repeats=share)
    assert (plan.every("kemeny"), plan.sparse["kemeny"].n_repeats) == (every, n_repeats)
    assert plan.slow_seconds <= max(share * 100, 4) * COST * 1.0001


def test_a_rule_that_could_not_rank_two_repeats_is_left_out_with_what_it_would_take():
    plan = plan_with(3.9 * COST)
    assert plan.rules == ["borda"]
    assert plan.not_studied["kemeny"].startswith("ranking 2 of 50 repeats would take about 0.")


def test_of_many_repeats_one_in_a_hundred_is_the_least():
    assert plan_with(99 * COST, n_rankings=10_000, n_repeats=10_000).rules == ["borda"]
    assert plan_with(101 * COST, n_rankings=10_000, n_repeats=10_000).sparse["kemeny"].n_repeats == 100


def test_the_whole_table_is_ranked_once_for_all_plans_of_a_matrix():
    first, second = plan_with(60.0), plan_with(30.0)
    assert first.parts[0].reference["kemeny"] is second.parts[0].reference["kemeny"]


@pytest.mark.parametrize("study", SMALL)
def test_every_study_tells_how_many_repeats_a_slow_rule_ranked_and_how_many_orders_were_proven(study, monkeypatch):
    record = (STUDIES | EXPERIMENTS)[study]
    cheapest = {**SMALL[study], "rules": RULES}
    fitting = None
    for budget in np.geomspace(0.01, 60, 60):  # the first that lets the rule in
        summary = run_study(study, MATRIX, {**cheapest, "budget": float(budget)}).summary
        if "kemeny" in summary["rules"]:
            fitting = summary
            break
    assert fitting is not None
    entry = fitting["slow_rules"]["kemeny"]
    steps = SMALL[study][record.steps]
    assert set(fitting["slow_rules"]) == {"kemeny"}
    assert 2 <= entry["n_repeats"] < entry["of"] == steps
    assert entry["proven"] == 1.0
    assert entry["n_tables"] > 0
    whole = run_study(study, MATRIX, cheapest).summary
    assert whole["slow_rules"]["kemeny"]["n_repeats"] == steps
    assert whole["rules"]["borda"] == fitting["rules"]["borda"]


def test_the_repeats_that_a_slow_rule_ranks_are_the_first_of_every_so_many():
    parameters = {"n_repeats": 9, "levels": [0, 30], "rules": RULES, "top": 5}
    whole = run_study("missing_scores", MATRIX, parameters).arrays["kemeny.spearman"]
    budget = 2 * 3.001 * COST
    some = run_study("missing_scores", MATRIX, {**parameters, "budget": budget})
    assert some.summary["slow_rules"] == {"kemeny": {"n_repeats": 3, "of": 9, "n_tables": 6, "proven": 1.0}}
    np.testing.assert_array_equal(some.arrays["kemeny.spearman"], whole[::3])
    # and each is what the rule itself says of that table
    deleted = MATRIX.with_values(with_gaps(MATRIX, 30, 0, 3, 1) * MATRIX.directions)
    ranks = average_ranks(rank(deleted, "kemeny").ranks[None])[0]
    alone = rank_all(deleted, ["kemeny"], seconds={"kemeny": 1.0})["kemeny"]
    assert average_ranks(alone.ranks[None])[0].tolist() == ranks.tolist()


@pytest.mark.parametrize("budget", [60.0, 0.5])
def test_the_stability_of_a_slow_rule_says_on_how_many_resamples_it_rests(budget):
    parameters = {"rules": RULES, "n_trials": 40, "n_resamples": 6, "n_rounds": 2, "budget": budget}
    (entry,) = run_study("judge_bootstrap", MATRIX, parameters).summary["slow_rules"].values()
    assert entry["of_resamples"] == 6
    assert 2 <= entry["n_resamples"] <= 6
    # a table each for the trials, and for the resamples of two rounds of tasks, of systems, and of these with copies
    assert entry["n_tables"] == entry["n_repeats"] + 6 * entry["n_resamples"]


def test_merged_chunks_are_the_whole_with_slow_rules_too(monkeypatch):
    monkeypatch.setattr("ranking_engine.stability.study.CHUNK_SECONDS", 1e-3)
    for study in ("missing_scores", "judge_bootstrap", "task_subsets"):
        record = STUDIES[study]
        own = record.with_defaults({**SMALL[study], "rules": RULES, "budget": 0.5})
        n_chunks = record.n_chunks(MATRIX, own)
        assert n_chunks > 1
        partials = [record.run_chunk(MATRIX, own, 0, chunk) for chunk in range(n_chunks)]
        summary = record.merge(MATRIX, own, 0, partials).summary
        assert summary["rules"]["kemeny"]
        assert summary["slow_rules"]["kemeny"]["n_tables"] == sum(len(part["kemeny.proven"]) for part in partials)


def test_wrong_parameters_are_refused_before_the_units_of_work_are_counted():
    def estimate(matrix, parameters):
        raise ValueError("`ratios` has 2.0; expected shares up to 1")

    def n_units(matrix, parameters):
        raise AssertionError("nothing is to be counted")

    with pytest.raises(ValueError, match="expected shares"):
        cut_by_cost(estimate, n_units)(MATRIX, {})


def test_tables_ranked_alone_are_those_of_the_rules():
    alone = Alone({"kemeny": 0.5})
    matrix = ScoreMatrix([[1, 2, 2], [2, 1, np.nan], [3, 3, 1]])
    scores = alone.scores(matrix, ["kemeny", "schulze"], "median")
    for rule, row in scores.items():
        assert (-row).tolist() == rank(matrix, rule).ranks.tolist()
    assert alone.proven("kemeny").tolist() == [1]
    assert alone.proven("schulze").tolist() == []
    assert get_rule("schulze").of_many is None
