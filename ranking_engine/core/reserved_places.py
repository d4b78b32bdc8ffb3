"""A ranking in which some systems have so many of the first places, as near to a given ranking as can be.

Celis, Straszak and Vishnoi 2018 rank under such bounds for each of several attributes; here there is one: systems
belong to a group or do not. Then the nearest order by Kendall's distance has a closed form. Within the group, and
outside of it, the given order stays. Let c(j) be how many of the group are among the first j. Two such orders differ by
the sum over j of |c(j) - c'(j)| pairs, so that each c(j) is taken to the nearest number within its bounds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class PlaceBounds:
    """How many of a group are among the first j systems, for j = 1..n.

    Attributes:
        least, most: shape (n_systems,), whole numbers that grow by 0 or 1 from each j to the next.
    """

    least: NDArray[np.intp]
    most: NDArray[np.intp]

    @classmethod
    def of(cls, n_group: int, n_systems: int, places: int, least: int, most: int, *, all_along: bool) -> PlaceBounds:
        """Return the bounds that give a group at least `least` and at most `most` of the first `places` places.

        Args:
            n_group: how many systems are in the group, of `n_systems`.
            places: 1 to n_systems.
            least, most: 0 to places.
            all_along: also, in proportion, for every smaller number of places: at least floor(j least / places) and
                at most ceil(j most / places) of the first j.

        Raises:
            ValueError: no order is within these bounds.
        """
        n_others = n_systems - n_group
        if least > most:
            raise ValueError(f"at least {least} and at most {most} of the first {places} places are asked for")
        if least > min(n_group, places):
            raise ValueError(f"{least} of the first {places} places are asked for; {n_group} systems are named")
        if places - most > n_others:
            raise ValueError(
                f"at most {most} of the first {places} places are asked for; only {n_others} other systems are ranked"
            )
        j = np.arange(1, n_systems + 1)
        # What is left for the group when the others are all placed, and how far the group reaches.
        lower, upper = np.maximum(0, j - n_others), np.minimum(j, n_group)
        # At place `places` the bounds hold; before, what can still be made up for, or was not yet too much.
        lower = np.maximum(lower, np.where(j <= places, least - (places - j), least))
        upper = np.minimum(upper, np.where(j <= places, most, most + j - places))
        if all_along:
            lower = np.maximum(lower, np.where(j <= places, j * least // places, 0))
            upper = np.minimum(upper, np.where(j <= places, -(-j * most // places), n_group))
        return cls(lower, upper)


def counts_of_ranking(ranks: FloatArray, in_group: BoolArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return how many of a group are among the first j systems, for j = 1..n: at least and at most, as ties are broken.

    Args:
        ranks: average ranks of all systems.
        in_group: which systems are in the group.
    """
    least, most = (np.cumsum(in_group[np.lexsort((key, ranks))], dtype=np.intp) for key in (in_group, ~in_group))
    return least, most


def nearest_within(ranks: FloatArray, in_group: BoolArray, bounds: PlaceBounds) -> NDArray[np.intp]:
    """Return the places, from 1, of an order within the bounds that reverses as few pairs of a ranking as possible.

    Args:
        ranks: average ranks of all systems. Of tied ones the group comes first where that costs nothing, and otherwise
            the order of the systems decides.
        in_group: which systems are in the group.
        bounds: see `PlaceBounds.of`.
    """
    n = len(ranks)
    order = np.lexsort((np.arange(n), ~in_group, ranks))
    group, others = order[in_group[order]], order[~in_group[order]]
    counts = np.clip(np.cumsum(in_group[order]), bounds.least, bounds.most)
    is_group = np.diff(counts, prepend=0) == 1
    places = np.empty(n, dtype=np.intp)
    places[group] = np.flatnonzero(is_group) + 1
    places[others] = np.flatnonzero(~is_group) + 1
    return places
