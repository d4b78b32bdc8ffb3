"""A rule is one record: a trial rule with nothing but its record is ranked, explained, chosen, shown and studied."""

from __future__ import annotations

import ast
from functools import partial

import numpy as np
import pytest

from ranking_engine import RULES, ScoreMatrix, listed_rules, rank, rank_all
from ranking_engine.axioms import PROPERTIES, entry, table, violates
from ranking_engine.axioms.small_boards import lacked, smallest_witness
from ranking_engine.catalogue import registry
from ranking_engine.catalogue.choice import choose_rule
from ranking_engine.catalogue.dispatch import task_contributions
from ranking_engine.catalogue.example import example_of
from ranking_engine.catalogue.omission import gain, omission_sentence, omission_witness, searched_policies
from ranking_engine.catalogue.records import claims, costs
from ranking_engine.catalogue.rule import Held, Rule
from ranking_engine.rules import positional
from ranking_engine.stability.bootstrap import rank_intervals
from ranking_engine.stability.catalogue import STUDIES, run_study
from tests.reference import REPOSITORY

POINTS = (3.0, 2.0, 1.0)
TRIAL = Rule(
    key="podium",
    name="Podium",
    family="positional",
    needs_complete=True,
    cost=costs.sorting,
    function=partial(positional.positional, vector=POINTS),
    summary="On each task the first three places earn 3, 2 and 1 points, times the task's weight.",
    source="Olympic practice",
    advice="Where only the first three places of each task matter.",
    held=Held(
        claims.ADDITIVE,
        why=claims.SCORING_WHY,
        why_not={**claims.SCORING_WHY_NOT, "unanimity": "two positions may be worth the same"},
    ),
    tie_convention="worst",
    task_sum=positional.task_sum_of(partial(positional.padded_vector, vector=POINTS)),
)


@pytest.fixture
def trial(monkeypatch):
    """The catalogue with one rule more."""
    monkeypatch.setitem(registry._BY_KEY, TRIAL.key, TRIAL)
    yield TRIAL
    omission_witness.cache_clear()


@pytest.fixture
def board():
    values = np.random.default_rng(1).permuted(np.tile(np.arange(6.0), (9, 1)), axis=1).T
    return ScoreMatrix(values, gamma=4.0, minimum=[0] * 9, maximum=[5] * 9, chance=[0] * 9)


def test_it_is_ranked(trial, board):
    assert trial.key in listed_rules()
    expected = rank(board, "positional", vector=POINTS)
    for ranking in (rank(board, trial.key), rank_all(board)[trial.key]):
        np.testing.assert_array_equal(ranking.scores, expected.scores)
    assert rank(board, trial.key, aggregation="two_step").status == "ranked"


def test_it_is_explained_and_chosen(trial):
    assert example_of(trial.key).reads == "positions"
    assert example_of(trial.key).ranking.scores.tolist() == [6, 9, 8, 7]
    assert set(table()[trial.key]) == set(PROPERTIES)
    assert all(entry(trial.key, key).source for key in PROPERTIES)
    assert trial in [candidate.rule for candidate in choose_rule({}).candidates]


def test_whether_leaving_out_a_score_pays_is_searched_where_the_record_does_not_say(trial):
    for policy in searched_policies(trial):
        witness = omission_witness(trial.key, policy)
        assert gain(witness.matrix, 0, witness.task, trial.key, policy)
        assert "can gain under Podium" in omission_sentence(trial.key, policy)


def test_its_counter_examples_are_found(trial):
    for options, key in list(lacked(trial.key))[:3]:
        stored = smallest_witness(trial.key, key, options)
        assert violates(stored.board, stored.witness)


def test_every_study_works_with_it(trial, board):
    assert trial.key in rank_intervals(board, [trial.key], n_resamples=20).counts
    assert trial.key in task_contributions(board, [trial.key])
    for key in [key for key, study in STUDIES.items() if "rules" in study.parameters]:
        few = {name: 2 for name in ("n_repeats", "n_orders", "n_trials") if name in STUDIES[key].parameters}
        assert trial.key in run_study(key, board, {**few, "rules": [trial.key]}).summary["rules"]


AMBIGUOUS = {"mean", "median", "condorcet", "positional"}  # words with other meanings
# What papers recommend, what a study looks at where nobody chose, columns of other sites' files that happen to have the
# name of a rule: no table that must know every rule.
CHOSEN = {"RECOMMENDATIONS", "DEFAULT_RULES", "_KNOWN_COLUMNS"}


def tables_by_rule(path):
    """Dicts, sets and tuples at the top of a module that name several rules, or have one as a key."""
    names = set(RULES) - AMBIGUOUS
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or getattr(targets[0], "id", "") in CHOSEN:
            continue
        for node in ast.walk(statement):
            keys = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
            named = [key.value for key in keys if isinstance(key, ast.Constant) and key.value in names]
            if len(named) > (0 if isinstance(node, ast.Dict) else 1):
                yield f"{path.relative_to(REPOSITORY)}:{node.lineno}: {', '.join(named)}"


def test_no_table_beside_the_records_is_keyed_by_rule():
    modules = [path for root in ("ranking_engine", "leaderboard") for path in (REPOSITORY / root).rglob("*.py")]
    beside = [path for path in modules if path.parent.name not in ("records", "migrations")]
    assert [line for path in beside for line in tables_by_rule(path)] == []
