"""A small board for every property that a rule lacks: the proof that it lacks it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ranking_engine.axioms.definitions import Witness, violates
from ranking_engine.axioms.table import convention_of
from ranking_engine.catalogue.registry import RULES
from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix

_FILE = Path(__file__).with_name("stored_witnesses.json")


@dataclass(frozen=True, eq=False)
class StoredWitness:
    """A board and what violates the property there: `violates(board, witness)`."""

    board: ScoreMatrix
    witness: Witness


@cache
def stored_witnesses() -> dict[tuple[str, str, str], StoredWitness]:
    """Return the stored witnesses by rule, convention (see `convention_of`) and property."""
    stored = {}
    for row in json.loads(_FILE.read_text(encoding="utf-8")):
        witness = Witness.from_dict(row["witness"])
        key = witness.rule, convention_of(witness.rule, witness.options), witness.property
        stored[key] = StoredWitness(ScoreMatrix(**row["board"]), witness)
    return stored


def store_witnesses(rule: str, witnesses: Iterable[StoredWitness]) -> None:
    """Store the witnesses of a rule in place of those that it had: a line each, in the catalogue's order of rules."""
    rows = [row for row in json.loads(_FILE.read_text(encoding="utf-8")) if row["witness"]["rule"] != rule]
    for stored in witnesses:
        board = stored.board
        fields: dict[str, Any] = {"values": _plain(board.values), "system_names": list(board.system_names)}
        if len(set(board.weights)) > 1:
            fields["weights"] = [int(weight) for weight in board.weights]
        if not violates(ScoreMatrix(**fields), stored.witness):  # the rule needs scales
            scales = {name: _plain(getattr(board, name)) for name in ("minimum", "maximum", "chance")}
            fields |= {"gamma": board.gamma, **scales}
        rows.append({"board": fields, "witness": stored.witness.to_dict()})
    rows.sort(key=lambda row: list(RULES).index(row["witness"]["rule"]))
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    _FILE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    stored_witnesses.cache_clear()


def _plain(numbers: FloatArray) -> list[Any]:
    whole = numbers.astype(np.int64)
    return whole.tolist() if (whole == numbers).all() else numbers.tolist()
