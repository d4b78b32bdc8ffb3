"""Winning regions of rules on points, against the definitions in exact fractions."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from ranking_engine import ScoreMatrix, rank
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.prospects import RULES, Conditions, pair_prospect, prospects
from tests.ranking_engine import naive_prospects as naive
from tests.ranking_engine.strategies import matrices
from tests.reference import reference_matrix

VECTORS = {
    "borda": lambda n: [Fraction(n - place) for place in range(1, n + 1)],
    "plurality": lambda n: [Fraction(place == 1) for place in range(1, n + 1)],
    "dowdall": lambda n: [Fraction(1, place) for place in range(1, n + 1)],
}
TIES = {"borda": "worst", "plurality": "worst", "dowdall": "best"}


def points_table(matrix, rule, ties):
    """What each voting task gives each system, by the rule's definition; complete scores."""
    columns = []
    for t in np.flatnonzero(matrix.votes):
        sign = int(matrix.directions[t])
        column = [sign * Fraction(Decimal(repr(float(x)))) for x in matrix.values[:, t]]
        columns.append(column if rule == "mean" else positional(column, VECTORS[rule](len(column)), ties or TIES[rule]))
    return [list(row) for row in zip(*columns, strict=True)]


def positional(column, vector, ties):
    given_points = []
    for mine in column:
        above = sum(other > mine for other in column)
        entries = vector[above : above + column.count(mine)]
        given_points.append({"best": entries[0], "worst": entries[-1], "average": sum(entries) / len(entries)}[ties])
    return given_points


CONVENTIONS = st.sampled_from([None, "best", "worst", "average"])


@settings(max_examples=70, deadline=None)
@given(matrices(max_systems=5, max_tasks=3, gaps=False), st.sampled_from(RULES[1:]), CONVENTIONS)
def test_verdicts_and_evidence_agree_with_an_exact_linear_program(matrix, rule, ties):
    result = prospects(matrix, rule=rule, ties=ties, n_draws=0, nearest=False)
    if not matrix.votes.any():
        assert {p.verdict for p in result.systems} == {"no_scores"}
        return
    table = points_table(matrix, rule, ties)
    for i, prospect in enumerate(result.systems):
        rows = naive.point_leads(table, i)
        if rows:
            assert prospect.verdict == naive.verdict(rows.values())
            assert prospect.margin == pytest.approx(float(naive.largest_margin(rows.values())), abs=1e-7)
            naive.assert_evidence_holds(prospect, rows, result.tasks, matrix.system_names)
            if prospect.is_prospective:
                corners = naive.vertices(len(result.tasks), list(rows.values()), list(rows.values()))
                needed = [name for t, name in enumerate(result.tasks) if min(w[t] for w in corners) > 0]
                assert list(prospect.needed_tasks) == needed


@settings(max_examples=30, deadline=None)
@given(matrices(max_systems=4, max_tasks=3, gaps=False).filter(lambda m: m.votes.any()), st.sampled_from(RULES))
def test_the_least_change_for_a_pair_agrees_with_vertex_enumeration(matrix, rule):
    if matrix.n_systems < 2:
        return
    prospect = pair_prospect(matrix, "s1", "s2", rule=rule, n_draws=0)
    if rule == "majority":
        row = naive.majority_leads(matrix, 0)[1]
    else:
        row = naive.point_leads(points_table(matrix, rule, None), 0)[1]
    assert prospect.is_prospective == (max(row) >= 0)
    if prospect.is_prospective:
        total = sum(matrix.weights[t] for t in np.flatnonzero(matrix.votes))
        own = [matrix.weights[t] / total for t in np.flatnonzero(matrix.votes)]
        equal = [Fraction(1, len(row))] * len(row)
        for name, origin in (("own", own), ("equal", equal)):
            total_change, largest_change = naive.least_changes([row], origin)
            assert prospect.nearest[name].total_change.change == pytest.approx(float(total_change), abs=1e-7)
            assert prospect.nearest[name].largest_change.change == pytest.approx(float(largest_change), abs=1e-7)


