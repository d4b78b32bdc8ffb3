"""The figures of the page as SVG files in docs/figures/, drawn by the site's charts and templates."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict

import django
from django.conf import settings
from django.template import Context, Engine
from django.utils.html import escape

from leaderboard.common.charts.papers import plane_chart, plot_chart
from reproduction.boards import REPOSITORY
from reproduction.tables import Plane, Plot

FOLDER = REPOSITORY / "docs" / "figures"
COLOURS = ("#07566f", "#a23f00", "#0a6148", "#8a6100", "#5b3a8c", "#a0152f", "#4a5862", "#00599b", "#7a4a2b", "#3d7d1f")
STYLE = """
svg { background: #fcfdfc; }
text { font: 11px system-ui, sans-serif; fill: #4a5862; }
.grid { stroke: #d3dad9; fill: none; }
.tick.is-y { text-anchor: end; dominant-baseline: middle; transform: translateX(-6px); }
.tick.is-x { text-anchor: middle; transform: translateY(16px); }
.axis.is-x { text-anchor: end; transform: translateY(-6px); }
.axis.is-y { transform: translate(48px, 2px); dominant-baseline: hanging; }
.line { fill: none; stroke-width: 2px; }
.dot { fill: #07566f; stroke: #fcfdfc; stroke-width: 1.5px; }
.whisker { stroke: #07566f; stroke-width: 2px; opacity: 0.5; }
.dot-name { transform: translate(8px, 4px); fill: #15222b; }
.legend { fill: #15222b; }
"""
ROW, COLUMNS = 18, 3


def svg_of(figure: Plot | Plane) -> str:
    """Return a figure as a file of its own, its style and the names of its curves within."""
    if not settings.configured:
        settings.configure(USE_I18N=False)
        django.setup()
    is_plot = isinstance(figure, Plot)
    chart = plot_chart(asdict(figure)) if is_plot else plane_chart(asdict(figure))
    engine = Engine(dirs=[str(REPOSITORY / "templates")])
    template = engine.get_template(f"papers/_paper_{'plot' if is_plot else 'plane'}.html")
    text = template.render(Context({"chart": chart, "id": figure.key})).strip()
    names = list(figure.curves) if isinstance(figure, Plot) else []
    rows = -(-len(names) // COLUMNS)
    legend = [_entry(i, name, chart.height) for i, name in enumerate(names)]
    whole = f'viewBox="0 0 {chart.width} {chart.height + ROW * rows + (8 if rows else 0)}"'
    text = re.sub(r'viewBox="[^"]*"', whole, text, count=1)
    style = STYLE + "".join(
        f".series-{i + 1} {{ stroke: {colour};{' stroke-dasharray: 6 3;' if i % 2 else ''} }}\n"
        for i, colour in enumerate(COLOURS)
    )
    text = text.replace("<title", f"<style>{style}</style>\n  <title", 1)
    return text.removesuffix("</svg>") + "".join(f"{line}\n" for line in legend) + "</svg>\n"


def _entry(number: int, name: str, below: int) -> str:
    """Return one name of the legend with its line."""
    x, y = 20 + 205 * (number % COLUMNS), below + 14 + ROW * (number // COLUMNS)
    line = f'<path class="line series-{number + 1}" d="M{x} {y}h24"/>'
    return f'{line}<text class="legend" x="{x + 30}" y="{y + 4}">{escape(name)}</text>'


def write(figures: Iterable[Plot | Plane]) -> int:
    """Write all figures, take away those that are no more, and return how many there are."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    drawn = {f"{figure.key}.svg": svg_of(figure) for figure in figures}
    for old in FOLDER.glob("*.svg"):
        if old.name not in drawn:
            old.unlink()
    for name, text in drawn.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return len(drawn)
