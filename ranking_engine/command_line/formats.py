"""The formats in which the command line writes leaderboards."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

from ranking_engine.names import listed

Board = dict[str, Any]

UNRANKED_MARK = "-"


def as_json(board: Board) -> str:
    """Return the board itself, as JSON."""
    return json.dumps(board, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def as_csv(board: Board) -> str:
    """Return a row for each system with its rank and score under each rule; empty where unranked."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["system", *(f"{key}_{what}" for key in board["rules"] for what in ("rank", "score"))])
    for system in _sorted_systems(board):
        cells = [
            entry.get(what, {}).get(system)
            for entry in board["rules"].values()
            for what in ("ranks", "scores")
        ]
        writer.writerow([system, *cells])
    return text.getvalue()


def as_table(board: Board) -> str:
    """Return the ranks as aligned text, with what there is to say about them."""
    rows = _cells(board)
    widths = [max(_width(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(
            [
                _padded(row[0], widths[0]),
                *(_padded(c, w, right=True) for c, w in zip(row[1:], widths[1:], strict=True)),
            ]
        )
        for row in rows
    ]
    return "\n".join([line.rstrip() for line in lines] + ["", *_notes(board)]) + "\n"


def as_markdown(board: Board) -> str:
    """Return the ranks as a Markdown table, with notes."""
    header, *rows = [[_markdown(cell) for cell in row] for row in _cells(board)]
    lines = ["| " + " | ".join(row) + " |" for row in [header, ["---"] + ["---:"] * (len(header) - 1), *rows]]
    return "\n".join([*lines, "", *(f"- {_markdown(note)}" for note in _notes(board))]) + "\n"


def as_latex(board: Board) -> str:
    """Return the ranks as a LaTeX tabular; its rules need the package booktabs."""
    header, *rows = [" & ".join(_latex(cell) for cell in row) + r" \\" for row in _cells(board)]
    columns = "l" + "r" * len(board["rules"])
    notes = [f"% {' '.join(note.split())}" for note in _notes(board)]
    lines = [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        header,
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join([*notes, *lines]) + "\n"


FORMATS: Mapping[str, Callable[[Board], str]] = {
    "table": as_table,
    "json": as_json,
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


def _notes(board: Board) -> list[str]:
    """Return one line for each thing that the ranks alone do not tell."""
    winner, smith, notes = board["condorcet_winner"], board["smith_set"], []
    if winner is not None:
        notes.append(f"Condorcet winner: {winner}")
    elif smith is not None:
        notes.append(f"No Condorcet winner; Smith set: {listed(smith, limit=10)}")
    for entry in board["rules"].values():
        if entry["status"] == "undefined":
            notes.append(f"{entry['name']} gives no ranking: {entry['reason']}")
        for system, reason in entry.get("unranked", {}).items() if entry["status"] == "ranked" else ():
            notes.append(f"{entry['name']} does not rank {system}: {reason}")
    pairs = max(
        (e.get("details", {}).get("pairs_without_common_task", 0) for e in board["rules"].values()), default=0
    )
    if pairs:
        notes.append(f"Pairs of systems without a common task: {pairs}")
    if board["aggregation"] != "basic":
        notes.append(f"Aggregation: {board['aggregation']}")
    return [*notes, f"Missing scores: {board['missing']}"]


def _width(text: str) -> int:
    """The columns that `text` takes in a terminal: two for wide characters, none for combining ones."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(bool(unicodedata.combining(character)) for character in text)


def _padded(text: str, width: int, *, right: bool = False) -> str:
    space = " " * (width - _width(text))
    return space + text if right else text + space


def _markdown(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>|#~$])", r"\\\1", text)


_LATEX = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    **{character: "\\" + character for character in "&%$#_{}"},
}  # fmt: skip


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)
