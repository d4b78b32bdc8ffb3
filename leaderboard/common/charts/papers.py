"""The figures of the papers page: what is stored of a figure, laid out as a chart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leaderboard.common.charts.lines import Curve, LineChart, line_chart
from leaderboard.common.charts.scatter import Point, Scatter, scatter

N_SERIES = 10  # colours and dashes that the style sheet has


def plot_chart(plot: Mapping[str, Any]) -> LineChart:
    """Lay out curves; `plot` has title, description, x_label, y_label, places, curves by name, and top."""
    curves = [
        Curve(str(number % N_SERIES + 1), name, values) for number, (name, values) in enumerate(plot["curves"].items())
    ]
    return line_chart(
        plot["title"],
        plot["description"],
        curves,
        plot["places"],
        x_label=plot["x_label"],
        y_label=plot["y_label"],
        top=plot["top"],
    )


def plane_chart(plane: Mapping[str, Any]) -> Scatter:
    """Lay out points; `plane` has title, description, x_label, y_label, and points (name, x, low, high)."""
    points = [Point(name, name, x, low, high) for name, x, low, high in plane["points"]]
    return scatter(plane["title"], plane["description"], points, x_label=plane["x_label"], y_label=plane["y_label"])
