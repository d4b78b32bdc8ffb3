"""`stability`: one perturbation study, with its whole distribution."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ranking_engine.catalogue.registry import RULES, get_rule
from ranking_engine.catalogue.variants import variant_key
from ranking_engine.command_line.formats import Blocks, Layout, TitledGrid, add_format_argument
from ranking_engine.command_line.inputs import (
    EXIT_STATUS,
    REWEIGHTINGS,
    UsageError,
    add_input_arguments,
    aggregated,
    count_argument,
    read_inputs,
)
from ranking_engine.command_line.progress import ProgressBar
from ranking_engine.command_line.rule_options import EXAMPLE, read_rule_options
from ranking_engine.command_line.study_figures import (
    completion_tables,
    entries,
    figures,
    is_in_own_table,
    named_lists,
    own_tables,
    summary_rows,
)
from ranking_engine.core.missing import MISSING_POLICIES
from ranking_engine.stability.catalogue import (
    EXPERIMENTS,
    Study,
    checked_parameters,
    declared_parameters,
    get_study,
    run_study,
)
from ranking_engine.text.grids import cell
from ranking_engine.text.names import listed, shorten

Report = dict[str, Any]

LIST = "list"
MAX_COLUMNS = 5  # of one curve in a table
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
  the worst case of a variant, among the first twenty systems by mean
      python -m ranking_engine stability scores.csv --study worst_case --rule copeland \\
          --option copeland.variant=lower --first 20
"""


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command and its arguments."""
    command = commands.add_parser(
        "stability",
        help="how stable the rankings are: one perturbation study",
        description="How stable the rankings are when scores, tasks or systems change: one study at a time.",
        epilog=EXAMPLES + EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_input_arguments(command, is_file_optional=True)
    command.add_argument(
        "--study",
        metavar="NAME",
        required=True,
        choices=[*EXPERIMENTS, LIST],
        help=f"one of {', '.join(EXPERIMENTS)}, or {LIST} to see what they ask",
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
        help="study this rule only, or a variant such as copeland[variant=lower]; repeatable where a study has several",
    )
    command.add_argument(
        "--option",
        metavar="RULE.NAME=VALUE",
        action="append",
        default=[],
        help=f"an option of a rule, such as {EXAMPLE} or positional.vector=12,10,8; repeatable",
    )
    command.add_argument("--first", metavar="K", type=int, help="keep the first K systems only, tied ones included")
    command.add_argument("--first-by", metavar="KEY", help="the rule that says which are first (default: mean)")
    command.add_argument(
        "--missing",
        metavar="POLICY",
        choices=list(MISSING_POLICIES),
        help=f"for rules that need all scores, one of {', '.join(MISSING_POLICIES)} (default: the study's)",
    )
    command.add_argument(
        "--aggregation",
        choices=REWEIGHTINGS,
        help="how groups of tasks count (default: the benchmark file's, else basic)",
    )
    command.add_argument(
        "--seed", metavar="N", type=count_argument, default=0, help="of the random numbers (default: 0)"
    )
    add_format_argument(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Run the study, and return what it found in the format asked for."""
    if options.study == LIST and options.format == "json":
        facts = ("name", "question", "source")
        entries = {
            key: {**{fact: getattr(study, fact) for fact in facts}, "parameters": dict(study.parameters)}
            for key, study in EXPERIMENTS.items()
        }
        return json.dumps(entries, ensure_ascii=False, indent=2) + "\n"
    if options.study == LIST:
        lines = []
        for key, study in EXPERIMENTS.items():
            defaults = " ".join(f"{name}={json.dumps(value)}" for name, value in study.parameters.items())
            lines += [key, f"    {study.question}", f"    {study.source}", f"    {defaults}", ""]
        return "\n".join(lines)
    if not options.files:
        raise UsageError("stability needs a FILE; --study list alone does without")
    study = get_study(options.study)
    given = _parameters(study, options)
    matrix = aggregated(read_inputs(options)[0], options.aggregation)
    try:
        parameters = checked_parameters(study.key, given)
        with ProgressBar(study.key) as bar:
            result = run_study(study.key, matrix, parameters, options.seed, bar)
    except ValueError as error:
        raise UsageError(str(error)) from error
    report = {
        "study": study.key,
        "parameters": parameters,
        "seed": options.seed,
        "summary": result.summary,
        "distribution": {name: _plain(values.tolist()) for name, values in result.arrays.items()},
    }
    return LAYOUT.written(report, options.format)


