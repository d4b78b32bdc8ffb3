from __future__ import annotations

import numpy as np
import pytest

from ranking_engine import UNRANKED, ScoreMatrix, condorcet_loser, condorcet_winner, rank, rank_all, smith_set

TOY = ScoreMatrix(
    # tasks 1 to 5, best first: ABCD, ACDB, BDCA, CBDA, DBCA
    [[4, 4, 1, 1, 1], [3, 1, 4, 3, 3], [2, 3, 2, 4, 2], [1, 2, 3, 2, 4]],
    system_names=["A", "B", "C", "D"],
)


@pytest.mark.parametrize(
    ("rule", "scores", "ranks"),
    [
        ("plurality", [2, 1, 1, 1], [1, 2, 2, 2]),
        ("borda", [6, 9, 8, 7], [4, 1, 2, 3]),
        ("copeland", [-3, 3, 1, -1], [4, 1, 2, 3]),
        ("minimax", [-3, 0, -3, -3], [2, 1, 2, 2]),
        ("mean", [2.2, 2.8, 2.6, 2.4], [4, 1, 2, 3]),
    ],
)
def test_the_toy_leaderboard_has_the_known_scores(rule, scores, ranks):
    ranking = rank(TOY, rule)
    assert (ranking.status, ranking.scores.tolist(), ranking.ranks.tolist()) == ("ranked", scores, ranks)


def test_the_toy_leaderboard_has_a_condorcet_winner_whom_plurality_passes_over():
    ranking = rank(TOY, "condorcet")
    assert (ranking.status, ranking.winners) == ("winner_only", (1,))
    assert ranking.ranks.tolist() == [UNRANKED, 1, UNRANKED, UNRANKED]
    assert condorcet_winner(TOY) == 1
    assert condorcet_loser(TOY) == 0
    assert smith_set(TOY) == (1,)
    assert rank(TOY, "plurality").winners == (0,)


def test_rank_all_gives_every_rule_what_rank_gives_alone():
    for rule, ranking in rank_all(TOY).items():
        alone = rank(TOY, rule)
        np.testing.assert_array_equal(ranking.scores, alone.scores)
        assert ranking.ranks.tolist() == alone.ranks.tolist()
