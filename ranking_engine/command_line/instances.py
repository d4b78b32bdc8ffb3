"""`instances`: rankings from the scores of single instances."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ranking_engine.command_line.formats import Layout, TitledGrid, add_format_argument, best_first, rank_cell
from ranking_engine.command_line.inputs import EXIT_STATUS, STANDARD_INPUT, UsageError
from ranking_engine.core.decimals import finite_or_none
from ranking_engine.core.first_places import FIRST_PLACES, shared_first_places
from ranking_engine.core.instances import aggregate_all, paired_differences
from ranking_engine.core.ranking import UNRANKED
from ranking_engine.files.instance_tables import CLUSTER_COLUMN, read_instances
from ranking_engine.importers.score_files import read_instance_files
from ranking_engine.stability.instance_subsets import shown_sizes, task_subset_curves
from ranking_engine.stability.items.task_items import TaskItems, task_items
from ranking_engine.stability.resampling.two_levels import DESIGNS, two_level_intervals
from ranking_engine.stability.separability.instance_errors import paired_errors
from ranking_engine.text.grids import Grid
from ranking_engine.text.names import shorten

Report = dict[str, Any]

NAMES = {"two_level": "Two levels", "one_level": "One level", "mean": "Mean"}
_REDRAWN = {"instances": "instances", "tasks": "tasks", "both": "tasks and instances"}
OF_PROGRAMS = frozenset({".jsonl", ".json", ".parquet", ".zip", ".gz"})
MAX_PAIRS = 2000
MAX_PLACES = 1000
EXAMPLES = """\
examples:
  a table with the columns system, instance and one for each task, or with system, task, instance, score; a column
  cluster says which instances are not independent
      python -m ranking_engine instances instances.csv
  the published files of Colombo et al. 2022, in which the labels of the first two columns are swapped
      python -m ranking_engine instances TAC_08.csv --system-column Utterance
  what lm-eval wrote with --log_samples
      python -m ranking_engine instances runs/ --metric acc
  how sure the differences between systems are
      python -m ranking_engine instances instances.csv --intervals --format json
