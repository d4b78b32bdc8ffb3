"""Zhang and Hardt 2024: the benchmarks themselves, sensitivity over what noise preserves, subsets of tasks, Arrow."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine import RULES, Pairwise, Ranking, ScoreMatrix, rank
from ranking_engine.axioms import sentence, stored_witnesses
from ranking_engine.stability.catalogue import run_study
from reproduction.boards import board
from reproduction.measures import at_least_weight
from reproduction.tables import Grid, Plot, Progress, Result, Row, Section, number, ours_alone
from reproduction.zhang import CARDINAL, ORDINAL

LEAST_WEIGHTS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)


def overview(progress: Progress) -> Result:
    """Say how large the benchmarks are (table 1)."""
    lines = []
    names = [*((name, "cardinal") for name in CARDINAL), *((name, "ordinal") for name in ORDINAL)]
    for step, (name, kind) in enumerate(names):
        progress(step, len(names))
        matrix = board(name)
        missing = float(np.isnan(matrix.values).mean())
        rule = "mean" if kind == "cardinal" else "win_rate"
        ranking = rank(matrix, rule, missing="drop_systems")
        first = "; ".join(matrix.system_names[i] for i in ranking.winners)
        size = [str(matrix.n_systems), str(matrix.n_tasks), f"{number(100 * missing, 1)} %"]
        lines.append([name, kind, *size, RULES[rule].name, str(ranking.n_ranked), first])
    header = ["benchmark", "kind", "systems", "tasks", "missing", "ranked by", "systems ranked", "first"]
    return Result([], [Grid("The benchmarks of this page", header, lines)], [_SNAPSHOT])


_SNAPSHOT = "As the authors' package holds them; the table in the paper was not at hand."


def preserved(progress: Progress) -> Result:
    """Vary the share of a task's differences that noise preserves at least (the curve over ε)."""
    lines, reached, beyond = [], {}, {}
    steps = len(CARDINAL) * len(LEAST_WEIGHTS)
    for i, name in enumerate(CARDINAL):
        found = []
        for j, share in enumerate(LEAST_WEIGHTS):
            progress(i * len(LEAST_WEIGHTS) + j, steps)
            found.append(at_least_weight(name, share))
        reached[name] = [m.pairs[0] for m in found]
        beyond[name] = [m.pairs[1] for m in found]
        moved = [[name, "max rank change", *(_bounds(m.moved) for m in found)]]
        lines += [[name, "reversed pairs", *(_bounds(m.pairs) for m in found)], *moved]
    header = ["benchmark", "measure", *(f"{100 * share:g} %" for share in LEAST_WEIGHTS)]
    picture = Plot(
        "zhang-preserved",
        "Share of pairs that label noise can reverse, by the share that it preserves",
        "Reached by weights that the search found; the more the noise preserves, the less can be reversed.",
        "least share of a task's differences that is preserved",
        "reversed pairs",
        [f"{100 * share:g} %" for share in LEAST_WEIGHTS],
        reached,
        top=0.6,
    )
    left = {name: reached[name][-1] for name in CARDINAL}
    facts: dict[str, Any] = {
        "n_left": sum(value > 0 for value in left.values()),
        "n": len(left),
        "most_left": max(left.values()),
        "most_left_name": max(left, key=lambda name: left[name]),
        "n_points": steps,
        "n_proven": sum(low >= high for n in CARDINAL for low, high in zip(reached[n], beyond[n], strict=True)),
    }
    grid = Grid("Reached, and proven to be out of reach where the two differ", header, lines)
    return Result([], [grid], [_NOT_NOTHING], [picture], facts=facts)


def _bounds(bounds: tuple[float, float]) -> str:
    low, high = bounds
    return number(low, 3) if low >= high else f"{number(low, 3)} to {number(high, 3)}"


_NOT_NOTHING = (
    "The paper shows this as a plot alone. Where noise preserves everything (100 %) the weights are still those of "
    "standardised scores, as in the released code, while the ranking that is moved is by raw mean: what is left there "
    "is what standardising alone reverses, and no noise."
)


