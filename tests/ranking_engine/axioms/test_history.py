from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings, strategies as st

from ranking_engine import ScoreMatrix, rank_all
from ranking_engine.axioms import RankedRevision, flips_of_history, history_flips


def ranked(matrix, rules=("borda", "mean")):
    return RankedRevision(matrix, {key: ranking.ranks for key, ranking in rank_all(matrix, rules).items()})


OLD = ScoreMatrix([[3, 1, 3], [2, 3, 2]], system_names=["A", "B"], weights=[2, 2, 1])
NEW = ScoreMatrix([[3, 1, 3], [2, 3, 2], [1, 2, 1]], system_names=["A", "B", "C"], weights=[2, 2, 1])


def test_a_newcomer_that_swaps_two_others_is_named_with_them():
    flips = history_flips(ranked(OLD), ranked(NEW))
    assert list(flips) == ["borda", "mean"]
    assert flips["borda"].newcomers == ("C",)
    assert flips["borda"].reversed_pairs == (("B", "A"),)
    assert flips["borda"].is_violation
    assert (flips["mean"].n_reversed, flips["mean"].is_violation) == (0, False)


def test_a_system_with_other_scores_is_no_other():
    corrected = NEW.replace_row(1, [2, 3, 9])
    flips = history_flips(ranked(OLD), ranked(corrected), ["mean"])["mean"]
    assert (flips.changed, flips.newcomers, flips.n_others) == (("B",), ("C",), 1)


def test_other_weights_may_be_the_cause_and_are_said():
    flips = history_flips(ranked(OLD), ranked(OLD.with_weights([1, 5, 1])), ["borda"])["borda"]
    assert flips.n_reversed == 1
    assert flips.has_other_tasks
    assert not flips.is_violation


def test_a_history_is_compared_step_by_step():
    steps = list(flips_of_history([ranked(OLD), ranked(NEW), ranked(NEW)], ["borda"]))
    assert [step["borda"].n_reversed for step in steps] == [1, 0]
    assert steps[1]["borda"].newcomers == ()


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 6).flatmap(
        lambda n: st.tuples(*[st.lists(st.sampled_from([-1, 1, 2, 3]), min_size=n, max_size=n) for _ in range(2)])
    )
)
def test_pairs_are_counted_as_by_going_through_them(ranks):
    n = len(ranks[0])
    matrix = ScoreMatrix(np.arange(n, dtype=float)[:, None])
    before, after = (RankedRevision(matrix, {"borda": np.array(r)}) for r in ranks)
    flips = history_flips(before, after)["borda"]
    made = broken = 0
    swapped = set()
    for i, j in itertools.permutations(range(n), 2):
        (a, b), (c, d) = (ranks[0][i], ranks[0][j]), (ranks[1][i], ranks[1][j])
        if -1 in (a, b, c, d):
            continue
        if a > b and c < d:
            swapped.add((f"s{i + 1}", f"s{j + 1}"))
        made += i < j and a != b and c == d
        broken += i < j and a == b and c != d
    assert set(flips.reversed_pairs) == swapped
    assert (flips.n_reversed, flips.n_ties_made, flips.n_ties_broken) == (len(swapped), made, broken)
