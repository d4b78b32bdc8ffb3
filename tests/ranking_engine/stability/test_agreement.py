"""Rows of rankings against each other, beside scipy's figures for every two."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from ranking_engine.core.ranking import average_ranks, ranks_of
from ranking_engine.stability.agreement import CORRELATIONS

OF_TWO = {"spearman": lambda x, y: spearmanr(x, y).statistic, "kendall": lambda x, y: kendalltau(x, y).statistic}


@pytest.mark.parametrize("correlation", CORRELATIONS)
@pytest.mark.parametrize("seed", range(8))
def test_each_row_is_correlated_on_the_systems_that_both_rank(correlation, seed):
    random = np.random.default_rng(seed)
    scores = random.integers(0, 4, (2, 12, 7)).astype(float)
    scores[random.random(scores.shape) < 0.2] = np.nan
    among = random.random((12, 7)) < 0.8
    first, second = average_ranks(ranks_of(scores[0])), average_ranks(ranks_of(scores[1]))
    expected = []
    for x, y, marked in zip(first, second, among, strict=True):
        common = ~np.isnan(x) & ~np.isnan(y) & marked
        has_both = len(set(x[common])) > 1 and len(set(y[common])) > 1
        expected.append(OF_TWO[correlation](x[common], y[common]) if has_both else np.nan)
    np.testing.assert_allclose(CORRELATIONS[correlation](first, second, among), expected, atol=1e-12)


def test_one_ranking_is_compared_with_many():
    ranks = average_ranks(np.array([[1, 2, 3], [3, 2, 1], [1, 3, 2]]))
    assert CORRELATIONS["kendall"](ranks[:1], ranks).tolist() == pytest.approx([1, -1, 1 / 3])