def smallest_subsets(progress: Progress) -> Result:
    """Find how few tasks give the ranking by mean of all."""
    parameters = {"rules": ["mean"], "n_repeats": 1, "n_best": 1000, "largest_best": 6}
    lines, curves = [], {}
    for step, name in enumerate(CARDINAL):
        progress(step, len(CARDINAL))
        found = run_study("task_subsets", board(name), parameters, seed=0).summary["rules"]["mean"]
        smallest = "more than 6" if found["smallest"] is None else str(found["smallest"])
        taus = [float(tau) for tau in found["best"]]
        lines.append([name, str(board(name).n_tasks), *[*(number(t, 3) for t in taus), *([""] * 6)][:6], smallest])
        curves[name] = [*((1 - tau) / 2 for tau in taus), *([None] * 6)][:6]
    header = ["benchmark", "tasks", *(f"best of {k}" for k in range(1, 7)), "smallest that gives the full ranking"]
    title = "Kendall's tau-b of the best of at most 1,000 subsets of each size with the ranking on all tasks"
    picture = Plot(
        "zhang-subsets",
        "How close the best subset of tasks comes to the ranking on all",
        "(1 - tau-b) / 2 of the best of at most 1,000 subsets of each size; 0 is the ranking on all tasks.",
        "tasks in the subset",
        "(1 - tau-b) / 2",
        [str(k) for k in range(1, 7)],
        curves,
        top=0.5,
    )
    return Result([], [Grid(title, header, lines)], [_PLOT], [picture])


_PLOT = "The paper shows this as a plot alone."


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
    for rule in ("win_rate", "borda", "copeland", "kemeny"):
        found = next(kept for key, kept in stored_witnesses().items() if key[0] == rule and key[2] == "iia")
        n, T = found.board.values.shape
        what = f"{RULES[rule].name}, {n} systems on {T} tasks, depends on irrelevant systems"
        rows.append(ours_alone(what, sentence(found.witness)))
    rows.append(ours_alone("majorities on 3 tasks that run in a circle", circle()))
    lines = [[name, *(f"{x:g}" for x in row)] for name, row in zip(matrix.system_names, matrix.values, strict=True)]
    for line, score in zip(lines, before.scores, strict=True):
        line.append(number(score, 3))
    kept_rows = [i for i in range(matrix.n_systems) if i != removed]
    for i, line in enumerate(lines):
        line.append("-" if i == removed else number(after.scores[kept_rows.index(i)], 3))
    header = ["system", *matrix.task_names, "win rate", f"without {matrix.system_names[removed]}"]
    facts = {"n_weak": weak[0], "n_weak_left": weak[1], "n_strict": strict[0], "n_strict_left": strict[1]}
    return Result(rows, [Grid("That board", header, lines)], [_ARROW], facts=facts)


def _rules_row(n_tasks: int, counts: tuple[int, int, int], how: str) -> Row:
    n, left, dictators = counts
    what = f"rules for 3 systems on {n_tasks} tasks, {how}, that follow unanimous tasks and compare pair by pair"
    return ours_alone(what, f"{n:,}; {left} of them always give an order; {dictators} of these follow one task")


_ARROW = (
    "The first two rows are the theorem by trial of every case: a rule that compares two systems by their order on the "
    "tasks alone is a table of what each pattern of that order gives for each pair; agreement of all tasks fixes two "
    "patterns. The mean keeps the order of any two systems whatever joins, and is no ordinal rule. The paper's own "
    "example was not at hand; the stored boards are those of the property table."
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


SECTIONS = (
    Section("zhang-overview", "Table 1: the benchmarks", (*CARDINAL, *ORDINAL), overview),
    Section("zhang-preserved", "Figure 4: sensitivity by what noise preserves", CARDINAL, preserved, is_slow=True),
    Section(
        "zhang-subsets", "Figure 6: the smallest sufficient subset of tasks", CARDINAL, smallest_subsets, is_slow=True
    ),
    Section("zhang-arrow", "Arrow's theorem, worked through", (), arrow),
)
