"""The formats in which the command line writes leaderboards."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ranking_engine.catalogue.registry import get_rule
from ranking_engine.command_line.rule_options import options_in_force
from ranking_engine.core.missing import prediction_note
from ranking_engine.files.csv_rows import csv_text
from ranking_engine.text.grids import latex_grid, markdown_grid, text_grid
from ranking_engine.text.json_text import json_text
from ranking_engine.text.markup import escape_markdown
from ranking_engine.text.names import listed

Board = dict[str, Any]

UNRANKED_MARK = "-"


def as_csv(board: Board) -> str:
    """Return a row for each system with its rank and score under each rule; empty where unranked."""
    rows: list[list[object]] = []
    rows.append(["system", *(f"{key}_{what}" for key in board["rules"] for what in ("rank", "score"))])
    for system in _sorted_systems(board):
        cells = [entry.get(what, {}).get(system) for entry in board["rules"].values() for what in ("ranks", "scores")]
        rows.append([system, *cells])
    return csv_text(rows)


def as_table(board: Board) -> str:
    """Return the ranks as aligned text, with remarks about them."""
    return "\n".join([*text_grid(_cells(board)), "", *_notes(board)]) + "\n"


def as_markdown(board: Board) -> str:
    """Return the ranks as a Markdown table, with notes."""
    notes = [f"- {escape_markdown(note)}" for note in _notes(board)]
    return "\n".join([*markdown_grid(_cells(board)), "", *notes]) + "\n"


def as_latex(board: Board) -> str:
    """Return the ranks as a LaTeX tabular; its rules need the package booktabs."""
    notes = [f"% {' '.join(note.split())}" for note in _notes(board)]
    return "\n".join([*notes, *latex_grid(_cells(board))]) + "\n"


FORMATS: Mapping[str, Callable[[Board], str]] = {
    "table": as_table,
    "json": json_text,
    "csv": as_csv,
    "markdown": as_markdown,
    "latex": as_latex,
}


def _cells(board: Board) -> list[list[str]]:
    """Return the header and a row for each system: its name and its rank under each rule."""
    rows = [["system", *(entry["name"] for entry in board["rules"].values())]]
    for system in _sorted_systems(board):
        ranks = [entry.get("ranks", {}).get(system) for entry in board["rules"].values()]
        rows.append([system, *(UNRANKED_MARK if rank is None else str(rank) for rank in ranks)])
    return rows


def _sorted_systems(board: Board) -> list[str]:
    """Sort by the first rule that ranks, then by name."""
    entries = [entry for entry in board["rules"].values() if entry["status"] == "ranked"]
    ranks = entries[0]["ranks"] if entries else {}
    return sorted(board["systems"], key=lambda name: (ranks.get(name) or math.inf, name))


def rule_notes(key: str, entry: Mapping[str, Any]) -> list[str]:
    """Return what is to be said of one rule's ranks: options other than the default, and what its details tell."""
    name, details, notes = entry["name"], entry.get("details", {}), []
    defaults = options_in_force(get_rule(key), None, {})
    for option, value in entry.get("options", {}).items():
        if value != defaults.get(option):
            text = ", ".join(f"{part:g}" for part in value) if isinstance(value, tuple) else value
            notes.append(f"{name}: {option} {text}")
    if "proven" in details and "distance" in details:
        bound = "proven the least" if details["proven"] else f"the least is {details['lower_bound']:g} or more"
        others = {None: "", True: "; no other order has it", False: "; other orders have it too"}[details["unique"]]
        notes.append(f"{name}: distance {details['distance']:g} to the tasks, {bound}{others}")
    if mallows := details.get("mallows"):
        theta, likelihood = mallows["theta"], mallows.get("log_likelihood")
        if theta is None:
            notes.append(f"{name}: no dispersion of Mallows' model is fitted: {mallows['reason']}")
        else:
            error = mallows.get("standard_error")
            within = f" ± {error:.2g} (standard error)" if error is not None else ""
            notes.append(
                f"{name}: Mallows' model fits with dispersion {theta:.4g}{within}, log-likelihood {likelihood:.6g}"
            )
    if lottery := details.get("lottery"):
        others = "" if details["unique"] else "; there are other maximal lotteries"
        notes.append(f"{name}: shares {listed([f'{system} {share}' for system, share in lottery.items()], 10)}{others}")
    if prediction := prediction_note(details):
        notes.append(f"{name}: {prediction}")
    if details.get("decided_by_name"):
        notes.append(f"{name}: the names decided between equally strong victories; the order is one of several")
    winners = list(entry.get("winners", ()))
    if sorted(winners) != sorted(system for system, rank in entry.get("ranks", {}).items() if rank == 1):
        notes.append(f"{name}: its winners are {listed(winners, limit=10)}")
    if details.get("winners_complete") is False:
        notes.append(f"{name}: there may be more winners than were found")
    return notes


def _notes(board: Board) -> list[str]:
    """Return one line for each thing that the ranks alone do not tell."""
    winner, smith, notes = board["condorcet_winner"], board["smith_set"], []
    if winner is not None:
        notes.append(f"Condorcet winner: {winner}")
    elif smith is not None:
        notes.append(f"No Condorcet winner{'; Smith set: ' if smith else ''}{listed(smith, limit=10)}")
    elif board["aggregation"] != "two_step":
        notes.append("The Condorcet winner and the Smith set are not computed for so many systems")
    for key, entry in board["rules"].items():
        notes += rule_notes(key, entry)
        if entry["status"] == "undefined":
            notes.append(f"{entry['name']} gives no ranking: {entry['reason']}")
        for system, reason in entry.get("unranked", {}).items() if entry["status"] == "ranked" else ():
            notes.append(f"{entry['name']} does not rank {system}: {reason}")
    pairs = max((e.get("details", {}).get("pairs_without_common_task", 0) for e in board["rules"].values()), default=0)
    if pairs:
        notes.append(f"Pairs of systems without a common task: {pairs}")
    if board["aggregation"] != "basic":
        notes.append(f"Aggregation: {board['aggregation']}")
    return [*notes, f"Missing scores: {board['missing']}"]
