"""`stability`: one perturbation study, with its whole distribution."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ranking_engine.catalogue.registry import RULES
from ranking_engine.command_line.grids import Grid, escape_markdown, latex_grid, markdown_grid, text_grid
from ranking_engine.command_line.inputs import EXIT_STATUS, UsageError, add_input_arguments, read_inputs
from ranking_engine.command_line.progress import ProgressBar
from ranking_engine.core.aggregation import reweighted
from ranking_engine.core.missing import MISSING_POLICIES
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.files.csv_rows import csv_text
from ranking_engine.stability.catalogue import STUDIES, Study, get_study, run_study
from ranking_engine.text.names import listed, shorten

Report = dict[str, Any]

LIST = "list"
AGGREGATIONS = ("basic", "weighted", "balanced")
MAX_COLUMNS = 5  # of one curve in a table
AXES = ("levels", "n_reversed", "factors", "sizes")  # what a summary calls the places of its curves
DETAILS = ("deviation", "most_disruptive", "_tasks")  # figures that are for the JSON and the CSV
EXAMPLES = """\
examples:
  which studies there are, with their parameters
      python -m ranking_engine stability --study list
  delete scores at random, and see how far each ranking holds
      python -m ranking_engine stability scores.csv --study missing_scores
  two rules, other levels, fewer repeats, everything as JSON
      python -m ranking_engine stability scores.csv --study missing_scores --rule borda --rule copeland \\
          --param levels=0,10,20 --param n_repeats=20 --format json
