"""Which systems of a ranking differ significantly, in sentences."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext

from leaderboard.common.language.numbers import localise
from leaderboard.rankings.confidence.independence import tasks_phrase

FAMILIES = ("neighbours", "top", "every_pair")
LEAST_FOR_ONE_PAIR = 6  # clusters with which one pair can differ significantly at 5 %: 2^(1 - 6) is below


def short_sentence(tests: Mapping[str, Any]) -> str:
    """Which systems differ significantly, in a few words; empty where there are no two systems.

    Args:
        tests: what the report says of the rule: the summaries of its families of pairs, and what was tested on how many
            tasks.
    """
    neighbours, every = tests["neighbours"], tests["every_pair"]
    if not every["n_pairs"]:
        return ""
    if every["n_tied"] == every["n_pairs"]:
        return "all systems share one rank"
    if _is_too_few(tests):
        clusters = "" if tests["n_clusters"] == tests["n_tasks"] else f"cluster{_s(tests['n_clusters'])} of "
        at_once = f" ({_pairs(every['n_pairs'])} at once)" if every["n_pairs"] > 1 else ""
        return (
            f"{tests['n_clusters']:,} {clusters}task{_s(tests['n_tasks'])} {_are(tests)} too few to show a significant "
            f"difference between any two systems{at_once}"
        )
    contradicted = neighbours["n_contradicted"]
    against = f"; {_pairs(contradicted)} of neighbours contradict{'s' if contradicted == 1 else ''} the ranking"
    if neighbours["n_separable"]:
        text = f"{neighbours['n_separable']:,} of {_pairs(neighbours['n_pairs'])} of neighbours differ significantly"
    elif not every["n_separable"]:
        text = "no two systems differ significantly"
    else:
        text = (
            f"no two neighbours differ significantly, but {every['n_separable']:,} of all {_pairs(every['n_pairs'])} do"
        )
    return text + (against if contradicted else "")


def separability_sentence(name: str, tests: Mapping[str, Any], level: float) -> str:
    """What sign-flip tests over tasks say of a ranking, for people.

    Args:
        name: the rule's.
        tests: as for `short_sentence`.
        level: of significance.
    """
    neighbours, top, every = (tests[family] for family in FAMILIES)
    if not every["n_pairs"]:
        return ""
    tasks, at = tasks_phrase(tests["n_clusters"], tests["n_tasks"]), f"at the {localise(100 * level, 'g')} % level"
    tested = f"Tested: {tests['tested_text']}."
    if every["n_tied"] == every["n_pairs"]:
        return gettext("All systems share one rank under %(name)s: there are no differences to test.") % {"name": name}
    if _is_too_few(tests):
        too_few = (
            f"{_at_once(every)}{tasks}, {_are(tests)} too few to show a significant difference between any two "
            f"systems of this board {at}"
        )
        return (
            f"{too_few[0].upper()}{too_few[1:]}: even a system that is ahead on all of them could be so by chance. "
            f"That is not the same as a tie{_one_pair(tests)}. {tested}"
        )
    if neighbours["n_separable"]:
        first = f"{neighbours['n_separable']:,} of {_pairs(neighbours['n_pairs'])} of neighbours under {name}"
        first += " differ significantly"
    elif neighbours["verdict"] == "too_few_tasks":
        first = f"There are too few tasks to show a significant difference between any two neighbours under {name}"
    else:
        first = f"No two neighbours under {name} differ significantly"
    parts = [f"{first} {at}, by sign-flip tests on {tasks}"]
    if top["n_pairs"] and top["n_pairs"] != every["n_pairs"]:
        parts.append(f"{top['n_separable']:,} of the {_pairs(top['n_pairs'])} among the first ranks")
    if every["n_pairs"] > 1:
        parts.append(f"{every['n_separable']:,} of all {_pairs(every['n_pairs'])}")
    against = ""
    if neighbours["n_contradicted"] or every["n_contradicted"]:
        against = (
            f" In {_pairs(neighbours['n_contradicted'])} of neighbours and {every['n_contradicted']:,} of all pairs "
            "the system ranked lower is ahead by more than chance would explain: they contradict the ranking."
        )
    further = f"; {', and '.join(parts[1:])}" if parts[1:] else ""
    return f"{parts[0]}{further}.{against} {tested}"


def _is_too_few(tests: Mapping[str, Any]) -> bool:
    """Whether there are too few tasks to find any two systems significantly different in any family of pairs."""
    untied = [tests[family] for family in FAMILIES if tests[family]["n_pairs"] > tests[family]["n_tied"]]
    return bool(untied) and all(family["verdict"] == "too_few_tasks" for family in untied)


def _one_pair(tests: Mapping[str, Any]) -> str:
    """That one pair chosen beforehand needs fewer tasks than all pairs at once, where there are enough for it."""
    if tests["n_clusters"] < LEAST_FOR_ONE_PAIR or tests["every_pair"]["n_pairs"] < 2:
        return ""
    return "; a single pair that you choose beforehand can be tested: see Head to head"


def _at_once(every: Mapping[str, Any]) -> str:
    return f"among {_pairs(every['n_pairs'])} at once, " if every["n_pairs"] > 1 else ""


def _are(tests: Mapping[str, Any]) -> str:
    return "is" if tests["n_clusters"] == 1 else "are"


def _pairs(n: int) -> str:
    return f"{n:,} pair{_s(n)}"


def _s(n: int) -> str:
    return "" if n == 1 else "s"
