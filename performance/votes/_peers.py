"""What packages for votes compute, and ours of the same thing, for peers.py; the scores are a recipe of votes."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from performance._notebook_peers import NotebookCase
from performance.votes._recipe import votes_of_recipe
from ranking_engine import ScoreMatrix
from ranking_engine.votes.data import Votes
from ranking_engine.votes.elo import elo
from ranking_engine.votes.ratings import Ratings, rate

LARGE, SMALL = [[200, 1_000_000, 0]], [[50, 50_000, 1]]


def votes_of(built: ScoreMatrix, *, with_covariates: bool = False) -> Votes:
    """The engine's arrays of a recipe, made from lists of names as the peers' are."""
    first, second, outcomes, covariates = votes_of_recipe(built.values)
    named = {"x0": covariates[:, 0], "x1": covariates[:, 1]} if with_covariates else None
    return Votes.of(first, second, outcomes, covariates=named)


def strengths(built: ScoreMatrix) -> np.ndarray:
    """Log-strengths, ties as half wins."""
    return rate(votes_of(built)).strengths


def davidson(built: ScoreMatrix) -> np.ndarray:
    """Log-strengths by Davidson's model, then the logarithm of its tie parameter."""
    ratings = rate(votes_of(built), "davidson")
    return np.array([*ratings.strengths, np.log(ratings.tie)])


def with_errors(ratings: Ratings) -> np.ndarray:
    """Log-strengths, coefficients, then the standard errors of the strengths."""
    n = len(ratings.strengths)
    return np.concatenate([ratings.fit.parameters, ratings.intervals.errors[:n]])


def evalica_vote_cases() -> Iterator[NotebookCase]:
    """Bradley-Terry as it is by default and to the last digit; Newman's iteration, which is Davidson's model; Elo."""
    large, small = ScoreMatrix(LARGE), ScoreMatrix(SMALL)
    yield NotebookCase("votes: bradley_terry", "200 systems, 1e6 votes", large, strengths)
    yield NotebookCase("votes: to 1e-14", "200 systems, 1e6 votes", large, strengths)
    yield NotebookCase("votes: newman to 1e-12", "200 systems, 1e6 votes", large, davidson)
    yield NotebookCase("votes: elo", "50 systems, 5e4 votes", small, lambda built: elo(votes_of(built)).ratings)


def arena_rank_cases() -> Iterator[NotebookCase]:
    """Ratings with sandwich errors, by default and to the last digit; with two covariates."""

    def ours(built: ScoreMatrix) -> np.ndarray:
        return with_errors(rate(votes_of(built)))

    def contextual(built: ScoreMatrix) -> np.ndarray:
        return with_errors(rate(votes_of(built, with_covariates=True), is_scaled=False))

    large, small = ScoreMatrix(LARGE), ScoreMatrix(SMALL)
    yield NotebookCase("BradleyTerry", "200 systems, 1e6 votes", large, ours)
    yield NotebookCase("BradleyTerry to 1e-12", "200 systems, 1e6 votes", large, ours)
    yield NotebookCase("ContextualBradleyTerry", "50 systems, 5e4 votes", small, contextual)


VOTE_CASES: dict[str, Callable[[], Iterator[Any]]] = {"evalica": evalica_vote_cases, "arena-rank": arena_rank_cases}
