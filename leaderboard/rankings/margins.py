"""Margins between systems of a revision, computed on demand: what is stored has no arrays of pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from leaderboard.common.hashing import content_hash
from leaderboard.computing.pairs import margins_of
from leaderboard.computing.rankings import TWO_STEP
from leaderboard.models import Revision
from leaderboard.on_demand.budget import compute, n_comparisons, refuse_beyond_budget, single_flight
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.score_matrix import revision_matrix
from ranking_engine import ScoreMatrix, __version__ as engine_version
from ranking_engine.core.aggregation import reweighted, weight_bits


@dataclass(frozen=True)
class Margins:
    """Some systems compared with others.

    Attributes:
        ahead: `ahead[i, j]`: the share of the voting weight on which row i is above column j.
        behind: the share on which it is below.
        sign: 1 where row i beats column j, -1 where it is beaten, 0 where neither is; exact, unlike the shares.
        is_compared: whether any voting task has a score of both, and the two are not the same.
        n_beaten, n_lost, n_level: of every row, how many of *all* its rivals it beats, loses to, ties with.
    """

    ahead: np.ndarray
    behind: np.ndarray
    sign: np.ndarray
    is_compared: np.ndarray
    n_beaten: np.ndarray
    n_lost: np.ndarray
    n_level: np.ndarray

    @cached_property
    def margin(self) -> np.ndarray:
        """`ahead` less `behind`."""
        return self.ahead - self.behind


def margins_between(
    revision: Revision, rows: Sequence[int], columns: Sequence[int], *, n_systems: int, audience_level: str
) -> Margins:
    """The margins of `rows` over `columns`, indices in the revision's system order, under its own aggregation.

    Args:
        revision: published, with its configuration.
        rows: systems.
        columns: systems.
        n_systems: of the revision.
        audience_level: who the answer is for; part of the cache's key.

    Raises:
        TooLargeError: the board is too large for an answer on demand.
    """
    n_tasks = len(configuration_of(revision).tasks)
    refuse_beyond_budget(n_systems, n_tasks)
    pairs_hash = content_hash({"rows": list(map(int, rows)), "columns": list(map(int, columns))})
    key = f"margins:{inputs_of(revision)}:{pairs_hash}:{audience_level}"

    def make() -> dict[str, Any]:
        table = revision_matrix(revision)
        if table is None:  # without systems or tasks no two are compared
            nothing, none = np.zeros((len(rows), len(columns))), np.zeros(len(rows), int)
            return {
                **dict.fromkeys(("ahead", "behind", "sign"), nothing),
                "is_compared": nothing.astype(bool),
                **dict.fromkeys(("n_beaten", "n_lost", "n_level"), none),
            }
        matrix, places = weighed(table.matrix, revision), [np.array(part, np.intp) for part in (rows, columns)]
        return compute(margins_of, matrix, *places, n_steps=n_comparisons(matrix, len(rows)))

    return Margins(**single_flight(key, make))


def inputs_of(revision: Revision) -> str:
    """What an answer about a revision depends on, for a cache's key.

    The hash of the inputs leaves out the aggregation, the missing-score policy and the order of the tasks: the
    configuration has them.
    """
    return f"{revision.input_hash or revision.pk}:{revision.configuration.content_hash}:{engine_version}"


def weighed(matrix: ScoreMatrix, revision: Revision) -> ScoreMatrix:
    """The matrix with the weights that majorities are counted with: under two-step aggregation the tasks' own.

    Raises:
        TooLargeError: they have so many digits that it is not computed with them on demand.
    """
    aggregation = configuration_of(revision).aggregation
    refuse_beyond_budget(*matrix.values.shape, bits=weight_bits(matrix, aggregation))
    return matrix if aggregation == TWO_STEP else reweighted(matrix, aggregation)


MAX_PAIRS = 500_000  # lines of a file of margins


def is_small(n_systems: int) -> bool:
    """Whether so many systems have few enough margins for a file."""
    return n_systems * n_systems <= MAX_PAIRS