def _parameters(study: Study, options: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters that the arguments name."""
    known = {parameter.name: parameter for parameter in declared_parameters(study.key)}
    given: dict[str, Any] = {}
    for text in options.param:
        name, sign, value = text.partition("=")
        if not sign:
            raise UsageError(f"--param {shorten(text)}: expected NAME=VALUE, such as n_repeats=20")
        if name not in known:
            raise UsageError(f"--param {shorten(text)}: the study {study.key} has the parameters {', '.join(known)}")
        try:
            given[name] = known[name].read(value)
        except ValueError as error:
            raise UsageError(f"--param {shorten(text)}: {error}") from error
    if options.rule is not None:
        # Some studies are of several rules, some of one, some of none.
        if "rules" in study.parameters:
            given["rules"] = options.rule
        elif "rule" not in study.parameters:
            raise UsageError(f"the study {study.key} is not about single rules: leave out --rule")
        elif len(options.rule) > 1:
            raise UsageError(f"the study {study.key} is of one rule: give --rule once")
        else:
            given["rule"] = options.rule[0]
    if options.option:
        given.update(_variants(study, given, options.option))
    if options.missing is not None:
        if "missing" not in study.parameters:
            raise UsageError(f"the study {study.key} has no choice of missing")
        given["missing"] = options.missing
    scope = {"first": options.first, "first_by": options.first_by}
    return given | {name: value for name, value in scope.items() if value is not None}


def _variants(study: Study, given: Mapping[str, Any], texts: list[str]) -> dict[str, Any]:
    """Return the rules with the options that --option states: each rule named there is studied as that variant."""
    try:
        variants = {key: variant_key(RULES[key], options) for key, options in read_rule_options(texts).items()}
        for key in variants.values():
            get_rule(key)
    except ValueError as error:
        raise UsageError(str(error)) from error
    if "rule" in study.parameters:
        if list(variants) != [given.get("rule")]:
            raise UsageError(
                f"--option is about {listed(list(variants))}, and --rule names {given.get('rule') or 'none'}"
            )
        return {"rule": variants[given["rule"]]}
    if "rules" not in study.parameters:
        raise UsageError(f"the study {study.key} is not about single rules: leave out --option")
    named = given.get("rules") or [key for key, rule in RULES.items() if not rule.parameters or key in variants]
    if left := [key for key in variants if key not in named]:
        raise UsageError(f"--option is about {listed(left)}, which --rule does not name")
    return {"rules": [variants.get(key, key) for key in named]}


def _plain(value: Any) -> Any:  # noqa: ANN401 -- nested lists of numbers
    """Return nested lists without NaN and infinities, which JSON does not have."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _rows(report: Report) -> list[list[object]]:
    """Return a line a figure: rule, figure, place on its curve, value; last how slow rules took part."""
    rows: list[list[object]] = [["rule", "figure", "place", "value"], *summary_rows(report["study"], report["summary"])]
    for rule, entry in report["summary"].get("slow_rules", {}).items():
        rows += [[rule, f"slow_rules.{name}", "", value] for name, value in entry.items()]
    return rows


def _heading(report: Report) -> str:
    study = get_study(report["study"])
    return f"{study.name}: {study.question}\n{study.source}"


def _notes(report: Report) -> list[str]:
    left_out = report["summary"].get("not_studied", {})
    notes = [f"{_name(rule)} is left out: {reason}" for rule, reason in left_out.items()]
    named = named_lists(report["summary"])
    if said := report["summary"].get("note"):
        notes.append(f"{said[0].upper()}{said[1:]}")
    return [*notes, *named, *slow_rule_notes(report["summary"]), f"Seed: {report['seed']}"]


def slow_rule_notes(summary: Mapping[str, Any]) -> list[str]:
    """Return for each slow rule of a summary how many repeats it ranked, and which share of orders is proven."""
    notes = []
    for rule, entry in summary.get("slow_rules", {}).items():
        tables = ""
        if entry["proven"] is not None:
            share = math.floor(1000 * entry["proven"]) / 10  # never 100 % where one is open
            tables = f"; orders proven to be the best: {share:.1f} % of {entry['n_tables']:,}"
        resamples = ""
        if "n_resamples" in entry:
            resamples = f", and {entry['n_resamples']:,} of {entry['of_resamples']:,} resamples in each round"
        notes.append(f"{_name(rule)} ranked {entry['n_repeats']:,} of {entry['of']:,} repeats{resamples}{tables}")
    return notes


def _blocks(report: Report) -> Blocks:
    """Return the summary, a row for each rule, and the tables of this study.

    Of a curve there are some places, evenly spread; there are no texts and no details.
    """
    by_rule, axes = entries(report["summary"]), get_study(report["study"]).axes
    columns: dict[tuple[str, str], None] = {}
    cells: dict[str, dict[tuple[str, str], str]] = {}
    for rule, entry in by_rule.items():
        cells[rule] = {}
        for figure, place, value in figures(entry, report["summary"], axes):
            is_apart = not rule and is_in_own_table(figure)
            if not (is_apart or isinstance(value, str) or any(detail in figure for detail in DETAILS)):
                cells[rule][figure, place] = cell(value)
                columns[figure, place] = None
    # Keep of each curve its first and its last place, and some between.
    places: dict[str, list[str]] = {}
    for figure, place in columns:
        places.setdefault(figure, []).append(place)
    visible = {
        (figure, names[round(k)])
        for figure, names in places.items()
        for k in np.linspace(0, len(names) - 1, MAX_COLUMNS).tolist()
    }
    is_news = {key for row in cells.values() for key, cell in row.items() if "undefined" not in key[0] or cell != "0"}
    kept = [key for key in columns if key in visible and key in is_news]
    if list(by_rule) == [""]:
        grid = [["figure", "value"], *([_header(key), cells[""].get(key, "-")] for key in kept)]
    else:
        grid = [["rule", *map(_header, kept)]]
        grid += [[_name(rule), *(cells[rule].get(key, "-") for key in kept)] for rule in by_rule]
    tables = [*own_tables(report["summary"]), *completion_tables(report["summary"])]
    own = [TitledGrid(table, caption=title) for title, table in tables]
    return [TitledGrid(grid), *own]


def _header(key: tuple[str, str]) -> str:
    figure, place = key
    return f"{figure} {place}".rstrip().replace("_", " ")


def _name(rule: str) -> str:
    return get_rule(rule).name if rule else rule


LAYOUT = Layout(rows=_rows, blocks=_blocks, heading=_heading, notes=_notes)
