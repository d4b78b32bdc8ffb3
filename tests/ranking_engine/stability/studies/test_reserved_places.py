import numpy as np
import pytest

from ranking_engine import ScoreMatrix
from ranking_engine.stability.catalogue import run_study

BOARD = ScoreMatrix([[6, 6], [5, 5], [4, 4], [3, 3], [2, 2], [1, 1]], system_names=["a", "b", "c", "d", "e", "f"])


def reserved(**parameters):
    return run_study("reserved_places", BOARD, {"rule": "mean"} | parameters).summary


def test_the_best_of_the_named_systems_moves_up_to_the_last_of_the_first_places():
    summary = reserved(systems=["e", "f"], places=2, least=1)
    assert summary["systems"] == ["a", "b", "c", "d", "e", "f"]
    assert summary["before"] == [1, 2, 3, 4, 5, 6]
    assert summary["after"] == [1, 3, 4, 5, 2, 6]
    assert (summary["before_least"], summary["before_most"], summary["is_within"]) == (0, 0, False)
    assert (summary["first_after"], summary["reversed_pairs"]) == (1, 3)
    assert (summary["moved_up"], summary["moved_down"]) == (["e"], ["b"])
    assert summary["discordant_share"] == 0.2
    assert summary["max_rank_change"] == 0.6


def test_at_most_so_many_lets_others_in():
    assert reserved(systems=["a", "b"], places=2, least=0, most=1)["after"] == [1, 3, 2, 4, 5, 6]


def test_all_along_the_places_are_spread():
    spread = {"systems": ["c", "d", "e"], "places": 4, "least": 2}
    assert reserved(**spread)["reversed_pairs"] == 0
    assert reserved(**spread, all_along=True)["after"] == [1, 3, 2, 4, 5, 6]


def test_a_ranking_within_the_bounds_stays():
    summary = reserved(systems=["a"], places=1)
    assert (summary["reversed_pairs"], summary["is_within"]) == (0, True)


TIED = ScoreMatrix([[3, 3], [2, 2], [2, 2], [1, 1]], system_names=["A", "B", "C", "D"])


@pytest.mark.parametrize(
    ("systems", "least", "most", "expected"),
    [
        (["C"], 1, None, (0, 1, 1, 0, False)),  # among the first two if it comes before B
        (["C"], 0, 0, (0, 1, 0, 0, False)),
        (["C"], 0, None, (0, 1, 1, 0, True)),
        (["B", "C"], 1, None, (1, 1, 1, 0, True)),  # one of them, whichever
        (["D"], 1, None, (0, 0, 1, 2, False)),
    ],
)
def test_ties_are_resolved_against_the_named_systems_and_in_their_favour(systems, least, most, expected):
    parameters = {"rule": "mean", "systems": systems, "places": 2, "least": least, "most": most}
    summary = run_study("reserved_places", TIED, parameters).summary
    keys = ("before_least", "before_most", "first_after", "reversed_pairs", "is_within")
    assert tuple(summary[key] for key in keys) == expected
    # B and C were neither in nor out.
    assert (summary["moved_up"], summary["moved_down"]) == (["D"] if systems == ["D"] else [], [])


def test_bounds_all_along_are_kept_however_ties_are_broken_only_if_they_are_at_every_place():
    parameters = {"rule": "mean", "systems": ["C", "A"], "places": 4, "least": 2, "all_along": True}
    board = ScoreMatrix([[2, 2], [1, 1], [2, 2], [1, 1]], system_names=["A", "B", "C", "D"])
    assert run_study("reserved_places", board, parameters).summary["is_within"]
    others = parameters | {"systems": ["B", "C"]}
    level = ScoreMatrix([[1, 1]] * 4, system_names=["A", "B", "C", "D"])
    summary = run_study("reserved_places", level, others).summary
    assert (summary["before_least"], summary["before_most"], summary["reversed_pairs"]) == (2, 2, 0)
    assert not summary["is_within"]


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({}, "no systems are named"),
        ({"systems": ["zebra"]}, "`systems` names 'zebra'; there is no such system"),
        ({"systems": ["a"], "places": 3, "least": 2}, "2 of the first 3 places are asked for; 1 systems are named"),
        ({"systems": ["a"], "rule": "condorcet"}, "Condorcet names a winner and does not rank"),
    ],
)
def test_what_no_order_can_give_is_refused_with_the_reason(parameters, reason):
    with pytest.raises(ValueError, match=f"the study reserved_places says nothing here: {reason}"):
        reserved(**parameters)


def test_systems_without_a_rank_take_no_place():
    board = ScoreMatrix([[1, 2], [2, np.nan], [3, 1]], system_names=["a", "b", "c"])
    summary = run_study("reserved_places", board, {"systems": ["b", "a"], "places": 1, "least": 1}).summary
    assert (summary["n_systems"], summary["n_group"]) == (2, 1)
