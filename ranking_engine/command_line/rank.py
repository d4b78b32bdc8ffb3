"""`rank`: one leaderboard a rule, side by side."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from typing import Any

from ranking_engine.catalogue.registry import get_rule
from ranking_engine.command_line.formats import Blocks, Layout, TitledGrid, add_format_argument, best_first, rank_cell
from ranking_engine.command_line.inputs import (
    EXIT_STATUS,
    OPTION_LIST,
    Rankings,
    add_input_arguments,
    add_rule_arguments,
    read_rankings,
)
from ranking_engine.command_line.rule_options import options_in_force
from ranking_engine.core.missing import prediction_note
from ranking_engine.core.pairwise import Pairwise
from ranking_engine.core.ranking import UNRANKED
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.rules.choice_sets import (
    condorcet_loser,
    condorcet_winner,
    schwartz_set,
    smith_set,
    uncovered_set,
    weak_condorcet_winners,
)
from ranking_engine.rules.copy_proof import copy_proof_ratings
from ranking_engine.rules.majority_cycles import shortest_cycles
from ranking_engine.rules.maximal_lotteries import essential_set
from ranking_engine.rules.soft_condorcet import unfinished_note
from ranking_engine.text.names import listed

Board = dict[str, Any]

MAX_COVERING = 2000
MAX_CYCLES = 20
MAX_PAIRED = 20_000

EXAMPLES = """\
examples:
  the whole board, every quick rule side by side
      python -m ranking_engine rank scores.csv
  two rules, one of them slow and exact, as JSON
      python -m ranking_engine rank scores.csv --rule borda --rule kemeny --format json
  options of single rules
      python -m ranking_engine rank scores.csv --option copeland.variant=lower --option kemeny.seconds=120
  variants beside their rules
      python -m ranking_engine rank scores.csv --rule copeland --rule copeland[variant=lower]
  points of your own, as at the Eurovision Song Contest
      python -m ranking_engine rank scores.csv --rule positional --vector 12,10,8,7,6,5,4,3,2,1
  missing scores: leave out the systems that have any
      python -m ranking_engine rank scores.csv --missing drop_systems
  from another program, with tasks, groups and weights, into a paper
      cut -d, -f1-9 all.csv | python -m ranking_engine rank - --benchmark benchmark.toml --format latex

