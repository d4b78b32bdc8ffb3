from __future__ import annotations

import numpy as np
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from ranking_engine import UNRANKED, Ranking
from ranking_engine.core.ranking import ranks_of

NAN = float("nan")


def naive_ranks(scores):
    """Walk down the sorted scores; a step of at most 1e-9 of the largest |score| does not leave the tie."""
    present = [i for i in range(len(scores)) if not np.isnan(scores[i])]
    tolerance = 1e-9 * max((abs(scores[i]) for i in present), default=0)
    ranks = [UNRANKED] * len(scores)
    previous = None
    for place, i in enumerate(sorted(present, key=lambda i: -scores[i]), start=1):
        is_tied = previous is not None and scores[previous] - scores[i] <= tolerance
        ranks[i] = ranks[previous] if is_tied else place
        previous = i
    return ranks


def test_tied_systems_share_a_rank_and_the_next_one_is_skipped():
    ranking = Ranking.from_scores("borda", np.array([3.0, 5.0, 3.0, NAN, 1.0, 1.0]))
    assert ranking.ranks.tolist() == [2, 1, 2, UNRANKED, 4, 4]
    np.testing.assert_array_equal(ranking.average_ranks, [2.5, 1, 2.5, NAN, 4.5, 4.5])
    assert ranking.tie_groups == ((0, 2), (4, 5))
    assert (ranking.n_ranked, ranking.n_tied, ranking.n_in_ties) == (5, 2, 4)
    assert ranking.winners == (1,)


def test_the_tolerance_is_chained_and_relative_to_the_largest_score():
    assert Ranking.from_scores("r", np.array([1.0, 1 - 0.9e-9, 1 - 1.8e-9, 0.5])).ranks.tolist() == [
        1,
        1,
        1,
        4,
    ]
    assert Ranking.from_scores("r", np.array([1.0, 1 - 1.1e-9])).ranks.tolist() == [1, 2]
    assert Ranking.from_scores("r", np.array([-1e9, 0.5, 0.0])).ranks.tolist() == [3, 1, 1]


def test_all_tied_all_zero_one_system_and_none_ranked():
    assert Ranking.from_scores("r", np.zeros(3)).winners == (0, 1, 2)
    assert Ranking.from_scores("r", np.zeros(3)).n_tied == 2
    assert Ranking.from_scores("r", np.array([-7.0])).ranks.tolist() == [1]
    nobody = Ranking.undefined("r", 2, "because")
    assert (nobody.ranks.tolist(), nobody.winners, nobody.n_ranked) == ([UNRANKED, UNRANKED], (), 0)
    assert (nobody.status, nobody.reason, nobody.unranked_reasons) == (
        "undefined",
        "because",
        {0: "because", 1: "because"},
    )


def test_scores_at_the_ends_of_the_range_do_not_overflow():
    huge = np.finfo(float).max
    assert Ranking.from_scores("r", np.array([-huge, huge, 0.0])).ranks.tolist() == [3, 1, 2]


@settings(max_examples=80, deadline=None)
@given(
    arrays(
        float,
        st.tuples(st.integers(1, 4), st.integers(1, 7)),
        elements=st.sampled_from([0.0, 1.0, 1 + 8e-10, 1 + 16e-10, 2.0, -1.0, NAN]),
    )
)
def test_ranks_are_as_defined(scores):
    assert ranks_of(scores).tolist() == [naive_ranks(row) for row in scores]


def test_a_ranking_does_not_change_with_the_array_it_came_from():
    scores = np.array([1.0, 2.0])
    ranking = Ranking.from_scores("r", scores)
    scores[0] = 9
    assert ranking.scores.tolist() == [1.0, 2.0]
    assert not ranking.scores.flags.writeable
    assert not ranking.ranks.flags.writeable
