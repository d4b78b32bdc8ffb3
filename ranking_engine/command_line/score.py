"""`score`: the figure of predictions against references, with its standard error."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path
from typing import Any

from ranking_engine.command_line.formats import NOTHING, Blocks, Layout, TitledGrid, add_format_argument
from ranking_engine.command_line.inputs import EXIT_STATUS, STANDARD_INPUT, UsageError
from ranking_engine.evaluation.metrics import METRICS, ErrorMethod, Kind, evaluate
from ranking_engine.evaluation.reading import read_predictions, read_references
from ranking_engine.evaluation.rows import MAX_BYTES
from ranking_engine.files.csv_rows import csv_text
from ranking_engine.text.names import shorten

Report = dict[str, Any]

EXAMPLES = """\
examples:
  python -m ranking_engine score --metric accuracy --references labels.csv --predictions mine.jsonl
  python -m ranking_engine score --metric f1 --option positive=spam --references labels.csv --predictions mine.csv
  python -m ranking_engine score --metric bleu --references texts.jsonl --predictions mine.jsonl --format json

files: CSV, JSON lines or Parquet. References: `id` and `reference`, and, if you have them, `split`, `weight`, `cluster`
and `category`; predictions: `id` and `prediction`. Instances of one cluster count as one in the standard error.
"""


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command and its arguments."""
    command = commands.add_parser(
        "score",
        help="score predictions against references",
        description="The figure of predictions by a metric of the field's own libraries, with its standard error.",
        epilog=EXAMPLES + EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("--metric", metavar="KEY", required=True, help="the command `metrics` lists them")
    command.add_argument("--references", metavar="FILE", required=True, help="what is right")
    command.add_argument("--predictions", metavar="FILE", required=True, help="of one system; - is standard input")
    command.add_argument(
        "--option",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        type=option_value,
        help="of the metric, such as positive=spam; repeatable",
    )
    command.add_argument(
        "--split", metavar="NAME", action="append", default=[], help="score these splits alone; repeatable"
    )
    command.add_argument(
        "--seed", metavar="N", type=int, default=0, help="of the bootstrap, where a metric needs one (default: 0)"
    )
    command.add_argument(
        "--instances",
        metavar="FILE",
        type=Path,
        help="write the values of the instances to FILE, as CSV",
    )
    add_format_argument(command)
    command.set_defaults(run=run)


def option_value(text: str) -> tuple[str, str]:
    """Return the name and the value of an option of a metric, or raise an ArgumentTypeError."""
    name, mark, value = text.partition("=")
    if not mark:
        raise argparse.ArgumentTypeError(f"{shorten(text)!r}: expected NAME=VALUE, such as positive=spam")
    return name.strip(), value


def run(options: argparse.Namespace) -> str:
    """Score, and return the result in the format asked for."""
    metric = METRICS.get(options.metric)
    if metric is None:
        raise UsageError(f"no metric is called {shorten(options.metric)!r}; the command `metrics` lists them")
    if options.seed < 0:
        raise UsageError("--seed is below 0")
    chosen = metric.read_options(dict(options.option))
    references = read_references(_bytes_of(options.references), options.references, metric)
    every = references.ids
    if options.split:
        try:
            references = references.of_splits(*options.split)
        except ValueError as error:
            raise UsageError(str(error)) from error
    predictions = read_predictions(
        _bytes_of(options.predictions), options.predictions, references, metric, others=every
    )
    if (
        metric.prediction_kind == Kind.LABEL
        and references.values
        and set(references.values).isdisjoint(predictions.values)
    ):
        examples = f"{shorten(predictions.values[0])!r} and {shorten(references.values[0])!r}"
        print(f"note: no predicted label is a label of the references, such as {examples}", file=sys.stderr)
    try:
        result = evaluate(metric, references, predictions, chosen, seed=options.seed)
    except ValueError as error:
        raise UsageError(str(error)) from error
    if options.instances:
        if result.instance_values is None:
            raise UsageError(f"{metric.name} is no mean of values of instances: --instances has nothing to write")
        rows = zip(references.ids, result.instance_values.tolist(), strict=True)
        options.instances.write_text(csv_text([["id", "value"], *rows]), encoding="utf-8")
    report = {
        "metric": result.metric,
        "value": result.value,
        "standard_error": result.standard_error,
        "error_method": result.error_method.value,
        "n_instances": result.n_instances,
        "n_clusters": result.n_clusters,
        "by_split": {name: dataclasses.asdict(part) for name, part in result.by_split.items()},
        "by_category": {name: dataclasses.asdict(part) for name, part in result.by_category.items()},
        "library": result.library,
        "library_version": result.library_version,
        "options": dict(result.options),
    }
    return LAYOUT.written(report, options.format)


def _bytes_of(name: str) -> bytes:
    """Return the bytes of a file, or of standard input, and no more than are read of it."""
    if name == STANDARD_INPUT:
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    with Path(name).open("rb") as file:
        return file.read(MAX_BYTES + 1)


def _parts(report: Report) -> list[tuple[str, str, Report]]:
    """Return the figures of all instances, of each split and of each category, with what they are of."""
    splits = [("split", name, part) for name, part in report["by_split"].items()]
    categories = [("category", name, part) for name, part in report["by_category"].items()]
    return [("", "", report), *splits, *categories]


def _rows(report: Report) -> list[list[object]]:
    """Return a row for all instances, for each split and for each category."""
    figures = ("standard_error", "n_instances")
    rows = [[kind, name, part["value"], *(part[figure] for figure in figures)] for kind, name, part in _parts(report)]
    return [["part", "name", report["metric"], *figures], *rows]


def _blocks(report: Report) -> Blocks:
    """Return the same figures as a table, and below it how they were computed."""
    grid = [["instances", METRICS[report["metric"]].name, "standard error", "n"]]
    for kind, name, part in _parts(report):
        figures = (part["value"], part["standard_error"])
        cells = [NOTHING if figure is None else f"{figure:.6g}" for figure in figures]
        grid.append([f"{kind} {name}" if kind else "all", *cells, f"{part['n_instances']:,}"])
    clusters = f", in {report['n_clusters']:,} clusters" if report["n_clusters"] < report["n_instances"] else ""
    method = {
        "mean": "standard error of a mean",
        "jackknife": "standard error by the jackknife",
        "bootstrap": "standard error by 200 resamples",
        "none": "this metric has no standard error",
    }[report["error_method"]]
    source = f"{report['library']} {report['library_version']}" if report["library"] else "own code"
    text = f"Computed by {source}; {method}{clusters}."
    if report["error_method"] != ErrorMethod.NONE and any(
        part["standard_error"] is None and part["value"] is not None for _, _, part in _parts(report)
    ):
        text += (
            "\nNo standard error (-): fewer than ten instances or clusters, in all or of a label that counts by "
            "itself, or as good as fewer because their sizes or weights differ much, or all of them are alike."
        )
    return [TitledGrid(grid), text]


LAYOUT = Layout(rows=_rows, blocks=_blocks)
