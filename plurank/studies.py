"""Studies of a board as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plurank.findings import StudyTable
from plurank.names import rule_key
from ranking_engine.command_line.stability import slow_rule_notes
from ranking_engine.command_line.study_figures import summary_rows
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.stability.catalogue import EXPERIMENTS, checked_parameters, run_study
from ranking_engine.text.close_names import CloseNames


def study_table(
    matrix: ScoreMatrix, study: str, seed: int, parameters: Mapping[str, Any], backend: str | None
) -> StudyTable:
    """Run a study.

    Args:
        matrix: with the weights of the aggregation.
        study: its key, also with spaces or hyphens.
        seed: of the random numbers.
        parameters: as `Board.study` has them; None for the default.
        backend: of frames, as boards have it.

    Raises:
        ValueError: as `Board.study`.
    """
    key = "_".join(study.casefold().replace("-", " ").replace("_", " ").split())
    if key not in EXPERIMENTS:
        close = CloseNames(EXPERIMENTS).suggestion(study) or f"; there are {', '.join(EXPERIMENTS)}"
        raise ValueError(f"there is no study {study[:60]!r}{close}")
    named = {name: value for name, value in parameters.items() if value is not None}
    if "rule" in named:
        named["rule"] = rule_key(named["rule"])
    if "rules" in named:
        rules = [named["rules"]] if isinstance(named["rules"], str) else named["rules"]
        named["rules"] = [rule_key(rule) for rule in rules]
    checked = checked_parameters(key, named)
    result = run_study(key, matrix, checked, seed)
    names = ("rule", "figure", "place", "value")
    columns = dict(zip(names, map(list, zip(*summary_rows(key, result.summary), strict=True)), strict=False))
    record = EXPERIMENTS[key]
    left_out = result.summary.get("not_studied", {})
    notes = [record.question, record.source, *(f"{rule} is left out: {why}" for rule, why in left_out.items())]
    notes += slow_rule_notes(result.summary)
    return StudyTable(record.name, columns, notes, key, result, checked, seed, backend=backend)
