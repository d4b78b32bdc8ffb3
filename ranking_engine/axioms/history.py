"""Independence of irrelevant alternatives in a board's real history: which systems changed the order of others.

Two systems are *others* to a change of board if they are in both revisions with the same scores on the same tasks:
whatever moves them against each other is the doing of someone else, or of the tasks' weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.ranking import UNRANKED
from ranking_engine.core.score_matrix import ScoreMatrix

MAX_PAIRS = 100  # pairs that are named; more are counted


@dataclass(frozen=True, eq=False)
class RankedRevision:
    """One revision of a board.

    Attributes:
        matrix: its scores.
        ranks: by rule, the ranks in the matrix's order of systems, UNRANKED (-1) for none.
    """

    matrix: ScoreMatrix
    ranks: Mapping[str, NDArray[np.integer]]


@dataclass(frozen=True)
class Flips:
    """What one change of board did to the order of the others under one rule.

    Attributes:
        rule: its key.
        newcomers, departed, changed: the systems that joined, left, or have other scores; by name.
        has_other_tasks: tasks, their directions or weights, groups or scales differ, so that the change may be theirs.
        n_others: the systems that are in both with the same scores and have ranks in both.
        n_reversed: pairs of them that swapped.
        n_ties_made, n_ties_broken: pairs that share a rank now and did not, or did and do not.
        reversed_pairs: up to MAX_PAIRS of the swapped, (now above, now below), highest now first.
    """

    rule: str
    newcomers: tuple[str, ...]
    departed: tuple[str, ...]
    changed: tuple[str, ...]
    has_other_tasks: bool
    n_others: int
    n_reversed: int
    n_ties_made: int
    n_ties_broken: int
    reversed_pairs: tuple[tuple[str, str], ...]

    @property
    def is_violation(self) -> bool:
        """Whether any pair of others changed its order, ties included, though no task did."""
        return not self.has_other_tasks and self.n_reversed + self.n_ties_made + self.n_ties_broken > 0


def history_flips(
    before: RankedRevision, after: RankedRevision, rules: Iterable[str] | None = None
) -> dict[str, Flips]:
    """Return, by rule, who changed the order of which others between two revisions of one board.

    Args:
        before, after: the revisions, with their ranks; systems and tasks are the same where their names are.
        rules: keys of `ranks` in both; default: all that both have, in the order of `after`.

    Raises:
        KeyError: one of `rules` has no ranks in one of the revisions.
    """
    keys = list(rules) if rules is not None else [rule for rule in after.ranks if rule in before.ranks]
    old = {name: i for i, name in enumerate(before.matrix.system_names)}
    new = {name: i for i, name in enumerate(after.matrix.system_names)}
    common = [name for name in after.matrix.system_names if name in old]
    # Whose scores are the same on the tasks that vote in both.
    old_tasks = {name: t for t, name in enumerate(before.matrix.task_names) if before.matrix.votes[t]}
    new_tasks = {name: t for t, name in enumerate(after.matrix.task_names) if after.matrix.votes[t]}
    shared = [name for name in new_tasks if name in old_tasks]
    first = before.matrix.values[np.ix_([old[name] for name in common], [old_tasks[name] for name in shared])]
    second = after.matrix.values[np.ix_([new[name] for name in common], [new_tasks[name] for name in shared])]
    same = ((first == second) | (np.isnan(first) & np.isnan(second))).all(axis=1)
    others = [name for name, is_same in zip(common, same, strict=True) if is_same]
    rows = [np.array([places[name] for name in others], dtype=np.intp) for places in (old, new)]
    facts: dict[str, Any] = {
        "newcomers": tuple(name for name in after.matrix.system_names if name not in old),
        "departed": tuple(name for name in before.matrix.system_names if name not in new),
        "changed": tuple(name for name, is_same in zip(common, same, strict=True) if not is_same),
        "has_other_tasks": _task_facts(before.matrix) != _task_facts(after.matrix),
    }
    flips = {}
    for rule in keys:
        earlier, later = np.asarray(before.ranks[rule])[rows[0]], np.asarray(after.ranks[rule])[rows[1]]
        ranked = (earlier != UNRANKED) & (later != UNRANKED)
        earlier, later = earlier[ranked].astype(np.int64), later[ranked].astype(np.int64)
        names = [name for name, is_ranked in zip(others, ranked, strict=True) if is_ranked]
        # All pairs at once: O(n^2).
        was_above, is_above = earlier[:, None] < earlier, later[:, None] < later
        was_tied, is_tied = earlier[:, None] == earlier, later[:, None] == later
        upper, lower = np.nonzero(was_above.T & is_above)
        highest = np.lexsort([later[lower], later[upper]])[:MAX_PAIRS]
        flips[rule] = Flips(
            rule,
            **facts,
            n_others=len(names),
            n_reversed=len(upper),
            n_ties_made=int((is_tied & ~was_tied).sum()) // 2,
            n_ties_broken=int((was_tied & ~is_tied).sum()) // 2,
            reversed_pairs=tuple((names[upper[k]], names[lower[k]]) for k in highest),
        )
    return flips


def flips_of_history(
    revisions: Iterable[RankedRevision], rules: Iterable[str] | None = None
) -> Iterator[dict[str, Flips]]:
    """Yield `history_flips` for each revision but the first, against the one before it."""
    chosen = None if rules is None else list(rules)
    before: RankedRevision | None = None
    for after in revisions:
        if before is not None:
            yield history_flips(before, after, chosen)
        before = after


def _task_facts(matrix: ScoreMatrix) -> dict[str, tuple[object, ...]]:
    """What, apart from scores, a voting task brings into the rules."""
    scales = np.column_stack([matrix.minimum, matrix.maximum, matrix.chance, matrix.precision])
    facts: dict[str, tuple[object, ...]] = {"": (matrix.gamma, tuple(sorted(matrix.group_weights.items())))}
    for t in np.flatnonzero(matrix.votes):
        scale = tuple(None if np.isnan(bound) else float(bound) for bound in scales[t])
        facts[matrix.task_names[t]] = (int(matrix.directions[t]), matrix.weights[t], matrix.groups[t], scale)
    return facts