@pytest.mark.parametrize("rule", RULES[1:])
def test_the_rule_itself_elects_the_system_under_the_weights_found(rule):
    matrix = random_matrix(12, 5, seed=4, n_levels=7)
    result = prospects(matrix, rule=rule, n_draws=0)
    verdicts = {p.verdict for p in result.systems}
    assert "strict" in verdicts
    for i, prospect in enumerate(result.systems):
        sets = [prospect.weights]
        for nearest in prospect.nearest.values():
            sets += [nearest.total_change.weights, nearest.largest_change.weights]
        for weights in sets if prospect.is_prospective else []:
            reweighted = matrix.with_weights([weights.get(task, Fraction(0)) for task in matrix.task_names])
            ranking = rank(reweighted, rule, ties=TIES.get(rule))
            assert i in ranking.winners


def test_a_system_without_every_score_is_not_ranked_by_points():
    matrix = ScoreMatrix([[1, 2], [2, np.nan], [0, 3]], system_names=["A", "B", "C"])
    result = prospects(matrix, rule="borda", n_draws=0)
    assert [(p.system, p.verdict) for p in result.systems] == [("A", "strict"), ("B", "no_scores"), ("C", "strict")]
    assert result["B"].reason == "no score on 1 of 2 tasks of weight above 0: t2"
    imputed = prospects(matrix, rule="borda", missing="worst", n_draws=0)
    assert [p.verdict for p in imputed.systems] == ["none", "strict", "strict"]
    dropped = prospects(matrix, rule="borda", missing="drop_tasks", n_draws=0)
    assert (dropped.tasks, dropped["B"].verdict) == (("t1",), "strict")


@pytest.mark.parametrize("rule", RULES)
def test_every_glue_system_gets_a_verdict(rule):
    matrix = reference_matrix("votenrank-glue")
    result = prospects(matrix, rule=rule, n_draws=0, nearest=False, needed=False)
    counts = result.summary()["verdicts"]
    assert counts["undecided"] == 0
    assert counts["strict"] > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "copeland"}, "`rule` is 'copeland'; expected one of majority, mean, borda, plurality, dowdall"),
        ({"rule": "borda", "ties": "none"}, "`ties` is 'none'; expected one of worst, best, average"),
        ({"rule": "mean", "missing": "zero"}, "`missing` is 'zero'; expected one of undefined"),
        ({"systems": ["C"]}, "unknown system 'C'"),
    ],
)
def test_what_is_unknown_is_an_error(options, message):
    with pytest.raises(ValueError, match=message):
        prospects(ScoreMatrix([[1], [2]]), **options)


SCALES = st.sampled_from([0.0, 1.0, 2.0, 3.0])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(SCALES, min_size=3, max_size=3), min_size=2, max_size=4))
def test_tasks_on_scales_that_are_far_apart_hide_no_winner(rows):
    values = np.array(rows) * [1e12, 1.0, 1e-3]
    matrix = ScoreMatrix(values)
    result = prospects(matrix, rule="mean", n_draws=0, nearest=False, needed=False)
    table = points_table(matrix, "mean", None)
    for i, prospect in enumerate(result.systems):
        leads = naive.point_leads(table, i)
        assert prospect.verdict == naive.verdict(leads.values())
        naive.assert_evidence_holds(prospect, leads, result.tasks, matrix.system_names)


def test_what_no_float_can_show_is_undecided_and_never_wrong():
    result = prospects(ScoreMatrix([[1e300, 1e-300], [1e300, 2e-300], [0, 0]]), rule="mean", n_draws=0)
    assert [p.verdict for p in result.systems] == ["tie_only", "undecided", "none"]
    assert result.systems[1].reason == "neither weights nor a certificate passed the exact verification"


def test_conditions_hold_on_tasks_of_any_scale():
    matrix = ScoreMatrix([[1e12, 1e-3, 3], [1e12, 2e-3, 1], [0, 0, 9]], task_names=["x", "y", "z"])
    result = prospects(matrix, rule="mean", conditions=Conditions.parse(["x <= 1/2", "z <= 1/5"]), n_draws=0)
    assert [p.verdict for p in result.systems] == ["strict", "strict", "strict"]
    for prospect in result.systems:
        assert prospect.weights.get("x", 0) <= Fraction(1, 2)
        assert prospect.weights.get("z", 0) <= Fraction(1, 5)
