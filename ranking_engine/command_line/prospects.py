"""`prospects`: which systems can win under some task weights, with such weights; which cannot, with a proof."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ranking_engine.catalogue.registry import TIES
from ranking_engine.command_line.formats import Blocks, Layout, TitledGrid, add_format_argument
from ranking_engine.command_line.inputs import (
    DEFAULT_POLICY,
    EXIT_STATUS,
    REWEIGHTINGS,
    UsageError,
    add_input_arguments,
    aggregated,
    count_argument,
    read_inputs,
)
from ranking_engine.command_line.progress import ProgressBar
from ranking_engine.core.missing import MISSING_POLICIES
from ranking_engine.prospects import (
    MAJORITY,
    RULES,
    Conditions,
    Prospect,
    prospects,
)
from ranking_engine.prospects.shares import decimals_of
from ranking_engine.text.names import fold_name, listed, shorten

Report = dict[str, Any]

EXAMPLES = """\
examples:
  every system: can it win, and under which weights?
      python -m ranking_engine prospects scores.csv
  the same for the highest mean, from the benchmark's own weights
      python -m ranking_engine prospects scores.csv --benchmark benchmark.toml --rule mean
  weights that someone would accept, and among them those with the least weight on two tasks
      python -m ranking_engine prospects scores.csv --condition 'CoLA >= 0.1' --condition 'minimise RTE + WNLI'
  what it takes to put one system above another
      python -m ranking_engine prospects scores.csv --rule borda --pair T5 ERNIE

