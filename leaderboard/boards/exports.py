"""A view of the board as a file: the same columns, order and filters, with the rows of all pages.

The ranks of a view that hides scores come without scores here, too: a file is made from the same masked board.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from django.utils.translation import gettext, ngettext

from leaderboard.boards.board import Board
from leaderboard.boards.rows import Cell
from leaderboard.common.files import (
    ColumnHead,
    json_lines,
    latex_table,
    latex_text,
    markdown_table,
    markdown_text,
    spreadsheet_csv_lines,
)
from leaderboard.rankings.text import PREDICTED_MARK
from ranking_engine.core.decimals import finite_or_none


def board_csv(board: Board, name: str) -> Iterator[str]:
    """Ranks and rule scores with every digit, one column each a rule."""
    rules = [column.rule for column in board.visible]
    places = _places(board)
    heads = ["system", *(f"{rule}_rank" for rule in rules), *(f"{rule}_score" for rule in rules)]
    predicting = [k for k, column in enumerate(board.visible) if column.n_predicted is not None]
    heads += [f"{rules[k]}_predicted_scores" for k in predicting]
    yield from spreadsheet_csv_lines([[*heads, *(["group"] if board.query.group else [])]])
    for row in board.rows:
        scores = [float(column.scores[places[row.id]]) for column in board.visible]
        group = [row.group.text if row.group else None] if board.query.group else []
        predicted = [row.cells[k].n_predicted for k in predicting]
        yield from spreadsheet_csv_lines([[row.name, *(cell.rank for cell in row.cells), *scores, *predicted, *group]])


def board_json(board: Board, name: str) -> Iterator[str]:
    """The view with what it rests on; ranks, changes and rule scores by the keys of the rules."""
    return json_lines(_about(board, name), "systems", _json_rows(board))


def board_content(board: Board, name: str) -> dict[str, Any]:
    """What `board_json` writes."""
    return {**_about(board, name), "systems": list(_json_rows(board))}


def _about(board: Board, name: str) -> dict[str, Any]:
    return {
        "benchmark": name,
        "revision": board.published.revision.number or None,
        "reference": board.reference.rule,
        "missing": board.policy,
        "aggregation": board.aggregation,
        "ties": board.query.ties or "default",
        "n_ranked_among": board.published.facts["n_systems"],
        "baselines": [asdict(standing) for standing in board.saturation],
        "condorcet_winner": board.published.facts.get("condorcet_winner"),
        "rules": [
            {
                "key": c.rule,
                "name": c.name,
                "family": c.family,
                "status": c.status,
                "reason": c.reason,
                "prediction": c.prediction,
            }
            for c in board.visible
        ],
    }


def _json_rows(board: Board) -> Iterator[dict[str, Any]]:
    places, keys = _places(board), [column.rule for column in board.visible]
    for row in board.rows:
        scores = [float(column.scores[places[row.id]]) for column in board.visible]
        yield {
            "key": row.key,
            "name": row.name,
            "baseline": row.baseline,
            "group": row.group.text if row.group else None,
            "n_scored": row.n_scored,
            "n_voting_tasks": row.n_voting_tasks,
            "least_rank": row.least_rank,
            "median_rank": row.median_rank,
            "greatest_rank": row.greatest_rank,
            "ranks": {key: cell.rank for key, cell in zip(keys, row.cells, strict=True)},
            "changes": {key: cell.change for key, cell in zip(keys, row.cells, strict=True)},
            "n_predicted": {key: cell.n_predicted for key, cell in zip(keys, row.cells, strict=True)},
            "scores": {key: finite_or_none(score) for key, score in zip(keys, scores, strict=True)},
        }


def _board_latex(board: Board, name: str) -> Iterator[str]:
    """A table for LaTeX with the package booktabs."""
    return latex_table(_caption(board, name), _headings(board), _rows(board, latex_text, _latex_cell))


def _latex_cell(cell: Cell) -> str:
    if cell.rank is None:
        return "--"
    number = f"{'=' if cell.is_tied else ''}{cell.rank}"
    number = rf"$\approx${number}" if cell.n_predicted else number
    text = rf"\textbf{{{number}}}" if cell.rank == 1 or cell.is_winner else number
    if cell.change:
        text += rf" {{\scriptsize$\{'uparrow' if cell.change > 0 else 'downarrow'}${abs(cell.change)}}}"
    return text + (f" ({latex_text(cell.score_text)})" if cell.score_text else "")


def _board_markdown(board: Board, name: str) -> Iterator[str]:
    """A table for Markdown as GitHub writes it, under a line that says what it is."""
    return markdown_table(_caption(board, name), _headings(board), _rows(board, markdown_text, _markdown_cell))


def _markdown_cell(cell: Cell) -> str:
    if cell.rank is None:
        return "–"
    number = cell.rank_text
    text = f"**{number}**" if cell.rank == 1 or cell.is_winner else number
    if cell.change:
        text += f" {'↑' if cell.change > 0 else '↓'}{abs(cell.change)}"
    return text + (f" ({markdown_text(cell.score_text)})" if cell.score_text else "")


def _rows(board: Board, escaped: Callable[[str], str], cell_text: Callable[[Cell], str]) -> Iterator[list[str]]:
    """Name, range of ranks over all rules, tasks scored, and what each rule says."""
    for row in board.rows:
        low, high = row.least_rank, row.greatest_rank
        ranks = "–" if low is None else str(low) if low == high else f"{low}–{high}"
        start = [row.name, ranks, f"{row.n_scored}/{row.n_voting_tasks}"]
        yield [*map(escaped, start), *map(cell_text, row.cells)]


def _headings(board: Board) -> list[ColumnHead]:
    names = ["All rules", "Tasks", *(column.name for column in board.visible)]
    return [ColumnHead("system", "System", is_text=True), *(ColumnHead(name, name) for name in names)]


def _caption(board: Board, name: str) -> str:
    number, ties = board.published.revision.number, board.query.ties
    what = gettext("%(benchmark)s, revision %(number)s") % {"benchmark": name, "number": number} if number else name
    n_rules = len(board.visible)
    text = ngettext(
        "%(what)s: ranks under %(n)s rule, changes against %(reference)s; missing scores: %(missing)s; aggregation: "
        "%(aggregation)s.",
        "%(what)s: ranks under %(n)s rules, changes against %(reference)s; missing scores: %(missing)s; aggregation: "
        "%(aggregation)s.",
        n_rules,
    )
    if ties:
        text = ngettext(
            "%(what)s: ranks under %(n)s rule, changes against %(reference)s; missing scores: %(missing)s; "
            "aggregation: %(aggregation)s; ties within a task: %(ties)s.",
            "%(what)s: ranks under %(n)s rules, changes against %(reference)s; missing scores: %(missing)s; "
            "aggregation: %(aggregation)s; ties within a task: %(ties)s.",
            n_rules,
        )
    text %= {
        "what": what,
        "n": n_rules,
        "reference": board.reference.name,
        "missing": board.policy,
        "aggregation": board.aggregation,
        "ties": ties,
    }
    return f"{text} {PREDICTED_MARK} {board.prediction}" if board.prediction else text


def _places(board: Board) -> dict[int, int]:
    """The place of every system, by its id, in the revision's order."""
    return {int(system): i for i, system in enumerate(board.published.system_ids)}


# By the ending of the file: its content type, and what writes it.
FORMATS: dict[str, tuple[str, Callable[[Board, str], Iterator[str]]]] = {
    "csv": ("text/csv", board_csv),
    "json": ("application/json", board_json),
    "tex": ("application/x-tex", _board_latex),
    "md": ("text/markdown", _board_markdown),
}
