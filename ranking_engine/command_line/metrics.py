"""`metrics`: the metrics that predictions can be scored by."""

from __future__ import annotations

import argparse
import math

from ranking_engine.command_line.formats import Layout, TitledGrid, add_format_argument
from ranking_engine.command_line.inputs import EXIT_STATUS
from ranking_engine.evaluation.metric import Metric, Option
from ranking_engine.evaluation.metrics import METRICS, is_available, library_version
from ranking_engine.text.grids import Grid

EXAMPLES = """\
examples:
  python -m ranking_engine metrics
  python -m ranking_engine metrics --format json
"""
COLUMNS = ("key", "name", "better", "reference", "prediction", "error", "library", "version", "options")


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command and its arguments."""
    command = commands.add_parser(
        "metrics",
        help="list the metrics that predictions can be scored by",
        description="The metrics of predictions: what they take, whose library computes them, their options.",
        epilog=EXAMPLES + EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_format_argument(command, remark="; json tells most")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Return the list in the format asked for."""

    def bound(value: float) -> float | None:
        """Return an end of a scale, which stays an integer if it is one; None for one that there is not."""
        return value if math.isfinite(value) else None

    records = [
        {
            "key": metric.key,
            "name": metric.name,
            "description": metric.description,
            "lower_is_better": metric.lower_is_better,
            "lowest": bound(metric.lowest),
            "highest": bound(metric.highest),
            "reference": metric.reference_kind.value,
            "prediction": metric.prediction_kind.value,
            "decomposes": metric.decomposes,
            "error": metric.error_method.value,
            "takes_weights": metric.takes_weights,
            "library": metric.library.distribution,
            "is_available": is_available(metric),
            "version": library_version(metric),
            "citation": metric.citation,
            "options": [
                {
                    "key": option.key,
                    "description": option.description,
                    "kind": option.kind,
                    "default": option.default,
                    "is_needed": option.is_needed,
                    "lowest": bound(option.lowest),
                    "highest": bound(option.highest),
                    "choices": list(option.choices),
                }
                for option in metric.options
            ],
        }
        for metric in METRICS.values()
    ]
    return LAYOUT.written(records, options.format)


def _grid(_: object) -> Grid:
    return [list(COLUMNS), *map(cells_of, METRICS.values())]


LAYOUT = Layout(rows=_grid, blocks=lambda report: [TitledGrid(_grid(report))])


def cells_of(metric: Metric) -> list[str]:
    """Return the row of one metric."""
    return [
        metric.key,
        metric.name,
        "less" if metric.lower_is_better else "more",
        metric.reference_kind.value,
        metric.prediction_kind.value,
        metric.error_method.value,
        metric.library.distribution or "own code",
        library_version(metric) if is_available(metric) else "not installed",
        ", ".join(map(option_text, metric.options)),
    ]


def option_text(option: Option) -> str:
    """Return an option with its default, as `bins=15`; `positive=` where there is none."""
    if option.kind == "yes_no":
        return f"{option.key}={'yes' if option.default else 'no'}"
    return f"{option.key}={'' if option.default is None else option.default}"
