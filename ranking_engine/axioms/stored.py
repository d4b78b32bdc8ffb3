"""A small board for every property that a rule lacks: the proof that it lacks it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ranking_engine.axioms.definitions import Witness
from ranking_engine.axioms.table import convention_of
from ranking_engine.score_matrix import ScoreMatrix

_FILE = Path(__file__).with_name("stored_witnesses.json")


@dataclass(frozen=True, eq=False)
class StoredWitness:
    """A board and what violates the property there: `violates(board, witness)`."""

    board: ScoreMatrix
    witness: Witness


@cache
def stored_witnesses() -> dict[tuple[str, str, str], StoredWitness]:
    """Return the stored witnesses by rule, convention (see `convention_of`) and property."""
    found = {}
    for row in json.loads(_FILE.read_text(encoding="utf-8")):
        board = ScoreMatrix(**row["board"])
        witness = Witness.from_json(row["witness"])
        found[witness.rule, convention_of(witness.rule, witness.options), witness.property] = StoredWitness(
            board, witness
        )
    return found
