from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from ranking_engine import ScoreMatrix
from ranking_engine.core.comparison import compare_ranks, task_ranks
from ranking_engine.core.missing import scored_part
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.core.task_distances import dispersion
from ranking_engine.stability.diversity import diversity, impute_from_nearest
from tests.ranking_engine.strategies import matrices
from tests.reference import reference_answers, reference_matrix

GAP = math.nan

# What KNNImputer(n_neighbors=5) of scikit-learn 1.7 makes of a table whose distances are all different.
GAPS = [
    [0.09, 0.24, 0.80, GAP, 0.09],
    [0.43, 0.48, GAP, 0.73, 0.11],
    [0.39, 0.52, 0.43, 0.59, 0.74],
    [0.96, 0.28, 0.65, GAP, 0.29],
    [0.00, 0.97, 0.30, GAP, 0.89],
    [0.59, 0.47, 0.77, 0.03, GAP],
    [0.37, 0.09, 0.66, 0.93, GAP],
    [0.63, 0.30, 0.74, 0.72, GAP],
    [0.83, 0.66, GAP, 0.82, 0.43],
    [GAP, GAP, 0.10, 0.85, 0.39],
    [0.48, GAP, 0.70, 0.29, 0.87],
    [GAP, 0.56, 0.40, 0.61, 0.20],
]
FILLED = {
    (0, 3): 0.604, (1, 2): 0.54, (3, 3): 0.582, (4, 3): 0.474, (5, 4): 0.438, (6, 4): 0.286, (7, 4): 0.354,
    (8, 2): 0.464, (9, 0): 0.522, (9, 1): 0.638, (10, 1): 0.47, (11, 0): 0.648,
}  # fmt: skip

BOARDS = {
    "SuperGLUE": "bb-superglue8",
    "OpenLLM": "bb-openllm",
    "BigBenchHard": "bb-bbh",
    "VTAB": "bb-vtab",
    "BigCode": "bb-bigcode",
    "HELM-lite": "bb-helm-lite",
    "HELM-accuracy": "bb-helm-accuracy",
    "HEIM-nudity": "bb-heim-nudity",
}


def rounded(leaderboard: str) -> ScoreMatrix:
    """SuperGLUE holds 75.69999999999999 and 75.7, which benchbench ties: it ranks within 1e-8."""
    matrix = reference_matrix(leaderboard)
    return matrix.with_values(np.round(matrix.values, 9))


@pytest.mark.parametrize("name", list(BOARDS))
def test_figures_are_those_of_benchbench_on_average_ranks_and_corrected_for_ties(name):
    expected = reference_answers("benchbench-checks")[name]
    result = diversity(rounded(BOARDS[name]))
    assert result.diversity == pytest.approx(expected["W_average_ranks"], abs=1e-9)
    assert result.diversity_tie_corrected == pytest.approx(expected["W_tie_corrected"], abs=1e-9)
    assert result.mean_max_rank_change == pytest.approx(expected["MRC_mean_what_the_code_returns"], abs=1e-9)
    assert result.largest_max_rank_change == pytest.approx(expected["MRC_max_what_the_docstring_says"], abs=1e-9)


@pytest.mark.parametrize("name", list(BOARDS))
def test_ranks_truncated_to_integers_give_the_figure_that_benchbench_returns(name):
    """Its `W` holds 1 - W, and its ranks lose the half that ties give them."""
    expected = reference_answers("benchbench-diversity")[name]
    matrix = scored_part(rounded(BOARDS[name])).matrix
    full = matrix.with_values(impute_from_nearest(matrix.values))
    ranks = task_ranks(full).astype(int)
    (m, n), sums = ranks.shape, ranks.sum(axis=0)
    truncated = 1 - ((sums - sums.mean()) ** 2).sum() / (m**2 * (n**3 - n) / 12)
    assert truncated == pytest.approx(expected["W"], abs=1e-9)
    assert diversity(matrix).mean_max_rank_change == pytest.approx(expected["MRC"], abs=1e-9)


def test_gaps_are_filled_as_by_scikit_learn_where_no_two_systems_are_equally_near():
    expected = np.array(GAPS)
    for cell, value in FILLED.items():
        expected[cell] = value
    np.testing.assert_allclose(impute_from_nearest(np.array(GAPS)), expected, rtol=0, atol=1e-12)


def test_equally_near_systems_share_the_last_place_among_the_neighbours():
    values = np.array([[0, GAP], [1, 10], [-1, 20], [5, 90]])
    assert impute_from_nearest(values, 1)[0, 1] == 15
    assert impute_from_nearest(values[[0, 2, 3, 1]], 1)[0, 1] == 15


def test_a_system_without_a_common_task_gets_the_mean_and_a_task_without_scores_stays_empty():
    filled = impute_from_nearest(np.array([[1, GAP, GAP], [GAP, 2, GAP], [GAP, 5, GAP]]))
    np.testing.assert_array_equal(filled, [[1, 3.5, GAP], [1, 2, GAP], [1, 5, GAP]])


def test_equal_means_of_decimals_tie_with_stored_scores():
    """In floats (0.1 + 0.2 + 0.6) / 3 is 0.29999999999999999 or 0.3, by the order of the rows."""
    values = np.array([[1, GAP], [1, 0.1], [1, 0.2], [1, 0.6], [9, 0.3]])
    assert impute_from_nearest(values, 3)[0, 1] == 0.3


def naive_diversity(ranks):
    m, n = ranks.shape
    sums = [sum(ranks[t, i] for t in range(m)) for i in range(n)]
    most = sum((m * (i + 1) - m * (n + 1) / 2) ** 2 for i in range(n))
    return 1 - sum((total - m * (n + 1) / 2) ** 2 for total in sums) / most


@settings(max_examples=25, deadline=None)
@given(matrices(max_systems=6, max_tasks=4))
def test_figures_follow_the_definitions_on_small_matrices(matrix):
    result, part = diversity(matrix), scored_part(matrix).matrix
    if part is None or part.n_systems < 2:
        assert "fewer than two systems" in result.reason
        assert result.summary()["diversity"] is None
        return
    part = part.subset(tasks=~np.isnan(part.values).all(axis=0))
    ranks = task_ranks(part.with_values(impute_from_nearest(part.values)))
    assert result.diversity == pytest.approx(naive_diversity(ranks), abs=1e-12)
    assert result.tasks == part.task_names
    pairs = [np.abs(ranks[s] - ranks[t]).max() / (part.n_systems - 1) for t in range(len(ranks)) for s in range(t)]
    if pairs:
        assert result.mean_max_rank_change == pytest.approx(np.mean(pairs))
        assert result.largest_max_rank_change == pytest.approx(max(pairs))
    else:
        assert result.summary()["mean_max_rank_change"] is None
    np.testing.assert_equal(result.dispersion, dispersion(part))
    np.testing.assert_equal(result.kendall_tau, compare_ranks(ranks).kendall_tau)


def test_tasks_that_agree_have_no_diversity_and_opposite_ones_have_all():
    agreeing = random_matrix(6, 1, seed=1).values
    assert diversity(ScoreMatrix(np.tile(agreeing, 4))).diversity == pytest.approx(0)
    opposed = diversity(ScoreMatrix(np.hstack([agreeing, -agreeing])))
    assert (opposed.diversity, opposed.largest_max_rank_change, opposed.dispersion_normalized) == (1, 1, 1)
