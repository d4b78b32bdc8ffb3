"""Prospects under the mean of tasks whose units are far apart, such as accuracy beside the number of parameters."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ranking_engine import ScoreMatrix
from ranking_engine.prospects import Bound, Conditions, TaskSet, prospects
from tests.ranking_engine import naive_prospects as naive
from tests.ranking_engine.prospects.test_evidence import check_nearest
from tests.ranking_engine.prospects.test_rules import points_table

SCALES = [1e3, 1e6, 1e8, 1e11, 1e17]


def board(seed: int, scale: float) -> ScoreMatrix:
    """Two tasks from 0 to 1, higher is better, and one up to `scale`, lower is better."""
    dice = np.random.default_rng(seed)
    values = np.column_stack([dice.random((4, 2)).round(3), np.floor(dice.random(4) * scale)])
    return ScoreMatrix(values, directions=[1, 1, -1], weights=[2, 1, 1])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("scale", SCALES)
def test_verdicts_nearest_weights_and_needed_tasks_are_those_of_vertex_enumeration(seed, scale):
    matrix = board(seed, scale)
    table = points_table(matrix, "mean", None)
    own, equal = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)], [Fraction(1, 3)] * 3
    result = prospects(matrix, rule="mean", n_draws=500)
    for i, prospect in enumerate(result.systems):
        rows = list(naive.point_leads(table, i).values())
        assert prospect.verdict == naive.verdict(rows)
        if prospect.verdict == "none":
            continue
        for name, origin in (("equal", equal), ("own", own)):
            check_nearest(prospect.nearest[name], rows, origin, result.tasks)
        corners = naive.vertices(3, rows, rows)
        needed = [name for t, name in enumerate(result.tasks) if min(w[t] for w in corners) > 0]
        assert list(prospect.needed_tasks) == needed


@pytest.mark.parametrize("scale", SCALES)
def test_conditions_hold_where_units_are_far_apart(scale):
    conditions = Conditions((Bound(TaskSet(("t3",)), at_least=Fraction(1, 5)),))
    matrix = board(1, scale)
    table = points_table(matrix, "mean", None)
    condition = [Fraction(-1, 5), Fraction(-1, 5), Fraction(4, 5)]
    for i, prospect in enumerate(prospects(matrix, rule="mean", conditions=conditions, n_draws=0).systems):
        rows = [*naive.point_leads(table, i).values(), condition]
        assert prospect.is_prospective == bool(naive.vertices(3, rows, rows))
        for nearest in prospect.nearest.values():
            weights = [nearest.total_change.weights.get(task, Fraction(0)) for task in ("t1", "t2", "t3")]
            assert all(naive.lead(row, weights) >= 0 for row in rows)


def test_a_share_does_not_contradict_the_verdict_however_large_the_numbers():
    matrix = ScoreMatrix([[0.5, 3e23], [0.6, 3e23], [0.7, 4e23]], directions=[1, -1])
    first, second, _ = prospects(matrix, rule="mean").systems
    assert (first.verdict, first.share, first.share_bound) == ("tie_only", 0.0, pytest.approx(3e-4))
    assert second.verdict == "strict"
    assert second.share > 0.99


def test_one_column_may_hold_the_largest_and_the_smallest_numbers():
    result = prospects(ScoreMatrix([[1e23, 0.1], [1e23, 0.2], [0.1, 0.3], [0.2, 0.3]]), rule="mean", n_draws=1000)
    assert [prospect.verdict for prospect in result.systems] == ["tie_only", "strict", "tie_only", "strict"]
    assert [prospect.share for prospect in result.systems] == [0, 1, 0, 0]
    assert [p.verdict for p in prospects(ScoreMatrix([[1e308, 1], [-1e308, 2]]), rule="mean").systems] == ["strict"] * 2


def test_groups_with_weights_of_many_digits_are_compared_exactly():
    dice = np.random.default_rng(5)
    groups = [f"g{t // 2}" for t in range(40)]
    matrix = ScoreMatrix(dice.integers(0, 4, (5, 40)).astype(float), weights=dice.random(40), groups=groups)
    for rule in ("majority", "mean"):
        result = prospects(matrix, rule=rule, by_group=True, n_draws=0, nearest=False, needed=False)
        assert {prospect.verdict for prospect in result.systems} <= {"strict", "none", "tie_only"}
