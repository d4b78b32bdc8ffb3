import numpy as np
import pytest

from ranking_engine import ScoreMatrix, rank
from ranking_engine.core.closest_orders import MEASURES, mean_distance, task_shares
from ranking_engine.core.comparison import task_ranks
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability.catalogue import run_study


def test_every_rule_is_measured_and_none_without_ties_is_closer_than_the_closest_order():
    board = ScoreMatrix(np.argsort(np.random.default_rng(5).random((8, 7)), axis=0))
    result = run_study("best_ranking", board, {"rules": ["borda", "copeland", "kemeny"]})
    best, rules = result.summary["best"], result.summary["rules"]
    of_tasks, shares = task_ranks(board), task_shares(board)
    for rule, distances in rules.items():
        ranking = rank(board, rule)
        for measure in MEASURES:
            assert distances[measure] == pytest.approx(
                mean_distance(measure, ranking.average_ranks, of_tasks, shares), abs=1e-6
            )
            assert ranking.n_tied > 0 or distances[measure] >= best[measure]["distance"] - 1e-6
    assert all(best[measure]["proven"] for measure in MEASURES)
    assert best["kendall"]["distance"] == rules["kemeny"]["kendall"]


def test_the_closest_order_is_beside_the_ranking_of_the_rule_that_is_named():
    board = random_matrix(6, 5, seed=2)
    result = run_study("best_ranking", board, {"rules": ["borda", "mean"], "rule": "mean", "measure": "places"})
    pair = result.summary["side_by_side"]
    place = dict(zip(board.system_names, result.arrays["best.places"].tolist(), strict=True))
    by_mean = dict(zip(board.system_names, rank(board, "mean").average_ranks.tolist(), strict=True))
    assert pair["after"] == [place[name] for name in pair["systems"]]
    assert pair["before"] == [by_mean[name] for name in pair["systems"]]


def test_systems_without_all_scores_are_left_out_or_filled_in():
    board = ScoreMatrix([[1, 2], [2, np.nan], [3, 1]])
    assert run_study("best_ranking", board, {"rules": ["borda"]}).summary["n_systems"] == 2
    filled = run_study("best_ranking", board, {"rules": ["borda"], "missing": "median"}).summary
    assert filled["n_systems"] == 3


def test_a_rule_that_leaves_systems_unranked_has_no_distance():
    board = ScoreMatrix([[1, 0], [0, 1], [1, 1], [2, 2]], system_names=list("abcd"))
    parameters = {"rules": ["geometric_mean", "mean"], "rule": "geometric_mean"}
    summary = run_study("best_ranking", board, parameters).summary
    assert summary["rules"]["geometric_mean"] == dict.fromkeys(MEASURES)
    assert None not in summary["rules"]["mean"].values()
    assert summary["side_by_side"]["systems"] == ["d", "c"]
    assert summary["side_by_side"]["before"] == [1.0, 2.0]


def test_kendalls_distance_is_not_minimised_where_kemenys_rule_takes_too_long():
    summary = run_study("best_ranking", random_matrix(60, 5, seed=1), {"rules": ["borda"], "budget": 0.001}).summary
    assert summary["best"]["kendall"]["distance"] is None
    assert "would take about" in summary["best"]["kendall"]["reason"]
    assert summary["best"]["footrule"]["proven"]


def test_more_systems_than_can_be_assigned_are_refused():
    with pytest.raises(ValueError, match="1,501 systems are ranked; closest orders are computed for at most 1,500"):
        run_study("best_ranking", random_matrix(1501, 2, seed=1), {"rules": ["borda"]})
