from __future__ import annotations

import numpy as np
import pytest

from ranking_engine import ScoreMatrix, rank
from ranking_engine.core.profile import Profile
from ranking_engine.kernels import resamples
from ranking_engine.rules.cardinal import inverse_contributions

NAMES = {"system_names": ["A", "B"], "task_names": ["up", "down"]}
MIXED = ScoreMatrix([[1, 2], [3, 4]], directions=[1, -1], gamma=95, **NAMES)


def reason(matrix, rule, **options):
    ranking = rank(matrix, rule, **options)
    assert (ranking.status, ranking.winners) == ("undefined", ())
    return ranking.reason


@pytest.mark.parametrize("rule", ["geometric_mean", "harmonic_mean", "optimality_gap"])
def test_rules_that_need_higher_to_be_better_name_the_task_that_is_not(rule):
    assert reason(MIXED, rule) == "task down has lower-is-better scores"


def test_the_geometric_mean_names_the_tasks_with_scores_that_are_not_positive():
    assert reason(ScoreMatrix([[1, 0], [1, -1]], **NAMES), "geometric_mean") == "task down has scores <= 0"
    matrix = ScoreMatrix([[0.0] * 5])
    assert reason(matrix, "geometric_mean") == "tasks t1, t2, t3 and 2 more have scores <= 0"
    nobody = "no system has scores above 0 on every task of weight above 0"
    assert reason(ScoreMatrix([[1, 0], [0, 1]]), "geometric_mean") == nobody


def test_a_system_with_a_score_that_is_not_positive_has_no_geometric_mean_and_the_others_have():
    values = [[4, 9, -7], [1, 0, 1], [1, 4, 0], [-1, 0, 1], [np.nan, 1, 1]]
    ranking = rank(ScoreMatrix(values, task_names=["a", "b", "c"], weights=[1, 1, 0]), "geometric_mean")
    np.testing.assert_allclose(ranking.scores, [6, np.nan, 2, np.nan, np.nan])
    assert (ranking.status, ranking.ranks.tolist(), ranking.winners) == ("ranked", [1, -1, 2, -1, -1], (0,))
    assert dict(ranking.unranked_reasons) == {
        1: "a score <= 0 on 1 of 2 tasks of weight above 0: b",
        3: "a score <= 0 on 2 of 2 tasks of weight above 0: a, b",
        4: "no score on 1 of 2 tasks of weight above 0: a",
    }


def test_a_task_that_does_not_vote_spoils_nothing():
    silenced = MIXED.with_weights([1, 0])
    assert rank(silenced, "geometric_mean").scores.tolist() == [1, 3]
    assert rank(silenced, "optimality_gap").scores.tolist() == [-94, -92]


def test_the_optimality_gap_needs_its_threshold():
    expected = (
        "no optimality threshold (gamma) is stated, nor a maximum of which it is 95 %; state either (for percentages "
        "95 is usual)"
    )
    assert reason(MIXED.with_weights([1, 0]).with_gamma(None), "optimality_gap") == expected


def test_scores_above_the_threshold_leave_no_gap():
    matrix = ScoreMatrix([[100, 90], [95, 99]], gamma=95)
    assert rank(matrix, "optimality_gap").scores.tolist() == [-2.5, 0]


def test_the_normalised_mean_reads_scores_as_stored_on_tasks_of_either_direction():
    scale = {"minimum": [0, 0], "maximum": [100, 10], "chance": [50, 8]}
    matrix = ScoreMatrix([[75, 4], [100, 8]], directions=[1, -1], **scale)
    assert rank(matrix, "normalized_mean").scores.tolist() == [0.5, 0.5]
    assert rank(matrix.with_weights([1, 3]), "normalized_mean").scores.tolist() == [0.5, 0.25]


def test_the_normalised_mean_names_the_task_without_a_sensible_scale():
    assert reason(MIXED, "normalized_mean") == "tasks up, down have no stated chance level or best score"
    matrix = ScoreMatrix([[1, 2]], task_names=["a", "b"], maximum=[3, 3], chance=[1, 3])
    assert reason(matrix, "normalized_mean") == "task b has a best score no better than chance"


@pytest.mark.parametrize(
    ("weights", "median"),
    [
        ([1, 1, 1, 1], 3),
        ([1, 1, 1, 4], 9),
        ([3, 1, 1, 1], 1.5),
        ([0, 1, 1, 1], 4),
        (["1/3", "1/3", "1/3", 1], 6.5),
    ],
)
def test_the_weighted_median_is_the_midpoint_of_the_lower_and_the_upper_one(weights, median):
    assert rank(ScoreMatrix([[1, 2, 4, 9]], weights=weights), "median").scores.tolist() == [median]


def test_the_mean_of_equal_scores_is_that_score():
    for rule in ("mean", "geometric_mean", "median"):
        assert rank(ScoreMatrix([[0.1, 0.1, 0.1]]), rule).scores.tolist() == [0.1]


@pytest.mark.parametrize(
    "values",
    [
        [[0.1, 0.2, -0.3], [-0.1, -0.2, 0.3]],
        [[0.7, 0.1, -0.8], [0, 0, 0]],
        [[0.1, 0.2, -0.3], [0, 0, 0], [0.3, -0.1, -0.2]],
    ],
)
def test_scores_that_cancel_out_tie_at_nothing_whatever_rounding_leaves(values):
    ranking = rank(ScoreMatrix(values), "mean")
    assert (set(ranking.scores.tolist()), set(ranking.ranks.tolist())) == ({0.0}, {1})


def test_a_small_mean_of_large_scores_is_exact():
    matrix = ScoreMatrix([[10**12 - 1, 10**12 - 6], [1, 1]], directions=[1, -1], weights=[10**6, 10**6])
    assert rank(matrix, "mean").scores.tolist() == [2.5, 0.0]


def test_medians_and_scales_beyond_all_floats_are_no_infinities():
    filled = rank(ScoreMatrix([[1.7e308, 1], [1.6e308, 2], [float("nan"), 3]]), "median", missing="median")
    assert filled.status == "ranked"
    wide = ScoreMatrix([[1.7e308], [-1.7e308]], minimum=[-1.7e308], maximum=[1.7e308], chance=[-1.7e308])
    assert rank(wide, "normalized_mean").reason == "task t1 has a scale too wide for a 64-bit number"


def test_a_harmonic_mean_without_the_tiniest_score_is_a_number():
    """1 / 1e-310 is beyond all floats, and nothing times infinity is no number."""
    profile = Profile(ScoreMatrix([[1e-310, 3.0], [2.0, 4.0]]))
    counts = np.array([[0, 1], [1, 1]])
    np.testing.assert_allclose(resamples.harmonic_mean(profile, counts)[0], [3.0, 4.0])
    assert np.isfinite(resamples.harmonic_mean(profile, counts)).all()
    assert np.isfinite(inverse_contributions(profile)).all()
