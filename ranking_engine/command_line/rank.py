"""`rank`: one leaderboard a rule, side by side."""

from __future__ import annotations

import argparse
from typing import Any

from ranking_engine.command_line.formats import FORMATS
from ranking_engine.command_line.inputs import add_input_arguments, add_rule_arguments, read_rankings
from ranking_engine.pairwise import Pairwise
from ranking_engine.ranking import UNRANKED, Ranking
from ranking_engine.registry import RULES
from ranking_engine.rules.choice_sets import condorcet_winner, smith_set
from ranking_engine.score_matrix import ScoreMatrix


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command and its arguments."""
    command = commands.add_parser("rank", help="rank the systems under every rule", description=__doc__)
    add_input_arguments(command)
    add_rule_arguments(command)
    command.add_argument("--format", choices=list(FORMATS), default="table")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Rank, and return the leaderboards in the format asked for."""
    matrix, rankings, missing = read_rankings(options)
    return FORMATS[options.format](board(matrix, rankings, missing, options.aggregation))


def board(
    matrix: ScoreMatrix, rankings: dict[str, Ranking], missing: str, aggregation: str
) -> dict[str, Any]:
    """Return the leaderboards as plain data, which is what the JSON holds.

    Two steps compare systems within groups, so that there is no one majority: the Condorcet winner and the
    Smith set are null then.
    """
    return {
        "systems": list(matrix.system_names),
        "tasks": list(matrix.task_names),
        "aggregation": aggregation,
        "missing": missing,
        **(
            dict.fromkeys(("condorcet_winner", "smith_set"))
            if aggregation == "two_step"
            else _majority(matrix)
        ),
        "rules": {key: _entry(matrix, ranking) for key, ranking in rankings.items()},
    }


def _majority(matrix: ScoreMatrix) -> dict[str, Any]:
    pairwise = Pairwise.of(matrix)
    winner = condorcet_winner(pairwise)
    return {
        "condorcet_winner": None if winner is None else matrix.system_names[winner],
        "smith_set": sorted(matrix.system_names[i] for i in smith_set(pairwise)),
    }


def _entry(matrix: ScoreMatrix, ranking: Ranking) -> dict[str, Any]:
    rule = RULES[ranking.rule]
    entry: dict[str, Any] = {"name": rule.name, "family": rule.family, "status": ranking.status}
    if ranking.reason:
        entry["reason"] = ranking.reason
    if ranking.status == "undefined":
        return entry
    names = matrix.system_names
    is_ranked = (ranking.ranks != UNRANKED).tolist()
    scores = [
        score if ranked else None for score, ranked in zip(ranking.scores.tolist(), is_ranked, strict=True)
    ]
    ranks = [rank if ranked else None for rank, ranked in zip(ranking.ranks.tolist(), is_ranked, strict=True)]
    entry["scores"] = dict(zip(names, scores, strict=True))
    entry["ranks"] = dict(zip(names, ranks, strict=True))
    entry["winners"] = sorted(names[i] for i in ranking.winners)
    entry["n_tied"] = ranking.n_tied
    if ranking.unranked_reasons:
        entry["unranked"] = {names[i]: reason for i, reason in sorted(ranking.unranked_reasons.items())}
    details = {key: value for key, value in ranking.details.items() if _tells(value)}
    return {**entry, "details": details} if details else entry


def _tells(value: object) -> bool:
    """Whether a detail says something: a count of 0 and an empty list do not, False and None (unknown) do."""
    return bool(value) or value is None or isinstance(value, (bool, float))
