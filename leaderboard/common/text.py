"""Figures in words."""

import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TypeVar

from django.utils.translation import gettext, ngettext

from leaderboard.common.language.numbers import in_language
from ranking_engine import RULES, Ranking
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.catalogue.variants import rule_of_variant
from ranking_engine.rules.soft_condorcet import unfinished_note

T = TypeVar("T")

# `no score on 2 of 9 tasks of weight above 0: a, b and 3 more`, `tasks a, b and 3 more have no stated chance level`
LISTED_SYSTEMS = re.compile(r"groups of systems [^()]*\((?P<keys>[^()]*)\)")
LISTED_SYSTEM = re.compile(r"(?:^|(?<=, )|(?<=; ))[a-z0-9]+(?:-[a-z0-9]+)*(?=$|, |; | and \d+ more)")
LISTED_TASKS = re.compile(
    r"(tasks(?: of weight above 0)?: |\btasks? (?!of weight above ))(?P<keys>[^ :][^:]*?)"
    r"(?=$| and \d+ more| (?:has|have|is|are)\b)"
)

# Of a ranking, whether its order was proven, and whether the order of names may have decided a part of it.
PROVEN = "Proven optimal"
EQUALLY_NEAR = "Other orders are equally good."
MAY_BE_EQUALLY_NEAR = "It is not known whether other orders are equally good."
BY_NAME = (
    "Victories of equal strength were taken in the order of the systems’ names, which decided the result: the order "
    "shown is one of several."
)

SIGNIFICANT = 4  # digits of a figure
MORE_DECIMALS = 2  # that a column may have than its largest figure
MIN_PLAIN, MAX_PLAIN = 1e-4, 1e9  # figures outside are written with an exponent
MINUS = "\N{MINUS SIGN}"
NAME_SHOWN = 60  # of a longer name, a sentence shows the beginning


