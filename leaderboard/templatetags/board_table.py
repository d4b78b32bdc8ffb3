"""The rows of the board as one string each.

A board has a hundred rows of several rules: a template fragment for every cell costs more time than all the rest of
the page, and every byte of a cell counts two thousand times. So a cell is its rank, an arrow with the change, and one
or two letters of class that `board.css` explains; what can be read as text is there as text.
"""

from collections.abc import Sequence
from typing import Any

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, ngettext

from leaderboard.boards.groups import Group
from leaderboard.boards.rows import Cell, Row
from leaderboard.common.text import as_sentence
from leaderboard.models import Baseline
from leaderboard.rankings.published import Column

register = template.Library()

LONG_FACT = 24  # as a long name
LONG_NAME = 30  # a longer name may be cut off, and is shown whole when pointed at


@register.simple_tag
def board_rows(
    rows: Sequence[Row],
    columns: Sequence[dict[str, Any]],
    n_systems: int,
    with_separability: bool,
    with_pins: bool,
) -> SafeString:
    """The rows of a board, each as `board_row` writes it."""
    lines: list[str] = []
    for before, row in zip([None, *rows[:-1]], rows, strict=True) if rows else ():
        if row.group and (before is None or before.group != row.group):
            # A body of the table begins with the head of each group; before the first row one has begun.
            text = f"{escape(row.group.field_name)}: <strong>{escape(row.group.text)}</strong>"
            count = ngettext("%(n)s system", "%(n)s systems", row.group.n_systems) % {"n": row.group.n_systems}
            start = "" if before is None else "</tbody>\n<tbody>"
            n_others = 2 + with_separability + len(row.facts) + len(columns)
            lines.append(
                f'{start}<tr class="group"><th scope="rowgroup"><span>{text} <small>{count}</small></span></th>'
                f'<td colspan="{n_others}"></td></tr>\n'
            )
        lines.append(board_row(row, columns, n_systems, with_separability=with_separability, with_pins=with_pins))
    return mark_safe("".join(lines))  # noqa: S308 -- each is safe


@register.simple_tag
def board_row(
    row: Row,
    columns: Sequence[dict[str, Any]],
    n_systems: int,
    *,
    with_separability: bool = False,
    with_pins: bool = True,
) -> SafeString:
    """One system: place, name, ranks over all rules, tasks scored, and a cell for each column.

    `with_separability` adds the ranks of systems that do not differ significantly, `with_pins` a box to tick.
    """
    # Why rules leave the system out: mostly one reason under many rules. A rule that elects only and ranks no one else
    # leaves out all but one; that is the rule's reason, not a system's.
    own_reasons = [
        cell.reason
        for cell, column in zip(row.cells, columns, strict=True)
        if cell.reason and column["status"] == "ranked" and as_sentence(cell.reason) != column["reason"]
    ]
    reason = max(own_reasons, key=own_reasons.count) if own_reasons else ""
    known_reasons = {column["reason"] for column in columns} | {as_sentence(reason)}
    cells = [
        _cell(cell, known_reasons, is_ranking=column["status"] == "ranked")
        for cell, column in zip(row.cells, columns, strict=True)
    ]
    states = {"is-own": row.is_own, "is-pinned": row.is_pinned, "is-baseline": row.baseline != Baseline.NONE}
    classes = " ".join(name for name, is_so in states.items() if is_so)
    pin = ""
    if with_pins:
        label = escape(gettext("Pin %(name)s") % {"name": row.name})
        about = f'value="{escape(row.key)}" aria-label="{label}"{" checked" if row.is_pinned else ""}'
        pin = f'<input type="checkbox" form="view" name="pin" {about}>'
    own = f' <span class="badge">{gettext("yours")}</span>' if row.is_own else ""
    n_tasks = f"{row.n_scored}<small>/{row.n_voting_tasks}</small>"
    if reason:
        unranked = escape(gettext("Unranked: %(reason)s") % {"reason": as_sentence(reason)})
        # Why rules leave it out opens by a click or by Enter
        n_tasks = f"<details><summary>{n_tasks}</summary><p>{unranked}</p></details>"
    inseparable = row.inseparable_text
    if not inseparable and row.reference_rank is not None:
        inseparable = f'<span aria-hidden="true">·</span>{_heard(gettext("none but itself"))}'
    facts = []
    for one in row.facts:  # how wide they may be the style sheet says
        text = str(escape(one.text))
        if one.url:
            text = f'<a href="{escape(one.url)}" rel="noopener nofollow">{text}</a>'
        title = f' title="{text}"' if len(one.text) > LONG_FACT and not one.url else ""
        facts.append(f'<td class="fact {"number" if one.is_number else "words"}"{title}>{text}</td>')
    parts = [
        f'<tr class="{classes}">' if classes else "<tr>",
        f'<th scope="row">{pin}{_place_and_name(row)}{own}</th>',
        f'<td class="range">{_range(row, n_systems)}</td>',
        f'<td class="number">{n_tasks}</td>',
        f'<td class="number">{inseparable}</td>' if with_separability else "",
        *facts,
        *cells,
        "</tr>\n",
    ]
    return mark_safe("".join(parts))  # noqa: S308 -- names and reasons are escaped, the rest is ours


