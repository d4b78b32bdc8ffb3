"""The style guide: every component of pages, with invented systems, for people who change the site."""

from dataclasses import replace
from types import SimpleNamespace

from django import forms
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from leaderboard.boards.answers import camp_lines
from leaderboard.boards.rows import Cell, Row
from leaderboard.rankings.verdict import Camp

SHEETS = [f"css/{name}.css" for name in ("table", "answers", "toolbar", "board", "progress", "prospects", "styleguide")]
COLOURS = [
    ("Surfaces and ink", ["paper", "sheet", "shade", "ink", "ink-soft", "hairline", "rule"]),
    ("Accent", ["accent", "accent-strong", "accent-tint", "on-accent"]),
    ("Better and worse", [f"{way}-{step}" for way, steps in (("better", "4321"), ("worse", "1234")) for step in steps]),
    ("From nothing to all", [f"level-{step}" for step in range(1, 6)]),
    ("Series", [f"series-{k}" for k in range(1, 8)]),
    ("States", ["alert", "alert-tint", "sound", "sound-tint", "warn", "warn-tint", "note-tint"]),
]
CELL = Cell(rank=4, n_tied_with=0, change=0, score_text="", reason="", interval_text="")
ROW = Row(
    id=1, key="a", name="A", is_own=False, n_scored=9, n_voting_tasks=9, reference_rank=1, place=1, least_rank=1,
    median_rank=2.5, greatest_rank=30, cells=[], interval=(1, 12), url="#board",
)  # fmt: skip


class _Form(forms.Form):
    name = forms.CharField(label="A field", help_text="With its help.", required=False)
    agree = forms.BooleanField(label="A tick", required=False)
    wrong = forms.CharField(label="A field with an error")


@require_safe
def styleguide(request: HttpRequest) -> HttpResponse:
    """The page; there is none where the site is not being worked on."""
    if not settings.DEBUG:
        raise Http404(gettext("The style guide exists only in debug mode."))
    shades = [replace(CELL, change=change, shade=shade) for change, shade in
              ((40, 4), (20, 3), (8, 2), (2, 1), (-2, -1), (-8, -2), (-20, -3), (-40, -4))]  # fmt: skip
    others = [
        replace(CELL, rank=1, is_sole_winner=True),
        replace(CELL, rank=1, n_tied_with=1, joins_below=True),
        replace(CELL, n_tied_with=1, joins_below=True),
        replace(CELL, rank=None, change=None, reason="no score on 2 of 9 tasks of weight above 0"),
        replace(CELL, interval_text="2–7", score_text="0.8125"),
    ]
    below = [replace(cell, joins_below=False, joins_above=cell.joins_below) for cell in others]
    columns = [
        {"name": "Rule", "key": "rule", "status": "ranked", "reason": "", "n_ranked": 100, "sort_url": "#board"}
        for _ in shades + others
    ]
    columns[0] |= {"is_reference": True, "sort_state": "ascending"}
    columns[1] |= {"status": "computing"}
    columns[2] |= {"n_ranked": 60}
    context = {
        "sheets": SHEETS,
        "colours": COLOURS,
        "form": _Form({"name": "Text"}),
        "benchmark": SimpleNamespace(key="example", name="Example"),
        "options": [
            {"name": "Chosen", "text": gettext("What it means."), "url": "#choices", "is_active": True},
            {"name": "Other", "text": gettext("What it means."), "url": "#choices", "is_active": False},
        ],
        "rules": [("borda", "Borda"), ("mean", "Mean")],
        "downloads": [{"url": "#ranks", "label": label} for label in ("CSV", "LaTeX")],
        "chips": [{"text": "scores on all tasks", "url": "#choices"}],
        "pages": {"number": 2, "n_pages": 3, "previous_url": "#ranks", "next_url": "#ranks"},
        "camps": camp_lines([Camp(("Mean", "Borda"), ("ERNIE",), 1), Camp(("Copeland",), ("Human", "T5"), 2)]),
        "agreement": {
            "n_rules": 2, "from_text": "0", "least_text": "0.40", "greatest_text": "0.90", "median_x": 130,
            "dots": [{"x": 80, "name": "Veto", "text": "0.40"}, {"x": 180, "name": "Mean", "text": "0.90"}],
        },
        "columns": columns,
        "rows": [
            replace(ROW, cells=shades + others),
            replace(ROW, key="b", name="A system whose name is longer than there is room for", is_own=True,
                    cells=shades + below),
            replace(ROW, key="c", name="C", is_pinned=True, reference_rank=None, place=None, cells=shades + others),
        ],
    }  # fmt: skip
    return render(request, "styleguide.html", context)
