"""Small sets of votes: ties, weights, voters, prompts, and systems that no vote connects."""

import numpy as np
from hypothesis import strategies as st

from ranking_engine.votes.data import Votes

NAMES = ("A", "B", "C", "D", "E")


@st.composite
def vote_sets(draw, max_votes=14, weights=(0.0, 0.5, 1.0, 2.0), n_covariates=0):
    """Votes on 2 to 5 systems."""
    n = draw(st.integers(2, len(NAMES)))
    pairs = draw(
        st.lists(
            st.tuples(st.integers(0, n - 1), st.integers(1, n - 1), st.integers(0, 3), st.sampled_from(weights)),
            min_size=1,
            max_size=max_votes,
        )
    )
    first = [NAMES[i] for i, *_ in pairs]
    second = [NAMES[(i + gap) % n] for i, gap, *_ in pairs]
    cells = st.lists(st.sampled_from([None, "x", "y", "z"]), min_size=len(pairs), max_size=len(pairs))
    covariates = {
        f"x{c}": draw(st.lists(st.integers(-2, 2), min_size=len(pairs), max_size=len(pairs)))
        for c in range(n_covariates)
    }
    return Votes.of(
        first,
        second,
        [outcome for *_, outcome, _ in pairs],
        weights=[weight for *_, weight in pairs],
        voters=draw(cells),
        categories=draw(cells),
        covariates=covariates or None,
    )


def random_votes(n_systems, n_votes, seed=0, ties=0.2, n_voters=0, spread=1.0):
    """Votes of systems s000, s001, ... whose strengths are drawn; a share of them ties."""
    random = np.random.default_rng(seed)
    strengths = spread * random.normal(size=n_systems)
    first = random.integers(n_systems, size=n_votes)
    second = (first + random.integers(1, n_systems, size=n_votes)) % n_systems
    p = 1 / (1 + np.exp(strengths[second] - strengths[first]))
    outcomes = np.where(random.random(n_votes) < ties, 2, np.where(random.random(n_votes) < p, 0, 1))
    votes = Votes(
        tuple(f"s{i:03d}" for i in range(n_systems)),
        first.astype(np.int32),
        second.astype(np.int32),
        outcomes.astype(np.int8),
        np.ones(n_votes),
        np.full(n_votes, -1, dtype=np.int32),
        voters=random.integers(n_voters, size=n_votes).astype(np.int32) if n_voters else None,
    )
    votes.check()
    return votes
