"""`rank`: one leaderboard a rule, side by side."""

from __future__ import annotations

import argparse
import math
from typing import Any

from ranking_engine.catalogue.registry import get_rule
from ranking_engine.command_line.formats import FORMATS
from ranking_engine.command_line.inputs import (
    EXIT_STATUS,
    OPTION_LIST,
    Rankings,
    add_input_arguments,
    add_rule_arguments,
    read_rankings,
)
from ranking_engine.command_line.rule_options import options_in_force
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
    command.add_argument("--format", choices=list(FORMATS), default="table", help="default: table")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Rank, and return the leaderboards in the format asked for."""
    is_json = options.format == "json"  # the only one that shows the choice sets
    return FORMATS[options.format](board(read_rankings(options), options.aggregation, has_choice_sets=is_json))


def board(rankings: Rankings, aggregation: str, *, has_choice_sets: bool = True) -> dict[str, Any]:
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
