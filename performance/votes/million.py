"""Ratings from a million votes on 200 systems: processor seconds, from arrays of votes to the result.

PYTHONPATH=. python performance/votes/million.py
"""

import time
from collections.abc import Callable

from performance.votes._recipe import recipe_votes
from ranking_engine.votes.data import Votes
from ranking_engine.votes.flips import fewest_votes
from ranking_engine.votes.models import MODELS
from ranking_engine.votes.ratings import rate

N_SYSTEMS, N_VOTES, N_VOTERS = 200, 1_000_000, 100_000


def timed(name: str, run: Callable[[], object]) -> object:
    before = time.process_time()
    result = run()
    print(f"{name:50}{time.process_time() - before:8.2f} s")
    return result


def main() -> None:
    first, second, outcomes, covariates = recipe_votes(N_SYSTEMS, N_VOTES, 0)
    voters = [f"voter {k * 7919 % N_VOTERS}" for k in range(N_VOTES)]
    named = {"x0": covariates[:, 0], "x1": covariates[:, 1]}

    def of_names() -> Votes:
        return Votes.of(first, second, outcomes, voters=voters, covariates=named)

    votes = timed("arrays from lists of names", of_names)
    for model in MODELS:
        timed(f"{model}: ratings, sandwich", lambda model=model: rate(votes, model, with_covariates=False))
    timed("half_wins: clustered by 100,000 voters", lambda: rate(votes, cluster="voter", with_covariates=False))
    timed("half_wins: two covariates", lambda: rate(votes))
    timed("half_wins: 100 resamples of votes", lambda: rate(votes, n_resamples=100, with_covariates=False))
    flip = timed("half_wins: the fewest votes for the first place", lambda: fewest_votes(votes))
    print(f"{flip.n_votes} votes; exact: {flip.is_exact}")


if __name__ == "__main__":
    main()
