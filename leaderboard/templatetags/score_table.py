"""The rows of the table of scores as one string: a template loop over some thousand cells takes far longer."""

from collections.abc import Sequence

from django import template
from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from leaderboard.boards.scores import ScoreRow, TintedCell

register = template.Library()
SORT_MARKS = {"ascending": "▲", "descending": "▼"}


@register.filter
def sort_mark(state: str) -> str:
    """The sign of the link that sorts by a column."""
    return SORT_MARKS.get(state, "↕")


@register.simple_tag
def score_rows(rows: Sequence[ScoreRow], benchmark_key: str, revision_query: str) -> SafeString:
    """One row a system: its rank, its name, and a cell for each column."""
    pattern = reverse("system", args=[benchmark_key, "0"])  # keys are slugs, and none is a part of the rest
    head, _, tail = pattern.rpartition("0")
    lines = [
        f'<tr><th scope="row"><span class="place">{row.rank_text}</span>'
        f'<a href="{head}{row.key}{tail}{revision_query}" title="{escape(row.name)}">{escape(row.short_name)}</a></th>'
        f"{''.join(map(_cell, row.cells))}</tr>"
        for row in rows
    ]
    return mark_safe("\n".join(lines))  # noqa: S308 -- keys and figures are plain, names are escaped


def _cell(cell: TintedCell) -> str:
    """A score with the class of its tint; bold where it is the best of its task, which is said to those who listen."""
    if not cell.score.value_text:
        reason = escape(cell.score.reason)
        if cell.score.predicted_text:
            return f'<td><em class="predicted" title="{reason}">{escape(cell.score.predicted_text)}</em></td>'
        missing = gettext("missing: %(reason)s") % {"reason": reason}
        return f'<td class=n title="{reason}">–<i class="sr">{missing}</i></td>'
    value = f'<b>{cell.text}</b><i class="sr">{gettext(", best")}</i>' if cell.is_best else cell.text
    details = f"<small>{escape(cell.score.details_text)}</small>" if cell.score.details_text else ""
    tint = f" class=t{cell.level}" if cell.level else ""
    full = f' title="{escape(cell.score.value_text)}"' if len(cell.score.value_text) > len(cell.text) else ""
    return f"<td{tint}{full}>{value}{details}</td>"
