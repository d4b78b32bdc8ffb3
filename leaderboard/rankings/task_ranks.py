"""The scores of a revision task by task: every system's rank on every task, and how far up it is."""

from dataclasses import dataclass

import numpy as np

from leaderboard.common.cache import BoundedCache
from leaderboard.models import Revision
from leaderboard.on_demand.budget import refuse_beyond_budget
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.margins import inputs_of
from leaderboard.rankings.score_matrix import RevisionMatrix, revision_matrix

CACHE_BYTES = 32 * 2**20  # a board of 5,000 systems and 100 tasks takes about 14 MB
LEVELS = 4  # of tint, above none


@dataclass(frozen=True)
class TaskRanks:
    """What the pages about scores read.

    Attributes:
        table: the scores, systems in the order of the board, tasks in that of the configuration.
        ranks: shape (n_systems, n_tasks); 1 is best, equal scores share a rank, 0 where there is no
            score or the task has no order.
        n_scored: shape (n_tasks,), how many systems have a score on each task.
    """

    table: RevisionMatrix
    ranks: np.ndarray
    n_scored: np.ndarray

    @property
    def n_bytes(self) -> int:
        """About how much memory the arrays take."""
        return 4 * self.table.written.nbytes + self.ranks.nbytes

    @property
    def levels(self) -> np.ndarray:
        """In which fifth of the systems each score is: 4 for the best fifth, 0 for the last, -1 without a rank."""
        places = (self.ranks - 1) / np.maximum(1, self.n_scored - 1)
        return np.where(self.ranks < 1, -1, LEVELS - np.minimum(LEVELS, (places * (LEVELS + 1)).astype(int)))

    def order(self, t: int, *, is_reversed: bool = False) -> list[int]:
        """The systems by their score on task `t`, the best first; those without a score last in any case.

        A task without an order has its greatest scores first.

        Args:
            t: the place of the task.
            is_reversed: the worst first.
        """
        values = self.table.matrix.values[:, t]
        ascending = self.table.matrix.directions[t] == -1
        keys = values if ascending != is_reversed else -values
        return np.lexsort((np.arange(len(keys)), np.nan_to_num(keys), np.isnan(keys))).tolist()


_kept: BoundedCache[TaskRanks | None] = BoundedCache(CACHE_BYTES)


def task_ranks_of(revision: Revision, *, n_systems: int) -> TaskRanks | None:
    """The ranks on every task at a revision; None where it has no system or no task.

    What is kept is what a revision is, the same for all who may see its scores.

    Args:
        revision: with its configuration.
        n_systems: of the revision.

    Raises:
        TooLargeError: the board is too large for an answer on demand.
    """
    refuse_beyond_budget(n_systems, len(configuration_of(revision).tasks))

    def make() -> TaskRanks | None:
        table = revision_matrix(revision)
        if table is None:
            return None
        values = table.matrix.values
        is_scored, ranks = ~np.isnan(values), np.zeros(values.shape, dtype=np.int64)
        for t, direction in enumerate(table.matrix.directions.tolist()):
            if direction:  # else the task has no order
                worth = -direction * values[is_scored[:, t], t]
                ranks[is_scored[:, t], t] = np.searchsorted(np.sort(worth), worth) + 1
        return TaskRanks(table, ranks, is_scored.sum(axis=0))

    return _kept.get_or_make((revision.pk, inputs_of(revision)), make, lambda made: made.n_bytes if made else 100)
