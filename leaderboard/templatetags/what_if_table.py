"""The rows of the what-if board, as text: a template loop over some thousand cells takes far longer."""

from django import template
from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from leaderboard.explore.what_if import WhatIfCell, WhatIfRow

register = template.Library()
FIRST = {"1": "first", "=1": "joint"}  # classes of first places, held alone and shared


@register.simple_tag
def what_if_rows(rows: list[WhatIfRow], benchmark_key: str, revision_query: str) -> SafeString:
    """One table row a system: rank, change against the benchmark's weights, rank under every rule."""
    pattern = reverse("system", args=[benchmark_key, "0"])  # keys are slugs, and none is a part of the rest
    head, _, tail = pattern.rpartition("0")
    lines = []
    for row in rows:
        cells = "".join(map(_cell, row.cells))
        change = f' class="{row.direction}"' if row.change else ""
        lines.append(
            f'<tr data-system="{row.index}"><td class="place">{row.text}</td><td class="change"><span{change}>'
            f'{row.change_text}</span></td><th scope="row">'
            f'<a href="{head}{row.key}{tail}{revision_query}">{escape(row.name)}</a></th>{cells}</tr>'
        )
    return mark_safe("\n".join(lines))  # noqa: S308 -- ranks and keys are plain, names are escaped


def _cell(cell: WhatIfCell) -> str:
    names = " ".join(filter(None, [FIRST.get(cell.text.removeprefix("≈"), ""), cell.direction]))
    return f'<td class="{names}">{cell.text}</td>' if names else f"<td>{cell.text}</td>"
