"""What a submission is made of, and what a dry run says of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from plurank.board import Board
from plurank.tables import ResultTable


def systems_of(systems: object) -> list[dict[str, Any]]:
    """Return what a submission is made of in the shape of the API; `RemoteBenchmark.submit` says what it may be.

    Raises:
        TypeError: it is nothing of the kind.
        ValueError: a score is infinite.
    """
    if isinstance(systems, Board):
        rows = systems.matrix.values.tolist()
        systems = {
            name: dict(zip(systems.tasks, row, strict=True)) for name, row in zip(systems.systems, rows, strict=True)
        }
    if isinstance(systems, Mapping):
        entries = [{"name": name, "scores": dict(scores)} for name, scores in systems.items()]
    elif isinstance(systems, Sequence) and all(isinstance(entry, Mapping) for entry in systems):
        entries = [dict(entry) for entry in systems]
    else:
        raise TypeError(f"{type(systems).__name__}: expected a Board, {{system: {{task: score}}}} or a list of systems")
    for entry in entries:
        if not isinstance(scores := entry.get("scores"), Mapping):
            continue  # the site says what it lacks
        for task, score in scores.items():
            if isinstance(score, float) and math.isinf(score):
                raise ValueError(
                    f"the score of {entry.get('name', 'a system')} on {task} is {score}; expected a number"
                )
        is_nan = {task for task, score in scores.items() if isinstance(score, float) and math.isnan(score)}
        entry["scores"] = {task: None if task in is_nan else score for task, score in scores.items()}
    return entries


def changes_of(preview: Mapping[str, Any]) -> ResultTable:
    """Return what a dry run says as a table: whose rank would change under which rule, and in notes who has none."""
    unranked: dict[str, list[str]] = {}
    columns: dict[str, list[Any]] = {"rule": [], "system": [], "before": [], "after": []}
    for rule in preview["rules"] or ():
        for name in rule.get("unranked", ()):
            unranked.setdefault(name, []).append(rule["rule"])
        for change in rule["changes"]:
            for name, value in zip(
                columns, (rule["rule"], change["name"], change["before"], change["after"]), strict=True
            ):
                columns[name].append(value)
    notes = [f"{name} would have no rank under: {', '.join(rules)}" for name, rules in unranked.items()]
    verdict = "would be accepted at once" if preview.get("would_be_accepted") else "a moderator would decide"
    return ResultTable(f"Ranks that would change; {verdict}, nothing is stored", columns, notes)
