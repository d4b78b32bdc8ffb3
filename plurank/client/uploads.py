"""What a submission is made of, and what a dry run says of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from plurank.board import Board
from plurank.tables import ResultTable
from ranking_engine.catalogue.registry import get_rule


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
    """Return what a dry run says as a table: whose rank would change under which rule.

    Notes name the rules under which a system that is sent loses its rank, and those that rank others and not a new one.
    """
    columns: dict[str, list[Any]] = {"rule": [], "system": [], "before": [], "after": []}
    unranked: dict[str, list[str]] = {}
    n_more = 0
    new = {system["name"] for system in preview.get("systems", ()) if system["is_new"]}
    rules = preview["rules"] or ()
    for rule in rules:
        key = rule["rule"]
        try:
            record = get_rule(key)
            name, elects_only = record.name, record.elects_only
        except ValueError:  # a rule of a newer site
            name, elects_only = key, False
        for change in rule["changes"]:
            for column, value in zip(columns, (key, change["name"], change["before"], change["after"]), strict=True):
                columns[column].append(value)
        n_more += rule.get("n_changes", 0) - len(rule["changes"])
        changed = {change["name"] for change in rule["changes"]}
        left_out = new if rule.get("winner_names_after") and not elects_only else set()
        for system in rule.get("unranked", ()):
            if system in changed | left_out:
                unranked.setdefault(system, []).append(name)
    notes = [f"{system} would have no rank under {', '.join(names)}" for system, names in unranked.items()]
    if n_more:
        notes.append(f"and {n_more:,} more ranks would change, which the site does not list")
    if not rules:
        outcome = "The site does not say which ranks would change"
    else:
        outcome = "Ranks that would change" if columns["rule"] else "No rank would change"
    decision = "would be accepted at once" if preview.get("would_be_accepted") else "a moderator would decide"
    return ResultTable(f"{outcome}; {decision}, nothing is stored", columns, notes)
