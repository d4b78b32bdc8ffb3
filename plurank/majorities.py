"""Choice sets, cycles and copy-proof ratings of a board as a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from plurank.findings import ChoiceSetTable
from plurank.tables import numbers
from ranking_engine.core.pairwise import Pairwise
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.rules.choice_sets import schwartz_set, smith_set, uncovered_set
from ranking_engine.rules.copy_proof import copy_proof_ratings
from ranking_engine.rules.majority_cycles import shortest_cycles
from ranking_engine.rules.maximal_lotteries import UnsolvedError, maximal_lottery


def choice_sets_table(matrix: ScoreMatrix, backend: str | None) -> ChoiceSetTable:
    """Return the choice sets of a matrix.

    Args:
        matrix: with the weights that decide majorities.
        backend: of frames, as boards have it.
    """
    pairwise, names, notes = Pairwise.of(matrix), matrix.system_names, []
    sets = {"smith_set": smith_set, "schwartz_set": schwartz_set, "uncovered_set": uncovered_set}
    columns: dict[str, list[Any]] = {"system": list(names)}
    for key, members_of in sets.items():
        members = set(members_of(pairwise))
        columns[key] = [i in members for i in range(len(names))]
    shares: dict[int, str] = {}
    systems = np.flatnonzero(pairwise.scored)
    try:
        lottery = maximal_lottery(pairwise.margins, systems) if systems.size else None
    except UnsolvedError as error:
        notes.append(f"The essential set is not known: {error}")
        columns["essential_set"] = [None] * len(names)
    else:
        if lottery is not None:
            shares = {i: str(share) for i, share in zip(lottery.members, lottery.shares, strict=True)}
        columns["essential_set"] = [i in shares for i in range(len(names))]
    columns["lottery"] = [shares.get(i) for i in range(len(names))]
    rated = copy_proof_ratings(matrix)
    columns["copy_proof_rating"] = numbers(rated.ratings)
    notes += [f"No copy-proof ratings: {rated.reason}"] if rated.reason else []
    cycles = tuple(tuple(names[i] for i in cycle) for cycle in shortest_cycles(pairwise))
    notes += [f"Cycle: {' beats '.join([*cycle, cycle[0]])}" for cycle in cycles[:3]]
    weights = dict(zip(matrix.task_names, rated.task_weights.tolist(), strict=True))
    return ChoiceSetTable("Choice sets", columns, notes, cycles, weights, backend=backend)
