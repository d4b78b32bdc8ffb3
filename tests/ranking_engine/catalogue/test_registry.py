from __future__ import annotations

import doctest
import subprocess
import sys
from dataclasses import replace

import pytest

import ranking_engine
from ranking_engine import (
    MISSING_POLICIES,
    RULES,
    TIES,
    ScoreMatrix,
    listed_rules,
    quick_rules,
    rank,
    slow_rules,
)


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
def test_every_rule_says_what_a_reader_wants_to_know(rule):
    assert RULES[rule.key] is rule
    assert rule.name
    assert rule.source
    assert rule.summary.endswith(".")
    assert rule.family in {"cardinal", "positional", "elimination", "majority", "consensus", "rates"}
    assert rule.tie_convention in {None, *TIES}
    assert all(len(values) > 1 for values in rule.options.values())


def test_policies_and_ties_are_one_sentence_each():
    for text in [*MISSING_POLICIES.values(), *TIES.values()]:
        assert text.endswith(".")
        assert text.count(".") == 1


def test_costs_grow_and_rules_are_quick_at_the_sizes_that_boards_have():
    for rule in RULES.values():
        assert rule.cost(10, 10) < rule.cost(1000, 100) < rule.cost(10000, 100)
        assert not (rule.is_slow and rule.is_listed)
    assert slow_rules(300, 80) == ("kemeny", "soft_condorcet")
    assert slow_rules(100, 80) == ()
    assert not RULES["copeland"].is_quick(50_000, 100)


def test_rules_are_quick_or_slow_or_not_computed_at_a_size():
    for size in [(1, 1), (300, 80), (1000, 100), (5000, 57), (20_000, 10)]:
        refused = {rule.key for rule in RULES.values() if rule.why_not_computed(size[0])}
        assert sorted([*quick_rules(*size), *slow_rules(*size), *refused, "positional"]) == sorted(RULES)
    assert {"ranked_pairs", "schulze"} <= set(slow_rules(3000, 57))


def test_a_rule_refuses_boards_beyond_its_size_and_says_so(monkeypatch):
    monkeypatch.setattr(
        "ranking_engine.catalogue.registry.RULES", {"schulze": replace(RULES["schulze"], max_systems=2)}
    )
    ranking = rank(ScoreMatrix([[1.0], [2.0], [3.0]]), "schulze")
    assert (ranking.status, ranking.reason) == ("undefined", "not computed for more than 2 systems (here 3)")
    assert rank(ScoreMatrix([[1.0], [2.0]]), "schulze").ranks.tolist() == [2, 1]


def test_the_catalogue_is_complete_and_cannot_be_changed():
    assert ranking_engine.__version__ == "0.13.0"
    assert all(hasattr(ranking_engine, name) for name in ranking_engine.__all__)
    with pytest.raises(TypeError):
        RULES["mine"] = RULES["mean"]


def test_importing_the_engine_loads_neither_scipy_nor_django():
    loaded = "{name.split('.')[0] for name in sys.modules}"
    script = f"import sys, ranking_engine; print(sorted({loaded} & {{'scipy', 'django'}}))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_the_example_in_the_catalogue_runs():
    assert doctest.testmod(ranking_engine) == (0, 3)


def test_a_rule_that_needs_a_parameter_is_no_column_of_every_leaderboard():
    assert RULES["positional"].parameters
    assert not RULES["positional"].is_listed
    assert listed_rules() == [key for key, rule in RULES.items() if rule.is_listed]
    assert list(RULES)[:8] == [
        "mean",
        "geometric_mean",
        "harmonic_mean",
        "worst_task",
        "median",
        "normalized_mean",
        "optimality_gap",
        "plurality",
    ]
