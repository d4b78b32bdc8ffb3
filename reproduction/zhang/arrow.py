"""Zhang and Hardt 2024, section 3: Arrow's theorem for benchmarks, worked through."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ranking_engine import RULES, Pairwise, Ranking, ScoreMatrix, rank
from ranking_engine.axioms import sentence, stored_witnesses
from reproduction.tables import Grid, Progress, Result, Row, Section, number, ours_alone


def arrow(progress: Progress) -> Result:
    """Work Arrow's theorem through: all rules for two tasks, the smallest flip, and what fails where."""
    del progress
    weak, strict = arrow_rules(2, with_ties=True), arrow_rules(3, with_ties=False)
    rows = [_rules_row(2, weak, "ties allowed"), _rules_row(3, strict, "without ties")]
    matrix, removed = smallest_flip()
    rest = matrix.subset([i for i in range(matrix.n_systems) if i != removed])
    before, after = rank(matrix, "win_rate"), rank(rest, "win_rate")
    what = f"the smallest board of {matrix.n_systems} systems on which one system reverses two others by win rate"
    newcomer = matrix.system_names[removed]
    named = f"{matrix.n_tasks} tasks: with {newcomer} {order(matrix, before)}, without {order(rest, after)}"
    rows.append(ours_alone(what, named))
    n_boards, n_flips, (joined, without) = nine_tasks()
    what = "boards of the shape of the paper's example on which the fourth system reverses two of the three by win rate"
    rows.append(ours_alone(what, f"{n_flips:,} of {n_boards:,}"))
    for rule in ("win_rate", "borda", "copeland", "kemeny"):
        stored = next(kept for key, kept in stored_witnesses().items() if key[0] == rule and key[2] == "iia")
        n, T = stored.board.values.shape
        what = f"{RULES[rule].name}, {n} systems on {T} tasks, depends on irrelevant systems"
        rows.append(ours_alone(what, sentence(stored.witness)))
    rows.append(ours_alone("majorities on 3 tasks that run in a circle", circle()))
    lines = [[name, *(f"{x:g}" for x in row)] for name, row in zip(matrix.system_names, matrix.values, strict=True)]
    for line, score in zip(lines, before.scores, strict=True):
        line.append(number(score, 3))
    kept_rows = [i for i in range(matrix.n_systems) if i != removed]
    for i, line in enumerate(lines):
        line.append("-" if i == removed else number(after.scores[kept_rows.index(i)], 3))
    header = ["system", *matrix.task_names, "win rate", f"without {matrix.system_names[removed]}"]
    facts = {"n_weak": weak[0], "n_weak_left": weak[1], "n_strict": strict[0], "n_strict_left": strict[1]}
    grids = [Grid("The smallest board", header, lines), _nine_tasks_grid(joined, without)]
    return Result(rows, grids, [_EXAMPLE, _ARROW], facts=facts)


def _nine_tasks_grid(joined: ScoreMatrix, without: ScoreMatrix) -> Grid:
    """Show a board of the shape of the paper's example, by its groups of tasks."""
    groups, at, counts = np.unique(joined.values, axis=1, return_index=True, return_counts=True)
    orders = [rank(ScoreMatrix(group[:, None], system_names=joined.system_names), "mean") for group in groups.T]
    lines = [
        [f"{counts[g]} {'task' if counts[g] == 1 else 'tasks'}: {order(joined, orders[g])}"] for g in np.argsort(at)
    ]
    for board in (without, joined):
        rates = rank(board, "win_rate")
        rates_of_systems = ", ".join(
            f"{name} {number(rate, 3)}" for name, rate in zip(board.system_names, rates.scores, strict=True)
        )
        lines.append([f"win rates of {board.n_systems}: {rates_of_systems}; {order(board, rates)}"])
    return Grid(
        "The first board of the shape of the paper's example with such a reversal", ["tasks and win rates"], lines
    )


