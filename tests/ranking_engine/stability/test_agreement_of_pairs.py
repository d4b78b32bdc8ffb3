"""The correlations of every two rankings at once are those of two at a time."""

import numpy as np
import pytest

from ranking_engine.core.ranking import average_ranks, ranks_of
from ranking_engine.stability import agreement
from ranking_engine.stability.agreement import CORRELATIONS, OF_PAIRS


def random_ranks(random: np.random.Generator, n_rankings: int, n_systems: int) -> np.ndarray:
    scores = random.integers(0, 4, (n_rankings, n_systems)).astype(float)
    scores[random.random(scores.shape) < 0.3] = np.nan
    return average_ranks(ranks_of(scores))


@pytest.mark.parametrize("correlation", list(CORRELATIONS))
@pytest.mark.parametrize("cells", [agreement._PAIR_CELLS, 0], ids=["at once", "row by row"])
def test_every_two_rankings_with_ties_and_gaps(correlation: str, cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreement, "_PAIR_CELLS", cells)
    random = np.random.default_rng(0)
    for _ in range(40):
        ranks = random_ranks(random, int(random.integers(1, 8)), int(random.integers(1, 8)))
        two_at_a_time = [[CORRELATIONS[correlation](a[None], b[None])[0] for b in ranks] for a in ranks]
        np.testing.assert_array_equal(OF_PAIRS[correlation](ranks), two_at_a_time)
