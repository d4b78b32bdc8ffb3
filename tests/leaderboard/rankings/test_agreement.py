"""How far rules agree with the reference rule: small rankings by hand."""

import numpy as np
import pytest
from django.urls import reverse

from leaderboard.rankings.agreement import MAX_SYSTEMS, agreements
from leaderboard.rankings.published import NO_TEXTS, make_column
from ranking_engine.core.ranking import average_ranks


def column(rule: str, ranks: list[int], status: str = "ranked"):
    summary = {"rule": rule, "status": status, "reason": "", "winner_names": [], "n_winners": 1}
    return make_column(summary, {"ranks": np.array(ranks, np.int32), "scores": np.zeros(len(ranks))}, NO_TEXTS)


def test_tied_systems_share_their_places():
    ranks = average_ranks(np.array([1, 2, 2, 4, -1]))
    assert np.array_equal(ranks, [1, 2.5, 2.5, 4, np.nan], equal_nan=True)


def test_an_order_turned_round_agrees_in_nothing():
    borda, mean = column("borda", [1, 2, 3, 4]), column("mean", [4, 3, 2, 1])
    by_rule = agreements([borda, mean], borda)
    assert set(by_rule) == {"mean"}
    agreement = by_rule["mean"]
    assert (agreement.kendall_tau, agreement.spearman, agreement.max_rank_change) == pytest.approx((-1, -1, 3))
    assert agreement.text == "Kendall’s τ −1.00, Spearman’s ρ −1.00, largest change 3 places"


def test_ties_and_unranked_systems_count_as_defined():
    """Common: the first six. Reference 1 to 6, other 1, 2.5, 2.5, 4, 5, 6: fourteen pairs agree, one is tied in one."""
    borda, mean = column("borda", [1, 2, 3, 4, 5, 6, 7]), column("mean", [1, 2, 2, 4, 5, 6, -1])
    agreement = agreements([borda, mean], borda)["mean"]
    assert agreement.n_common == 6
    assert agreement.kendall_tau == pytest.approx(14 / np.sqrt(15 * 14))
    assert (agreement.top_rate, agreement.max_rank_change) == (1.0, 0.5)
    assert agreement.text.endswith("100 % of the top 5 the same, largest change 0.5 places")


def test_the_first_five_of_five_are_always_the_same_so_nothing_is_said_of_them():
    """Common: five of six, in opposite orders."""
    borda, mean = column("borda", [1, 2, 3, 4, 5, 6]), column("mean", [5, 4, 3, 2, 1, -1])
    assert agreements([borda, mean], borda)["mean"].text == (
        "Kendall’s τ −1.00, Spearman’s ρ −1.00, largest change 4 places"
    )


def test_rankings_that_tie_all_systems_have_no_correlation_and_say_so():
    tied, ordered = column("borda", [1, 1, 1]), column("mean", [1, 2, 3])
    others = agreements([tied, column("copeland", [1, 1, 1]), ordered], tied)
    assert {rule: agreement.text for rule, agreement in others.items()} == {
        "copeland": "all systems that both rank tie under both",
        "mean": "all systems that both rank tie under one of the two",
    }


def test_only_rules_that_rank_are_compared_and_large_boards_are_not():
    borda, winner = column("borda", [1, 2]), column("condorcet", [1, -1], "winner_only")
    assert agreements([borda, winner], borda) == {}
    large = list(range(1, MAX_SYSTEMS + 2))
    assert agreements([column("borda", large), column("mean", large)], column("borda", large)) == {}


def test_the_board_says_how_far_each_rule_agrees_with_the_reference(make, client):
    page = client.get(reverse("board", args=[make.published().key]), {"reference": "copeland"}).content.decode()
    # Copeland: B 1, C 2, D 3, A 4; Borda orders them alike.
    assert "With Copeland: Kendall’s τ 1.00, Spearman’s ρ 1.00, largest change 0 places." in page