scores.csv has a header `system,task 1,task 2,...` and a line for each system; an empty cell is a missing score.
"""


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command and its arguments."""
    command = commands.add_parser(
        "rank",
        help="rank the systems under every rule",
        description="One leaderboard for each rule, side by side.",
        epilog=f"{EXAMPLES}\n{OPTION_LIST}{EXIT_STATUS}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_input_arguments(command)
    add_rule_arguments(command)
    add_format_argument(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Rank, and return the leaderboards in the format asked for."""
    is_json = options.format == "json"  # the only one that shows the choice sets
    report = board(read_rankings(options), options.aggregation, has_choice_sets=is_json)
    return LAYOUT.written(report, options.format)


def board(rankings: Rankings, aggregation: str, *, has_choice_sets: bool = True) -> Board:
    """Return the leaderboards as plain data, which is what the JSON holds; the choice sets, which take long, on demand.

    Two steps compare systems within groups, so that there is no one majority: the Condorcet winner and the
    choice sets are null then, and for more than 20,000 systems, whose pairs take gigabytes. `gamma` is the optimality
    threshold that someone stated, `derived_gamma` the one that follows from the tasks' scales where no one did.
    """
    matrix = rankings.matrix
    names = matrix.system_names
    rules: dict[str, dict[str, Any]] = {}
    for key, ranking in rankings.by_rule.items():
        rule = get_rule(key)
        entry = rules[key] = {"name": rule.name, "family": rule.family, "status": ranking.status}
        if options := options_in_force(rule, rankings.ties, rankings.options.get(key, {})):
            entry["options"] = options
        if ranking.reason:
            entry["reason"] = ranking.reason
        if ranking.status != "undefined":
            is_ranked = (ranking.ranks != UNRANKED).tolist()
            for what, values in (("scores", ranking.scores.tolist()), ("ranks", ranking.ranks.tolist())):
                of_system = zip(names, values, is_ranked, strict=True)
                entry[what] = {name: value if ranked else None for name, value, ranked in of_system}
            entry["winners"] = sorted(names[i] for i in ranking.winners)
            entry["n_tied"] = ranking.n_tied
            if ranking.unranked_reasons:
                entry["unranked"] = {names[i]: reason for i, reason in sorted(ranking.unranked_reasons.items())}
        # A count of 0 and an empty list say nothing; False and None (unknown) do.
        details = {
            name: value
            for name, value in ranking.details.items()
            if value or value is None or isinstance(value, (bool, float))
        }
        if details:
            entry["details"] = details
    has_majority = aggregation != "two_step" and matrix.n_systems <= MAX_PAIRED
    return {
        "systems": list(names),
        "tasks": list(matrix.task_names),
        "aggregation": aggregation,
        "missing": rankings.missing,
        "gamma": matrix.gamma if rankings.derived_gamma is None else None,
        "derived_gamma": rankings.derived_gamma,
        **dict.fromkeys(("condorcet_winner", "smith_set", "choice_sets")),
        **(majority(matrix, has_choice_sets=has_choice_sets) if has_majority else {}),
        "rules": rules,
    }


def majority(matrix: ScoreMatrix, *, has_choice_sets: bool) -> dict[str, Any]:
    """Return the Condorcet winner, the Smith set and, on demand, the further choice sets, by name.

    The uncovered set is null where the Smith set is larger than 2,000 systems: it takes time cubic in its size. The
    essential set is null where its linear program stays unsolved. `cycles` has at most 20 cycles, short ones first: the
    names of systems that each beat the next, and the last one the first. `copy_proof_ratings` has the systems with a
    score on every voting task; it is empty beyond 1,000 systems or 200 tasks.
    """
    pairwise = Pairwise.of(matrix)
    smith = smith_set(pairwise)
    winner = condorcet_winner(pairwise)
    first = {"condorcet_winner": None if winner is None else matrix.system_names[winner]}

    def named(systems: tuple[int, ...]) -> list[str]:
        return sorted(matrix.system_names[i] for i in systems)

    if not has_choice_sets:
        return {**first, "smith_set": named(smith)}
    loser, essential = condorcet_loser(pairwise), essential_set(pairwise)
    cycles = [[matrix.system_names[i] for i in cycle] for cycle in shortest_cycles(pairwise, MAX_CYCLES)]
    return {
        **first,
        "smith_set": named(smith),
        "choice_sets": {
            "weak_condorcet_winners": named(weak_condorcet_winners(pairwise)),
            "condorcet_loser": None if loser is None else matrix.system_names[loser],
            "schwartz_set": named(schwartz_set(pairwise)),
            "uncovered_set": named(uncovered_set(pairwise)) if len(smith) <= MAX_COVERING else None,
            "essential_set": None if essential is None else named(essential),
            "cycles": cycles,
            "copy_proof_ratings": {
                name: rating
                for name, rating in zip(matrix.system_names, copy_proof_ratings(matrix).ratings.tolist(), strict=True)
                if not math.isnan(rating)
            },
        },
    }


def _rows(report: Board) -> list[list[object]]:
    """Return a row for each system with its rank and score under each rule; empty where unranked."""
    rows: list[list[object]] = [["system", *(f"{key}_{what}" for key in report["rules"] for what in ("rank", "score"))]]
    for system in _sorted_systems(report):
        cells = [entry.get(what, {}).get(system) for entry in report["rules"].values() for what in ("ranks", "scores")]
        rows.append([system, *cells])
    return rows


def _blocks(report: Board) -> Blocks:
    """Return the ranks under all rules side by side."""
    grid = [["system", *(entry["name"] for entry in report["rules"].values())]]
    for system in _sorted_systems(report):
        ranks = [entry.get("ranks", {}).get(system) for entry in report["rules"].values()]
        grid.append([system, *map(rank_cell, ranks)])
    return [TitledGrid(grid)]


def _sorted_systems(report: Board) -> list[str]:
    """Sort by the first rule that ranks, then by name."""
    entries = [entry for entry in report["rules"].values() if entry["status"] == "ranked"]
    ranks = entries[0]["ranks"] if entries else {}
    return best_first({name: ranks.get(name) for name in report["systems"]})


def rule_notes(key: str, entry: Mapping[str, Any]) -> list[str]:
    """Return what is to be said of one rule's ranks: options other than the default, and what its details tell."""
    name, details, notes = entry["name"], entry.get("details", {}), []
    defaults = options_in_force(get_rule(key), None, {})
    for option, value in entry.get("options", {}).items():
        if value != defaults.get(option):
            text = ", ".join(f"{part:g}" for part in value) if isinstance(value, tuple) else value
            notes.append(f"{name}: {option} {text}")
    if "proven" in details and "distance" in details:
        bound = "proven the least" if details["proven"] else f"the least is {details['lower_bound']:g} or more"
        others = {None: "", True: "; no other order has it", False: "; other orders have it too"}[details["unique"]]
        notes.append(f"{name}: distance {details['distance']:g} to the tasks, {bound}{others}")
    if mallows := details.get("mallows"):
        theta, likelihood = mallows["theta"], mallows.get("log_likelihood")
        if theta is None:
            notes.append(f"{name}: no dispersion of Mallows' model is fitted: {mallows['reason']}")
        else:
            error = mallows.get("standard_error")
            within = f" ± {error:.2g} (standard error)" if error is not None else ""
            notes.append(
                f"{name}: Mallows' model fits with dispersion {theta:.4g}{within}, log-likelihood {likelihood:.6g}"
            )
    if lottery := details.get("lottery"):
        others = "" if details["unique"] else "; there are other maximal lotteries"
        notes.append(f"{name}: shares {listed([f'{system} {share}' for system, share in lottery.items()], 10)}{others}")
    if prediction := prediction_note(details):
        notes.append(f"{name}: {prediction}")
    if unfinished := unfinished_note(details):
        notes.append(f"{name}: {unfinished}")
    if details.get("decided_by_name"):
        notes.append(f"{name}: the names decided between equally strong victories; the order is one of several")
    winners = list(entry.get("winners", ()))
    if sorted(winners) != sorted(system for system, rank in entry.get("ranks", {}).items() if rank == 1):
        notes.append(f"{name}: its winners are {listed(winners, limit=10)}")
    if details.get("winners_complete") is False:
        notes.append(f"{name}: there may be more winners than were found")
    return notes


def _notes(board: Board) -> list[str]:
    """Return one line for each thing that the ranks alone do not tell."""
    winner, smith, notes = board["condorcet_winner"], board["smith_set"], []
    if winner is not None:
        notes.append(f"Condorcet winner: {winner}")
    elif smith is not None:
        notes.append(f"No Condorcet winner{'; Smith set: ' if smith else ''}{listed(smith, limit=10)}")
    elif board["aggregation"] != "two_step":
        notes.append("The Condorcet winner and the Smith set are not computed for so many systems")
    for key, entry in board["rules"].items():
        notes += rule_notes(key, entry)
        if entry["status"] == "undefined":
            notes.append(f"{entry['name']} gives no ranking: {entry['reason']}")
        for system, reason in entry.get("unranked", {}).items() if entry["status"] == "ranked" else ():
            notes.append(f"{entry['name']} does not rank {system}: {reason}")
    pairs = max((e.get("details", {}).get("pairs_without_common_task", 0) for e in board["rules"].values()), default=0)
    if pairs:
        notes.append(f"Pairs of systems without a common task: {pairs}")
    if board["aggregation"] != "basic":
        notes.append(f"Aggregation: {board['aggregation']}")
    return [*notes, f"Missing scores: {board['missing']}"]


LAYOUT = Layout(rows=_rows, blocks=_blocks, notes=_notes)
