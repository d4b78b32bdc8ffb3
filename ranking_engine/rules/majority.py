"""Rules on the majority relation and its margins. They compare two systems on the tasks that both have."""

from __future__ import annotations

from typing import Any

import numpy as np

from ranking_engine.core.pairwise import Pairwise
from ranking_engine.core.profile import Outcome, Profile
from ranking_engine.rules.choice_sets import condorcet_winner, smith_set

COPELAND_VARIANTS = ("difference", "lower_with_ties", "lower", "upper")
MINIMAX_VARIANTS = ("winning_votes", "margins", "pairwise_opposition")


def copeland(profile: Profile, *, variant: str = "difference") -> Outcome:
    """Return, for each system, by `variant`.

    `difference`: systems it beats minus systems that beat it; `lower`: systems it beats;
    `lower_with_ties`: those plus half the systems it draws with; `upper`: minus the systems that beat it.
    """
    beats = profile.pairwise.beats
    won = beats.sum(axis=1)
    lost = beats.sum(axis=0)
    drawn = profile.n_systems - 1 - won - lost
    scores = {"difference": won - lost, "lower": won, "lower_with_ties": won + drawn / 2, "upper": -lost}
    return Outcome(scores[variant].astype(np.float64), details=pair_details(profile.pairwise))


def minimax(profile: Profile, *, variant: str = "winning_votes") -> Outcome:
    """Return minus the worst defeat of each system, measured by `variant`.

    `winning_votes`: the weight against it, over the rivals that beat it (0 if none does); `margins`: the
    largest margin against it, which is negative for a system that beats all; `pairwise_opposition`: the
    weight against it, over all rivals.
    """
    pairwise = profile.pairwise
    if profile.n_systems == 1:
        return Outcome(np.zeros(1), details=pair_details(pairwise))
    against = pairwise.margins.T if variant == "margins" else pairwise.wins.T
    counts = pairwise.beats.T if variant == "winning_votes" else ~np.eye(profile.n_systems, dtype=bool)
    least = against.min()  # of wins it is 0, on the diagonal
    worst = np.where(counts, against, least).max(axis=1)
    if worst.dtype == object:
        scores = np.array([-int(defeat) / pairwise.denominator for defeat in worst])
    else:
        scores = -worst.astype(np.float64) / pairwise.denominator + 0.0  # + 0.0: no negative zero
    return Outcome(scores, details=pair_details(pairwise))


def condorcet(profile: Profile) -> Outcome:
    """Elect the system that beats every other; its score is the number of systems that it beats."""
    pairwise = profile.pairwise
    details = pair_details(pairwise)
    winner = condorcet_winner(pairwise)
    if winner is None:
        size = len(smith_set(pairwise))
        reason = f"no system beats every other (the Smith set has {size} systems)"
        return Outcome(None, "no_winner", reason, details)
    scores = np.full(profile.n_systems, np.nan)
    scores[winner] = profile.n_systems - 1
    return Outcome(scores, "winner_only", "does not rank systems other than the winner", details)


def pair_details(pairwise: Pairwise) -> dict[str, Any]:
    """Return the number of pairs of systems that no voting task compares."""
    return {"pairs_without_common_task": pairwise.n_pairs_without_common_task}
