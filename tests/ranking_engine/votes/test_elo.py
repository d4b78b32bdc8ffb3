"""Elo ratings against their definition."""

import numpy as np
import pytest
from hypothesis import given

from ranking_engine.votes.data import Votes
from ranking_engine.votes.elo import elo
from tests.ranking_engine import naive_votes
from tests.ranking_engine.votes.strategies import random_votes, vote_sets


@given(vote_sets())
def test_ratings_are_those_of_the_definition(votes):
    np.testing.assert_allclose(elo(votes).ratings, naive_votes.elo(votes), rtol=1e-12)


def test_votes_are_taken_by_their_times():
    rows = (["A", "A", "B"], ["B", "C", "C"], [0, 1, 0])
    backwards = elo(Votes.of(*(column[::-1] for column in rows)))
    by_time = elo(Votes.of(*rows, times=[3, 2, 1]))
    assert by_time.ratings.tolist() == backwards.ratings.tolist()
    assert (by_time.is_by_time, backwards.is_by_time) == (True, False)


def test_the_order_matters_and_its_extremes_are_given():
    ratings = elo(random_votes(4, 300), n_orders=10)
    assert (ratings.least <= ratings.ratings).all()
    assert (ratings.greatest >= ratings.ratings).all()
    assert (ratings.greatest - ratings.least).max() > 1
    one = elo(random_votes(4, 300))
    assert one.least.tolist() == one.greatest.tolist() == one.ratings.tolist()


def test_huge_ratings_do_not_overflow():
    votes = Votes.of(["A", "A"], ["B", "B"], [0, 1], weights=[1e9, 1.0])
    assert np.isfinite(elo(votes).ratings).all()


@pytest.mark.parametrize("arguments", [{"k": 0.0}, {"scale": -1.0}, {"n_orders": 101}])
def test_arguments_that_cannot_be_are_refused(arguments):
    with pytest.raises(ValueError, match=next(iter(arguments))):
        elo(random_votes(3, 10), **arguments)
