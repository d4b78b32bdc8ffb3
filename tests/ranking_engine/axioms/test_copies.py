"""Independence of copies: who has it, and what copies do to orders, ranked anew and without any witness."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from ranking_engine import RULES, ScoreMatrix, rank
from ranking_engine.axioms import Witness, convention_of, conventions, effect_of, entry, sentence, witness
from ranking_engine.axioms.small_boards import random_board

EVERYWHERE = [(rule, options) for rule in RULES for options in conventions(rule)]
HAVE_IT = [(rule, options) for rule, options in EVERYWHERE if entry(rule, "copies", options).holds]


def test_rules_on_own_scores_first_and_last_places_and_heaviest_defeats_have_it():
    others = {(rule, convention_of(rule, options)) for rule, options in HAVE_IT if RULES[rule].family != "cardinal"}
    assert others == {
        ("plurality", "best"),
        ("veto", "worst"),
        ("instant_runoff", "best"),
        ("coombs", "worst"),
        ("minimax", "winning_votes"),
        ("minimax", "margins"),
        ("minimax", "pairwise_opposition"),
    }
    assert all(entry(rule, "copies").holds for rule in RULES if RULES[rule].family == "cardinal")


def test_the_six_rules_of_pavao_have_it_as_their_table_2_says():
    printed = {"mean": 1, "median": 1, "average_rank": 0, "win_rate": 0, "relative_difference": 0, "copeland": 0}
    success_rate = {"variant": "success_rate"}
    ours = {rule: entry(rule, "copies", success_rate if rule == "win_rate" else {}).holds for rule in printed}
    assert ours == {rule: bool(figure) for rule, figure in printed.items()}


@pytest.mark.parametrize(("rule", "options"), HAVE_IT, ids=[f"{rule}-{convention_of(rule, o)}" for rule, o in HAVE_IT])
def test_up_to_three_copies_of_any_systems_leave_the_order_of_the_others(rule, options):
    generator = np.random.default_rng(len(rule))
    for _ in range(40):
        board = random_board(rule, generator)
        n = board.n_systems
        copied = generator.integers(n, size=int(generator.integers(1, 4)))
        longer = board
        for number, i in enumerate(copied):
            longer = longer.with_row(f"copy {number}", board.values[i])
        before, after = (rank(one, rule, **options).ranks[:n] for one in (board, longer))
        assert _signs(before) == _signs(after), (board.values, board.weights, copied)


def _signs(ranks):
    return np.sign(ranks[:, None] - ranks[None, :]).tolist()


def test_a_second_copy_of_the_weakest_lets_the_runner_up_of_borda_pass():
    """A is ahead of B on two tasks of three; C is between them on the third, where its copies add to B's points."""
    board = ScoreMatrix([[3, 3, 1], [2, 2, 3], [1, 1, 2]], system_names=["A", "B", "C"])
    assert rank(board, "borda").scores.tolist() == [4, 4, 1]
    violation = witness("borda", "copies", board).witness
    assert violation is not None
    assert sentence(violation) == "Let an exact copy of A join, and B gets ahead of A, with which it was tied."
    assert rank(board.with_row("C (2)", board.values[2]), "borda").scores.tolist() == [6, 7, 1, 1]
    fields = {"clones": ("C",), "x": "B", "y": "A"}
    assert effect_of(board, Witness("borda", "copies", {}, **fields)) == "parted"
    assert effect_of(board, Witness("mean", "copies", {}, **fields)) is None


def test_a_copy_of_a_condorcet_winner_leaves_nobody_who_beats_all_others():
    board = ScoreMatrix([[3], [2], [1]], system_names=["A", "B", "C"])
    violation = witness("condorcet", "copies", board).witness
    assert violation is not None
    assert sentence(violation) == "Let an exact copy of A join, and B now ties with A."


def test_a_copy_in_a_circle_changes_who_wins_under_kemeny_whose_order_names_then_choose():
    """A beats B by 5, B beats C by 7, C beats A by 3; a second C makes the last victory weigh more than the first."""
    board = ScoreMatrix([[3, 1, 2], [2, 3, 1], [1, 2, 3]], weights=[6, 5, 4], system_names=["A", "B", "C"])
    copied = board.with_row("C (2)", board.values[2])
    assert [_firsts(board), _firsts(copied)] == [{"A"}, {"B"}]
    assert rank(copied, "kemeny").details["unique"] is False
    loss, win = (Witness("kemeny", "copies", {}, x=x, clones=("C",)) for x in "AB")
    assert [effect_of(board, loss), effect_of(board, win)] == ["loses", "wins"]
    assert sentence(replace(loss, effect="loses")) == "Let an exact copy of C join, and A no longer wins."
    assert sentence(replace(win, effect="wins")) == "Let an exact copy of C join, and B, which did not win, wins."


def _firsts(board):
    """The systems that are first in some order that contradicts the least weight, among all orders."""
    least, firsts = np.inf, set()
    for order in itertools.permutations(range(board.n_systems)):
        above = board.scores[list(order)]
        weights = np.array([float(w) for w in board.weights])
        distance = sum(
            weights[above[low] > above[high]].sum() for high, low in itertools.combinations(range(len(order)), 2)
        )
        if distance < least:
            least, firsts = distance, set()
        if distance == least:
            firsts.add(board.system_names[order[0]])
    return firsts