def whole_number(text: str, max_digits: int = 9) -> int | None:
    """A whole number as an address states it; None for anything else, and for one of more digits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= max_digits else None


def in_words(names: Sequence[str], most: int = 3, total: int | None = None) -> str:
    """`A`, `A and B`, `A, B and C`, `A, B, C and 4 more`.

    Args:
        names: the things, or the first of them.
        most: how many are named.
        total: how many there are, where `names` are only the first.
    """
    named = list(names[:most])
    n_more = (len(names) if total is None else total) - len(named)
    if n_more > 0:
        named.append(gettext("%(n)s more") % {"n": n_more})
    if len(named) < 2:
        return "".join(named)
    return gettext("%(first)s and %(last)s") % {"first": ", ".join(named[:-1]), "last": named[-1]}


def in_a_list(names: Sequence[str], most: int = 3) -> str:
    """`A, B, C`, and of more than `most` names `A, B, C and 4 more`; see `in_words` for lists in running text."""
    return in_words(names, most) if len(names) > most else ", ".join(names)


def shortened(name: str) -> str:
    """A name that fits into a sentence."""
    return name if len(name) <= NAME_SHOWN else f"{name[: NAME_SHOWN - 1].rstrip()}…"


def by_catalogue(by_rule: Mapping[str, T]) -> dict[str, T]:
    """What is said rule by rule, in the catalogue's order: PostgreSQL keeps no order of a stored object's keys."""
    places = {rule: place for place, rule in enumerate(RULES)}

    def place(rule: str) -> tuple[int, str]:
        return places.get(rule_of_variant(rule), len(places)), rule  # a variant is next to its rule

    return {rule: by_rule[rule] for rule in sorted(by_rule, key=place)}


def as_sentence(text: str) -> str:
    """A reason as the engine gives it, with a capital and a full stop."""
    return f"{text[0].upper()}{text[1:]}{'' if text[-1] in '.!?…' else '.'}" if text else ""


def with_task_names(reason: str, names: Mapping[str, str]) -> str:
    """A reason whose list of tasks names them as the pages do; the engine knows tasks by their keys."""
    match = LISTED_TASKS.search(reason)
    if match is None:
        return reason
    listed = re.sub(r"[a-z0-9]+(-[a-z0-9]+)*", lambda key: names.get(key[0], key[0]), match["keys"])
    return reason[: match.start("keys")] + listed + reason[match.end("keys") :]


def with_system_names(reason: str, names: Mapping[str, str]) -> str:
    """A reason with names in place of the systems that it lists in brackets; the engine knows systems by their keys.

    Only whole items of the list are replaced: `a, b and 2 more; c` has the items a, b and c.
    """
    match = LISTED_SYSTEMS.search(reason)
    if match is None:
        return reason
    listed = LISTED_SYSTEM.sub(lambda key: names.get(key[0], key[0]), match["keys"])
    return reason[: match.start("keys")] + listed + reason[match.end("keys") :]


def direction_question(doubtful: Sequence[tuple[str, str]]) -> str:
    """A question about tasks that count as higher is better although their names say otherwise; empty without any.

    Args:
        doubtful: name and word of each, as `ranking_engine.files.directions.doubtful_tasks` gives them.
    """
    if not doubtful:
        return ""
    named = in_words([f"“{shortened(name)}”" for name, _ in doubtful], 6)
    words = in_words([f"“{word}”" for word in dict.fromkeys(word.casefold() for _, word in doubtful)], 6)
    question = ngettext(
        "%(names)s is set to “higher is better”, but its name contains %(words)s. Is lower better?",
        "%(names)s are set to “higher is better”, but their names contain %(words)s. Is lower better?",
        len(doubtful),
    )
    return question % {"names": named, "words": words}


def with_task_count(reason: str) -> str:
    """A reason that says of how many tasks it is true, where it lists several; else as it is."""
    match = LISTED_TASKS.search(reason)
    if match is None:
        return reason
    more = re.match(r" and (\d+) more", reason[match.end() :])
    end = match.end() + (more.end() if more else 0)
    n_tasks = len(re.split(r", | and ", match["keys"])) + (int(more[1]) if more else 0)
    if n_tasks == 1:
        return reason
    # A list after a colon follows its count.
    count = match[1].removesuffix(": ") if match[1].endswith(": ") else f"{n_tasks} tasks"
    return reason[: match.start()] + count + reason[end:]


def depends_on_names(rule: str, remark: str) -> bool:
    """Whether the order of the systems' names decided a part of a ranking, or may have done so.

    Args:
        rule: its key.
        remark: what `ranking_remark` says of it.
    """
    if rule_of_variant(rule) in RULES and get_rule(rule).is_search:
        return not remark.startswith(PROVEN) or EQUALLY_NEAR in remark or MAY_BE_EQUALLY_NEAR in remark
    return BY_NAME in remark


def ranking_remark(ranking: Ranking) -> str:
    """What a reader must know of a ranking beside its ranks: whether it is proven, what decided it, who else wins."""
    details, remarks = ranking.details, []
    if "proven" in details:
        distance, bound = details["distance"], details["lower_bound"]
        if details["proven"]:
            remarks.append(f"{PROVEN}: no order disagrees less with the tasks (distance {distance:.6g}).")
        else:
            remarks.append(
                f"The best order found, not proven optimal: its distance to the tasks is {distance:.6g}, and no "
                f"order has one below {bound:.6g}."
            )
        if details.get("unique") is False:
            remarks.append(EQUALLY_NEAR)
        elif details["proven"] and "unique" in details and details["unique"] is None:
            remarks.append(MAY_BE_EQUALLY_NEAR)
    if details.get("decided_by_name"):
        remarks.append(BY_NAME)
    n_others = len(ranking.winners) - int((ranking.ranks[list(ranking.winners)] == 1).sum())
    if n_others:
        others = "1 winner is" if n_others == 1 else f"{n_others} winners are"
        why = get_rule(ranking.rule).winner_below if rule_of_variant(ranking.rule) in RULES else ""
        remarks.append(f"{others} below rank 1: {why or 'other orders put it first'}.")
    if details.get("winners_complete") is False:
        remarks.append("The search for all winners was stopped early, so there may be more.")
    if unfinished := unfinished_note(details):
        remarks.append(unfinished)
    if n_pairs := details.get("pairs_without_common_task"):
        pairs = (
            "1 pair of systems shares no task and counts"
            if n_pairs == 1
            else f"{n_pairs} pairs of systems share no task and count"
        )
        remarks.append(f"{pairs} as equal.")
    return " ".join(remarks)


def decimal_text(value: Decimal) -> str:
    """A weight as text, without exponent and without trailing zeros: `0.5`, `1`."""
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: float | None, digits: int = 3) -> str:
    """A share with so many significant digits, whole from ten or a hundred percent on: `24.5 %`; `none` of None."""
    if share is None:
        return "none"
    value = 100 * share
    return in_language(f"{value:.0f} %" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g} %")


def value_text(value: float) -> str:
    """A score to twelve significant digits, as they are stored and as files write them."""
    return f"{value:.12g}"


def typeset(figure: str) -> str:
    """A figure as `format` writes it, with the marks of the language of the page and a real minus sign."""
    return in_language(figure).replace("-", MINUS)


def signed(value: float, n_decimals: int = 2, *, undefined: str = "–") -> str:
    """A figure that may be below 0, such as a correlation, with so many decimals; what is rounded to 0 has no sign.

    Args:
        value: the figure.
        n_decimals: how many decimals.
        undefined: what is written for NaN.
    """
    return undefined if math.isnan(value) else typeset(f"{value:z.{n_decimals}f}")


def figure_text(value: float) -> str:
    """A figure for people: four significant digits, all digits of a whole number, no exponent without need."""
    return typeset(_plain(value))


def figure_texts(values: Sequence[float]) -> list[str]:
    """Figures that people read below each other: as many decimals each, so that their points align.

    Args:
        values: of one column; NaN where there is none, which becomes an empty text.
    """
    known = [value for value in values if not math.isnan(value)]
    texts = [_plain(value) for value in known]
    if not texts or any("e" in text or "inf" in text for text in texts):
        return ["" if math.isnan(value) else figure_text(value) for value in values]
    # As many as some figure needs; but a small one beside large ones gives these no long row of zeros.
    n_needed = max(len(text.partition(".")[2]) for text in texts)
    n_decimals = min(n_needed, _n_decimals(max(map(abs, known))) + MORE_DECIMALS)
    return [signed(value, n_decimals, undefined="") for value in values]


def _plain(value: float) -> str:
    size = abs(value)
    if 0 < size < MIN_PLAIN or not size < MAX_PLAIN:
        return f"{value:z.{SIGNIFICANT}g}"
    text = f"{value:z.{_n_decimals(size)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _n_decimals(size: float) -> int:
    """How many decimals of a positive figure are among its significant digits."""
    return max(0, SIGNIFICANT - 1 - math.floor(math.log10(size))) if size else 0
