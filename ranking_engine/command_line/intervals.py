"""`intervals`: the rank of every system if the same tasks were drawn again with replacement."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.catalogue.dispatch import rank_all
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.command_line.formats import (
    NOTHING,
    Blocks,
    Layout,
    TitledGrid,
    add_format_argument,
    best_first,
    rank_cell,
)
from ranking_engine.command_line.inputs import (
    DEFAULT_POLICY,
    EXIT_STATUS,
    REWEIGHTINGS,
    UsageError,
    add_input_arguments,
    aggregated,
    read_inputs,
    rule_argument,
)
from ranking_engine.command_line.progress import ProgressBar
from ranking_engine.core.missing import MISSING_POLICIES
from ranking_engine.core.ranking import UNRANKED
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.importers.score_files import read_score_files
from ranking_engine.stability.bootstrap import RESAMPLES, rank_intervals
from ranking_engine.stability.resampling.measured_ranks import measured_rank_intervals
from ranking_engine.text.grids import Grid
from ranking_engine.text.names import fold_name, shorten

Report = dict[str, Any]
Ranks = NDArray[np.int32]

_INTERVALS = ("intervals", "simultaneous_intervals")
DEFAULT_RULE = "borda"
MAX_RESAMPLES = 1_000_000
EXAMPLES = """\
examples:
  ranks under Borda, each system's interval by itself
      python -m ranking_engine intervals scores.csv
  two rules, with intervals that hold for all systems at once and the systems that may be best
      python -m ranking_engine intervals scores.csv --rule mean --rule copeland --simultaneous --format json
  from standard errors of the scores, in a table like that of the scores, if every score were measured again
      python -m ranking_engine intervals scores.csv --errors errors.csv