def _rules_row(n_tasks: int, counts: tuple[int, int, int], how: str) -> Row:
    n, left, dictators = counts
    what = f"rules for 3 systems on {n_tasks} tasks, {how}, that follow unanimous tasks and compare pair by pair"
    return ours_alone(what, f"{n:,}; {left} of them always give an order; {dictators} of these follow one task")


_ARROW = (
    "The first two rows are the theorem by trial of every case: a rule that compares two systems by their order on the "
    "tasks alone is a table of what each pattern of that order gives for each pair; agreement of all tasks fixes two "
    "patterns. The mean keeps the order of any two systems whatever joins, and is no ordinal rule. The stored boards "
    "are those of the property table."
)

_EXAMPLE = (
    "The example of section 3 has nine tasks in three groups, each of one order, and three models that a fourth joins "
    "without changing their order on any task. The text at our disposal lost its formulas: the groups, the "
    "orders and the win rates. So all boards of that shape are tried, with every size of the three groups; the first "
    "with strict win rates throughout is shown."
)

PAIRS = ((0, 1), (1, 2), (0, 2))


def arrow_rules(n_tasks: int, *, with_ties: bool) -> tuple[int, int, int]:
    """Count the rules for three systems that compare pair by pair and follow unanimous tasks.

    Returns:
        How many there are, how many of them give an order on every profile, and how many of these are one task's.
    """
    orders = list(itertools.permutations(range(3)))
    above = np.array([[o.index(i) < o.index(j) for i, j in PAIRS] for o in orders])  # order x pair
    profiles = np.array(list(itertools.product(range(len(orders)), repeat=n_tasks)))
    patterns = (above[profiles] * (1 << np.arange(n_tasks))[None, :, None]).sum(axis=1)  # profile x pair
    patterns = np.unique(patterns, axis=0)
    n, left, dictators = 0, 0, 0
    imposed = [np.array([1 if p >> t & 1 else -1 for p in range(1 << n_tasks)]) for t in range(n_tasks)]
    for tables in _tables(n_tasks, (-1, 0, 1) if with_ties else (-1, 1)):
        said = np.stack([tables[:, pair, patterns[:, pair]] for pair in range(3)], axis=2)  # rule x profile x pair
        is_order = is_transitive(said).all(axis=1)
        n, left = n + len(tables), left + int(is_order.sum())
        for table in tables[is_order]:
            dictators += any((table == column).all() for column in imposed)
    return n, left, dictators


def _tables(n_tasks: int, said: tuple[int, ...]) -> Iterator[NDArray[np.int8]]:
    """Yield blocks of rules, shape (rules, 3 pairs, patterns): what each pattern gives for each pair."""
    free = (1 << n_tasks) - 2
    of_pair = np.array(list(itertools.product(said, repeat=free)), dtype=np.int8)
    ends = np.ones((len(of_pair), 1), dtype=np.int8)
    of_pair = np.hstack([-ends, of_pair, ends])
    for first in of_pair:
        for second in of_pair:
            block = np.empty((len(of_pair), 3, of_pair.shape[1]), dtype=np.int8)
            block[:, 0], block[:, 1], block[:, 2] = first, second, of_pair
            yield block


