import numpy as np
import pytest

from ranking_engine import ScoreMatrix
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability.catalogue import run_study
from ranking_engine.stability.studies.tasks_needed import reached_at


def test_tasks_that_agree_need_no_second_one():
    board = run_study("tasks_needed", ScoreMatrix([[3, 6, 9], [2, 5, 8], [1, 4, 7]]), {"rules": ["borda"]}).summary
    borda = board["rules"]["borda"]
    assert borda["judge_stability"] == [1.0] * len(board["sizes"])
    assert borda["reached"] == dict.fromkeys(["winner_rank", "condorcet", "generalization", "judge_stability"], 1)


def test_more_tasks_make_rankings_steadier():
    summary = run_study("tasks_needed", random_matrix(8, 12, seed=4), {"rules": ["mean", "borda"]}, seed=1).summary
    assert summary["sizes"][0] == 1
    assert 12 in summary["sizes"]
    for rule in summary["rules"].values():
        assert rule["judge_stability"][-1] > rule["judge_stability"][0]


def test_at_the_number_of_tasks_it_is_the_stability_of_the_judge_bootstrap():
    matrix = random_matrix(8, 10, seed=4)
    needed = run_study("tasks_needed", matrix, {"rules": ["borda"], "sizes": [10], "n_resamples": 400}).summary
    judges = run_study(
        "judge_bootstrap", matrix, {"rules": ["borda"], "n_trials": 1, "n_resamples": 400, "n_rounds": 1}
    ).summary
    pair = needed["rules"]["borda"]["judge_stability"][0], judges["rules"]["borda"]["judge_stability"]["mean"]
    assert pair[0] == pytest.approx(pair[1], abs=0.05)


@pytest.mark.parametrize(
    ("values", "size"),
    [
        ([0.5, 0.9, 0.95], 2),
        ([0.9, 0.8, 0.95], 3),
        ([0.9, 0.95, 0.8], None),
        ([0.9, np.nan, 0.95], 1),
        ([np.nan, np.nan, np.nan], None),
    ],
)
def test_a_target_is_reached_where_no_later_size_falls_below_it(values, size):
    assert reached_at(np.array(values), [1, 2, 3], 0.9) == size


def test_more_than_twenty_times_the_tasks_are_refused():
    with pytest.raises(ValueError, match="61 tasks cannot be drawn from 3: at most 20 times as many can"):
        run_study("tasks_needed", random_matrix(5, 3, seed=1), {"sizes": [61]})
