"""The tables of docs/calibration.md: which boards are drawn, and which figures of theirs are shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from performance.calibration.populations import Population
from performance.calibration.simulation import Rate, Trial, simulate
from performance.calibration.trials import (
    differences,
    false_claims,
    intervals_of_measured_ranks,
    intervals_of_ranks,
    overlap,
    strengths,
)

N_RESAMPLES = 1000  # the fewest that a quick rule gets

Rates = Mapping[str, Rate]


@dataclass(frozen=True)
class Cell:
    """One row: a kind of board.

    Attributes:
        name: for readers; part of the seed.
        trial: what is done with a board.
        share: of the number of boards asked for, since some kinds take long and others vary more.
    """

    name: str
    trial: Trial
    share: float = 1.0


@dataclass(frozen=True)
class Table:
    """One table.

    Attributes:
        key: its name on the command line.
        heading: of the section of docs/calibration.md in which it is the first table.
        first: the heading of its first column.
        cells: the rows.
        columns: heading and figures; several figures are joined by a stroke.
    """

    key: str
    heading: str
    first: str
    cells: Sequence[Cell]
    columns: Sequence[tuple[str, tuple[str, ...]]]


DECLARED = {
    "10 x 8": Population(10, 8),
    "10 x 9": Population(10, 9),
    "10 x 12": Population(10, 12),
    "20 x 30": Population(20, 30),
    "50 x 100": Population(50, 100),
    "10 x 9, evenly spaced": Population(10, 9, spacing="even"),
    "20 x 30, evenly spaced": Population(20, 30, spacing="even"),
    "50 x 100, evenly spaced": Population(50, 100, spacing="even"),
    "20 x 30 in 10 declared families": Population(20, 30, family=3),
    "50 x 99 in 33 declared families": Population(50, 99, family=3),
}
HARDER = {
    "10 x 8, noise twice as large": Population(10, 8, noise_sd=4),
    "20 x 30, noise twice as large": Population(20, 30, noise_sd=4),
    "10 x 9 in 3 undeclared families": Population(10, 9, family=3, is_declared=False),
    "20 x 30 in 10 undeclared families": Population(20, 30, family=3, is_declared=False),
    "50 x 99 in 33 undeclared families": Population(50, 99, family=3, is_declared=False),
}
NULLS = {
    "10 x 9": Population(10, 9, spacing="none"),
    "10 x 25": Population(10, 25, spacing="none"),
    "10 x 25, skewed noise": Population(10, 25, spacing="none", noise="skewed"),
    "10 x 25, tied scores": Population(10, 25, spacing="none", noise="tied"),
    "20 x 40": Population(20, 40, spacing="none"),
    "10 x 27 in 9 declared families": Population(10, 27, spacing="none", family=3),
    "10 x 75 in 25 declared families": Population(10, 75, spacing="none", family=3),
}
BROKEN_NULLS = {
    "10 x 9, one system skewed": Population(10, 9, spacing="none", noise="one skewed"),
    "10 x 25, one system skewed": Population(10, 25, spacing="none", noise="one skewed"),
    "10 x 9 in 3 undeclared families": Population(10, 9, spacing="none", family=3, is_declared=False),
    "10 x 27 in 9 undeclared families": Population(10, 27, spacing="none", family=3, is_declared=False),
    "10 x 75 in 25 undeclared families": Population(10, 75, spacing="none", family=3, is_declared=False),
}


def interval_cell(name: str, population: Population) -> Cell:
    """The cell of a kind of board in the tables of intervals; large boards are drawn half as often."""
    return Cell(name, partial(intervals_of_ranks, population, N_RESAMPLES), 0.5 if population.n_systems > 30 else 1.0)


def null_cell(name: str, population: Population) -> Cell:
    """The cell of a kind of board in the table of false claims."""
    return Cell(name, partial(false_claims, population))


def _by_rule(figure: str, rules: Sequence[str] = ("mean", "borda", "copeland")) -> tuple[str, ...]:
    return tuple(f"{rule} {figure}" for rule in rules)


_INTERVALS = [interval_cell(name, population) for name, population in (DECLARED | HARDER).items()]
TABLES = (
    Table(
        "alone",
        "Rank intervals, each by itself",
        "systems x tasks",
        _INTERVALS,
        [
            ("mean", ("mean covered",)),
            ("Borda", ("borda covered",)),
            ("Copeland", ("copeland covered",)),
            ("of the system shown first", _by_rule("winner")),
            ("ranks in an interval", _by_rule("width")),
        ],
    ),
    Table(
        "together",
        "Rank intervals of all systems at once, and the possibly best",
        "systems x tasks",
        _INTERVALS,
        [
            ("all hold", _by_rule("together")),
            ("the best is possibly best", _by_rule("best")),
            ("possibly best systems", _by_rule("n_best")),
            ("ranks in an interval", _by_rule("width_together")),
        ],
    ),
    Table(
        "measured",
        "Rank intervals from standard errors",
        "abilities",
        [
            *(
                Cell(f"a standard deviation of {spread:g}", partial(intervals_of_measured_ranks, spread, 0.0))
                for spread in (0.1, 0.5, 1, 2, 4)
            ),
            *(
                Cell(f"of {spread:g}, half of an error in common", partial(intervals_of_measured_ranks, spread, 0.5))
                for spread in (0.1, 1)
            ),
        ],
        [
            ("mean", ("mean covered",)),
            ("Borda", ("borda covered",)),
            ("of the system shown first", _by_rule("winner", ("mean", "borda"))),
            ("ranks in an interval", _by_rule("width", ("mean", "borda"))),
        ],
    ),
    Table(
        "claims",
        "Tests where all systems are equally good",
        "systems x tasks",
        [null_cell(name, population) for name, population in (NULLS | BROKEN_NULLS).items()],
        [
            ("neighbours", _by_rule("neighbours", ("mean", "borda"))),
            ("pairs of the top 10", _by_rule("top", ("mean", "borda"))),
            ("all pairs", _by_rule("every", ("mean", "borda"))),
            ("one pair chosen before", _by_rule("pair", ("mean", "borda"))),
            ("Friedman", ("friedman",)),
            ("Nemenyi", ("nemenyi",)),
        ],
    ),
    Table(
        "strengths",
        "Strengths of Bradley and Terry",
        "6 systems",
        [
            *(
                Cell(f"{n_sets} independent tasks", partial(strengths, 6, n_sets, 1, True), 2.5)
                for n_sets in (10, 15, 30, 100)
            ),
            Cell("12 data sets x 3 agreeing metrics, declared", partial(strengths, 6, 12, 3, True), 2.5),
            Cell("12 data sets x 3 agreeing metrics, undeclared", partial(strengths, 6, 12, 3, False), 2.5),
        ],
        [("± Student's quantile", ("covered",)), ("± 1.96", ("normal",))],
    ),
    Table(
        "overlap",
        "Overlap of tasks",
        "systems x tasks, noise of the tasks",
        [
            Cell(name, partial(overlap, n_systems, noise, families))
            for name, n_systems, noise, families in (
                ("50 x 20, all 1", 50, [1.0] * 20, []),
                ("50 x 20, half 0.5 and half 2", 50, [0.5] * 10 + [2.0] * 10, []),
                ("50 x 20, half 0.3 and half 3", 50, [0.3] * 10 + [3.0] * 10, []),
                ("50 x 20, from 0.3 to 3 in equal ratios", 50, [0.3 * 10 ** (t / 19) for t in range(20)], []),
                ("20 x 10, half 0.3 and half 3", 20, [0.3] * 5 + [3.0] * 5, []),
                ("100 x 20, two 0.3 and the others 2", 100, [0.3] * 2 + [2.0] * 18, []),
                ("100 x 20, two 0.2 and the others 4", 100, [0.2] * 2 + [4.0] * 18, []),
                ("100 x 5, two 0.3 and the others 3", 100, [0.3] * 2 + [3.0] * 3, []),
                ("50 x 20, all 0.5, in 5 families of 4", 50, [0.5] * 20, [4] * 5),
                ("40 x 9, all 0.5, 3 of one family", 40, [0.5] * 9, [3]),
                ("40 x 9, all 0.5, 6 of one family", 40, [0.5] * 9, [6]),
                ("40 x 9, 6 of one family 0.5, the others 1.2", 40, [0.5] * 6 + [1.2] * 3, [6]),
            )
        ],
        [
            ("a pair is flagged", ("pair",)),
            ("the tasks overlap", ("overlap",)),
            ("effective number per task", ("share",)),
        ],
    ),
    Table(
        "instances",
        "Differences on single instances",
        "instances of one task",
        [
            Cell(f"{n}, {kind}", partial(differences, n, is_binary), 2.5)
            for kind, is_binary in (("real numbers", False), ("right or wrong", True))
            for n in (6, 10, 30, 100)
        ],
        [("coverage", ("covered",))],
    ),
)


def table_rows(
    table: Table, n_boards: int, seed: int, processes: int, known: dict[str, Rates], report: Callable[[str], None]
) -> list[str]:
    """Return the lines of a Markdown table.

    Args:
        table: which.
        n_boards: of each kind, before its share.
        seed, processes: as for `simulate`.
        known: the rates of kinds that were drawn before, by name; filled in.
        told: called with a line when a kind is done.
    """
    headings = [table.first, "boards", *(heading for heading, _ in table.columns)]
    lines = [f"| {' | '.join(headings)} |", f"|---|{'---:|' * (len(headings) - 1)}"]
    for cell in table.cells:
        key = f"{'intervals' if table.cells is _INTERVALS else table.key}: {cell.name}"
        if key not in known:
            known[key] = simulate(key, cell.trial, round(n_boards * cell.share), seed=seed, processes=processes)
            report(f"{key}: {next(iter(known[key].values())).n_boards} boards")
        rates = known[key]
        cells = [" / ".join(_number(rates.get(name), name) for name in names) for _, names in table.columns]
        lines.append(f"| {cell.name} | {max(rate.n_boards for rate in rates.values())} | {' | '.join(cells)} |")
    return lines


def _number(rate: Rate | None, name: str) -> str:
    if rate is None:
        return "-"
    return f"{rate.mean:.1f}" if name.endswith(("width", "width_together", "n_best")) else f"{rate.mean:.3f}"
