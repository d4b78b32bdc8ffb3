"""Rankings worked out from their definitions, with nothing but Python: what the pages show is held against these.

A table is {system: [score of each task, None where missing]}; higher is better throughout.
"""

import csv
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from statistics import median

DEMONSTRATION = Path(__file__).resolve().parents[2] / "leaderboard" / "demonstration"
Table = Mapping[str, Sequence[Fraction | None]]


def read_table(key: str) -> dict[str, list[Fraction | None]]:
    """The scores of a demonstration benchmark, straight from its file."""
    with (DEMONSTRATION / key / "scores.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    return {row[0].strip(): [Fraction(text) if text else None for text in row[1:]] for row in rows}


def columns(table: Table) -> list[list[Fraction | None]]:
    return [list(column) for column in zip(*table.values(), strict=True)]


def with_medians(table: Table) -> dict[str, list[Fraction]]:
    """Every missing score filled in with the median of its task."""
    medians = [median([score for score in column if score is not None]) for column in columns(table)]
    return {
        name: [filled if score is None else score for score, filled in zip(scores, medians, strict=True)]
        for name, scores in table.items()
    }


def complete_only(table: Table) -> dict[str, list[Fraction]]:
    return {name: list(scores) for name, scores in table.items() if None not in scores}


# --- Rule scores, greater is better -------------------------------------------------------------------------------
def mean(table: Table) -> dict[str, Fraction]:
    return {name: sum(scores) / Fraction(len(scores)) for name, scores in table.items()}


def plurality(table: Table) -> dict[str, int]:
    """The tasks on which a system is above every other."""
    return {
        name: sum(
            all(scores[t] > others[t] for other, others in table.items() if other != name) for t in range(len(scores))
        )
        for name, scores in table.items()
    }


def borda(table: Table) -> dict[str, int]:
    """A point for every other system strictly below, on every task."""
    return {
        name: sum(scores[t] > others[t] for others in table.values() for t in range(len(scores)))
        for name, scores in table.items()
    }


def wins(table: Table, name: str, other: str) -> int:
    """On how many of the tasks that both have a score on `name` is above `other`."""
    pairs = zip(table[name], table[other], strict=True)
    return sum(mine > theirs for mine, theirs in pairs if mine is not None and theirs is not None)


def duels(table: Table) -> dict[str, dict[str, tuple[int, int]]]:
    """For every system, against every other: tasks won, tasks lost."""
    return {
        name: {other: (wins(table, name, other), wins(table, other, name)) for other in table if other != name}
        for name in table
    }


def copeland(table: Table) -> dict[str, int]:
    return {
        name: sum((won > lost) - (won < lost) for won, lost in against.values())
        for name, against in duels(table).items()
    }


def minimax(table: Table) -> dict[str, int]:
    """Minus the tasks that the strongest of those who beat it wins."""
    return {
        name: -max([lost for won, lost in against.values() if lost > won], default=0)
        for name, against in duels(table).items()
    }


def condorcet_winner(table: Table) -> str | None:
    for name, against in duels(table).items():
        if all(won > lost for won, lost in against.values()):
            return name
    return None


RULES: dict[str, Callable[[Table], dict]] = {
    "Mean": mean,
    "Plurality": plurality,
    "Borda": borda,
    "Copeland": copeland,
    "Minimax": minimax,
}


# --- Ranks --------------------------------------------------------------------------------------------------------
def ranks(scores: Mapping[str, Fraction | int]) -> dict[str, int]:
    """1, 2, 2, 4. Neighbours within a billionth of the greatest score are tied."""
    tolerance = max(map(abs, scores.values())) / Fraction(10**9)
    rank_of: dict[str, int] = {}
    before, rank = None, 0
    for place, name in enumerate(sorted(scores, key=lambda name: -scores[name]), start=1):
        if before is None or before - scores[name] > tolerance:
            rank = place
        rank_of[name] = rank
        before = scores[name]
    return rank_of


def all_ranks(table: Table, *, filled: Table | None = None) -> dict[str, dict[str, int]]:
    """Ranks under every rule that ranks; those that need every score look at `filled` (default: complete systems)."""
    whole = complete_only(table) if filled is None else filled
    looked_at = {"Mean": whole, "Plurality": whole, "Borda": whole, "Copeland": table, "Minimax": table}
    return {rule: ranks(RULES[rule](looked_at[rule])) for rule in RULES}


def order(rank_of: Mapping[str, int], medians: Mapping[str, float]) -> list[str]:
    """The rows of a board sorted by a rule: by rank, equals by their median over all rules, then by name."""
    return sorted(medians, key=lambda name: (rank_of.get(name, float("inf")), medians[name], name.casefold()))
