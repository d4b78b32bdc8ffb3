"""Prospects by their definitions, in exact fractions: leads, a simplex method with Bland's rule, a grid of weights."""

from __future__ import annotations

import itertools
from fractions import Fraction

from tests.ranking_engine.naive import oriented, voting_tasks


def majority_leads(matrix, i, table=None):
    """For each scored rival of i: +1, 0, -1 on each voting task."""
    table, tasks = table or oriented(matrix), voting_tasks(matrix)
    return {
        j: [Fraction(sign(table.get((i, t)), table.get((j, t)))) for t in tasks]
        for j in sorted({j for j, _ in table})
        if j != i
    }


def scored_tasks(matrix, i):
    """The places of the voting tasks on which i has a score: no rule ranks it while only others weigh."""
    table = oriented(matrix)
    return [k for k, t in enumerate(voting_tasks(matrix)) if (i, t) in table]


def on(tasks, row):
    return [row[t] for t in tasks]


def sign(mine, theirs):
    return 0 if mine is None or theirs is None else int(mine > theirs) - int(mine < theirs)


def point_leads(points, i):
    """The same for a table of points."""
    return {j: [a - b for a, b in zip(points[i], row, strict=True)] for j, row in enumerate(points) if j != i}


def lead(row, weights):
    return sum((a * w for a, w in zip(row, weights, strict=True)), Fraction(0))


def largest_margin(rows, conditions=()):
    """The largest delta with lead(row, w) >= delta for all rows over the weights w with lead(condition, w) >= 0.

    None where no weights satisfy the conditions. With B above every |entry|, delta + B is 1 / max sum(y) over
    y, z >= 0 with sum_j y_j (row_j + B) + sum_k z_k condition_k <= 1 on every task (von Neumann 1928).
    """
    bound = 1 + max(abs(entry) for row in rows for entry in row)
    columns = [[entry + bound for entry in row] for row in rows] + [list(row) for row in conditions]
    cost = [Fraction(1)] * len(rows) + [Fraction(0)] * len(conditions)
    most = maximum(cost, columns)
    return None if most is None else 1 / most - bound


def maximum(cost, columns):
    """max cost @ x over x >= 0 with sum_k x_k columns[k] <= 1 in every row; None where unbounded."""
    height, width = len(columns[0]), len(columns)
    table = [
        [Fraction(column[r]) for column in columns] + [Fraction(r == s) for s in range(height)] + [Fraction(1)]
        for r in range(height)
    ]
    gains = [*map(Fraction, cost), *[Fraction(0)] * (height + 1)]
    basis = [width + r for r in range(height)]
    while any(gain > 0 for gain in gains[:-1]):
        entering = next(k for k, gain in enumerate(gains[:-1]) if gain > 0)
        ratios = [(row[-1] / row[entering], basis[r], r) for r, row in enumerate(table) if row[entering] > 0]
        if not ratios:
            return None
        leaving = min(ratios)[2]
        pivot = table[leaving][entering]
        table[leaving] = [entry / pivot for entry in table[leaving]]
        for r, row in enumerate(table):
            if r != leaving and row[entering]:
                table[r] = [a - row[entering] * b for a, b in zip(row, table[leaving], strict=True)]
        factor = gains[entering]
        gains = [a - factor * b for a, b in zip(gains, table[leaving], strict=True)]
        basis[leaving] = entering
    return -gains[-1]


def verdict(rows, conditions=()):
    """The verdict on leads over at least one rival."""
    delta = largest_margin(rows, conditions)
    return "strict" if delta > 0 else "tie_only" if delta == 0 else "none"


def grid(n_tasks, parts):
    """All weights that are multiples of 1 / parts."""
    for cuts in itertools.combinations(range(parts + n_tasks - 1), n_tasks - 1):
        edges = [-1, *cuts, parts + n_tasks - 1]
        yield [Fraction(b - a - 1, parts) for a, b in itertools.pairwise(edges)]


def assert_evidence_holds(prospect, rows, tasks, names, scored=None):
    """Check weights and certificate of a prospect by hand: rows are by rival, `scored` the places of its tasks."""
    scored = range(len(tasks)) if scored is None else scored
    weights = [prospect.weights.get(task, Fraction(0)) for task in tasks]
    if prospect.is_prospective:
        leads = [lead(row, weights) for row in rows.values()]
        assert sum(weights) == 1
        assert min(weights) >= 0
        assert sum(on(scored, weights)) > 0
        assert all(x > 0 for x in leads) if prospect.verdict == "strict" else min(leads) == 0
    else:
        assert prospect.weights == {}
    if prospect.verdict in ("tie_only", "none"):
        assert sum(prospect.certificate.values()) == 1
        assert min(prospect.certificate.values()) > 0
        gains = [
            sum((y * rows[names.index(name)][t] for name, y in prospect.certificate.items()), Fraction(0))
            for t in range(len(tasks))
        ]
        assert max(on(scored, gains)) < 0 if prospect.verdict == "none" else max(gains) <= 0
    else:
        assert prospect.certificate == {}


def vertices(n_tasks, planes, rows):
    """All weights w where n_tasks - 1 of the planes a @ w = 0 meet and no row a @ w is negative; all exact.

    On the simplex a @ w = b is (a - b) @ w = 0. The least of a linear function over the weights with rows >= 0 is at
    one of these when `planes` hold all the rows and the axes.
    """
    axes = [[Fraction(s == t) for s in range(n_tasks)] for t in range(n_tasks)]
    corners = {}
    for chosen in itertools.combinations([*planes, *axes], n_tasks - 1):
        weights = meeting_point(list(chosen), n_tasks)
        if weights is not None and min(weights) >= 0 and all(lead(row, weights) >= 0 for row in rows):
            corners[tuple(weights)] = None
    return list(corners)


def meeting_point(planes, n_tasks):
    """The only w of sum 1 on all planes; None where there is none or more than one."""
    table = [[*row, Fraction(0)] for row in planes] + [[Fraction(1)] * (n_tasks + 1)]
    for k in range(n_tasks):
        pivot = next((r for r in range(k, n_tasks) if table[r][k]), None)
        if pivot is None:
            return None
        table[k], table[pivot] = table[pivot], table[k]
        table[k] = [entry / table[k][k] for entry in table[k]]
        for r in range(n_tasks):
            if r != k and table[r][k]:
                factor = table[r][k]
                table[r] = [a - factor * b for a, b in zip(table[r], table[k], strict=True)]
    return [row[-1] for row in table]


def unmoved(origin):
    """The planes w_t = origin_t."""
    n = len(origin)
    return [[Fraction(s == t) - origin[t] for s in range(n)] for t in range(n)]


def moved_alike(origin):
    """The planes w_t - origin_t = +-(w_s - origin_s)."""
    at = unmoved(origin)
    pairs = itertools.combinations(at, 2)
    return [[a + sign * b for a, b in zip(x, y, strict=True)] for x, y in pairs for sign in (1, -1)]


def total_change(weights, origin):
    return sum(abs(w - w0) for w, w0 in zip(weights, origin, strict=True)) / 2


def largest_change(weights, origin):
    return max(abs(w - w0) for w, w0 in zip(weights, origin, strict=True))


def least_changes(rows, origin):
    """The least total change and the least largest change to weights with all rows >= 0."""
    planes = [*rows, *unmoved(origin)]
    totals = [total_change(w, origin) for w in vertices(len(origin), planes, rows)]
    largest = [largest_change(w, origin) for w in vertices(len(origin), [*planes, *moved_alike(origin)], rows)]
    return min(totals), min(largest)
