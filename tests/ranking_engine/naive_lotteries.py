"""Maximal lotteries word by word: every corner of the set of all maximal lotteries, in exact fractions."""

from __future__ import annotations

import itertools
from fractions import Fraction

from tests.ranking_engine.naive import scored_systems, wins


def solved(rows, right):
    """The only solution of linear equations in fractions; None where there is none, or another one."""
    n = len(rows[0])
    table = [[Fraction(entry) for entry in [*row, value]] for row, value in zip(rows, right, strict=True)]
    for k in range(n):
        pivot = next((r for r in range(k, len(table)) if table[r][k]), None)
        if pivot is None:
            return None
        table[k], table[pivot] = table[pivot], table[k]
        table[k] = [entry / table[k][k] for entry in table[k]]
        for r, row in enumerate(table):
            if r != k and row[k]:
                table[r] = [entry - row[k] * own for entry, own in zip(row, table[k], strict=True)]
    return [row[n] for row in table[:n]] if not any(row[n] for row in table[n:]) else None


def leads(game, shares):
    n = len(game)
    return [sum((shares[i] * game[i][j] for i in range(n)), Fraction(0)) for j in range(n)]


def corners(game):
    """All corners of the maximal lotteries of a game: n - 1 shares or leads that are 0 say which shares they are."""
    n = len(game)
    limits = [[int(i == k) for i in range(n)] for k in range(n)] + [[game[i][j] for i in range(n)] for j in range(n)]
    lotteries = []
    for tight in itertools.combinations(limits, n - 1):
        shares = solved([*tight, [1] * n], [0] * (n - 1) + [1])
        if shares is not None and min(shares) >= 0 and min(leads(game, shares)) >= 0 and shares not in lotteries:
            lotteries.append(shares)
    return lotteries


def game_of(matrix, systems):
    won = wins(matrix)
    return [[Fraction(won[i, j] - won[j, i]) if i != j else Fraction(0) for j in systems] for i in systems]


def rounds(matrix):
    """The systems of each round with all corners of its lotteries, as dicts of the systems that have a share."""
    left = list(scored_systems(matrix))
    while left:
        lotteries = [dict(zip(left, shares, strict=True)) for shares in corners(game_of(matrix, left))]
        members = {i for lottery in lotteries for i, share in lottery.items() if share}
        yield members, lotteries
        left = [i for i in left if i not in members]


def is_nearest_to_equal(lottery, lotteries):
    """Whether no mixture of `lotteries` has a smaller sum of squares: none of them lies on the near side of it."""
    squares = sum(share**2 for share in lottery.values())
    return all(sum(lottery.get(i, 0) * share for i, share in other.items()) >= squares for other in lotteries)
