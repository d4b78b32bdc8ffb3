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
from leaderboard.services.wording import as_sentence

register = template.Library()

LONG_NAME = 30  # a longer name may be cut off, and is shown whole when pointed at


@register.simple_tag
def board_row(
    row: Row, columns: Sequence[dict[str, Any]], n_systems: int, *, with_separability: bool = False
) -> SafeString:
    """One system: place, name, ranks over all rules, tasks scored, and a cell for each column.

    `with_separability` adds the ranks of the systems that cannot be told apart from it.
    """
    place = row.reference_rank or "–"
    own = ' <span class="badge">yours</span>' if row.is_own else ""
    name = escape(row.name)
    title = f' title="{name}"' if len(row.name) > LONG_NAME else ""
    linked = f'<a href="{escape(row.url)}"{title}>{name}</a>' if row.url else f"<span{title}>{name}</span>"
    reason = _common_reason(row, columns)
    pointed, said = (f' title="{escape(reason)}"', f", {reason}") if reason else ("", "")
    parts = [
        '<tr class="is-own">' if row.is_own else "<tr>",
        f'<th scope="row"><span class="place">{place}</span>{linked}{own}',
        f'</th><td class="range">{_range(row, n_systems)}</td>',
        f'<td class="number"{pointed}>{row.n_scored}<small>/{row.n_voting_tasks}</small>{_heard(said)}</td>',
        f'<td class="number">{_inseparable(row)}</td>' if with_separability else "",
        *(
            _cell(cell, {column["reason"], as_sentence(reason)})
            for cell, column in zip(row.cells, columns, strict=True)
        ),
        "</tr>\n",
    ]
    return mark_safe("".join(parts))  # noqa: S308 -- names and reasons are escaped, the rest is ours


def _common_reason(row: Row, columns: Sequence[dict[str, Any]]) -> str:
    """Why rules leave the system out, where that is the system's own: mostly one reason under many rules."""
    pairs = zip(row.cells, columns, strict=True)
    own = [cell.reason for cell, column in pairs if cell.reason and as_sentence(cell.reason) != column["reason"]]
    return max(own, key=own.count) if own else ""


def _range(row: Row, n_systems: int) -> str:
    """Ranks of one system over all rules: a line from the best to the worst, a tick at the median."""
    if row.least_rank is None:
        return f'<span class="unranked">–</span>{_heard("not ranked by any rule")}'
    low, high, median = row.least_rank, row.greatest_rank, row.median_rank
    drawing = ""
    if n_systems > 1 and high is not None and high <= n_systems:
        drawing = (
            f'<svg viewBox="1 0 {n_systems - 1} 10" preserveAspectRatio="none" aria-hidden="true">'
            f'<path d="M1 5H{n_systems}"/><path class="span" d="M{low} 5H{high}"/>'
            f'<path class="median" d="M{median} 0V10"/></svg>'
        )
    text = f"{low}" if low == high else f"{low}–{high}"
    return f"{drawing}<span>{text}</span>{_heard(f', median {median}')}"


def _inseparable(row: Row) -> str:
    """The ranks of those that cannot be told apart from a system, under the reference rule."""
    if row.inseparable_text:
        return row.inseparable_text
    return "" if row.reference_rank is None else f'<span aria-hidden="true">·</span>{_heard("none but itself")}'


def _cell(cell: Cell, told: set[str]) -> str:
    """What one rule says of one system."""
    if cell.rank is None:
        return _unranked(cell, told)
    heard = ", tied" if cell.is_tied else ""
    number = f"{'<i>=</i>' if cell.is_tied else ''}{cell.rank}"
    shown = f'<span class="rank is-first">{number}</span>' if cell.rank == 1 else number
    change = ""
    if cell.change:
        heard += ", better by " if cell.change > 0 else ", worse by "
        change = f'<i class="{"up" if cell.change > 0 else "down"}">{abs(cell.change)}</i>'
    interval = f"{_heard(', interval ')}<em>{cell.interval_text}</em>" if cell.interval_text else ""
    return f"<td><b>{shown}</b>{_heard(heard)}{change}{interval}{_score(cell)}</td>"


def _unranked(cell: Cell, told: set[str]) -> str:
    """Shown as a dash. Its reason stands here unless the row or the page's list of rules tells it."""
    text = "unranked"
    if cell.reason and as_sentence(cell.reason) not in told:
        text = escape(f"unranked: {cell.reason}")
        return f'<td class="no" title="{escape(cell.reason)}">{text}</td>'
    return f'<td class="no">{text}</td>'


def _score(cell: Cell) -> str:
    return f"{_heard(', score ')}<small>{escape(cell.score_text)}</small>" if cell.score_text else ""


def _heard(text: str) -> str:
    """Words for screen readers only."""
    return f'<i class="sr">{escape(text)}</i>' if text else ""
