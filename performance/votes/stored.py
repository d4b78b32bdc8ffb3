"""A million stored votes on 200 systems in 20 categories: seconds to pack, to read as one, and for a job's figures.

PYTHONPATH=. python performance/votes/stored.py
"""

import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from performance.votes._recipe import recipe_votes
from ranking_engine.votes.categories import category_scores
from ranking_engine.votes.data import Votes
from ranking_engine.votes.packing import PackedVotes, joined_votes, packed_votes, unpacked_votes
from ranking_engine.votes.report import vote_report

N_SYSTEMS, N_VOTES, N_VOTERS, N_CATEGORIES, N_BATCHES = 200, 1_000_000, 100_000, 20, 5
T = TypeVar("T")


def timed(name: str, run: Callable[[], T]) -> T:
    before = time.perf_counter()
    result = run()
    print(f"{name:50}{time.perf_counter() - before:8.2f} s")
    return result


def main() -> None:
    first, second, outcomes, _ = recipe_votes(N_SYSTEMS, N_VOTES, 0)
    random = np.random.default_rng(0)
    batches = []
    for part in np.array_split(np.arange(N_VOTES), N_BATCHES):
        span = slice(part[0], part[-1] + 1)
        votes = Votes.of(
            first[span], second[span], outcomes[span],
            voters=[f"voter {k}" for k in random.integers(N_VOTERS, size=len(part))],
            categories=[f"category {k}" for k in random.integers(N_CATEGORIES, size=len(part))],
            times=1.7e9 + np.sort(random.random(len(part))) * 1e6,
        )  # fmt: skip
        n_voters = int(votes.voters.max()) + 1 if votes.voters is not None else 0
        ids = random.choice(N_VOTERS, n_voters, replace=False).astype(np.uint64) + np.uint64(1)
        batches.append(PackedVotes(votes, ids, np.array([], dtype=np.uint64)))
    stored = timed("packed", lambda: [packed_votes(batch) for batch in batches])
    print(f"{sum(map(len, stored)) / N_VOTES:.1f} bytes a vote")
    votes = timed("read as one", lambda: joined_votes(unpacked_votes(data) for data in stored))
    timed("report, clustered by voter", lambda: vote_report(votes, cluster="voter", with_categories=False))
    timed("ratings by category", lambda: category_scores(votes, cluster="voter"))


if __name__ == "__main__":
    main()