"""


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command and its arguments."""
    command = commands.add_parser(
        "stability",
        help="how far the rankings can be trusted: one perturbation study",
        description="How far the rankings can be trusted when scores, tasks or systems change: one study at a time.",
        epilog=EXAMPLES + EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_input_arguments(command, is_file_optional=True)
    command.add_argument(
        "--study",
        metavar="NAME",
        required=True,
        choices=[*STUDIES, LIST],
        help=f"one of {', '.join(STUDIES)}, or {LIST} to see what they ask",
    )
    command.add_argument(
        "--param",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a parameter of the study: a word, a number, several with commas, or a value as in JSON; repeatable",
    )
    command.add_argument(
        "--rule",
        metavar="KEY",
        action="append",
        choices=list(RULES),
        help="study this rule only; repeatable where a study is of several",
    )
    command.add_argument(
        "--missing",
        metavar="POLICY",
        choices=list(MISSING_POLICIES),
        help=f"for rules that need all scores, one of {', '.join(MISSING_POLICIES)} (default: the study's)",
    )
    command.add_argument(
        "--aggregation", choices=AGGREGATIONS, default="basic", help="how groups of tasks count (default: basic)"
    )
    command.add_argument("--seed", metavar="N", type=_seed, default=0, help="of the random numbers (default: 0)")
    command.add_argument("--format", choices=list(FORMATS), default="table")
    command.set_defaults(run=run)


def _seed(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative")
    return number


def run(options: argparse.Namespace) -> str:
    """Run the study, and return what it found in the format asked for."""
    if options.study == LIST:
        return _catalogue(options.format)
    if options.file is None:
        raise UsageError("stability needs a FILE; --study list alone does without")
    study = get_study(options.study)
    given = _parameters(study, options)
    matrix = _matrix(options)
    try:
        with ProgressBar(study.key) as bar:
            result = run_study(study.key, matrix, given, options.seed, bar)
    except ValueError as error:
        raise UsageError(str(error)) from error
    report = {
        "study": study.key,
        "parameters": study.with_defaults(given),
        "seed": options.seed,
        "summary": result.summary,
        "distribution": {name: _plain(values.tolist()) for name, values in result.arrays.items()},
    }
    return FORMATS[options.format](report)


def _matrix(options: argparse.Namespace) -> ScoreMatrix:
    matrix, _ = read_inputs(options)
    try:
        return reweighted(matrix, options.aggregation)
    except ValueError as error:
        raise UsageError(f"--aggregation {options.aggregation}: {error}") from error


def _parameters(study: Study, options: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters that the arguments name."""
    given: dict[str, Any] = {}
    for text in options.param:
        name, sign, value = text.partition("=")
        if not sign:
            raise UsageError(f"--param {text}: expected NAME=VALUE, such as n_repeats=20")
        if name not in study.parameters:
            known = ", ".join(study.parameters)
            raise UsageError(f"--param {text}: the study {study.key} has the parameters {known}")
        given[name] = _value(value, study.parameters[name], text)
    if options.rule is not None:
        given.update(_rules(study, options.rule))
    if options.missing is not None:
        if "missing" not in study.parameters:
            raise UsageError(f"the study {study.key} has no choice of missing")
        given["missing"] = options.missing
    for key in _named_rules(given):
        if key not in RULES:
            raise UsageError(f"--param: there is no rule {shorten(key)!r}; there are {', '.join(RULES)}")
    return given


def _rules(study: Study, keys: list[str]) -> dict[str, Any]:
    """Return the parameter that --rule stands for: some studies are of several rules, some of one, some of none."""
    if "rules" in study.parameters:
        return {"rules": keys}
    if "rule" not in study.parameters:
        raise UsageError(f"the study {study.key} is not about single rules: leave out --rule")
    if len(keys) > 1:
        raise UsageError(f"the study {study.key} is of one rule: give --rule once")
    return {"rule": keys[0]}


def _named_rules(given: Mapping[str, Any]) -> list[str]:
    return [*(given.get("rules") or ()), *([given["rule"]] if given.get("rule") else [])]


def _value(text: str, default: object, argument: str) -> Any:  # noqa: ANN401 -- each parameter has its own type
    """Read a value of the same kind as the default, as JSON or as plain words and numbers with commas.

    A parameter without a default has its kind in `_KINDS_WITHOUT_DEFAULT`; `null` leaves it without a value.
    """
    name = argument.partition("=")[0]
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text.strip()
    if default is None and value is None:
        return None
    kind, example = _KINDS_WITHOUT_DEFAULT[name] if default is None else (_kind_of(default), default)
    if kind in _ITEMS and not isinstance(value, list):
        value = [_number_or_text(item) for item in value.split(",")] if isinstance(value, str) else [value]
    items = value if kind in _ITEMS else [value]
    if any(isinstance(item, float) and not math.isfinite(item) for item in items):
        raise UsageError(f"--param {shorten(argument)}: expected finite numbers")
    if not all(_is_of_kind(item, _ITEMS.get(kind, kind)) for item in items):
        what = "numbers, such as" if kind in ("numbers", "integers") else "a value like"
        raise UsageError(f"--param {shorten(argument)}: expected {what} {json.dumps(example)}")
    return value


_ITEMS = {"texts": "text", "numbers": "number", "integers": "integer"}
_KINDS_WITHOUT_DEFAULT: Mapping[str, tuple[str, object]] = {
    "rules": ("texts", ["borda", "copeland"]),
    "rule": ("text", "borda"),
    "n_reversed": ("integers", [1, 2]),
    "pool": ("texts", ["GPT-4", "T5"]),
    "n_top": ("integer", 5),
}
_LARGEST_NUMBER = 10**9


def _kind_of(default: object) -> str:
    if isinstance(default, list):
        return "texts" if any(isinstance(item, str) for item in default) else "numbers"
    kinds = {bool: "flag", int: "integer", float: "number"}
    return kinds.get(type(default), "text")


def _is_of_kind(value: object, kind: str) -> bool:
    if kind in ("text", "flag"):
        return isinstance(value, str if kind == "text" else bool)
    is_number = isinstance(value, int) or (kind == "number" and isinstance(value, float))
    return is_number and not isinstance(value, bool) and abs(value) <= _LARGEST_NUMBER  # type: ignore[arg-type]


def _number_or_text(text: str) -> Any:  # noqa: ANN401 -- a value as in JSON
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()


def _catalogue(form: str) -> str:
    """Return what studies there are."""
    if form == "json":
        entries = {
            key: {
                "name": study.name,
                "question": study.question,
                "source": study.source,
                "parameters": dict(study.parameters),
            }
            for key, study in STUDIES.items()
        }
        return json.dumps(entries, ensure_ascii=False, indent=2) + "\n"
    lines = []
    for key, study in STUDIES.items():
        defaults = " ".join(f"{name}={json.dumps(value)}" for name, value in study.parameters.items())
        lines += [key, f"    {study.question}", f"    {study.source}", f"    {defaults}", ""]
    return "\n".join(lines)


def _plain(value: Any) -> Any:  # noqa: ANN401 -- nested lists of numbers
    """Return nested lists without NaN and infinities, which JSON does not have."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_json(report: Report) -> str:
    """Return everything, as JSON."""
    return json.dumps(report, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def as_csv(report: Report) -> str:
    """Return the summary, a line a figure: rule, figure, place on its curve, value."""
    rows: list[list[object]] = []
    rows.append(["rule", "figure", "place", "value"])
    for rule, entry in _entries(report["summary"]).items():
        for figure, place, value in _figures(entry, report["summary"]):
            rows.append([rule, figure, place, value])
    return csv_text(rows)


def as_table(report: Report) -> str:
    """Return the summary as aligned text, with what was left out."""
    return "\n".join([*_heading(report), "", *text_grid(_grid(report)), "", *_notes(report)]) + "\n"


def as_markdown(report: Report) -> str:
    """Return the summary as a Markdown table, with notes."""
    notes = [f"- {escape_markdown(note)}" for note in _notes(report)]
    heading = [escape_markdown(line) for line in _heading(report)]
    return "\n".join([*heading, "", *markdown_grid(_grid(report)), "", *notes]) + "\n"


def as_latex(report: Report) -> str:
    """Return the summary as a LaTeX tabular; its rules need the package booktabs."""
    notes = [f"% {' '.join(note.split())}" for note in [*_heading(report), *_notes(report)]]
    return "\n".join([*notes, *latex_grid(_grid(report))]) + "\n"


FORMATS: Mapping[str, Callable[[Report], str]] = {
    "table": as_table,
    "json": as_json,
    "csv": as_csv,
    "markdown": as_markdown,
    "latex": as_latex,
}


def _heading(report: Report) -> list[str]:
    study = get_study(report["study"])
    return [f"{study.name}: {study.question}", study.source]


def _notes(report: Report) -> list[str]:
    left_out = report["summary"].get("not_studied", {})
    return [f"{_name(rule)} is left out: {reason}" for rule, reason in left_out.items()] + [f"Seed: {report['seed']}"]


def _entries(summary: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """Return the figures by rule; of a study that is not about rules, under an empty key."""
    if "rules" in summary and isinstance(summary["rules"], dict):
        return summary["rules"]
    return {"": summary}


def _figures(entry: Mapping[str, Any], summary: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield name, place on the curve and value of all figures of an entry."""
    for name, value in entry.items():
        if name in AXES:
            continue
        if isinstance(value, Mapping):
            for inner, place, figure in _figures(value, summary):
                yield f"{name}.{inner}", place, figure
        elif isinstance(value, list):
            for place, figure in zip(_places(len(value), {**summary, **entry}), value, strict=True):
                text = listed([str(item) for item in figure], limit=len(figure)) if isinstance(figure, list) else figure
                yield name, place, text
        else:
            yield name, "", value


def _places(length: int, summary: Mapping[str, Any]) -> list[str]:
    """Return what the places of a curve are called: by the summary, or 1, 2, 3, ..."""
    for axis in AXES:
        if axis in summary and len(summary[axis]) == length:
            return [str(place) for place in summary[axis]]
    return [str(k + 1) for k in range(length)]


def _grid(report: Report) -> Grid:
    """Return a row for each rule; of a curve some places, evenly spread; no texts and no details."""
    entries = _entries(report["summary"])
    columns: dict[tuple[str, str], None] = {}
    cells: dict[str, dict[tuple[str, str], str]] = {}
    for rule, entry in entries.items():
        cells[rule] = {}
        for figure, place, value in _figures(entry, report["summary"]):
            if not (isinstance(value, str) or any(detail in figure for detail in DETAILS)):
                cells[rule][figure, place] = _cell(value)
                columns[figure, place] = None
    is_news = {key for row in cells.values() for key, cell in row.items() if "undefined" not in key[0] or cell != "0"}
    shown = [key for key in _thinned(list(columns)) if key in is_news]
    if list(entries) == [""]:
        return [["figure", "value"], *([_header(key), cells[""].get(key, "-")] for key in shown)]
    header = ["rule", *(_header(key) for key in shown)]
    return [header, *([_name(rule), *(cells[rule].get(key, "-") for key in shown)] for rule in entries)]


def _header(key: tuple[str, str]) -> str:
    figure, place = key
    return f"{figure} {place}".rstrip().replace("_", " ")


def _thinned(columns: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Keep of each curve its first and its last place, and some between."""
    places: dict[str, list[str]] = {}
    for figure, place in columns:
        places.setdefault(figure, []).append(place)
    kept = {
        figure: {names[round(k)] for k in np.linspace(0, len(names) - 1, MAX_COLUMNS).tolist()}
        for figure, names in places.items()
    }
    return [(figure, place) for figure, place in columns if place in kept[figure]]


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _name(rule: str) -> str:
    return RULES[rule].name if rule in RULES else rule
