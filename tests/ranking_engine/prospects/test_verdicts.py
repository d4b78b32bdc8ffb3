from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import linprog

from ranking_engine import ScoreMatrix
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.prospects import Prospects, prospects
from tests.ranking_engine import naive_prospects as naive
from tests.ranking_engine.naive import oriented
from tests.ranking_engine.strategies import matrices
from tests.ranking_engine.test_reference import matrix_of
from tests.reference import reference_answers, reference_leaderboards, reference_matrix


def verdicts(result):
    return {p.system: p.verdict for p in result.systems}


def winnable(result, verdict=None):
    return {p.system for p in result.systems if p.is_prospective and verdict in (None, p.verdict)}


@settings(max_examples=80, deadline=None)
@given(matrices(max_systems=5, max_tasks=4))
def test_verdicts_margins_and_evidence_agree_with_an_exact_linear_program(matrix):
    result = prospects(matrix, n_draws=0, nearest=False, needed=False)
    assert [p.system for p in result.systems] == list(matrix.system_names)
    for i, prospect in enumerate(result.systems):
        rows = naive.majority_leads(matrix, i)
        if not matrix.has_score[i]:
            assert prospect.verdict == "no_scores"
            assert prospect.reason.startswith(("no score", "no system", "no task"))
        elif not rows:
            assert (prospect.verdict, prospect.margin, sum(prospect.weights.values())) == ("strict", None, 1)
        else:
            scored = naive.scored_tasks(matrix, i)
            on_scored = [naive.on(scored, row) for row in rows.values()]
            assert prospect.verdict == naive.verdict(on_scored)
            assert prospect.margin == pytest.approx(float(naive.largest_margin(on_scored)), abs=1e-9)
            naive.assert_evidence_holds(prospect, rows, result.tasks, matrix.system_names, scored)


@settings(max_examples=40, deadline=None)
@given(matrices(max_systems=5, min_tasks=2, max_tasks=3))
def test_verdicts_agree_with_a_fine_grid_of_weights(matrix):
    result = prospects(matrix, n_draws=0, nearest=False, needed=False)
    for i, prospect in enumerate(result.systems):
        rows = naive.majority_leads(matrix, i).values()
        if not rows or prospect.verdict == "no_scores":
            continue
        scored = naive.scored_tasks(matrix, i)
        least = [
            min(naive.lead(row, weights) for row in rows)
            for weights in naive.grid(len(result.tasks), 12)
            if sum(naive.on(scored, weights)) > 0
        ]
        assert max(least) <= max(prospect.margin, 0) + 1e-9
        # with 2 or 3 tasks the largest margin is reached at weights whose denominator divides 12
        assert (max(least) >= 0, max(least) > 0) == (prospect.is_prospective, prospect.verdict == "strict")


@pytest.mark.parametrize(
    ("file", "leaderboard"),
    [
        ("votenrank-superglue", "votenrank-superglue"),
        ("votenrank-value-nohuman", "votenrank-value"),
        ("votenrank-value-missing", "votenrank-value"),
    ],
)
def test_who_can_win_is_as_votenrank_says(file, leaderboard):
    answers = reference_answers(file)
    result = prospects(matrix_of(answers, leaderboard), all_tasks=True, n_draws=0, nearest=False, needed=False)
    assert winnable(result) == set(answers["split"]["feasible"])
    assert winnable(result, "strict") == set(answers["split"]["strict"]["strictly_feasible"])
    assert winnable(result) == set(answers["split"]["strict"]["weakly_feasible"])
    losers = {name for name, verdict in verdicts(result).items() if verdict == "none"}
    assert losers == set(answers["split"]["infeasible"])
    assert (len(winnable(result)), len(losers)) == (answers["split"]["n_feasible"], answers["split"]["n_infeasible"])
    assert set(verdicts(result).values()) <= {"strict", "tie_only", "none"}
    for system, margin in answers["split"]["strict"]["max_min_margin_per_model"].items():
        assert result[system].margin == pytest.approx(margin, abs=1e-9)


def test_without_the_diagnostics_five_systems_can_win_superglue_and_four_of_them_strictly():
    answers = reference_answers("votenrank-prospective-without-zero-weight-tasks")["superglue"]
    matrix = matrix_of(reference_answers("votenrank-superglue"), "votenrank-superglue")
    result = prospects(matrix, n_draws=0, nearest=False, needed=False)
    assert list(result.tasks) == answers["tasks"]
    assert winnable(result) == set(answers["weakly_feasible"])
    assert winnable(result, "strict") == set(answers["strictly_feasible"])
    for system, margin in answers["max_min_margin_per_model"].items():
        assert result[system].margin == pytest.approx(margin, abs=1e-9)


