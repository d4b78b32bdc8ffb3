"""The leaderboards of Vote'n'Rank, its printed figures, and those of the authors' notebooks."""

from __future__ import annotations

from collections.abc import Mapping

from ranking_engine import Ranking, ScoreMatrix, rank
from reproduction.boards import board, complete_board
from reproduction.tables import published

PRINTED = published("rofin_2023_printed")
NOTEBOOKS = published("rofin_2023")
SOURCES = NOTEBOOKS["sources"]

BOARDS = {"glue": "votenrank-glue", "superglue": "votenrank-superglue", "value": "votenrank-value"}
ALL_BOARDS = tuple(BOARDS.values())
TITLES = {"glue": "GLUE", "superglue": "SuperGLUE", "value": "VALUE without Human", "value_missing": "VALUE"}
TABLES = {"glue": "table_3", "superglue": "table_9", "value": "table_11", "value_missing": "table_10"}
GAMMA = 95.0

OWN_GAP = "theirs counts every column 1, diagnostics and both metrics of a task too; their mean does not, nor does ours"
NO_GEOMETRIC_MEAN = "their nan is 0 times the logarithm of a score <= 0 on a diagnostic, which does not vote here"


def paper_board(name: str) -> ScoreMatrix:
    """Return the systems that the paper ranks: GLUE's first 30 rows, and elsewhere all that are complete.

    Args:
        name: a key of TITLES; `value_missing` is VALUE with its missing scores.
    """
    if name == "value_missing":
        return board(BOARDS["value"]).with_gamma(GAMMA)
    return complete_board(BOARDS[name], head=30 if name == "glue" else None).with_gamma(GAMMA)


def ranked(name: str) -> dict[str, Ranking]:
    """Return the rankings of a board by rule, for the rules whose scores are printed."""
    matrix = paper_board(name)
    return {rule: rank(matrix, rule) for rule in PRINTED[TABLES[name]]["scores"]}


def with_equal_columns(matrix: ScoreMatrix) -> ScoreMatrix:
    """Return the board with every column counting 1."""
    return matrix.with_weights([1] * matrix.n_tasks)


def with_group_weights(matrix: ScoreMatrix, weights: Mapping[str, str]) -> ScoreMatrix:
    """Return the board with other weights of its groups of tasks."""
    return ScoreMatrix(
        matrix.values,
        system_names=matrix.system_names,
        task_names=matrix.task_names,
        directions=matrix.directions,
        weights=matrix.weights,
        groups=matrix.groups,
        group_weights=weights,
    )