A name in a condition that holds + < > = or is a number is in double quotes; group:NAME is a group of tasks.
"""
WORDS = {
    "strict": "can win",
    "tie_only": "can tie for the win",
    "none": "cannot win",
    "no_scores": "no scores",
    "undecided": "undecided",
}


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command and its arguments."""
    command = commands.add_parser(
        "prospects",
        help="who could win, and under which weights",
        description="Who could win under some weights of the tasks, with the weights; who cannot, with a proof.",
        epilog=EXAMPLES + EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_input_arguments(command)
    command.add_argument(
        "--rule",
        metavar="KEY",
        choices=list(RULES),
        default=MAJORITY,
        help=f"which rule to win, one of {', '.join(RULES)} (default: majority, to lose to no system in pairs)",
    )
    command.add_argument(
        "--by-group",
        action="store_true",
        help="give weights to groups; within a group the tasks keep the proportions of their own weights",
    )
    command.add_argument(
        "--pair", metavar=("I", "J"), nargs=2, help="what it takes to put the system I above J, nothing else"
    )
    command.add_argument(
        "--condition",
        metavar="TEXT",
        action="append",
        default=[],
        help="on the weights, such as 'CoLA + RTE >= 0.3', '0.1 <= group:QA <= 1/2', 'CoLA >= RTE' or "
        "'minimise group:QA'; repeatable",
    )
    command.add_argument(
        "--aggregation",
        choices=REWEIGHTINGS,
        help="which weights are the benchmark's own, from which changes are counted (default: the benchmark file's, "
        "else basic)",
    )
    command.add_argument(
        "--missing",
        metavar="POLICY",
        choices=list(MISSING_POLICIES),
        help=f"for missing scores under a rule on points, one of {', '.join(MISSING_POLICIES)} "
        f"(default: the benchmark file's policy, else {DEFAULT_POLICY})",
    )
    command.add_argument("--ties", choices=list(TIES), help="for ties within a task (default: the rule's own)")
    command.add_argument(
        "--draws", metavar="N", type=count_argument, default=10_000, help="weightings drawn for the shares"
    )
    command.add_argument("--seed", metavar="N", type=count_argument, default=0, help="of the draws (default: 0)")
    command.add_argument("--max-steps", metavar="N", type=count_argument, help="solve at most N linear programs")
    add_format_argument(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Find the prospects, and return them in the format asked for."""
    matrix, benchmark = read_inputs(options)
    missing = options.missing or (benchmark.policy if benchmark else None) or DEFAULT_POLICY
    try:
        matrix = aggregated(matrix, options.aggregation)
        conditions = Conditions.parse(options.condition)
        settings: dict[str, Any] = {
            "conditions": conditions,
            "rule": options.rule,
            "by_group": options.by_group,
            "missing": missing,
            "ties": options.ties,
            "n_draws": options.draws,
            "seed": options.seed,
            "max_steps": options.max_steps,
        }
        if options.pair:
            known = {fold_name(system): system for system in matrix.system_names}
            for name in options.pair:
                if fold_name(name) not in known:
                    there_are = listed(matrix.system_names, limit=10)
                    raise UsageError(f"--pair: unknown system {shorten(name)!r}; there are {there_are}")
            system, rival = (known[fold_name(name)] for name in options.pair)
            settings |= {"systems": [system], "rival": rival}
        with ProgressBar("prospects") as bar:
            answers = prospects(matrix, progress=bar, **settings)
    except ValueError as error:
        raise UsageError(str(error)) from error
    report: Report = {
        **{key: value for key, value in answers.summary().items() if key not in ("n_systems", "n_tasks")},
        "pair": options.pair,
        "by_group": options.by_group,
        "missing": missing,
        "tasks": list(answers.tasks),
        "systems": {prospect.system: _entry(prospect) for prospect in answers.systems},
    }
    return LAYOUT.written(report, options.format)


def _entry(prospect: Prospect) -> Report:
    """Return what is to say of one system; what is not known or not there is left out."""
    entry: Report = {"prospective": prospect.is_prospective, "verdict": prospect.verdict}
    for key in ("weights", "certificate"):
        fractions = getattr(prospect, key)
        if fractions:
            entry[key] = _floats(fractions)
            entry[f"{key}_exact"] = {name: str(value) for name, value in fractions.items()}
    if prospect.condition_shares:
        entry["condition_shares"] = {str(place): str(value) for place, value in prospect.condition_shares.items()}
    numbers = ("margin", "share", "share_error", "share_bound", "share_lower", "share_upper")
    entry.update({key: value for key in numbers if (value := getattr(prospect, key)) is not None})
    if prospect.objective is not None:
        entry["objective"] = float(prospect.objective)
    if prospect.nearest:
        entry["nearest"] = {
            origin: {
                norm: {"change": change.change, "weights": _floats(change.weights)}
                for norm, change in (("total", nearest.total_change), ("largest", nearest.largest_change))
            }
            for origin, nearest in prospect.nearest.items()
        }
    if prospect.is_prospective:
        entry["needed_tasks"] = list(prospect.needed_tasks)
    if prospect.n_incomparable:
        entry["n_incomparable"] = prospect.n_incomparable
    return {**entry, "reason": prospect.reason} if prospect.reason else entry


def _floats(fractions: Mapping[str, Fraction]) -> dict[str, float]:
    return {name: float(value) for name, value in fractions.items()}


def _rows(report: Report) -> list[list[object]]:
    """Return a row for each system; weights are in a column for each task, as exact fractions."""
    rows: list[list[object]] = []
    numbers = ("verdict", "margin", "share", "share_error", "share_bound", "share_lower", "share_upper")
    changes = [(origin, norm) for origin in ("equal", "own") for norm in ("total", "largest")]
    headers = [f"{norm}_change_from_{origin}" for origin, norm in changes]
    tasks = report["tasks"]
    rows.append(["system", *numbers, *headers, "certificate", *(f"weight {task}" for task in tasks)])
    for system, entry in report["systems"].items():
        nearest = entry.get("nearest", {})
        weights = entry.get("weights_exact", {})
        rows.append(
            [
                system,
                *(entry.get(key) for key in numbers),
                *(nearest[origin][norm]["change"] if origin in nearest else None for origin, norm in changes),
                _mixture(entry.get("certificate_exact", {}), limit=None),
                *(weights.get(task, "0" if weights else None) for task in tasks),
            ]
        )
    return rows


def _blocks(report: Report) -> Blocks:
    """Return verdicts with their evidence."""
    header = ["system", "verdict", "share", "margin", "change from equal", "from own", "weights, or who is ahead"]
    rows = [header]
    for system, entry in report["systems"].items():
        share = f"{entry['share']:.4f}" if "share" in entry else "-"
        if "share_bound" in entry:
            share = f"< {entry['share_bound']:.2g}"
        elif "share_lower" in entry:
            lower, upper = (f"{end:.{decimals_of(end, 1)}f}" for end in (entry["share_lower"], entry["share_upper"]))
            share = f"> {lower}" if entry["share_upper"] == 1 else f"{lower} to {upper}"
        margin = f"{entry['margin']:+.3f}" if "margin" in entry else "-"
        nearest = entry.get("nearest", {})
        changes = [f"{nearest[o]['total']['change']:.3f}" if o in nearest else "-" for o in ("equal", "own")]
        evidence = entry.get("weights_exact") or entry.get("certificate_exact") or {}
        rows.append([system, WORDS[entry["verdict"]], share, margin, *changes, _mixture(evidence, limit=3) or "-"])
    return [TitledGrid(rows)]


def _mixture(exact: Mapping[str, str], limit: int | None) -> str:
    """Return `1/2 A + 1/2 B`, the largest first; long fractions as decimals."""
    parts = sorted(exact.items(), key=lambda item: (-Fraction(item[1]), item[0]))
    terms = [
        f"{value if len(value) <= 7 else format(float(Fraction(value)), '.4f')} {name}" for name, value in parts[:limit]
    ]
    more = f" + {len(parts) - len(terms)} more" if len(parts) > len(terms) else ""
    return " + ".join(terms) + more


def _notes(report: Report) -> list[str]:
    """Return one line for each thing that the table does not tell."""
    counts = report["verdicts"]
    verdicts = ", ".join(f"{counts[verdict]} {words}" for verdict, words in WORDS.items() if counts[verdict])
    pair = f" for {report['pair'][0]} above {report['pair'][1]}" if report["pair"] else ""
    notes = [f"Rule: {report['rule']}{pair}; {verdicts}", *(f"Condition: {text}" for text in report["conditions"])]
    if report["conditions_reason"]:
        notes.append(f"Conditions: {report['conditions_reason']}")
    for system, entry in report["systems"].items():
        if entry.get("needed_tasks"):
            notes.append(f"{system} cannot win without {listed(entry['needed_tasks'], limit=5)}")
        if "reason" in entry and entry["reason"] != report["conditions_reason"]:
            notes.append(f"{system}: {entry['reason']}")
        if "n_incomparable" in entry:
            notes.append(f"{system}: no common task that counts with {entry['n_incomparable']} of its rivals")
    if not report["is_complete"]:
        notes.append(f"Cut short after {report['n_steps']} linear programs")
    return [*notes, f"Shares: {report['n_draws']} draws, seed {report['seed']}"]


LAYOUT = Layout(rows=_rows, blocks=_blocks, notes=_notes)