Without --errors the same tasks are drawn again with replacement, those of one cluster or group together; there must be
8 to draw from. Intervals are wider where these are few: see docs/calibration.md.
"""


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command and its arguments."""
    command = commands.add_parser(
        "intervals",
        help="between which ranks each system is, if the same tasks were drawn again with replacement",
        description="Rank intervals: if the same tasks were drawn again with replacement, each system by itself.",
        epilog=EXAMPLES + EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_input_arguments(command)
    command.add_argument(
        "--rule",
        metavar="KEY",
        action="append",
        type=rule_argument,
        help=f"rank by this rule, or a variant such as copeland[variant=lower]; repeatable (default: {DEFAULT_RULE})",
    )
    command.add_argument(
        "--errors",
        metavar="FILE",
        type=Path,
        help="a table of standard errors: every score is drawn again around itself, and all tasks stay",
    )
    command.add_argument(
        "--simultaneous",
        action="store_true",
        help="with intervals that hold for all systems at once, and the systems that may be the best",
    )
    command.add_argument(
        "--resamples", metavar="N", type=int, help="how many draws (default: 4,000; 1,000 with more than 300 systems)"
    )
    command.add_argument("--level", metavar="P", type=float, default=0.95, help="of the intervals (default: 0.95)")
    command.add_argument("--seed", metavar="N", type=int, default=0, help="of the random numbers (default: 0)")
    command.add_argument(
        "--missing",
        metavar="POLICY",
        choices=list(MISSING_POLICIES),
        help=f"for rules that need all scores, one of {', '.join(MISSING_POLICIES)} "
        f"(default: the benchmark file's policy, else {DEFAULT_POLICY})",
    )
    command.add_argument(
        "--aggregation",
        choices=REWEIGHTINGS,
        help="how groups of tasks count (default: the benchmark file's, else basic)",
    )
    add_format_argument(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Draw the tasks, and return the intervals in the format asked for."""
    if options.resamples is not None and not 1 <= options.resamples <= MAX_RESAMPLES:
        raise UsageError(f"--resamples is {options.resamples}; expected 1 to {MAX_RESAMPLES}")
    rules = list(dict.fromkeys(options.rule or [DEFAULT_RULE]))
    matrix, benchmark = read_inputs(options)
    missing = options.missing or (benchmark.policy if benchmark else None) or DEFAULT_POLICY
    if options.errors is not None:
        return LAYOUT.written(_report_from_errors(matrix, rules, missing, options), options.format)
    try:
        matrix = aggregated(matrix, options.aggregation)
        with ProgressBar("drawing tasks") as bar:
            intervals = rank_intervals(
                matrix,
                rules,
                n_resamples=options.resamples,
                level=options.level,
                seed=options.seed,
                missing=missing,
                simultaneous=options.simultaneous,
                progress=bar,
            )
    except ValueError as error:
        raise UsageError(str(error)) from error
    names, entries = matrix.system_names, dict[str, Report]()
    for key, ranking in rank_all(matrix, rules, missing=missing).items():
        ranks = [None if rank == UNRANKED else rank for rank in ranking.ranks.tolist()]
        entry = entries[key] = {"name": get_rule(key).name, "ranks": dict(zip(names, ranks, strict=True))}
        reason = intervals.reason or intervals.undefined.get(key, "") or intervals.skipped.get(key, "")
        if reason:
            entry["reason"] = reason
            continue
        entry["n_resamples"] = intervals.n_drawn[key]
        if key in intervals.proven:
            entry["proven"] = intervals.proven[key]
        entry["intervals"] = _by_name(names, intervals.lower[key], intervals.upper[key])
        entry["largest_error"] = int(intervals.errors[key].max())
        if key in intervals.not_simultaneous:
            entry["no_simultaneous"] = intervals.not_simultaneous[key]
        if key in intervals.simultaneous:
            together = intervals.simultaneous[key]
            entry["simultaneous_intervals"] = _by_name(names, together.lower, together.upper)
            best = zip(names, together.possibly_best, strict=True)
            entry["possibly_best"] = sorted(name for name, is_best in best if is_best)
    report: Report = {
        "level": intervals.level,
        "seed": intervals.seed,
        "missing": intervals.missing,
        "n_clusters": intervals.n_clusters,
        "is_simultaneous": options.simultaneous,
        "rules": entries,
    }
    return LAYOUT.written(report, options.format)


def _report_from_errors(matrix: ScoreMatrix, rules: list[str], missing: str, options: argparse.Namespace) -> Report:
    """Return the report of intervals from a table of standard errors, whose names are those of the scores."""
    if options.simultaneous:
        raise UsageError("--simultaneous does not go with --errors: these intervals are for each system by itself")
    table = read_score_files([options.errors]).matrix()
    places = [
        {fold_name(name): k for k, name in enumerate(names)} for names in (matrix.system_names, matrix.task_names)
    ]
    errors = np.full(matrix.values.shape, np.nan)
    for i, system in enumerate(table.system_names):
        for t, task in enumerate(table.task_names):
            row, column = places[0].get(fold_name(system)), places[1].get(fold_name(task))
            if row is None or column is None:
                what = f"system {shorten(system)!r}" if row is None else f"task {shorten(task)!r}"
                raise UsageError(f"--errors {options.errors} has the {what}; the table of scores has none of that name")
            errors[row, column] = table.values[i, t]
    try:
        with ProgressBar("drawing scores") as bar:
            by_rule = measured_rank_intervals(
                aggregated(matrix, options.aggregation), errors, rules, n_draws=options.resamples or RESAMPLES,
                level=options.level, seed=options.seed, missing=missing, progress=bar,
            )  # fmt: skip
    except ValueError as error:
        raise UsageError(str(error)) from error
    entries: dict[str, Report] = {}
    for key, of_rule in by_rule.items():
        ranks = [None if rank == UNRANKED else rank for rank in of_rule.ranks.tolist()]
        entry = entries[key] = {
            "name": get_rule(key).name, "ranks": dict(zip(matrix.system_names, ranks, strict=True)),
        }  # fmt: skip
        if of_rule.reason:
            entry["reason"] = of_rule.reason
        else:
            entry |= {
                "n_resamples": of_rule.n_draws,
                "intervals": _by_name(matrix.system_names, of_rule.lower, of_rule.upper),
            }  # fmt: skip
    return {
        "level": options.level, "seed": options.seed, "missing": missing, "drawn": "scores",
        "is_simultaneous": False, "rules": entries,
    }  # fmt: skip


def _by_name(names: tuple[str, ...], lower: Ranks, upper: Ranks) -> dict[str, list[int] | None]:
    ends = zip(lower.tolist(), upper.tolist(), strict=True)
    return {name: None if low == UNRANKED else [low, high] for name, (low, high) in zip(names, ends, strict=True)}


def _rows(report: Report) -> list[list[object]]:
    """Return a row for each rule and system."""
    rows: list[list[object]] = [
        ["rule", "system", "rank", "least", "greatest", "simultaneous_least", "simultaneous_greatest", "possibly_best"]
    ]
    for key, entry in report["rules"].items():
        for name in best_first(entry["ranks"]):
            alone, together = (entry.get(what, {}).get(name) or [None, None] for what in _INTERVALS)
            best = name in entry["possibly_best"] if "possibly_best" in entry else None
            rows.append([key, name, entry["ranks"][name], *alone, *together, best])
    return rows


def _blocks(report: Report) -> Blocks:
    """Return a table for each rule, below what it rests on."""
    blocks: Blocks = []
    columns = ["rank", "interval"] + (["all at once", "possibly best"] if report["is_simultaneous"] else [])
    for entry in report["rules"].values():
        if "reason" in entry:
            text = f"no intervals: {entry['reason']}."
        elif report.get("drawn") == "scores":
            text = (
                f"{100 * report['level']:g} % intervals if every score were measured again with its standard error on "
                f"the same tasks, {entry['n_resamples']:,} times, for each system separately."
            )
        else:
            text = (
                f"{100 * report['level']:g} % intervals if the same {report['n_clusters']} tasks or clusters were "
                f"drawn again with replacement, {entry['n_resamples']:,} times, for each system separately. "
                f"Other draws of as many would move an end by at most {entry['largest_error']}."
            )
        if "no_simultaneous" in entry:
            text += f" None of all systems at once: {entry['no_simultaneous']}."
        if "possibly_best" in entry:
            text += f" Possibly best: {', '.join(entry['possibly_best'])}."
        grid: Grid = [["system", *columns]]
        for name in best_first(entry["ranks"]):
            ends = [entry.get(what, {}).get(name) for what in _INTERVALS]
            cells = [rank_cell(entry["ranks"][name])]
            cells += [NOTHING if pair is None else f"{pair[0]}-{pair[1]}" for pair in ends]
            grid.append([name, *[*cells, "yes" if name in entry.get("possibly_best", ()) else ""][: len(columns)]])
        blocks += [f"{entry['name']}: {text}", TitledGrid(grid)]
    return blocks


LAYOUT = Layout(rows=_rows, blocks=_blocks)
