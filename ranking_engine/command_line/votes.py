"""`votes`: ratings from comparisons of two systems, vote by vote."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from ranking_engine.command_line.formats import Blocks, Layout, TitledGrid, add_format_argument
from ranking_engine.command_line.inputs import EXIT_STATUS, STANDARD_INPUT, UsageError
from ranking_engine.files.csv_rows import csv_text
from ranking_engine.text.grids import Grid
from ranking_engine.text.names import shorten
from ranking_engine.votes.categories import category_scores
from ranking_engine.votes.columns import ROLES, STYLE
from ranking_engine.votes.data import CLUSTERS
from ranking_engine.votes.reading import read_votes
from ranking_engine.votes.report import MODEL_KEYS, Report, flip_sentence, vote_report

EXAMPLES = """\
examples:
  a file of Chatbot Arena's shape, or any table with the columns model_a, model_b, winner
      python -m ranking_engine votes battles.jsonl
  ties by Davidson, errors by person, and what the length and the lists of an answer are worth
      python -m ranking_engine votes battles.jsonl --model davidson --cluster voter --covariate length --covariate lists
  categories as the tasks of a table, so that every rule applies
      python -m ranking_engine votes battles.csv --scores scores.csv; python -m ranking_engine rank scores.csv
"""
COLUMNS = ("rank", "points", "lower", "upper", "rank_lower", "rank_upper", "n_votes", "group", "strength", "error")


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command and its arguments."""
    command = commands.add_parser(
        "votes",
        help="rate systems by votes: which of two was better",
        description="Ratings of Bradley and Terry's model from votes, with intervals, what the votes cannot compare, "
        "and how few of them decide the first place.",
        epilog=EXAMPLES + EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("file", metavar="FILE", help="CSV, JSON lines, JSON or Parquet; - is standard input")
    command.add_argument(
        "--model", choices=MODEL_KEYS, default=MODEL_KEYS[0], help="how ties count (default: half_wins)"
    )
    command.add_argument(
        "--column",
        metavar="NAME=ROLE",
        action="append",
        default=[],
        type=_role_of_column,
        help=f"what a column is, where its name does not say it; repeatable; a role is one of {', '.join(ROLES)}",
    )
    command.add_argument(
        "--covariate",
        metavar="NAME",
        action="append",
        default=[],
        help="what else may have decided votes: the columns NAME_a and NAME_b, or NAME with the difference, or one of "
        f"{', '.join(STYLE)} in files of Chatbot Arena; repeatable",
    )
    command.add_argument(
        "--cluster", choices=CLUSTERS, default="vote", help="votes that errors treat as one (default: vote, none)"
    )
    command.add_argument("--level", metavar="P", type=float, default=0.95, help="of the intervals (default: 0.95)")
    command.add_argument(
        "--resamples",
        metavar="N",
        type=int,
        default=0,
        help="intervals by so many resampled sets of votes (default: 0, by the sandwich formula)",
    )
    command.add_argument("--seed", metavar="N", type=int, default=0, help="of the random numbers (default: 0)")
    command.add_argument(
        "--prior",
        metavar="W",
        type=float,
        default=0.0,
        help="add W wins each way to every pair, so that ratings exist whatever the votes (default: 0)",
    )
    command.add_argument(
        "--elo",
        metavar="N",
        type=int,
        nargs="?",
        const=20,
        help="with Elo ratings too, which depend on the order of the votes, and their extremes over N random orders "
        "(default: 20)",
    )
    command.add_argument("--elo-k", metavar="K", type=float, default=30.0, help="the most that one vote moves (30)")
    command.add_argument("--no-flips", action="store_true", help="without the fewest votes that decide the first place")
    command.add_argument(
        "--scores", metavar="FILE", type=Path, help="write the ratings by category as a table of scores to FILE"
    )
    add_format_argument(command)
    command.set_defaults(run=run)


def _role_of_column(text: str) -> tuple[str, str]:
    """Return the column and the role that an argument names, or raise an ArgumentTypeError."""
    name, mark, role = text.rpartition("=")
    if not mark or role not in ROLES:
        raise argparse.ArgumentTypeError(f"{shorten(text)!r}: expected NAME=ROLE, such as words=weight")
    return name, role


def run(options: argparse.Namespace) -> str:
    """Rate, and return the report in the format asked for."""
    source = sys.stdin.buffer.read() if options.file == STANDARD_INPUT else options.file
    name = "standard input" if options.file == STANDARD_INPUT else ""
    votes = read_votes(source, name=name, columns=dict(options.column), covariates=options.covariate)
    try:
        report = vote_report(
            votes,
            options.model,
            cluster=options.cluster,
            level=options.level,
            n_resamples=options.resamples,
            seed=options.seed,
            prior=options.prior,
            with_flips=not options.no_flips,
            with_categories=bool(votes.category_names),
            elo_orders=options.elo,
            elo_k=options.elo_k,
        )
        if options.scores:
            matrix = category_scores(votes, options.model, cluster=options.cluster, prior=options.prior).matrix
            rows = zip(matrix.system_names, matrix.values.tolist(), strict=True)
            table = [["system", *matrix.task_names], *([name, *map(score_text, values)] for name, values in rows)]
            options.scores.write_text(csv_text(table), encoding="utf-8")
    except ValueError as error:
        raise UsageError(str(error)) from error
    return LAYOUT.written(report, options.format)


def score_text(value: float) -> str:
    """Return a rating as a cell of a table of scores; empty where there is none."""
    return "" if value != value else f"{value:.12g}"  # noqa: PLR0124 -- NaN


def _rows(report: Report) -> list[list[object]]:
    """Return a row for each system."""
    return [["system", *COLUMNS], *([row["system"], *(row[column] for column in COLUMNS)] for row in report["systems"])]


def _blocks(report: Report) -> Blocks:
    """Return the ratings, with what the votes say beside them."""
    blocks: Blocks = [f"Note: {problem}." for problem in report["problems"]]
    has_groups = report["n_groups"] > 1
    grid: Grid = [["system", "rank", "points", "interval", "ranks", "votes", *(["group"] if has_groups else [])]]
    for row in report["systems"]:
        ranks = "-" if row["rank_lower"] is None else f"{row['rank_lower']}-{row['rank_upper']}"
        interval = "-" if row["lower"] is None else f"{row['lower']:.1f} to {row['upper']:.1f}"
        cells = [str(row["rank"] or "-"), figure(row["points"], 1), interval, ranks, f"{row['n_votes']:,}"]
        grid.append([row["system"], *cells, *([str(row["group"])] if has_groups else [])])
    blocks.append(TitledGrid(grid))
    if report["coefficients"]:
        grid = [["covariate", "points per unit", "error", "one unit"]]
        for part in report["coefficients"]:
            cells = [figure(part["points"], 1), figure(part["points_error"], 1), f"{part['unit']:.4g}"]
            grid.append([part["covariate"], *cells])
        blocks.append(TitledGrid(grid))
    if "first_place" in report:
        blocks.append(flip_sentence(report["first_place"]))
    if "elo" in report:
        elo = report["elo"]
        grid = [["system", "Elo", "least", "greatest"]]
        for row in elo["systems"]:
            grid.append([row["system"], *(figure(row[key], 1) for key in ("rating", "least", "greatest"))])
        text = (
            f"Elo with K = {elo['k']:g}, votes {elo['order']}. It depends on the order of the votes: the extremes are "
            f"those over {elo['n_orders']} random orders."
        )
        blocks += [text, TitledGrid(grid)]
    if report.get("categories", {}).get("categories"):
        categories = report["categories"]["categories"]
        grid = [["system", *(part["category"] for part in categories)]]
        for row in report["systems"]:
            cells = [figure(part["points"].get(row["system"]), 0) for part in categories]
            grid.append([row["system"], *cells])
        notes = [f"{part['category']}: {part['problem']}." for part in categories if part["problem"]]
        notes += [f"{problem}." for problem in report["categories"]["problems"]]
        blocks += ["\n".join(["Points by category.", *notes]), TitledGrid(grid)]
    return blocks


def _heading(report: Report) -> str:
    """Return what the ratings rest on."""
    ties = f"{report['n_ties'] + report['n_both_bad']:,} of them ties"
    both_bad = f" ({report['n_both_bad']:,} where both were bad)" if report["n_both_bad"] else ""
    tie = report["tie_parameter"]
    parameter = f" The tie parameter {tie['name']} is {tie['value']:.4g}." if tie else ""
    clusters = f", clustered by {report['n_clusters']:,} {report['cluster']}s" if report["cluster"] != "vote" else ""
    method = {
        "sandwich": f"{100 * report['level']:g} % sandwich intervals{clusters}, each by itself.",
        "bootstrap": f"{100 * report['level']:g} % intervals of {report['n_resamples']:,} resampled sets of votes"
        f"{clusters}, each by itself.",
    }.get(report["intervals"], "No intervals.")
    return (
        f"{report['model_name']}: {report['n_votes']:,} votes on {report['n_systems']:,} systems, {ties}{both_bad}. "
        f"Points: the mean is 1000, {report['points_text']}.{parameter} {method}"
    )


def figure(value: Any, n_decimals: int) -> str:  # noqa: ANN401 -- a number or None
    """Return a number with its decimals, "-" for None."""
    return "-" if value is None else f"{value:.{n_decimals}f}"


LAYOUT = Layout(rows=_rows, blocks=_blocks, heading=_heading)
