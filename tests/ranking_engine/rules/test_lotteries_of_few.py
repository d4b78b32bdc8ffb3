from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ranking_engine.rules.lotteries_of_few import lottery_of_few
from ranking_engine.rules.maximal_lotteries import maximal_lottery


def random_game(n: int, largest: int, seed: int, *, is_of_skill: bool) -> np.ndarray:
    """A game of random margins, or of margins that mostly follow how good the systems are."""
    generator = np.random.default_rng(seed)
    skill = generator.random(n)
    noise = generator.normal(size=(n, n)) * 0.4
    of_skill = np.rint((skill[:, None] - skill + noise) * largest).astype(int)
    upper = np.triu(of_skill if is_of_skill else generator.integers(-largest, largest + 1, (n, n)), 1)
    return upper - upper.T


@pytest.mark.parametrize("is_of_skill", [False, True])
@pytest.mark.parametrize("largest", [1, 2, 9, 10_000])
def test_a_lottery_of_few_is_that_of_the_linear_program(largest, is_of_skill):
    sizes = set()
    for seed in range(60):
        game = random_game(2 + seed % 15, largest, seed, is_of_skill=is_of_skill)
        few = lottery_of_few(game)
        if few is None:
            continue
        whole = maximal_lottery(game, np.arange(len(game)))
        assert few == (whole.members, whole.shares)
        assert all((few[1] @ game[list(few[0])].astype(object)) >= 0)
        sizes.add(len(few[0]))
    assert set() < sizes <= {2, 3}


def test_three_in_a_circle_share_by_the_margins_between_the_others():
    game = np.array([[0, 5, -2, 9], [-5, 0, 3, 9], [2, -3, 0, 9], [-9, -9, -9, 0]])
    assert lottery_of_few(game) == ((0, 1, 2), (Fraction(3, 10), Fraction(2, 10), Fraction(5, 10)))


@pytest.mark.parametrize(
    ("against", "shares"),
    [
        ((4, 1), (Fraction(1, 2), Fraction(1, 2))),
        ((4, -1), (Fraction(1, 2), Fraction(1, 2))),
        ((1, -4), (Fraction(4, 5), Fraction(1, 5))),
        ((-4, 1), (Fraction(1, 5), Fraction(4, 5))),
        ((0, 1), (Fraction(1, 2), Fraction(1, 2))),
    ],
)
def test_two_that_draw_share_as_evenly_as_they_can_against_a_third(against, shares):
    first, second = against
    game = np.array([[0, 0, first], [0, 0, second], [-first, -second, 0]])
    assert lottery_of_few(game) == ((0, 1), shares)
    whole = maximal_lottery(game, np.arange(3))
    assert (whole.members, whole.shares) == ((0, 1), shares)


@pytest.mark.parametrize(
    "game",
    [
        np.zeros((1, 1), dtype=int),
        np.zeros((3, 3), dtype=int),
        np.array([[0, 2], [-2, 0]]),
        np.array([[0, 2**31], [-(2**31), 0]]),
        np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]], dtype=object),
    ],
)
def test_what_is_not_of_few_is_left_to_the_linear_program(game):
    assert lottery_of_few(game) is None