@register.simple_tag
def embedded_row(row: Row, columns: Sequence[Column]) -> SafeString:
    """One system on another site's page: place, name, and a cell for each column, without what can be ticked."""
    known_reasons = {as_sentence(column.reason) for column in columns}
    pairs = zip(row.cells, columns, strict=True)
    cells = "".join(_cell(cell, known_reasons, is_ranking=column.is_ranked) for cell, column in pairs)
    return mark_safe(f'<tr><th scope="row">{_place_and_name(row)}</th>{cells}</tr>\n')  # noqa: S308 -- as above


def _place_and_name(row: Row) -> str:
    name = escape(row.short_name or row.name)
    title = f' title="{escape(row.name)}"' if len(row.name) > LONG_NAME else ""
    linked = f'<a href="{escape(row.url)}"{title}>{name}</a>' if row.url else f"<span{title}>{name}</span>"
    mark = f' <span class="badge">{Baseline(row.baseline).label}</span>' if row.baseline != Baseline.NONE else ""
    among = f' <small class="among">{row.among_text}</small>' if row.among_text else ""
    kind = "" if row.mark is None else mark_of(row.mark)
    return f'<span class="place">{_predicted(row.n_predicted)}{row.place_text}</span>{kind}{linked}{mark}{among}'


def mark_of(group: Group) -> str:
    """The shape and colour of a group, with its text for screen readers."""
    text = escape(group.text)
    return f'<b class="mark m{group.mark}" title="{text}"></b>{_heard(f"{group.text}: ")}'


def _range(row: Row, n_systems: int) -> str:
    """Ranks of one system over all rules: a bar from the best to the worst, a tick at the median; below it, thin, the
    interval of its rank under the reference rule."""
    low, high, median = row.least_rank, row.greatest_rank, row.median_rank
    if low is None or high is None:
        return f"–{_heard(gettext('not ranked by any rule'))}"
    drawing = ""
    if n_systems > 1 and high <= n_systems:
        interval = f'<path class="i" d="M{row.interval[0]} 10H{row.interval[1]}"/>' if row.interval else ""
        drawing = (
            f'<svg viewBox="1 0 {n_systems - 1} 12" preserveAspectRatio="none" aria-hidden="true">'
            f'<path class="s" d="M{low} 5H{high}"/>{interval}<path class="m" d="M{median} 1V9"/></svg>'
        )
    text = f"{low}" if low == high else f"{low}–{high}"
    return f"{drawing}<span>{text}</span>{_heard(gettext(', median %(median)s') % {'median': median})}"


def _cell(cell: Cell, known_reasons: set[str], *, is_ranking: bool) -> str:
    """What one rule says of one system.

    Classes: `w` elected alone, `j` elected with others; `u1` to `u4` better and `d1` to `d4` worse than under the
    reference rule; `a` and `b` tied with the row above and below, which the style sheet draws as a bracket.
    """
    if cell.rank is None:
        # A dash. Its reason is here unless the row or the page's list of rules tells it.
        if is_ranking and cell.reason and as_sentence(cell.reason) not in known_reasons:
            heard = _heard(gettext("unranked: %(reason)s") % {"reason": cell.reason})
            return f'<td class=n title="{escape(cell.reason)}">–{heard}</td>'
        return "<td class=n>–</td>"
    names = ["w" if cell.is_sole_winner else "j"] if cell.rank == 1 or cell.is_winner else []
    if cell.shade and not cell.is_sole_winner:
        names.append(f"{'u' if cell.shade > 0 else 'd'}{abs(cell.shade)}")
    names += ["a"] if cell.joins_above else []
    names += ["b"] if cell.joins_below else []
    classes = " ".join(names)
    change = f"<i>{'↑' if cell.change > 0 else '↓'}{abs(cell.change)}</i>" if cell.change else ""
    interval = f"<em>{cell.interval_text}</em>" if cell.interval_text else ""
    score = f"<small>{escape(cell.score_text)}</small>" if cell.score_text else ""
    attribute = f' class="{classes}"' if " " in classes else f" class={classes}" if classes else ""
    rank = f"{'=' if cell.is_tied else ''}{cell.rank}"
    rank = f"<u>{rank}</u>" if "j" in names else rank
    return f"<td{attribute}>{_predicted(cell.n_predicted)}{rank}{change}{interval}{score}</td>"


def _predicted(n: int) -> str:
    """The mark of a rank that rests on `n` predicted scores."""
    if not n:
        return ""
    text = ngettext("%(n)s predicted score", "%(n)s predicted scores", n) % {"n": n}
    return f'<abbr title="{text}">≈</abbr>{_heard(gettext("%(text)s, rank ") % {"text": text})}'


def _heard(text: str) -> str:
    """Words for screen readers only."""
    return f'<i class="sr">{escape(text)}</i>' if text else ""
