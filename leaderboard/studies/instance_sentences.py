"""What single instances say of a board, in sentences."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext, ngettext

from leaderboard.common.language.engine import rule_name
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import in_words
from ranking_engine import RULES
from ranking_engine.core.instances import AGGREGATIONS


def winners_sentence(winners: dict[str, list[str]], tasks: Sequence[str], n_board_tasks: int) -> str:
    """Who is first under each aggregation, in a sentence; before it the tasks that it is about, where others are not.

    Args:
        winners: names of systems by aggregation.
        tasks: the names of those that have scores of single instances.
        n_board_tasks: how many count on the board.
    """
    if len(tasks) < n_board_tasks:
        about = ngettext(
            "%(n)s of %(n_tasks)s tasks has scores of single instances: %(tasks)s.",
            "%(n)s of %(n_tasks)s tasks have scores of single instances: %(tasks)s.",
            len(tasks),
        ) % {"n": len(tasks), "n_tasks": n_board_tasks, "tasks": in_words(tasks)}
        return f"{about} {winners_sentence(winners, tasks, len(tasks))}"
    if len({tuple(firsts_of) for firsts_of in winners.values()}) == 1:
        text = gettext("All three methods put %(firsts_of)s first.")
        if len(tasks) == 1:
            text = gettext("On %(task)s, all three methods put %(firsts_of)s first.")
        return text % {"firsts_of": in_words(winners[AGGREGATIONS[0]]), "task": tasks[0]}
    firsts = {key: in_words(firsts_of) for key, firsts_of in winners.items()}
    return gettext(
        "Ranked on two levels, %(two_level)s is first; on one level, %(one_level)s; by the mean, %(mean)s."
    ) % {"two_level": firsts["two_level"], "one_level": firsts["one_level"], "mean": firsts["mean"]}


def neighbours_sentence(summary: dict[str, Any], level: float) -> str:
    """How many neighbours differ significantly on instances, in a sentence; empty where there are none.

    Args:
        summary: of the report.
        level: of significance.
    """
    tested = summary["neighbours"]
    if not tested["n_pairs"]:
        return ""
    rule = rule_name(summary["rule"]) if summary["rule"] in RULES else gettext("two levels")
    n, pairs = tested["n_separable"], tested["n_pairs"]
    if pairs == tested["n_neighbours"]:
        text = ngettext(
            "%(n)s of %(pairs)s pair of neighbours under %(rule)s differ significantly at the %(level)s %% level.",
            "%(n)s of %(pairs)s pairs of neighbours under %(rule)s differ significantly at the %(level)s %% level.",
            pairs,
        )
        none = ngettext(
            "None of %(pairs)s pair of neighbours under %(rule)s differ significantly at the %(level)s %% level.",
            "None of %(pairs)s pairs of neighbours under %(rule)s differ significantly at the %(level)s %% level.",
            pairs,
        )
    else:
        text = ngettext(
            "%(n)s of %(pairs)s pair of the first neighbours under %(rule)s differ significantly at the %(level)s %% "
            "level.",
            "%(n)s of %(pairs)s pairs of the first neighbours under %(rule)s differ significantly at the %(level)s %% "
            "level.",
            pairs,
        )
        none = ngettext(
            "None of %(pairs)s pair of the first neighbours under %(rule)s differ significantly at the %(level)s %% "
            "level.",
            "None of %(pairs)s pairs of the first neighbours under %(rule)s differ significantly at the %(level)s %% "
            "level.",
            pairs,
        )
    figures = {"n": n, "pairs": pairs, "rule": rule, "level": localise(100 * level, "g")}
    return (text if n else none) % figures
