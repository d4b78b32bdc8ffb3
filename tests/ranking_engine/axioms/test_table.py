from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from ranking_engine import RULES, ScoreMatrix, condorcet_loser, condorcet_winner, rank
from ranking_engine.axioms import (
    PROPERTIES,
    Witness,
    convention_of,
    conventions,
    entry,
    sentence,
    stored_witnesses,
    table,
    violates,
    witness,
)

OWN = [(rule, conventions(rule)[0]) for rule in RULES]
OTHERS = [(rule, options) for rule in RULES for options in conventions(rule)[1:]]
VECTOR = {"positional": {"vector": [3, 1]}}


def test_every_rule_has_an_entry_with_a_source_for_every_property():
    assert set(table()) == set(RULES)
    for rule, options in OWN + OTHERS:
        for key in PROPERTIES:
            assert entry(rule, key, options).source


def test_every_property_is_one_sentence_with_a_source():
    for prop in PROPERTIES.values():
        assert prop.definition.endswith(".")
        assert prop.definition.count(".") == 1
        assert prop.source


def test_what_fails_is_stored_and_what_is_stored_fails():
    failing = {
        (rule, convention_of(rule, options), key)
        for rule, options in OWN + OTHERS
        for key in PROPERTIES
        if not entry(rule, key, options).holds
    }
    assert set(stored_witnesses()) == failing


@pytest.mark.parametrize("rule", RULES)
def test_the_stored_boards_violate_the_property_and_say_so(rule):
    for (key, _, prop), stored in stored_witnesses().items():
        if key == rule:
            assert violates(stored.board, stored.witness), (key, prop, stored.witness)
            text = sentence(stored.witness)
            assert text.endswith(".")
            assert stored.witness.x in text


def test_a_violation_with_another_effect_or_of_another_system_is_none():
    stored = stored_witnesses()["borda", "worst", "iia"]
    fields = stored.witness.to_dict()
    assert not violates(stored.board, Witness.from_dict(fields | {"effect": "parted"}))
    assert not violates(stored.board, Witness.from_dict(fields | {"x": fields["y"], "y": fields["x"]}))
    assert not violates(stored.board, Witness.from_dict(fields | {"rule": "mean"}))


def test_a_stored_winner_of_all_pairs_leaves_baldwin_and_nanson_first_under_worst():
    """Baldwin and Nanson under `worst`, and Minimax by pairwise opposition, are not Condorcet-consistent."""
    for rule in ("baldwin", "nanson"):
        board = stored_witnesses()[rule, "worst", "condorcet_winner"].board
        assert board.values.tolist() == [[2, 2, 1, 1], [2, 1, 2, 1], [1, 2, 1, 2]]
        assert [int(w) for w in board.weights] == [3, 3, 2, 2]
        assert condorcet_winner(board) == 0
        assert rank(board, "borda", ties="worst").scores.tolist() == [6, 7, 7]
        assert rank(board, "borda", ties="average").scores.tolist() == [11, 9.5, 9.5]
        assert rank(board, rule, ties="worst").ranks.tolist() == [3, 1, 1]
        assert rank(board, rule, ties="average").ranks[0] == 1
    opposed = stored_witnesses()["minimax", "pairwise_opposition", "condorcet_winner"].board
    winner = condorcet_winner(opposed)
    assert winner is not None
    assert rank(opposed, "minimax", variant="pairwise_opposition").winners != (winner,)
    assert rank(opposed, "minimax", variant="margins").winners == (winner,)


def test_borda_elects_a_loser_of_all_pairs_under_worst_and_not_under_average():
    board = stored_witnesses()["borda", "worst", "condorcet_loser"].board
    loser = condorcet_loser(board)
    assert loser in rank(board, "borda", ties="worst").winners
    assert loser not in rank(board, "borda", ties="average").winners


def test_a_system_just_on_the_average_wins_under_nanson_both_ways_up():
    """Margins A over B 1, C over A 1, B over C 3: Borda scores 0, 2, -2 about the average; no task ties two systems."""
    board = ScoreMatrix([[3, 1, 2], [2, 3, 1], [1, 2, 3]], weights=[2, 2, 1])
    for ties in ("worst", "best", "average"):
        assert rank(board, "nanson", ties=ties).winners == (0,)
        assert rank(board.with_values(4 - board.values), "nanson", ties=ties).winners == (0,)
        assert not entry("nanson", "reversal_symmetry", {"ties": ties}).holds


@pytest.mark.parametrize("strength", ["margins", "winning_votes"])
def test_a_winner_of_schulzes_that_rises_still_wins_although_the_score_puts_another_first(strength):
    """C and D are unbeaten and beat one each; once C is above B on the fourth task, D beats three and C two."""
    values = [[5, 4, 4, 3, 3, 2, 1], [2, 5, 1, 2, 1, 3, 5], [4, 3, 3, 1, 5, 1, 4], [1, 1, 5, 5, 4, 5, 2],
              [3, 2, 2, 4, 2, 4, 3]]  # fmt: skip
    board = ScoreMatrix(values, weights=[1, 1, 1, 1, 1, 1, 2], system_names=list("ABCDE"))
    raised = board.with_values(np.where(np.arange(7) == 3, [[3], [2], [2.5], [5], [4]], board.values))
    assert rank(board, "schulze", strength=strength).scores.tolist() == [-1, 0, 1, 1, -1]
    assert rank(raised, "schulze", strength=strength).scores.tolist() == [1, -4, 2, 3, -2]
    assert rank(board, "schulze", strength=strength).winners == (1, 2, 3)
    assert rank(raised, "schulze", strength=strength).winners == (2, 3)
    assert entry("schulze", "monotonicity", {"strength": strength}).holds