"""


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command and its arguments."""
    command = commands.add_parser(
        "instances",
        help="rank by the scores of single instances",
        description="Rank by the scores of single instances: Borda on two levels or one (Colombo et al. 2022), mean.",
        epilog=EXAMPLES + EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="the table of instances, - is standard input; or what lm-eval (samples_*.jsonl) or lighteval "
        "(details_*.parquet) wrote, with the results beside them, or a folder or .zip of these",
    )
    command.add_argument(
        "--metric", metavar="NAME", default="", help="of such files these scores alone, where there are several"
    )
    command.add_argument(
        "--system-name", metavar="NAME", default="", help="of the system, where such files do not name it"
    )
    command.add_argument(
        "--system-column", metavar="NAME", default="system", help="which column names the systems (default: system)"
    )
    command.add_argument(
        "--instance-column", metavar="NAME", help="which column names the instances (default: instance or utterance)"
    )
    command.add_argument(
        "--cluster-column",
        metavar="NAME",
        default=CLUSTER_COLUMN,
        help="which column names the clusters of instances, if there is one (default: cluster; empty for none)",
    )
    command.add_argument(
        "--lower", metavar="TASK", action="append", default=[], help="lower is better on this task; repeatable"
    )
    command.add_argument(
        "--top",
        metavar="K",
        type=int,
        action="append",
        help="how many first places of the three rankings are compared; repeatable "
        f"(default: {', '.join(map(str, FIRST_PLACES))})",
    )
    command.add_argument(
        "--intervals", action="store_true", help="with bootstrap intervals and standard errors of all differences"
    )
    command.add_argument(
        "--items", action="store_true", help="with the difficulty and discrimination of instances, and anchors (2PL)"
    )
    command.add_argument("--resamples", metavar="N", type=int, default=1000, help="for the intervals (default: 1000)")
    command.add_argument("--level", metavar="P", type=float, default=0.95, help="of the intervals (default: 0.95)")
    command.add_argument(
        "--seed", metavar="N", type=int, default=0, help="of the resamples, and of the subsets of tasks (default: 0)"
    )
    add_format_argument(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Rank, and return the rankings in the format asked for."""
    if any(not 1 <= k <= MAX_PLACES for k in options.top or ()):
        raise UsageError(f"--top: expected numbers of places from 1 to {MAX_PLACES:,}")
    columns = {
        "system_column": options.system_column,
        "instance_column": options.instance_column,
        "cluster_column": options.cluster_column,
    }
    first = Path(options.files[0])
    if len(options.files) > 1 or first.suffix in OF_PROGRAMS or first.is_dir():
        scores = read_instance_files(
            options.files, metric=options.metric, system=options.system_name, lower=options.lower
        )
    elif options.files[0] == STANDARD_INPUT:
        text = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig", newline="")
        scores = read_instances(text, name="standard input", lower=options.lower, **columns)
    else:
        scores = read_instances(first, lower=options.lower, **columns)
    names = scores.system_names
    report: Report = {}
    rankings = aggregate_all(scores)
    for key, ranking in rankings.items():
        ranks = [None if rank == UNRANKED else rank for rank in ranking.ranks.tolist()]
        report[key] = {
            "scores": dict(zip(names, map(finite_or_none, ranking.scores.tolist()), strict=True)),
            "ranks": dict(zip(names, ranks, strict=True)),
        }
    report["first_places"] = [
        {
            "first": one.first,
            "second": one.second,
            "places": list(one.places),
            "agreement": [finite_or_none(rate) for rate in one.agreement],
            "n_common": one.n_common,
            "tau": [finite_or_none(tau) for tau in one.tau],
        }
        for one in shared_first_places(
            {str(key): ranking for key, ranking in rankings.items()}, options.top or FIRST_PLACES
        )
    ]
    n_draws, curves = task_subset_curves(scores, seed=options.seed)
    report["task_subsets"] = {
        "n_draws": n_draws,
        "tau": {key: [finite_or_none(tau) for tau in curve.tolist()] for key, curve in curves.items()},
    }
    if options.items:
        report["items"] = {
            name: _items_report(task_items(block, direction, seed=options.seed), instances)
            for name, block, direction, instances in zip(
                scores.task_names, scores.blocks, scores.directions, scores.instance_names, strict=True
            )
        }
    if options.intervals:
        n_pairs = scores.n_systems * (scores.n_systems - 1) // 2
        if n_pairs > MAX_PAIRS:
            raise UsageError(f"--intervals: {n_pairs} pairs of systems; at most {MAX_PAIRS} are compared")
        try:
            differences = paired_differences(
                scores, n_resamples=options.resamples, level=options.level, seed=options.seed
            )
        except ValueError as error:
            raise UsageError(str(error)) from error
        errors = paired_errors(scores, differences.pairs, level=1 - options.level)
        report["rank_intervals"] = {
            statistic: {
                name: {
                    "rank": int(intervals.ranks[i]) or None,
                    **{
                        design: [int(ends[design][i]) for ends in (intervals.lower, intervals.upper)]
                        if intervals.lower[design][i]
                        else None
                        for design in DESIGNS
                    },
                    "instance_share": finite_or_none(intervals.instance_share[i]),
                }
                for i, name in enumerate(names)
            }
            for statistic, intervals in two_level_intervals(
                scores, n_resamples=max(2, options.resamples), level=options.level, seed=options.seed
            ).items()
        }
        figures = ("standard_error", "unpaired_error", "detectable", "task_error", "instance_share")
        if scores.clusters:
            counts = (len(set(codes.tolist())) for codes in scores.clusters)
            report["n_clusters"] = dict(zip(scores.task_names, counts, strict=True))
        report["differences"] = [
            {
                "systems": [scores.system_names[i], scores.system_names[j]],
                "difference": finite_or_none(differences.difference[k]),
                "interval": [finite_or_none(differences.lower[k]), finite_or_none(differences.upper[k])],
                "n_common": int(differences.n_common[k]),
                **{name: finite_or_none(getattr(errors, name)[k]) for name in figures},
            }
            for k, (i, j) in enumerate(differences.pairs.tolist())
        ]
    return LAYOUT.written(report, options.format)


def _items_report(items: TaskItems, instances: Sequence[str]) -> Report:
    """Return the items of a task as plain data.

    Args:
        items: of the task.
        instances: their names, in the order of the file.
    """
    model = items.model
    return {
        "n_items": items.n_items,
        "n_all_right": items.n_all_right,
        "n_none_right": items.n_none_right,
        "reason": items.reason,
        "instances": list(instances),
        "difficulty": [] if model is None else list(map(finite_or_none, model.difficulty.tolist())),
        "discrimination": [] if model is None else list(map(finite_or_none, model.discrimination.tolist())),
        "discrimination_error": [] if model is None else list(map(finite_or_none, model.discrimination_error.tolist())),
        "ability": [] if model is None else list(map(finite_or_none, model.ability.tolist())),
        "suspects": [instances[j] for j in items.suspects],
        "n_suspects": items.n_suspects,
        "costs": [
            {"n_items": one.n_items, "error": one.error, "random_error": one.random_error} for one in items.errors
        ],
        "anchors": [] if items.anchors is None else [instances[j] for j in items.anchors.items.tolist()],
    }


def _rows(report: Report) -> list[list[object]]:
    """Return a row for each system with its rank and score under each aggregation."""
    header = ["system", *(f"{key}_{what}" for key in NAMES for what in ("rank", "score"))]
    systems = best_first(report["two_level"]["ranks"])
    return [
        header,
        *([name, *(report[key][what][name] for key in NAMES for what in ("ranks", "scores"))] for name in systems),
    ]


def _rank_grids(report: Report) -> list[Grid]:
    systems = best_first(report["two_level"]["ranks"])
    ranks = [[name, *(rank_cell(report[key]["ranks"][name]) for key in NAMES)] for name in systems]
    return [[["system", *NAMES.values()], *ranks]]


def _subset_grids(report: Report) -> list[Grid]:
    """Return how far two of the rankings agree on the first places, and each with itself on fewer tasks."""
    grids: list[Grid] = []
    for one in report["first_places"]:
        pair = f"{NAMES[one['first']]} and {NAMES[one['second']].lower()}"
        agreement, taus = (
            ["-" if value is None else f"{value:.2f}" for value in one[figure]] for figure in ("agreement", "tau")
        )
        header = [pair, *(f"k = {k}" for k in one["places"])]
        grids.append([header, ["same systems", *agreement], ["tau-b on these", *taus]])
    if taus := report["task_subsets"]["tau"]:
        n_tasks = len(taus["mean"])
        sizes = shown_sizes(n_tasks)
        rows = [[f"tau-b on k of {n_tasks} tasks", *(f"k = {k}" for k in sizes)]]
        for key, name in NAMES.items():
            rows.append([name, *("-" if taus[key][k - 1] is None else f"{taus[key][k - 1]:.2f}" for k in sizes)])
        grids.append(rows)
    return grids


def _item_grids(report: Report) -> list[Grid]:
    """Return the numbers of items, and for each task those to look at, if there are any."""
    if "items" not in report:
        return []
    rows = [["items of", "instances", "all right", "none right", "to look at", "anchors", "error", "at random"]]
    for name, entry in report["items"].items():
        costs = [cost for cost in entry["costs"] if cost["n_items"] == len(entry["anchors"])]
        errors = [f"{cost[key]:.4f}" for cost in costs for key in ("error", "random_error")] or ["-", "-"]
        counts = [str(entry[key]) for key in ("n_items", "n_all_right", "n_none_right")]
        rows.append([name, *counts, str(entry["n_suspects"]), str(len(entry["anchors"])), *errors])
    grids = [rows]
    for name, entry in report["items"].items():
        place = {instance: j for j, instance in enumerate(entry["instances"])}
        rows = [[f"to look at on {name}", "discrimination", "standard error"]]
        for instance in entry["suspects"]:
            figures = [entry[key][place[instance]] for key in ("discrimination", "discrimination_error")]
            rows.append([shorten(instance), *(f"{figure:.2f}" for figure in figures)])
        grids += [rows] if entry["suspects"] else []
    return grids


def _interval_grids(report: Report) -> list[Grid]:
    """Return the differences of all pairs of systems, and the rank intervals by each statistic."""
    if "differences" not in report:
        return []
    rows = [["pair", "difference", "lower", "upper", "standard error", "can be seen", "instances"]]
    for entry in report["differences"]:
        numbers = [entry["difference"], *entry["interval"], entry["standard_error"], entry["detectable"]]
        cells = ["-" if number is None else f"{number:.4g}" for number in numbers]
        rows.append([" - ".join(entry["systems"]), *cells, str(entry["n_common"])])
    grids = [rows]
    for statistic, systems in report["rank_intervals"].items():
        rows = [[f"ranks by {statistic}", "rank", *(f"other {_REDRAWN[design]}" for design in DESIGNS), "instances"]]
        for name in best_first({name: entry["rank"] for name, entry in systems.items()}):
            entry = systems[name]
            ends = ["-" if entry[design] is None else "{}-{}".format(*entry[design]) for design in DESIGNS]
            share = entry["instance_share"]
            share_text = "-" if share is None else f"{100 * share:.0f} %"
            rows.append([name, rank_cell(entry["rank"]), *ends, share_text])
        grids.append(rows)
    return grids


GRIDS = (_rank_grids, _subset_grids, _item_grids, _interval_grids)
LAYOUT = Layout(rows=_rows, blocks=lambda report: [TitledGrid(grid) for part in GRIDS for grid in part(report)])
