"""The fewest votes that decide the first place, against every set of votes."""

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

from ranking_engine.votes.data import Votes
from ranking_engine.votes.flips import VoteKinds, fewest_votes, least_votes
from ranking_engine.votes.models import vote_model
from ranking_engine.votes.ratings import rate
from tests.ranking_engine.votes.strategies import random_votes, vote_sets


def first_alone(votes, model):
    """The system that is first alone; None without one, or where the votes do not connect all."""
    ratings = rate(votes, model)
    if not ratings.is_fitted or ratings.connectedness.n_components > 1:
        return None
    first = np.flatnonzero(ratings.ranks == 1)
    return int(first[0]) if len(first) == 1 else -1


def fewest_by_trying_all(votes, model):
    """The size of the smallest set of votes without which another system is first, alone or not; None without one."""
    leader = first_alone(votes, model)
    for size in range(1, votes.n_votes):
        for removed in itertools.combinations(range(votes.n_votes), size):
            is_kept = np.ones(votes.n_votes, dtype=bool)
            is_kept[list(removed)] = False
            first = first_alone(votes.where(is_kept), model)
            if first is not None and first != leader:
                return size
    return None


def without(votes, flip):
    """The votes that are left."""
    is_kept = np.ones(votes.n_votes, dtype=bool)
    for part in flip.removed:
        pair = (votes.first == part.winner) & (votes.second == part.loser) & (votes.outcomes == 0)
        pair |= (votes.first == part.loser) & (votes.second == part.winner) & (votes.outcomes == 1)
        if part.is_tie:
            pair = np.isin(votes.first, [part.winner, part.loser]) & np.isin(votes.second, [part.winner, part.loser])
            pair &= votes.outcomes >= 2
        is_kept[np.flatnonzero(pair & is_kept)[: part.n_votes]] = False
    return votes.where(is_kept)


@pytest.mark.parametrize("model", ["half_wins", "davidson"])
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(votes=vote_sets(max_votes=8, weights=(1.0,)))
def test_the_fewest_are_those_of_trying_every_set(model, votes):
    leader = first_alone(votes, model)
    assume(leader is not None)
    flip = fewest_votes(votes, model)
    if leader == -1:
        assert (flip.n_votes, flip.is_exact) == (0, True)
        return
    fewest = fewest_by_trying_all(votes, model)
    assert flip.leader == leader
    assert fewest is None or 1 <= flip.least <= fewest
    if flip.n_votes is None:
        assert "no set of votes" in flip.problem
        assert fewest is None or fewest > 4, "of 8 votes there are less than 2,000 sets of up to 4"
        assert fewest is None or "was found" in flip.problem
    else:
        assert fewest is not None
        assert flip.n_votes == fewest if flip.is_exact else flip.n_votes >= fewest
        assert first_alone(without(votes, flip), model) not in (leader, None)


def test_small_sets_are_tried_where_removing_the_greatest_influences_ends_without_an_answer():
    votes = Votes.of(list("adbabcba"), list("dacdcbac"), [0, 0, 0, 2, 0, 2, 0, 0])
    assert fewest_by_trying_all(votes, "half_wins") == 2
    flip = fewest_votes(votes)
    names = votes.system_names
    assert (flip.n_votes, flip.is_exact, flip.least, flip.problem) == (2, True, 2, "")
    assert (names[flip.leader], names[flip.rival]) == ("b", "d")


@pytest.mark.parametrize("model", ["half_wins", "davidson", "rao_kupper"])
def test_what_is_left_without_them_has_another_first(model):
    votes = random_votes(8, 3_000, seed=6, spread=0.6)
    flip = fewest_votes(votes, model)
    left = without(votes, flip)
    assert left.n_votes == votes.n_votes - flip.n_votes
    assert flip.share == flip.n_votes / votes.n_votes
    ratings = rate(left, model)
    assert ratings.strengths[flip.rival] >= ratings.strengths[flip.leader] - 1e-9
    assert rate(votes, model).ranks[flip.leader] == 1
    assert flip.least <= flip.n_votes
    assert flip.least == 2 or model == "half_wins", "all single votes were tried"


def test_the_lower_bound_is_near_where_gaps_are_small_and_never_above_what_two_systems_need():
    for n_wins in range(501, 600, 7):
        votes = Votes.of(["A"] * 1_000, ["B"] * 1_000, [0] * n_wins + [1] * (1_000 - n_wins))
        kinds = VoteKinds.of(votes, vote_model("half_wins"), 0.0)
        fit = kinds.fit_without(np.zeros(len(kinds.available), dtype=np.int64))
        needed = 2 * n_wins - 1_000
        assert needed / 5 < least_votes(kinds, fit, 0) <= needed


def test_between_two_systems_it_is_the_difference_of_their_wins():
    votes = Votes.of(["A"] * 30, ["B"] * 30, [0] * 18 + [1] * 11 + [2])
    flip = fewest_votes(votes)
    assert (flip.n_votes, flip.is_exact, flip.leader, flip.rival) == (7, True, 0, 1)
    (part,) = flip.removed
    assert (part.winner, part.loser, part.is_tie, part.n_votes) == (0, 1, False, 7)


@pytest.mark.parametrize(
    ("won", "lost", "tied"), [(280, 100, 0), (1_000, 100, 0), (28, 10, 0), (30, 4, 100), (3, 2, 9)]
)
def test_a_large_lead_between_two_systems_is_their_difference_too(won, lost, tied):
    n = won + lost + tied
    flip = fewest_votes(Votes.of(["A"] * n, ["B"] * n, [0] * won + [1] * lost + [2] * tied))
    assert (flip.n_votes, flip.least, flip.is_exact) == (won - lost, won - lost, True)


def test_heavy_votes_are_fewer():
    weights = [4.0, 4.0] + [1.0] * 14
    votes = Votes.of(["A"] * 16, ["B"] * 16, [0] * 8 + [1] * 8, weights=weights)
    flip = fewest_votes(votes)
    assert (flip.n_votes, flip.is_exact) == (2, True)


def test_a_shared_first_place_needs_no_vote():
    votes = Votes.of(["A", "B", "A", "C", "B", "C"], ["B", "A", "C", "A", "C", "B"], [0] * 6)
    assert (fewest_votes(votes).n_votes, fewest_votes(votes).is_exact) == (0, True)


@pytest.mark.parametrize(
    "rows", [[("A", "B", 0)], [("A", "B", 0), ("B", "A", 0), ("C", "D", 2)]], ids=["one vote", "two groups"]
)
def test_without_ratings_of_all_there_is_no_first_place(rows):
    flip = fewest_votes(Votes.of(*zip(*rows, strict=True)))
    assert (flip.n_votes, flip.problem) == (None, "the votes give no finite strengths for all systems")
