from __future__ import annotations

import doctest
import subprocess
import sys

import pytest

import ranking_engine
from ranking_engine import MISSING_POLICIES, RULES, TIES


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
        assert rule.is_quick(300, 80)
    assert not RULES["copeland"].is_quick(50_000, 100)


def test_the_catalogue_is_complete_and_cannot_be_changed():
    assert ranking_engine.__version__ == "0.1.0"
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