@pytest.mark.parametrize("strength", ["margins", "winning_votes"])
@pytest.mark.parametrize(
    ("values", "weights"),
    [
        ([[2, 1, 2, 2, 1], [1, 2, 1, 3, 1], [2, 3, 1, 1, 3]], [3, 3, 2, 3, 1]),
        ([[3, 2, 2, 3, 2, 1], [1, 1, 3, 1, 3, 2], [2, 3, 1, 2, 1, 3]], [1, 3, 2, 1, 2, 2]),
    ],
    ids=["ties", "strict"],
)
def test_equal_strengths_do_not_let_one_system_win_alone_both_ways_up(values, weights, strength):
    """Decided by name, the first system won alone on both of these boards, and alone on both turned upside down."""
    board = ScoreMatrix(values, weights=weights)
    turned = board.with_values(4 - board.values)
    for_both = [rank(one, "ranked_pairs", strength=strength).winners for one in (board, turned)]
    assert for_both[0] != (0,) or 0 not in for_both[1]
    assert entry("ranked_pairs", "reversal_symmetry", {"strength": strength}).holds


@pytest.mark.parametrize("strength", ["margins", "winning_votes"])
def test_a_clone_makes_a_winner_of_a_loser_where_strengths_are_equal(strength):
    """Five systems on six tasks without any tie: neither the order by name nor ties within a task play a part."""
    stored = stored_witnesses()["ranked_pairs", strength, "clones"]
    board, example = stored.board, stored.witness
    joined = board.with_row(example.added, np.array([example.scores[task] for task in board.task_names]))
    assert rank(board, "ranked_pairs", strength=strength).winners == (3, 4)
    assert rank(joined, "ranked_pairs", strength=strength).winners == (0, 3, 4, 5)
    assert sentence(example) == "Let A (2) join, next to A on every task, and one of these wins, where none did."


@st.composite
def boards(draw, rule):
    """Complete boards of up to five systems, with ties, equal strengths, even weights, systems and tasks twice."""
    n, T = draw(st.integers(2, 5)), draw(st.integers(1, 6))
    cells = st.sampled_from([1.0, 2.0, 3.0, 5.0] if RULES[rule].family == "cardinal" else [1.0, 2.0, 3.0])
    strict = st.permutations([float(2 * k + 1) for k in range(n)])
    ties = st.lists(cells, min_size=n, max_size=n)
    columns = draw(st.lists(st.one_of(ties, strict), min_size=T, max_size=T))
    if draw(st.booleans()):
        columns = [*columns, columns[0]]
    rows = [list(row) for row in zip(*columns, strict=True)]
    if draw(st.booleans()):
        rows[-1] = rows[0]
    T = len(columns)
    equal, even = st.just([1] * T), st.lists(st.sampled_from([2, 4]), min_size=T, max_size=T)
    weights = draw(st.one_of(equal, even, st.lists(st.integers(1, 4), min_size=T, max_size=T)))
    scale = {"minimum": [0] * T, "maximum": [9] * T, "chance": [0] * T, "gamma": 4.0}
    return ScoreMatrix(rows, weights=weights, system_names=list("ABCDE"[:n]), **scale)


def _find_nothing(rule, options, data, max_steps):
    board = data.draw(boards(rule))
    for key in PROPERTIES:
        if not entry(rule, key, options).holds:
            continue
        if key == "non_dictatorship":  # which is about equal weights
            at_hand = board.with_weights([1] * board.n_tasks)
        else:
            at_hand = board
        search = witness(rule, key, at_hand, options=options | VECTOR.get(rule, {}), max_steps=max_steps)
        assert search.witness is None, (rule, options, search.witness, at_hand.values, at_hand.weights)


@pytest.mark.parametrize(("rule", "options"), OWN, ids=[rule for rule, _ in OWN])
@settings(max_examples=4, deadline=None, derandomize=True)
@given(data=st.data())
def test_nothing_violates_what_holds(rule, options, data):
    _find_nothing(rule, options, data, 15)


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "options"), OWN + OTHERS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_nothing_violates_what_holds_under_any_convention(rule, options, data):
    _find_nothing(rule, options, data, 60)


def test_with_gaps_even_unanimity_is_lost():
    """Why entries are about complete scores: a rule on common tasks compares each pair on tasks of its own."""
    gap = np.nan
    board = ScoreMatrix([[2, gap, gap, 2, 1], [1, gap, gap, 1, 0], [gap, 1, 1, gap, gap], [gap, 0, 0, 3, 3]])
    assert rank(board, "copeland").ranks[0] < rank(board, "copeland").ranks[1]


def test_the_tables_words_are_checked():
    with pytest.raises(ValueError, match="`property` is 'fairness'; expected one of transitivity, "):
        entry("borda", "fairness")
    with pytest.raises(ValueError, match="`rule` is 'bordo'"):
        entry("bordo", "iia")
