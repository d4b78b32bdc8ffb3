import numpy as np
import pytest

from ranking_engine import ScoreMatrix
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability.catalogue import run_study
from ranking_engine.stability.studies.judge_bootstrap import CHANCE_AGREEMENT
from ranking_engine.stability.studies.tasks_needed import NUMBER_OF_STUDY, reached_at
from ranking_engine.stability.study import generator


def test_tasks_that_agree_need_no_second_one():
    board = run_study("tasks_needed", ScoreMatrix([[3, 6, 9], [2, 5, 8], [1, 4, 7]]), {"rules": ["borda"]}).summary
    borda = board["rules"]["borda"]
    assert borda["judge_stability"] == [1.0] * len(board["sizes"])
    assert borda["reached"] == dict.fromkeys(["generalization", "judge_stability"], 1)
    assert borda["n_undefined"]["condorcet"] == [0] * len(board["sizes"])


def test_draws_without_a_condorcet_winner_are_counted():
    scores, sizes, without, without_unseen = np.random.default_rng(2).random((6, 5)), [1, 3, 5, 8], [], []
    parameters = {"rules": ["mean"], "sizes": sizes, "n_resamples": 40}
    summary = run_study("tasks_needed", ScoreMatrix(scores), parameters, seed=7).summary
    for size in sizes:
        draws = [generator(7, NUMBER_OF_STUDY, size, row).integers(5, size=size).tolist() for row in range(40)]
        without.append(sum(not has_condorcet_winner(scores[:, tasks].tolist()) for tasks in draws))
        without_unseen.append(sum(len(set(tasks)) == 5 for tasks in draws))
    assert sum(without) > 10
    assert summary["rules"]["mean"]["n_undefined"] == {"condorcet": without, "generalization": without_unseen}


def has_condorcet_winner(scores):
    """Whether a system beats every other one on more tasks than it loses on."""

    def beats(mine, its):
        return sum((a > b) - (a < b) for a, b in zip(mine, its, strict=True)) > 0

    return any(all(beats(mine, its) for its in scores if its is not mine) for mine in scores)


def test_chance_is_not_taken_for_a_number_of_new_tasks():
    """On boards of noise rankings settle, too, which the note says; the winner's rank gives no number of tasks."""
    values = []
    for seed in range(10):
        matrix = ScoreMatrix(np.random.default_rng(seed).random((8, 10)))
        summary = run_study("tasks_needed", matrix, {"rules": ["borda"], "sizes": [10, 200]}).summary
        values.append(summary["rules"]["borda"]["judge_stability"])
        assert set(summary["rules"]["borda"]["reached"]) == {"generalization", "judge_stability"}
        assert summary["note"].endswith("rankings from new tasks agree less, and need more of them")
    at_board, beyond = np.mean(values, axis=0)
    assert at_board == pytest.approx(CHANCE_AGREEMENT["spearman"], abs=0.12)
    assert beyond > 0.85


@pytest.mark.parametrize("correlation", ["spearman", "kendall"])
def test_rankings_of_noise_from_resampled_tasks_agree_as_the_note_says(correlation):
    means = []
    parameters = {"rules": ["mean", "borda"], "n_trials": 1, "n_rounds": 1, "n_resamples": 60, "copies": False}
    for seed in range(12):
        matrix = ScoreMatrix(np.random.default_rng(seed).random((20, 15)))
        summary = run_study("judge_bootstrap", matrix, parameters | {"correlation": correlation}).summary
        means += [of_rule["judge_stability"]["mean"] for of_rule in summary["rules"].values()]
        assert f"they agree at about {CHANCE_AGREEMENT[correlation]:g} even if" in summary["note"]
    assert np.mean(means) == pytest.approx(CHANCE_AGREEMENT[correlation], abs=0.05)


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
