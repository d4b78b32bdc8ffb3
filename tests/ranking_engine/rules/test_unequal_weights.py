"""Every rule under weights of which some are 10^19 times the others: an order, or why there is none."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest

from ranking_engine import RULES, ScoreMatrix, rank
from ranking_engine.rules.kemeny_search import addable, excess_of

WEIGHTS = [Fraction(text) for text in ("1000000000", "999999999.9999999999", "0.0000000001", "0.3333333333", "1", "0")]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rule", [key for key, rule in RULES.items() if not rule.parameters])
def test_every_rule_ranks_or_says_why_not(rule, seed):
    random = np.random.default_rng(seed)
    n, T = int(random.integers(14, 24)), 6
    scores = np.abs(np.round(random.normal(size=(n, T)), 1)) + 0.1
    matrix = ScoreMatrix(scores, weights=random.permutation(np.array(WEIGHTS))).with_gamma(1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranking = rank(matrix, rule, **({"seconds": 5} if rule == "kemeny" else {}))
    assert ranking.status != "undefined" or ranking.reason


@pytest.mark.parametrize("seed", range(3))
def test_kemenys_excess_is_that_of_whole_numbers_beyond_64_bits(seed):
    """Three heavy tasks, one of them a hair heavier: 30 systems have sums of margins beyond 2^63."""
    random = np.random.default_rng(seed)
    scores = random.normal(size=(30, 4))
    weights = [Fraction(10**9), Fraction(10**9), Fraction(1, 10**9), Fraction(1)]
    ranking = rank(ScoreMatrix(scores, weights=weights), "kemeny", seconds=5)
    margins = [
        [sum(int(np.sign(a - b)) * w for a, b, w in zip(x, y, weights, strict=True)) for y in scores] for x in scores
    ]
    order = np.argsort(ranking.ranks, kind="stable")
    contradicted = sum(max(Fraction(0), -margins[i][j]) for k, i in enumerate(order) for j in order[k + 1 :])
    always = sum(
        min(sum(w for a, b, w in zip(x, y, weights, strict=True) if a > b),
            sum(w for a, b, w in zip(x, y, weights, strict=True) if a < b))
        for k, x in enumerate(scores) for y in scores[:k]
    )  # fmt: skip
    assert ranking.details["distance"] == pytest.approx(float(always + contradicted), rel=1e-12)
    assert ranking.details["lower_bound"] <= ranking.details["distance"]


def test_sums_beyond_64_bits_are_pythons():
    large = np.array([[0, 2**62], [-(2**62), 0]])
    assert (addable(large).dtype, addable(large // 8).dtype) == (object, np.int64)
    assert excess_of(addable(large), np.array([1, 0])) == 2**62
