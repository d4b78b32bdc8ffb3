"""The nearest order within bounds against every order there is."""

import itertools

import numpy as np
import pytest

from ranking_engine.core.reserved_places import PlaceBounds, nearest_within

N = 6


def reversed_pairs(ranks, places) -> int:
    """How many pairs that `ranks` orders strictly `places` orders the other way."""
    pairs = itertools.combinations(range(len(ranks)), 2)
    return sum((ranks[i] - ranks[j]) * (places[i] - places[j]) < 0 for i, j in pairs)


def is_within(places, in_group, k, least, most, *, all_along) -> bool:
    """Whether an order gives the group at least and at most so many of the first places, by counting."""
    counts = [sum(g and p <= j for g, p in zip(in_group, places, strict=True)) for j in range(1, k + 1)]
    if all_along:
        proportional = (j * least // k <= counts[j - 1] <= -(-j * most // k) for j in range(1, k + 1))
        return all(proportional)
    return least <= counts[-1] <= most


@pytest.mark.parametrize("all_along", [False, True])
@pytest.mark.parametrize("ranks", [[1, 2, 3, 4, 5, 6], [1, 2.5, 2.5, 5, 5, 5], [3.5] * 6])
def test_no_order_within_the_bounds_reverses_fewer_pairs(ranks, all_along):
    orders = list(itertools.permutations(range(1, N + 1)))
    n_feasible = 0
    for in_group in ([False, False, True, False, True, True], [True, True, False, False, False, False], [True] * N):
        costs = [(order, reversed_pairs(ranks, order)) for order in orders]
        for k, least, most in [(3, 0, 1), (3, 2, 3), (4, 2, 2), (5, 0, 2), (1, 1, 1), (6, 2, 6), (4, 3, 4)]:
            within = [cost for order, cost in costs if is_within(order, in_group, k, least, most, all_along=all_along)]
            try:
                bounds = PlaceBounds.of(sum(in_group), N, k, least, most, all_along=all_along)
            except ValueError:
                assert within == []
                continue
            places = nearest_within(np.array(ranks, dtype=float), np.array(in_group), bounds).tolist()
            assert sorted(places) == list(range(1, N + 1))
            assert is_within(places, in_group, k, least, most, all_along=all_along)
            assert reversed_pairs(ranks, places) == min(within)
            n_feasible += 1
    assert n_feasible > 10


@pytest.mark.parametrize(
    ("bounds", "reason"),
    [
        ((2, 6, 3, 3, 3), "3 of the first 3 places are asked for; 2 systems are named"),
        ((2, 6, 3, 2, 1), "at least 2 and at most 1 of the first 3 places are asked for"),
        ((5, 6, 3, 0, 1), "at most 1 of the first 3 places are asked for; only 1 other systems are ranked"),
    ],
)
def test_bounds_that_no_order_keeps_are_refused(bounds, reason):
    with pytest.raises(ValueError, match=reason):
        PlaceBounds.of(*bounds, all_along=False)