def is_transitive(said: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Whether 1 (first above), 0 (tied) or -1 for the pairs (a, b), (b, c), (a, c) make an order of a, b and c."""
    ab, bc, ac = said[..., 0].astype(int), said[..., 1].astype(int), said[..., 2].astype(int)
    both = ab + bc
    agrees = np.where(both > 0, ac == 1, np.where(both < 0, ac == -1, True))
    opposed = ab * bc < 0
    return np.asarray(np.where(opposed, True, np.where(both == 0, ac == 0, agrees)), dtype=bool)


def smallest_flip(most: int = 5) -> tuple[ScoreMatrix, int]:
    """Return the board of three systems on fewest tasks where a system reverses two others by win rate, and who."""
    orders = list(itertools.permutations((3, 2, 1)))
    for n_tasks in range(1, most + 1):
        for chosen in itertools.combinations_with_replacement(orders, n_tasks):
            values = np.array(chosen, dtype=float).T
            matrix = ScoreMatrix(values, system_names=["A", "B", "C"])
            full = rank(matrix, "win_rate").scores
            for removed in range(3):
                i, j = (k for k in range(3) if k != removed)
                rest = float(np.sign(values[i] - values[j]).sum())
                if (full[i] - full[j]) * rest < -1e-9:
                    return matrix, removed
    raise AssertionError("Borda's paradox needs five tasks at most")


N_TASKS, N_GROUPS = 9, 3  # of the paper's example


def nine_tasks() -> tuple[int, int, tuple[ScoreMatrix, ScoreMatrix]]:
    """Try every board of the shape of the paper's example: nine tasks in three groups, a fourth system joins three.

    Returns:
        How many boards there are; on how many the fourth strictly reverses two others by win rate; and the first of
        these without ties of win rates: with the fourth, and without.
    """
    sizes = [s for s in itertools.product(range(1, N_TASKS), repeat=N_GROUPS) if sum(s) == N_TASKS]
    # One group: the points of the three among themselves, and which of them are above the fourth.
    points = list(itertools.permutations((2, 1, 0)))
    one_group = [(p, tuple(int(x >= k) for x in p)) for p in points for k in range(4)]
    alone, above = (np.array([of[i] for of in one_group]) for i in (0, 1))
    chosen = np.array(list(itertools.product(range(len(one_group)), repeat=N_GROUPS)))
    n_flips, first = 0, None
    for size in sizes:
        weight = np.array(size)[None, :, None]
        before, gained = (alone[chosen] * weight).sum(axis=1), (above[chosen] * weight).sum(axis=1)
        after = before + gained
        flips = np.zeros(len(chosen), dtype=bool)
        is_strict = np.ones(len(chosen), dtype=bool)
        fourth = N_TASKS * 3 - gained.sum(axis=1)
        for i, j in PAIRS:
            flips |= (before[:, i] - before[:, j]) * (after[:, i] - after[:, j]) < 0
            is_strict &= (before[:, i] != before[:, j]) & (after[:, i] != after[:, j])
        is_strict &= (after != fourth[:, None]).all(axis=1)
        n_flips += int(flips.sum())
        if first is None and (flips & is_strict).any():
            first = _board_of(size, [one_group[g] for g in chosen[np.argmax(flips & is_strict)]])
    if first is None:
        raise AssertionError("the paper has such a board")
    return len(sizes) * len(chosen), n_flips, first


def _board_of(
    sizes: Sequence[int], groups: Sequence[tuple[tuple[int, ...], tuple[int, ...]]]
) -> tuple[ScoreMatrix, ScoreMatrix]:
    """Return the board of these groups with the fourth system, D, and without."""
    columns = []
    for size, (points, above) in zip(sizes, groups, strict=True):
        with_fourth = [p + a for p, a in zip(points, above, strict=True)]
        columns += [[*with_fourth, 3 - sum(above)]] * size
    joined = ScoreMatrix(np.array(columns, dtype=float).T, system_names=["A", "B", "C", "D"])
    return joined, joined.subset([0, 1, 2])


def circle() -> str:
    """Return who beats whom on the board where each task turns the order of the one before by one place."""
    values = np.array([[3.0, 1.0, 2.0], [2.0, 3.0, 1.0], [1.0, 2.0, 3.0]])
    matrix = ScoreMatrix(values, system_names=["A", "B", "C"])
    beats = np.argwhere(Pairwise.of(matrix).margins > 0)
    return ", ".join(f"{matrix.system_names[i]} beats {matrix.system_names[j]}" for i, j in beats)


def order(matrix: ScoreMatrix, ranking: Ranking) -> str:
    """Return the systems best first, as `A > B = C`."""
    ranks = ranking.ranks.tolist()
    places = sorted(set(ranks))
    return " > ".join(" = ".join(n for n, r in zip(matrix.system_names, ranks, strict=True) if r == p) for p in places)


SECTIONS = (Section("zhang-arrow", "Arrow's theorem, worked through", (), arrow),)
