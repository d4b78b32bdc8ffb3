"""How the rows of Vote'n'Rank are made: arrows under ties, first places, and properties on boards without ties."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from ranking_engine import Ranking, rank
from ranking_engine.axioms import violates, witness
from reproduction.rofin.boards import PRINTED
from reproduction.rofin.passages import first_places_shared
from reproduction.rofin.printed_rows import arrows_row, first_scores_row
from reproduction.rofin.properties import EIGHT, TIED_LOSERS, holds_without_ties, strict_witness
from reproduction.rofin.small_boards import boards_of_three, is_strict
from reproduction.rofin.toys import toy
from reproduction.tables import AGREES, DIFFERS, Row

NAMES = list("ABCDE")
BY_MEAN = Ranking.from_scores("mean", np.array([5.0, 4.0, 3.0, 2.0, 1.0]))
RULES = list(PRINTED["table_8"])
SMALL_BOARDS = [matrix for matrix in boards_of_three() if matrix.n_tasks <= 3]


def arrows_of(order: tuple[int, ...]) -> list[int]:
    """Return the arrows of an order of systems whose order by the mean is 0, 1, 2, ..."""
    return [system - place for place, system in enumerate(order)]


def test_the_arrows_of_every_order_that_breaks_the_ties_agree_and_those_of_no_other_do():
    scores = np.array([2.0, 1.0, 3.0, 1.0, 1.0])
    ranking = Ranking.from_scores("borda", scores)
    agreeing = {
        order
        for order in itertools.permutations(range(5))
        if arrows_row("", NAMES, BY_MEAN, ranking, arrows_of(order), "").verdict == AGREES
    }
    assert agreeing == {
        order for order in itertools.permutations(range(5)) if list(scores[list(order)]) == [3.0, 2.0, 1.0, 1.0, 1.0]
    }


def test_an_arrow_that_leads_to_a_system_elsewhere_differs_and_names_it():
    ranking = Ranking.from_scores("borda", np.array([2.0, 1.0, 3.0, 0.0, 0.0]))
    assert arrows_row("Borda", NAMES, BY_MEAN, ranking, [2, 1], "why") == Row(
        "Borda", "↑2, ↑1", "", "↑2, ↓1", DIFFERS,
        "why: at place 2 their arrow leads to C, ours to A", 2, 1,
    )  # fmt: skip


def test_an_optimality_gap_is_compared_as_the_fraction_that_is_printed():
    ranking = Ranking.from_scores("optimality_gap", np.array([-7.41, -30.0, np.nan, -7.54]))
    row = first_scores_row("gap", ranking, printed=["0.074", "0.076"], code=["-30.00", "-7.41", "nan", "-7.54"])
    assert row == Row("gap", "0.074, 0.076", "0.0741, 0.0754", "0.074, 0.075", DIFFERS, "", 2, 1)


def test_first_places_are_shared_up_to_the_first_other_system_or_tie():
    other = Ranking.from_scores("borda", np.array([9.0, 8.0, 5.0, 6.0, 1.0]))
    tied = Ranking.from_scores("borda", np.array([9.0, 8.0, 8.0, 6.0, 1.0]))
    assert [first_places_shared(BY_MEAN, ranking) for ranking in (BY_MEAN, other, tied)] == [5, 2, 1]


@pytest.mark.parametrize("rule", RULES)
def test_a_board_without_ties_shows_what_a_rule_lacks(rule):
    for key in EIGHT:
        if not holds_without_ties(rule, key):
            stored = strict_witness(rule, key)
            assert stored.witness.property == key
            assert is_strict(stored.board)
            assert violates(stored.board, stored.witness)


@pytest.mark.parametrize("rule", RULES)
def test_no_small_board_without_ties_shows_that_a_rule_lacks_what_it_has(rule):
    held = [key for key in EIGHT if holds_without_ties(rule, key) and not (key == "unanimity" and rule in TIED_LOSERS)]
    for matrix, key in itertools.product(SMALL_BOARDS, held):
        assert witness(rule, key, matrix, max_steps=8).witness is None


@pytest.mark.parametrize("rule", TIED_LOSERS)
def test_who_is_below_another_on_every_task_is_never_above_it_and_does_not_win(rule):
    for matrix in boards_of_three():
        ranks = rank(matrix, rule).ranks
        for i, j in itertools.permutations(range(3), 2):
            if (matrix.scores[i] > matrix.scores[j]).all():
                assert ranks[i] <= ranks[j]
                assert ranks[j] > 1


def test_dowdall_passes_over_who_is_first_on_five_of_nine_tasks():
    points = {"A": 5 + Fraction(4, 3), "B": Fraction(5, 2) + 4}
    board = toy(["ABC"] * 5 + ["BCA"] * 4)
    scores = dict(zip(board.system_names, rank(board, "dowdall").scores, strict=True))
    assert {name: scores[name] for name in points} == pytest.approx({name: float(n) for name, n in points.items()})
    assert points["B"] > points["A"]
