"""The form of the board's filters and columns, and the chips that say what narrows a view."""

from typing import Any

from django.utils.translation import gettext

from leaderboard.boards.board import Board
from leaderboard.boards.filters import tags_of
from leaderboard.boards.groups import groupable, mark_options
from leaderboard.boards.query import BoardQuery, bounds_of, query_pairs

# What the form of filters and columns asks itself; everything else of the query goes along hidden.
FORM_FIELDS = ("q", "tags", "least", "most", "meta", "complete_only", "top", "pins", "rules", "families", "fields",
               "group", "mark", "page")  # fmt: skip


def filter_form(board: Board, query: BoardQuery) -> dict[str, Any]:
    """What the form of filters and columns shows, and what goes along with it."""
    limits = bounds_of(query)
    known = {name for one in board.about.values() for name in one.metadata} | {*limits, *dict(query.meta)}
    fields = [field for field in board.fields if field.key in known]
    bounds = [
        {
            "name": field.key,
            "label": f"{field.name}, {field.unit}" if field.unit else field.name,
            "least": limits.get(field.key, ("", ""))[0],
            "most": limits.get(field.key, ("", ""))[1],
        }
        for field in fields
        if field.kind in ("number", "date")
    ]
    options = {"yes_no": ("yes", "no")}
    choices = [
        {
            "key": field.key,
            "name": field.name,
            "options": options.get(field.kind, field.choices),
            "value": dict(query.meta).get(field.key, ""),
        }
        for field in fields
        if field.kind not in ("number", "date", "link")
    ]
    tags = sorted({*tags_of(board.about), *query.tags})
    groups = [{"key": field.key, "name": field.name} for field in groupable(fields)]
    return {
        "q": query.q,
        "complete_only": query.complete_only,
        "top": query.top or "",
        "tags": [{"name": tag, "is_ticked": tag in query.tags} for tag in tags],
        "bounds": bounds,
        "choices": choices,
        "fields": [
            {"key": field.key, "name": field.name, "is_ticked": field.key in query.fields} for field in board.fields
        ],
        "n_filters": len(query.tags) + len(limits) + len(query.meta) + query.complete_only + bool(query.top),
        "has_columns": bool(query.rules or query.families or query.fields),
        "groups": groups,
        "group": query.group,
        "group_name": next((one["name"] for one in groups if one["key"] == query.group), ""),
        "marks": mark_options(fields, list(board.about.values()), board.marked_by),
        "hidden_fields": query_pairs(query, without=FORM_FIELDS),
    }


def narrowed_by(board: Board, query: BoardQuery, reference_name: str) -> list[tuple[str, dict[str, Any]]]:
    """What narrows a view, each with the fields of the query that take it away.

    Args:
        board: the view.
        query: that asked for it.
        reference_name: of the rule that the first k are of.
    """
    chips: list[tuple[str, dict[str, Any]]] = []
    chips += [(gettext("name has “%(text)s”") % {"text": query.q}, {"q": ""})] if query.q.strip() else []
    chips += [(tag, {"tags": tuple(t for t in query.tags if t != tag)}) for tag in query.tags]
    names = {field.key: field.name for field in board.fields}
    for way, sign in (("least", "≥"), ("most", "≤"), ("meta", gettext("is"))):
        pairs: tuple[tuple[str, str], ...] = getattr(query, way)
        for key, text in pairs:
            words = f"{names.get(key, key)} {sign} {text}"
            chips.append((words, {way: tuple(one for one in pairs if one != (key, text))}))
    chips += [(gettext("scores on all tasks"), {"complete_only": False})] if query.complete_only else []
    if query.top:
        text = gettext("top %(n)s under %(rule)s") % {"n": query.top, "rule": reference_name}
        chips.append((text, {"top": 0}))
    if query.pins:
        chips.append((gettext("%(n)s pinned") % {"n": board.n_pinned}, {"pins": ()}))
    if query.group:
        text = gettext("grouped by %(field)s") % {"field": names.get(query.group, query.group)}
        chips.append((text, {"group": ""}))
    return chips