def test_nine_of_the_97_complete_systems_can_win_glue_and_eight_of_them_strictly():
    matrix = reference_matrix("votenrank-glue")
    matrix = matrix.subset(np.isfinite(matrix.values).all(axis=1))
    result = prospects(matrix, all_tasks=True, n_draws=0, nearest=False, needed=False)
    assert (len(result.systems), len(winnable(result)), len(winnable(result, "strict"))) == (97, 9, 8)
    assert winnable(result, "tie_only") == {"MT-DNN-SMART"}
    voting = matrix.with_weights([1] * matrix.n_tasks)
    table = oriented(voting)
    for i, prospect in enumerate(result.systems):
        rows = naive.majority_leads(voting, i, table)
        naive.assert_evidence_holds(prospect, rows, result.tasks, matrix.system_names)


@pytest.mark.parametrize("kind", ["skill", "uniform"])
def test_what_is_stored_comes_back(kind):
    matrix = random_matrix(12, 5, seed=3, kind=kind, missing=0.1, n_levels=6)
    result = prospects(matrix, n_draws=50)
    stored = json.loads(json.dumps(result.summary()))
    assert Prospects.from_arrays(stored, result.as_arrays()) == result


def test_a_benchmark_without_scores_has_no_prospects():
    result = prospects(ScoreMatrix([[np.nan], [np.nan]]))
    assert (verdicts(result), result.tasks) == ({"s1": "no_scores", "s2": "no_scores"}, ("t1",))
    assert result.systems[0].reason == "no system has a score on a task of weight above 0"


def assert_verified_in_integers(matrix, result):
    """Every weight and certificate, in integers; the leads of all systems are made anew from the scores."""
    scores = matrix.scores
    names = list(matrix.system_names)
    for i, prospect in enumerate(result.systems):
        leads = np.sign(scores[i] - scores).astype(np.int64)
        rivals = np.delete(np.arange(len(names)), i)
        for weights in [prospect.weights] if prospect.is_prospective else []:
            least = numerators(weights, matrix.task_names) @ leads[rivals].T.astype(object)
            assert min(least) > 0 if prospect.verdict == "strict" else min(least) == 0
        if prospect.certificate:
            gains = numerators(prospect.certificate, names) @ leads.astype(object)
            assert max(gains) < 0 if prospect.verdict == "none" else max(gains) <= 0
        for nearest in prospect.nearest.values():
            for change in (nearest.total_change, nearest.largest_change):
                assert min(numerators(change.weights, matrix.task_names) @ leads[rivals].T.astype(object)) >= 0


def numerators(shares, names):
    denominator = np.lcm.reduce(np.array([share.denominator for share in shares.values()], dtype=object))
    assert sum(shares.values()) == 1
    assert min(shares.values()) > 0
    return np.array([int(shares.get(name, 0) * denominator) for name in names], dtype=object)


@pytest.mark.parametrize("kind", ["skill", "uniform"])
def test_all_evidence_on_a_board_of_middle_size_holds_in_integers(kind):
    matrix = random_matrix(40, 12, seed=6, kind=kind, n_levels=9)
    result = prospects(matrix, n_draws=0)
    assert result.summary()["verdicts"]["undecided"] == 0
    assert_verified_in_integers(matrix, result)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["skill", "uniform"])
def test_all_evidence_on_a_large_board_holds_in_integers(kind):
    matrix = random_matrix(292, 76, seed=1, kind=kind)
    result = prospects(matrix, n_draws=0)
    assert result.summary()["verdicts"]["undecided"] == 0
    assert {origin for p in result.systems for origin in p.nearest} == {"equal", "own"}
    assert_verified_in_integers(matrix, result)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["skill", "uniform"])
def test_margins_are_those_of_the_full_linear_program(kind):
    matrix = random_matrix(105, 15, seed=2, kind=kind, n_levels=40)
    result = prospects(matrix, n_draws=0, nearest=False, needed=False)
    for i, prospect in enumerate(result.systems):
        leads = np.delete(np.sign(matrix.scores[i] - matrix.scores), i, axis=0)
        full = linprog(
            np.r_[np.zeros(15), -1.0],
            A_ub=np.c_[-leads, np.ones(len(leads))],
            b_ub=np.zeros(len(leads)),
            A_eq=np.r_[np.ones(15), 0.0][None],
            b_eq=[1],
            bounds=[(0, None)] * 15 + [(-1, 1)],
        )
        assert prospect.margin == pytest.approx(-full.fun, abs=1e-7)


@pytest.mark.slow
def test_every_system_of_every_published_board_gets_a_verdict():
    for leaderboard in reference_leaderboards():
        result = prospects(reference_matrix(leaderboard), n_draws=0, nearest=False, needed=False)
        assert (leaderboard, result.summary()["verdicts"]["undecided"]) == (leaderboard, 0)
