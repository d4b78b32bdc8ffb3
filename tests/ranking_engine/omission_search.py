"""Search small tables for a system that gains by leaving out a score, as `ranking_engine.omission` defines it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from ranking_engine import RULES
from ranking_engine.omission import EXAMPLE_OPTIONS, NATIVE, Table, Witness, gain, small_table

LEVELS = (1.0, 2.0, 3.0, 4.0)
SHAPES = ((3, 2), (3, 3), (3, 4), (4, 2), (2, 2), (2, 3))  # systems x tasks, in the order of the search
HEAVY = 3  # the weight of the last task where tasks do not weigh the same


def tables() -> Iterator[tuple[Table, int]]:
    """Yield small tables in which no task ties two systems, and the weight of their last task.

    Where all tasks weigh the same, one table stands for all orders of its tasks. With more than two systems first:
    there, leaving out a score rarely makes a tie of a victory.
    """
    for n_systems, n_tasks in SHAPES:
        columns = list(itertools.permutations(LEVELS[: max(n_systems, 3)], n_systems))
        for chosen in itertools.combinations_with_replacement(columns, n_tasks):
            yield tuple(zip(*chosen, strict=True)), 1
        for others in itertools.combinations_with_replacement(columns, n_tasks - 1):
            for last in columns:
                yield tuple(zip(*others, last, strict=True)), HEAVY


def first_witness(rule: str, policy: str, **options) -> Witness | None:
    """Return the first table in which the first system overtakes another, or is elected; None where there is none.

    Searching the scores of the first system is enough: rules do not care which row a system stands in.
    """
    missing = "undefined" if policy == NATIVE else policy
    stated = {**EXAMPLE_OPTIONS.get(rule, {}), **options}
    for table, weight in tables():
        matrix = small_table(table, weight)
        for t in range(matrix.n_tasks):
            found = gain(matrix, 0, t, rule, missing, **stated)
            if found is not None and (found.overtaken or found.before is None):
                return Witness(table, weight, t, found.before, found.after)
    return None


def variants(rule: str) -> list[dict[str, str]]:
    """Every option of `rule` that is not the default, one at a time; the tie conventions among them."""
    options = [{name: value} for name, values in RULES[rule].options.items() for value in values[1:]]
    ties = {"worst", "best", "average"} - {RULES[rule].tie_convention}
    return options + [{"ties": convention} for convention in sorted(ties) if RULES[rule].tie_convention]
