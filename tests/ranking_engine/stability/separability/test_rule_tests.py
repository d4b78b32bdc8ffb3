"""What is tested of a pair of systems where some of the scores that are ranked are predicted."""

from __future__ import annotations

import numpy as np
import pytest

from ranking_engine import UNRANKED, ScoreMatrix, rank
from ranking_engine.core.missing import filled_in
from ranking_engine.stability.separability.pair_tests import TOO_FEW
from ranking_engine.stability.separability.significance import significance
from tests.ranking_engine.stability.separability.naive_flips import naive_p_value
from tests.ranking_engine.stability.separability.test_significance import naive_contributions


def with_predictions(*gaps):
    """Twenty systems on eight tasks that one factor tells apart, with gaps: lists of tasks, of the first systems."""
    generator = np.random.default_rng(7)
    values = np.round(10 * generator.normal(size=(20, 1)) + 2 * generator.normal(size=(20, 8)), 1)
    for i, tasks in enumerate(gaps):
        values[i, tasks] = np.nan
    return ScoreMatrix(values)


@pytest.mark.parametrize("rule", ["mean", "borda", "average_rank"])
def test_a_pair_is_tested_on_the_tasks_on_which_both_are_measured_and_not_on_predictions(rule):
    matrix = with_predictions([0, 1, 2], [2, 3])
    ranking = rank(matrix, rule, missing="predicted")
    result = significance(matrix, ranking, missing="predicted")
    filled = filled_in(matrix).placed_in(matrix)
    tests = result.every_pair
    for (i, j), p, n in zip(tests.pairs.tolist(), tests.p_values, tests.n_units, strict=True):
        if min(i, j) > 1:
            continue
        both = [t for t in range(8) if not np.isnan(matrix.values[[i, j], t]).any()]
        apart = [naive_contributions(filled, rule, i, t) - naive_contributions(filled, rule, j, t) for t in both]
        assert (p, n) == (pytest.approx(naive_p_value(apart)), len(both))
    assert result.tested_text.endswith(
        "; of two systems, only tasks on which both are measured: the ranks rest on predicted scores, too, the tests "
        "do not"
    )
    assert tests.n_units.min() == 4


def test_two_systems_that_are_measured_on_no_common_task_get_no_verdict_however_far_their_ranks_are_apart():
    matrix = with_predictions(range(4), range(4, 8))
    ranking = rank(matrix, "mean", missing="predicted")
    result = significance(matrix, ranking, level=0.5, missing="predicted")
    pairs = [set(pair) for pair in result.every_pair.pairs.tolist()]
    pair = pairs.index({0, 1})
    assert (result.every_pair.n_units[pair], result.every_pair.verdicts[pair]) == (0, TOO_FEW)
    assert ranking.ranks[0] != ranking.ranks[1]


def test_without_predictions_nothing_is_said_of_them():
    matrix = with_predictions([0])
    for rule, missing in (("copeland", "predicted"), ("mean", "median"), ("mean", "drop_systems")):
        result = significance(matrix, rank(matrix, rule, missing=missing), missing=missing)
        assert (result.has_predictions, "predicted" in result.tested_text) == (False, False)


def test_two_equal_systems_of_which_one_has_half_of_its_scores_predicted_rarely_differ():
    """If predictions counted as independent scores, it would be one in five: they are off together."""
    n_tested = n_different = 0
    for seed in range(60):
        generator = np.random.default_rng(seed)
        ability = generator.normal(size=(16, 1))
        ability[1] = ability[0]
        values = np.round(ability + 0.4 * generator.normal(size=(16, 12)), 2)
        values[0, generator.permutation(12)[:6]] = np.nan
        matrix = ScoreMatrix(values)
        ranking = rank(matrix, "mean", missing="predicted")
        if ranking.ranks[0] == UNRANKED:
            continue
        result = significance(matrix, ranking, missing="predicted", top=1).every_pair
        (p,) = (p for pair, p in zip(result.pairs.tolist(), result.p_values, strict=True) if set(pair) == {0, 1})
        n_tested += 1
        n_different += p <= 0.05
    assert n_tested >= 25
    assert n_different <= 0.1 * n_tested
