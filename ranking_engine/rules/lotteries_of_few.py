"""Maximal lotteries of two systems that draw, and of three in a cycle: most are, and these need no linear program."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST_MET = 12  # systems among which two or three are looked for
_MOST_SQUARED = 2**30  # margins below it are multiplied in 64 bits


def lottery_of_few(game: NDArray[Any]) -> tuple[tuple[int, ...], tuple[Fraction, ...]] | None:
    """Return who has a share in a game's maximal lottery, and which; None where it is not found to be that of few.

    Who does best against the lottery so far joins the systems met. Three of these in a cycle share in proportion to the
    margins that do not concern them; two that draw take the shares nearest to one half with which they lose to no one.
    On average they beat everyone else, in integers: so no one else has a share in any maximal lottery.

    Args:
        game: margins, integers, shape (n, n): `game[i, j]` = -`game[j, i]`.
    """
    n = len(game)
    if game.dtype == object or n < 2 or int(np.abs(game).max()) >= _MOST_SQUARED:
        return None
    members, weights = [int((game > 0).sum(axis=1).argmax())], [1]
    met = list(members)
    for _ in range(_MOST_MET):
        leads = np.array(weights) @ game[members]
        leads[members] = np.iinfo(leads.dtype).max
        best = int(leads.argmin())
        if leads[best] > 0:
            shares = (Fraction(weight, sum(weights)) for weight in weights)
            return _sorted(zip(members, shares, strict=True)) if len(members) > 1 else None
        if leads[best] == 0 and len(members) == 1 and (share := _share_in_draw(game, members[0], best)) is not None:
            return _sorted([(members[0], share), (best, 1 - share)])
        if leads[best] == 0 or best in met:
            return None
        members, weights = [best], [1]
        for a, b in itertools.combinations(met, 2):
            one, other, between = int(game[best, a]), int(game[b, best]), int(game[a, b])
            if one > 0 and other > 0 and between > 0:
                members, weights = [best, a, b], [between, other, one]
            elif one < 0 and other < 0 and between < 0:
                members, weights = [best, a, b], [-between, -other, -one]
            else:
                continue
            if all(sum(w * int(game[i, k]) for i, w in zip(members, weights, strict=True)) >= 0 for k in met):
                break
        met.append(best)
    return None


def _share_in_draw(game: NDArray[Any], first: int, second: int) -> Fraction | None:
    """Return the share nearest to one half with which `first` and `second`, who draw, lose to no one on average.

    None unless some share beats everyone else: then so do all between two bounds.

    Args:
        game: margins, integers, shape (n, n).
        first, second: indices of the two, whose margin is 0.
    """
    others = np.delete(np.arange(len(game)), [first, second])
    least, most = Fraction(0), Fraction(1)
    for of_first, of_second in zip(game[first, others].tolist(), game[second, others].tolist(), strict=True):
        if of_first > 0 and of_second > 0:
            continue
        if of_first <= 0 and of_second <= 0:
            return None
        bound = Fraction(-of_second, of_first - of_second)
        least, most = (max(least, bound), most) if of_first > of_second else (least, min(most, bound))
    return min(max(Fraction(1, 2), least), most) if least < most else None


def _sorted(pairs: Iterable[tuple[int, Fraction]]) -> tuple[tuple[int, ...], tuple[Fraction, ...]]:
    members, shares = zip(*sorted(pairs), strict=True)
    return members, shares
