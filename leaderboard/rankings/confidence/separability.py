"""Which systems of a ranking differ significantly, in sentences."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext, ngettext

from leaderboard.common.language.engine import in_page_language
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
        return gettext("all systems share one rank")
    if _is_too_few(tests):
        n = tests["n_clusters"]
        if n != tests["n_tasks"]:
            text = ngettext(
                "%(n)s cluster of tasks is too few to show any significant difference",
                "%(n)s clusters of tasks are too few to show any significant difference",
                n,
            )
        else:
            text = ngettext(
                "%(n)s task is too few to show any significant difference",
                "%(n)s tasks are too few to show any significant difference",
                n,
            )
        text %= {"n": localise(n, ",")}
        at_once = gettext("%(text)s (%(pairs)s at once)") % {"text": text, "pairs": _pairs(every["n_pairs"])}
        return at_once if every["n_pairs"] > 1 else text
    figures = {
        "n": localise(neighbours["n_separable"], ","),
        "pairs": _pairs(neighbours["n_pairs"]),
        "n_every": localise(every["n_separable"], ","),
        "every": _pairs(every["n_pairs"]),
    }
    if neighbours["n_separable"]:
        text = gettext("%(n)s of %(pairs)s of neighbours differ significantly") % figures
    elif not every["n_separable"]:
        text = gettext("no two systems differ significantly")
    else:
        text = gettext("no two neighbours differ significantly, but %(n_every)s of all %(every)s do") % figures
    if n_against := neighbours["n_contradicted"]:
        against = ngettext(
            "%(pairs)s of neighbours contradicts the ranking",
            "%(pairs)s of neighbours contradict the ranking",
            n_against,
        )
        text += f"; {against % {'pairs': _pairs(n_against)}}"
    return text


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
    tasks, n_pairs = tasks_phrase(tests["n_clusters"], tests["n_tasks"]), every["n_pairs"]
    tested = gettext("Tested: %(what)s.") % {"what": in_page_language(tests["tested_text"])}
    figures = {
        "name": name,
        "tasks": tasks,
        "level": localise(100 * level, "g"),
        "n": localise(neighbours["n_separable"], ","),
        "pairs": _pairs(neighbours["n_pairs"]),
    }
    if every["n_tied"] == every["n_pairs"]:
        return gettext("All systems share one rank under %(name)s: there are no differences to test.") % {"name": name}
    if _is_too_few(tests):
        if n_pairs > 1:
            too_few = ngettext(
                "Among %(every)s at once, %(tasks)s, is too few to show a significant difference between any two "
                "systems of this board at the %(level)s %% level: even a system that is ahead on all of them could be "
                "so by chance.",
                "Among %(every)s at once, %(tasks)s, are too few to show a significant difference between any two "
                "systems of this board at the %(level)s %% level: even a system that is ahead on all of them could be "
                "so by chance.",
                tests["n_clusters"],
            )
        else:
            too_few = ngettext(
                "%(tasks)s, is too few to show a significant difference between any two systems of this board at the "
                "%(level)s %% level: even a system that is ahead on all of them could be so by chance.",
                "%(tasks)s, are too few to show a significant difference between any two systems of this board at the "
                "%(level)s %% level: even a system that is ahead on all of them could be so by chance.",
                tests["n_clusters"],
            )
        tie = gettext("That is not the same as a tie.")
        if tests["n_clusters"] >= LEAST_FOR_ONE_PAIR and n_pairs > 1:
            # That one pair chosen beforehand needs fewer tasks than all pairs at once, where there are enough for it.
            tie = gettext(
                "That is not the same as a tie; a single pair that you choose beforehand can be tested: see Head to "
                "head."
            )
        return f"{too_few % (figures | {'every': _pairs(n_pairs)})} {tie} {tested}"
    if neighbours["n_separable"]:
        first = gettext(
            "%(n)s of %(pairs)s of neighbours under %(name)s differ significantly at the %(level)s %% level, by "
            "sign-flip tests on %(tasks)s"
        )
    elif neighbours["verdict"] == "too_few_tasks":
        first = gettext(
            "There are too few tasks to show a significant difference between any two neighbours under %(name)s at the "
            "%(level)s %% level, by sign-flip tests on %(tasks)s"
        )
    else:
        first = gettext(
            "No two neighbours under %(name)s differ significantly at the %(level)s %% level, by sign-flip tests on "
            "%(tasks)s"
        )
    parts = []
    if top["n_pairs"] and top["n_pairs"] != n_pairs:
        among = {"n": localise(top["n_separable"], ","), "pairs": _pairs(top["n_pairs"])}
        parts.append(gettext("%(n)s of the %(pairs)s among the first ranks") % among)
    if n_pairs > 1:
        parts.append(
            gettext("%(n)s of all %(pairs)s") % {"n": localise(every["n_separable"], ","), "pairs": _pairs(n_pairs)}
        )
    further = (
        gettext("%(first)s, and %(last)s") % dict(zip(("first", "last"), parts, strict=True))
        if parts[1:]
        else "".join(parts)
    )
    against = ""
    if neighbours["n_contradicted"] or every["n_contradicted"]:
        against = gettext(
            " In %(pairs)s of neighbours and %(n)s of all pairs the system ranked lower is ahead by more than chance "
            "would explain: they contradict the ranking."
        ) % {"pairs": _pairs(neighbours["n_contradicted"]), "n": localise(every["n_contradicted"], ",")}
    return f"{first % figures}{f'; {further}' if further else ''}.{against} {tested}"


def _is_too_few(tests: Mapping[str, Any]) -> bool:
    """Whether there are too few tasks to find any two systems significantly different in any family of pairs."""
    untied = [tests[family] for family in FAMILIES if tests[family]["n_pairs"] > tests[family]["n_tied"]]
    return bool(untied) and all(family["verdict"] == "too_few_tasks" for family in untied)


def _pairs(n: int) -> str:
    return ngettext("%(n)s pair", "%(n)s pairs", n) % {"n": localise(n, ",")}
