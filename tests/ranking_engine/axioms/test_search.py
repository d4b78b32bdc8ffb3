from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from ranking_engine import RULES, ScoreMatrix, rank
from ranking_engine.axioms import PROPERTIES, Witness, effect_of, entry, sentence, violates, witness
from ranking_engine.axioms.boards import Ranker
from ranking_engine.axioms.clone_sets import clone_set
from ranking_engine.core.synthetic import random_matrix
from tests.ranking_engine.strategies import matrices

# A and B swap under Borda once C, which B beats by more where it is ahead, is there.
BOARD = ScoreMatrix(
    [[3, 1, 3], [2, 3, 2], [1, 2, 1]], system_names=["A", "B", "C"], task_names=["x", "y", "z"], weights=[2, 2, 1]
)


def test_a_removal_that_swaps_two_others_is_found_and_told():
    search = witness("borda", "iia", BOARD)
    assert search.witness is not None
    assert search.witness.removed == ("C",)
    assert sentence(search.witness) == "Remove C and A overtakes B."
    assert violates(BOARD, search.witness)


def test_names_may_be_shown_in_place_of_keys():
    example = witness("borda", "iia", BOARD).witness
    assert example is not None
    assert sentence(example, {"A": "Anna", "C": "Carl"}) == "Remove Carl and Anna overtakes B."


def test_a_winner_of_all_pairs_that_does_not_win_is_found_on_the_board_itself():
    search = witness("borda", "condorcet_winner", BOARD)
    assert search.witness is not None
    assert (search.witness.x, search.witness.y, search.witness.systems, search.n_steps) == ("A", "B", None, 1)
    assert sentence(search.witness) == "A beats every other system head to head, yet B wins."


def test_what_is_not_found_says_how_hard_it_looked():
    search = witness("mean", "anonymity", BOARD)
    assert search.witness is None
    assert (search.n_steps, search.is_exhaustive) == (2, True)  # the board, and x and y exchanged
    assert search.looked_at == "every pair of tasks of equal weight"
    sampled = witness("mean", "iia", random_matrix(6, 4, seed=0), max_steps=30)
    assert (sampled.witness, sampled.n_steps, sampled.is_exhaustive) == (None, 30, False)


def test_a_task_of_more_than_half_the_weight_dictates_to_majorities():
    heavy = BOARD.with_weights([5, 1, 1])
    example = witness("copeland", "non_dictatorship", heavy).witness
    assert example is not None
    assert sentence(example) == "The ranking follows the task x even if all other tasks have the opposite order."
    assert witness("copeland", "non_dictatorship", BOARD).witness is None


def test_a_circle_of_three_clones_takes_the_win_from_them_under_minimax():
    """X1 beats X2 and Y; once X3 closes the circle each of them has a heavier defeat than Y."""
    orders = {"ABCY": 2, "YABC": 1, "BCAY": 2, "YBCA": 1, "CABY": 1, "YCAB": 2}
    with_c = ScoreMatrix([[-order.index(name) for order in orders] for name in "ABCY"], weights=list(orders.values()))
    assert clone_set(with_c.scores, 0, 2) == [0, 1, 2]
    board = with_c.subset(systems=[0, 1, 3])
    scores = dict(zip(with_c.task_names, with_c.values[2].tolist(), strict=True))
    fields = {"x": "s1", "clones": ("s2",), "added": "s3", "y": "s4", "scores": scores}
    assert effect_of(board, Witness("minimax", "clones", {}, **fields)) == "near:others_win"
    assert effect_of(board, Witness("schulze", "clones", {}, **fields)) is None


def test_undefined_rules_and_two_step_are_refused_in_words():
    search = witness("borda", "iia", ScoreMatrix([[1, np.nan], [np.nan, 2]]), options={"missing": "undefined"})
    assert (search.witness, search.n_steps) == (None, 0)
    assert search.reason.startswith("2 missing scores")
    with pytest.raises(ValueError, match="`aggregation` is 'two_step'"):
        witness("borda", "iia", BOARD, options={"aggregation": "two_step"})
    with pytest.raises(ValueError, match="`max_steps` is 0"):
        witness("borda", "iia", BOARD, max_steps=0)


def test_the_same_seed_gives_the_same_witness_and_json_keeps_it():
    board = random_matrix(12, 9, seed=3, n_levels=6)
    for key in ("consistency", "monotonicity", "clones", "participation"):
        first, second = (witness("nanson", key, board, seed=5, max_steps=200) for _ in range(2))
        assert first == second
        if first.witness is not None:
            assert Witness.from_dict(json.loads(json.dumps(first.witness.to_dict()))) == first.witness


@settings(max_examples=15, deadline=None, derandomize=True)
@given(matrix=matrices(max_systems=5, max_tasks=4), rule=st.sampled_from([r for r in RULES if r != "positional"]),
       missing=st.sampled_from(["drop_systems", "median"]), seed=st.integers(0, 5))  # fmt: skip
def test_any_board_can_be_searched_and_what_is_found_is_confirmed_and_told(matrix, rule, missing, seed):
    """Ties, gaps, weights, unordered and weight-0 tasks, one system, one task."""
    for key in PROPERTIES:
        search = witness(rule, key, matrix, options={"missing": missing}, seed=seed, max_steps=12)
        assert search.n_steps <= 12
        if search.witness is not None:
            assert violates(matrix, search.witness)
            assert sentence(search.witness)


def test_a_system_without_any_score_is_no_witness():
    gap = np.nan
    board = ScoreMatrix([[2, 1], [1, 2], [gap, gap]])
    for key in PROPERTIES:
        example = witness("copeland", key, board, max_steps=40).witness
        assert example is None or "s3" not in (example.x, example.y)


def test_a_stated_order_of_reversal_changes_sides():
    """Under the mean who wins alone is last when all is turned upside down, so entries and boards agree."""
    board = random_matrix(5, 4, seed=1)
    top = int(np.argmin(rank(board, "mean").ranks))
    turned = board.with_values(board.values.min(axis=0) + board.values.max(axis=0) - board.values)
    assert rank(turned, "mean").ranks[top] == 5
    assert entry("mean", "reversal_symmetry").holds


def test_a_board_that_was_ranked_a_moment_before_is_looked_up_and_counts_as_a_step(monkeypatch):
    monkeypatch.setattr("ranking_engine.axioms.boards._RESULTS", {})
    monkeypatch.setattr("ranking_engine.axioms.boards._RESULTS_KEPT", 2)
    first, second = Ranker("borda", {}), Ranker("borda", {})
    heavier = BOARD.with_weights([5, 1, 1])
    kept = first(BOARD)
    assert second(BOARD) is kept
    assert (first.n_steps, second.n_steps) == (1, 1)
    others = [second(heavier), Ranker("copeland", {})(BOARD), Ranker("borda", {"ties": "worst"})(heavier)]
    assert len({id(result) for result in [kept, *others]}) == 4
    assert first(BOARD) is not kept  # only the last few are kept
    np.testing.assert_array_equal(first(BOARD).positions, kept.positions)
