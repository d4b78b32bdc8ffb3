"""What a model is good at: its share of rivals beaten, task by task and over the tasks of a kind."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.models import Benchmark, Revision
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.task_ranks import task_ranks_of
from ranking_engine.text.names import fold_name

MAX_KINDS = 200  # that a page lists


@dataclass
class CellBudget:
    """How many scores may still be read for a page.

    Attributes:
        n_left: systems x tasks.
    """

    n_left: int

    def take(self, n_cells: int) -> bool:
        """Take the scores of a board from it; False, and nothing is taken, where they are too many.

        Args:
            n_cells: systems x tasks of the board.
        """
        if n_cells > self.n_left:
            return False
        self.n_left -= n_cells
        return True


@dataclass(frozen=True)
class TaskShare:
    """A system on one task that votes.

    Attributes:
        kind: the group of the task; its own name where it belongs to none.
        below: the share of the other systems with a score that are below it, equal ones counting one half.
    """

    kind: str
    below: float


@dataclass(frozen=True)
class KindOfTask:
    """A model on all tasks of a kind, over the boards that have some."""

    name: str
    below: float  # the mean over the tasks, each counted once
    n_tasks: int
    boards: list[Benchmark]

    @property
    def percent(self) -> str:
        """As people read it."""
        return f"{100 * self.below:.0f} %"


def task_shares(revision: Revision, i: int, *, n_systems: int, budget: CellBudget) -> list[TaskShare] | None:
    """System `i` on every task that votes and that it and another have a score on; None where the board is too large.

    Args:
        revision: published, with its configuration.
        i: the place of the system on the board.
        n_systems: on the board.
        budget: of the page.
    """
    if not budget.take(n_systems * len(configuration_of(revision).tasks)):
        return None
    try:
        ranks = task_ranks_of(revision, n_systems=n_systems)
    except TooLargeError:
        return None
    if ranks is None:
        return []
    matrix, configuration = ranks.table.matrix, configuration_of(revision)
    shares = []
    for t, task in enumerate(configuration.tasks):
        values, direction = matrix.values[:, t], int(matrix.directions[t])
        if not task.votes or np.isnan(values[i]) or ranks.n_scored[t] < 2:
            continue
        n_below = int((direction * values < direction * values[i]).sum())
        n_level = int((values == values[i]).sum()) - 1
        below = (n_below + n_level / 2) / (int(ranks.n_scored[t]) - 1)
        kind = configuration.group_names.get(task.group or "", "") or task.name
        shares.append(TaskShare(kind, below))
    return shares


def kinds_of(boards: Sequence[tuple[Benchmark, Sequence[TaskShare]]]) -> list[KindOfTask]:
    """All kinds of tasks, the strongest first; groups or tasks of the same name are one kind, on any boards.

    Args:
        boards: each with its shares.
    """
    by_name: dict[str, list[tuple[Benchmark, TaskShare]]] = {}
    for benchmark, shares in boards:
        for share in shares:
            by_name.setdefault(fold_name(share.kind), []).append((benchmark, share))
    kinds = [
        KindOfTask(
            name=pairs[0][1].kind,
            below=sum(share.below for _, share in pairs) / len(pairs),
            n_tasks=len(pairs),
            boards=list({benchmark.pk: benchmark for benchmark, _ in pairs}.values()),
        )
        for pairs in by_name.values()
    ]
    return sorted(kinds, key=lambda kind: (-kind.below, kind.name))
