"""The rows of the board as one string each.

A board has a hundred rows of several rules: a template fragment for every cell costs more time than all the rest of
the page. Marks that only the eye needs come from the style sheet (`table.css`), so that a cell is short; what a screen
reader needs stands in the cell, hidden from the eye.
"""

from collections.abc import Sequence
from typing import Any

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from leaderboard.services.board import Cell, Row

register = template.Library()

LONG_NAME = 30  # a longer name may be cut off, and is shown whole when pointed at


@register.simple_tag
def board_row(row: Row, columns: Sequence[dict[str, Any]], n_systems: int) -> SafeString:
    """One system: place, name, ranks over all rules, tasks scored, and a cell for each column."""
    place = row.reference_rank or "–"
    own = ' <span class="badge">yours</span>' if row.is_own else ""
    name = escape(row.name)
    title = f' title="{name}"' if len(row.name) > LONG_NAME else ""
    parts = [
        '<tr class="is-own">' if row.is_own else "<tr>",
        f'<th scope="row"><span class="place">{place}</span><a href="{escape(row.url)}"{title}>{name}</a>{own}',
        f'</th><td class="range">{_range(row, n_systems)}</td>',
        f'<td class="number">{row.n_scored}<small>/{row.n_voting_tasks}</small></td>',
        *(_cell(cell, column["reason"]) for cell, column in zip(row.cells, columns, strict=True)),
        "</tr>\n",
    ]
    return mark_safe("".join(parts))  # noqa: S308 -- names and reasons are escaped, the rest is ours


def _range(row: Row, n_systems: int) -> str:
    """Ranks of one system over all rules: a line from the best to the worst, a tick at the median."""
    if row.least_rank is None:
        return f'<span class="unranked">–</span>{_heard("not ranked by any rule")}'
    low, high, median = row.least_rank, row.greatest_rank, row.median_rank
    drawing = ""
    if n_systems > 1:
        drawing = (
            f'<svg viewBox="1 0 {n_systems - 1} 10" preserveAspectRatio="none" aria-hidden="true">'
            f'<path d="M1 5H{n_systems}"/><path class="span" d="M{low} 5H{high}"/>'
            f'<path class="median" d="M{median} 0V10"/></svg>'
        )
    text = f"{low}" if low == high else f"{low}–{high}"
    return f"{drawing}<span>{text}</span>{_heard(f', median {median}')}"


def _cell(cell: Cell, column_reason: str) -> str:
    """What one rule says of one system."""
    if cell.rank is None:
        return _unranked(cell, column_reason)
    heard = f", tied with {cell.n_tied_with} other{'' if cell.n_tied_with == 1 else 's'}" if cell.is_tied else ""
    number = f"{'<i>=</i>' if cell.is_tied else ''}{cell.rank}"
    shown = f'<span class="rank is-first">{number}</span>' if cell.rank == 1 else number
    change = ""
    if cell.change:
        heard += ", better by " if cell.change > 0 else ", worse by "
        change = f'<span class="{"up" if cell.change > 0 else "down"}">{abs(cell.change)}</span>'
    interval = f"{_heard(', interval ')}<em>{cell.interval_text}</em>" if cell.interval_text else ""
    return f"<td><b>{shown}</b>{_heard(heard)}{change}{interval}{_score(cell)}</td>"


def _unranked(cell: Cell, column_reason: str) -> str:
    """A dash. Its reason stands here where it is the system's; that of a whole column stands in the page's list."""
    is_own_reason = cell.reason and cell.reason.rstrip(".").lower() != column_reason.rstrip(".").lower()
    title = f' title="{escape(cell.reason)}"' if is_own_reason else ""
    heard = f"unranked: {cell.reason}" if is_own_reason else "unranked"
    return f'<td{title}><b class="no">–</b>{_heard(heard)}{_score(cell)}</td>'


def _score(cell: Cell) -> str:
    return f"{_heard(', score ')}<small>{escape(cell.score_text)}</small>" if cell.score_text else ""


def _heard(text: str) -> str:
    """Words for screen readers only."""
    return f'<span class="sr">{escape(text)}</span>' if text else ""
