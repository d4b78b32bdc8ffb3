"""Weights with long denominators: what exact arithmetic with them would cost is known before it is done."""

import math
import random
import time
from fractions import Fraction

import numpy as np
import pytest

from ranking_engine import ScoreMatrix
from ranking_engine.core.aggregation import reweighted, weight_bits
from ranking_engine.core.profile import Profile
from ranking_engine.core.weights import MAX_BITS, check_bits, over_common_denominator, sum_bits
from ranking_engine.rules.rates import common_weight


def fractions(n: int, digits: int, seed: int = 1) -> list[Fraction]:
    dice = random.Random(seed)
    return [Fraction(dice.randrange(1, 10**digits), dice.randrange(1, 10**digits)) for _ in range(n)]


@pytest.mark.parametrize("seed", range(20))
def test_the_bits_of_a_sum_are_those_of_the_integers_over_the_common_denominator(seed):
    weights = fractions(6, 9, seed)
    assert sum_bits(weights) == sum(over_common_denominator(weights)[0]).bit_length()


@pytest.mark.parametrize("aggregation", ["basic", "weighted", "balanced"])
@pytest.mark.parametrize("seed", range(10))
def test_the_bits_of_a_matrix_are_those_of_its_weights_under_the_aggregation(seed, aggregation):
    dice = random.Random(seed)
    groups = [dice.choice(["a", "b", None]) for _ in range(6)]
    known = sorted({group for group in groups if group})
    matrix = ScoreMatrix(
        [[1.0] * 6, [2.0] * 6],
        weights=fractions(6, 3, seed),
        groups=groups,
        group_weights=dict(zip(known, fractions(len(known), 2, seed + 1), strict=True)),
    )
    shares = reweighted(matrix, aggregation).weights
    expected = sum(over_common_denominator(shares)[0]).bit_length()
    assert weight_bits(matrix, aggregation) == expected or expected < weight_bits(matrix, aggregation) <= MAX_BITS


def test_a_thousand_long_fractions_are_counted_in_a_moment():
    weights = fractions(1000, 30)
    began = time.process_time()
    assert sum_bits(weights) > 4096
    groups = [f"g{t % 300}" for t in range(1000)]
    assert weight_bits(ScoreMatrix([[1.0] * 1000], weights=weights, groups=groups), "balanced") > MAX_BITS
    assert time.process_time() - began < 1


def test_the_refusal_names_the_weight_with_which_the_sum_becomes_too_long():
    names = [f"the weight of task {t}" for t in range(5)]
    check_bits(names, [Fraction(10**20 + t, 10**10) for t in range(5)])
    with pytest.raises(ValueError, match=r"the weight of task 3 is \d+.*needs more than 256 bits; write weights with"):
        check_bits(names, fractions(5, 25))


@pytest.mark.parametrize("seed", range(30))
def test_the_common_weight_of_two_systems_is_exact_however_long_the_weights(seed):
    dice = random.Random(seed)
    n, T = dice.randrange(1, 7), dice.randrange(1, 6)
    values = [[dice.choice([1.0, math.nan]) for _ in range(T)] for _ in range(n)]
    weights = [Fraction(dice.randrange(1, 2 ** dice.choice([3, 60, 250]))) for _ in range(T)]
    matrix = ScoreMatrix([*values, [1.0] * T], weights=weights)
    profile = Profile(matrix.subset(systems=matrix.has_score))
    scored, integers = ~np.isnan(profile.scores), [int(weight) for weight in profile.matrix.integer_weights]
    assert common_weight(profile).tolist() == [
        [sum(w for t, w in enumerate(integers) if scored[i, t] and scored[j, t]) for j in range(profile.n_systems)]
        for i in range(profile.n_systems)
    ]
