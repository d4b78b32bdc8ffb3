"""Consistency and participation as Pavao et al. 2021, section 2.2, define them: about whole rankings.

- Consistency: if two parts of the tasks give the same ranking, ties included, all tasks together give it.
- Participation: without a task that puts u above v, v's place relative to u is no worse than with it.

A violation is found by trying boards. Rules whose score is a sum over tasks, with the same systems on each, have both:
equal orders of two sums are the order of their sum, and a task that puts u above v adds more to u.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ranking_engine import ScoreMatrix, rank
from reproduction.pavao_matrices import NAMES, SIX
from reproduction.tables import Grid, Progress, Result, Section, number, ours_alone

CONSISTENCY, PARTICIPATION = "consistency", "participation"
N_BOARDS, N_SYSTEMS, MOST_TASKS, MOST_SCORE = 200, 4, 6, 4


class Violation(NamedTuple):
    """A board on which a rule violates one of the two: the tasks of one part, or the task that leaves."""

    board: ScoreMatrix
    tasks: tuple[int, ...]


def violation(rule: str, options: Mapping[str, Any], prop: str, seed: int = 0) -> Violation | None:
    """Return the first violation on `N_BOARDS` small boards, drawn at random; None where none was met.

    Args:
        rule, options: as `rank` takes them.
        prop: CONSISTENCY or PARTICIPATION.
        seed: of the boards.
    """
    for board in _boards(seed):
        whole = rank(board, rule, **options).ranks
        for tasks in _parts(board.n_tasks, prop):
            rest = [t for t in range(board.n_tasks) if t not in tasks]
            without = rank(board.subset(tasks=rest), rule, **options).ranks
            if prop == CONSISTENCY:
                part = rank(board.subset(tasks=list(tasks)), rule, **options).ranks
                is_violated = bool((part == without).all() and (whole != part).any())
            else:
                is_violated = loses_ground(board.values[:, tasks[0]], whole, without)
            if is_violated:
                return Violation(board, tasks)
    return None


def loses_ground(task: NDArray[np.float64], before: NDArray[np.int32], after: NDArray[np.int32]) -> bool:
    """Whether some v, below some u on a task, does worse against u in the ranks without that task."""
    u, v = np.nonzero(task[:, None] > task[None, :])
    return bool((np.sign(after[v] - after[u]) > np.sign(before[v] - before[u])).any())


def _boards(seed: int) -> Iterator[ScoreMatrix]:
    """Yield boards of whole scores from 1 on, the smallest first."""
    random = np.random.default_rng(seed)
    for k in range(N_BOARDS):
        n_tasks = 2 + k * (MOST_TASKS - 1) // N_BOARDS
        yield ScoreMatrix(random.integers(1, MOST_SCORE + 1, size=(N_SYSTEMS, n_tasks)).astype(float))


def _parts(n_tasks: int, prop: str) -> Iterator[tuple[int, ...]]:
    """Yield one task each for participation; for consistency every first part that has the first task."""
    if prop == PARTICIPATION:
        yield from ((t,) for t in range(n_tasks))
        return
    for chosen in range(2 ** (n_tasks - 1) - 1):
        yield (0, *(t for t in range(1, n_tasks) if chosen >> (t - 1) & 1))


def order_properties(progress: Progress) -> Result:
    """Try consistency and participation of whole rankings for the six rules (section 2.2; table 2, left)."""
    rows, grids = [], []
    for step, (rule, (key, options, _)) in enumerate(SIX.items()):
        progress(step, len(SIX))
        for prop in (CONSISTENCY, PARTICIPATION):
            counterexample = violation(key, options, prop)
            what = f"{NAMES[rule]}: {prop} of whole rankings"
            if counterexample is None:
                rows.append(ours_alone(what, f"has it; violated on none of {N_BOARDS} boards"))
                continue
            board, names = (
                counterexample.board,
                " and ".join(counterexample.board.task_names[t] for t in counterexample.tasks),
            )
            rest = board.subset(tasks=[t for t in range(board.n_tasks) if t not in counterexample.tasks])
            parts = {"on all tasks": board, f"without {names}": rest}
            if prop == CONSISTENCY:
                parts[f"on {names}"] = board.subset(tasks=list(counterexample.tasks))
            ranks = [rank(part, key, **options).ranks.tolist() for part in parts.values()]
            lines = [
                [name, *(number(x, 0) for x in row), *(str(mine[i]) for mine in ranks)]
                for i, (name, row) in enumerate(zip(board.system_names, board.values.tolist(), strict=True))
            ]
            header = ["system", *board.task_names, *(f"rank {part}" for part in parts)]
            rows.append(ours_alone(what, "lacks it; see the board below"))
            grids.append(Grid(f"{NAMES[rule]} violates {prop} of whole rankings", header, lines))
    return Result(rows, grids, [_PROOF])


_PROOF = (
    "The paper defines both properties by rankings; the table of properties on the site defines them by winners. By "
    "either definition the same rules have them as in the printed table. Small boards are drawn until one shows a "
    "violation. That the other four rules have both is proven: their scores are sums over tasks (those of the relative "
    "difference where scores are positive), two sums in one order have it together, and a task that puts u above v "
    "adds more to u."
)

SECTIONS = (
    Section(
        "pavao-order-properties",
        "Section 2.2: consistency and participation of whole rankings",
        (),
        order_properties,
    ),
)
