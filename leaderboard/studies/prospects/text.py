"""Prospects in words: the verdict, the proof that no weighting works, and what it would take."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from django.utils.translation import gettext, gettext_lazy, gettext_noop, ngettext, ngettext_lazy

from leaderboard.common.language.engine import in_page_language
from leaderboard.common.language.numbers import in_language, localise
from leaderboard.common.text import as_sentence, in_words, shortened
from ranking_engine.prospects import MAJORITY, Prospect, WeightChange
from ranking_engine.prospects.shares import decimals_of

RIVALS_NAMED, TASKS_NAMED = 4, 6
VERDICT_WORDS = {
    "strict": gettext_lazy("Can win"),
    "tie_only": gettext_lazy("Can tie for first"),
    "none": gettext_lazy("Cannot win"),
    "no_scores": gettext_lazy("No scores"),
    "undecided": gettext_lazy("Undecided"),
}
# What proves that a system cannot win, or can only tie, by what is compared: the score under the mean, points under
# another rule, the tasks against one rival, or against a mixture of rivals. A task counts for a system that has a score
# on it.
ON_EVERY_TASK = {
    ("none", "score"): gettext_noop("No weights work: %(rival)s has a higher score on every task that counts."),
    ("none", "points"): gettext_noop("No weights work: %(rival)s has more points on every task that counts."),
    ("none", "rival"): gettext_noop("No weights work: %(rival)s is ahead of it on every task that counts for it."),
    ("none", "mixture"): gettext_noop(
        "No weights work: against %(rival)s it loses on balance on every task that counts for it."
    ),
    ("tie_only", "score"): gettext_noop(
        "Under some weights no rival has more, but under none does it have more than every rival: it has a higher "
        "score than %(rival)s on no task that counts."
    ),
    ("tie_only", "points"): gettext_noop(
        "Under some weights no rival has more, but under none does it have more than every rival: it has more points "
        "than %(rival)s on no task that counts."
    ),
    ("tie_only", "rival"): gettext_noop(
        "Under some weights no rival beats it, but under none does it beat every rival: %(rival)s is behind it on no "
        "task that counts."
    ),
    ("tie_only", "mixture"): gettext_noop(
        "Under some weights no rival beats it, but under none does it beat every rival: against %(rival)s it gains on "
        "balance on no task that counts."
    ),
}
UNDER_CONDITIONS = {
    ("none", "score"): gettext_noop(
        "No weights that satisfy %(conditions)s work: %(rival)s has a higher score under all of them."
    ),
    ("none", "points"): gettext_noop(
        "No weights that satisfy %(conditions)s work: %(rival)s has more points under all of them."
    ),
    ("none", "rival"): gettext_noop(
        "No weights that satisfy %(conditions)s work: it loses on balance to %(rival)s under all of them."
    ),
    ("tie_only", "points"): gettext_noop(
        "Under some weights no rival has more, but under none does it have more than every rival, if %(conditions)s."
    ),
    ("tie_only", "rival"): gettext_noop(
        "Under some weights no rival beats it, but under none does it beat every rival, if %(conditions)s."
    ),
}
UNDER_CONDITIONS |= {
    ("none", "mixture"): UNDER_CONDITIONS["none", "rival"],
    ("tie_only", "score"): UNDER_CONDITIONS["tie_only", "points"],
    ("tie_only", "mixture"): UNDER_CONDITIONS["tie_only", "rival"],
}
WITHOUT_RIVALS = {
    "none": gettext_noop("No weights work."),
    "tie_only": gettext_noop("Under some weights no rival beats it, but under none does it beat every rival."),
}
# How many can win, by how many of these only tie (none, some or all) and whether any cannot.
CAN_WIN = {
    ("none", False): ngettext_lazy(
        "%(can)s of %(n)s system can win head to head under some weights.",
        "%(can)s of %(n)s systems can win head to head under some weights.",
        "n",
    ),
    ("some", False): ngettext_lazy(
        "%(can)s of %(n)s system can win head to head under some weights (%(tied)s of them only by a tie).",
        "%(can)s of %(n)s systems can win head to head under some weights (%(tied)s of them only by a tie).",
        "n",
    ),
    ("all", False): ngettext_lazy(
        "%(can)s of %(n)s system can win head to head under some weights (only by a tie).",
        "%(can)s of %(n)s systems can win head to head under some weights (only by a tie).",
        "n",
    ),
    ("none", True): ngettext_lazy(
        "%(can)s of %(n)s system can win head to head under some weights; %(none)s cannot under any weights of the "
        "tasks that count.",
        "%(can)s of %(n)s systems can win head to head under some weights; %(none)s cannot under any weights of the "
        "tasks that count.",
        "n",
    ),
    ("some", True): ngettext_lazy(
        "%(can)s of %(n)s system can win head to head under some weights (%(tied)s of them only by a tie); %(none)s "
        "cannot under any weights of the tasks that count.",
        "%(can)s of %(n)s systems can win head to head under some weights (%(tied)s of them only by a tie); %(none)s "
        "cannot under any weights of the tasks that count.",
        "n",
    ),
    ("all", True): ngettext_lazy(
        "%(can)s of %(n)s system can win head to head under some weights (only by a tie); %(none)s cannot under any "
        "weights of the tasks that count.",
        "%(can)s of %(n)s systems can win head to head under some weights (only by a tie); %(none)s cannot under any "
        "weights of the tasks that count.",
        "n",
    ),
}
SMALL_CHANGE = 0.0005  # smaller changes of a task's weight are not told one by one


def share_of_weight(share: Fraction | float) -> str:
    """A share of the weight: `24 %`, `24.5 %`, `under 0.1 %`; number and sign stay on one line."""
    value = 100 * float(share)
    if 0 < value < 0.05:
        return gettext("under %(share)s") % {"share": in_language("0.1") + "\u00a0%"}
    return in_language(f"{value:.1f}".removesuffix(".0")) + "\u00a0%"


def share_text(prospect: Prospect) -> str:
    """The share of all weightings under which it wins, with its error, bound or exact interval; empty if unknown."""
    if prospect.share is None:
        return ""
    if prospect.share_bound is not None and not prospect.share:
        return gettext("less than %(share)s") % {"share": localise(100 * prospect.share_bound, ".2g") + "\u00a0%"}
    if prospect.share_lower is not None and prospect.share_upper is not None:
        ends = (100 * prospect.share_lower, 100 * prospect.share_upper)
        lower, upper = (localise(end, f".{decimals_of(end, 100)}f") for end in ends)
        if prospect.share_upper == 1:
            return gettext("more than %(share)s") % {"share": lower + "\u00a0%"}
        return gettext("%(lower)s to %(upper)s") % {"lower": lower, "upper": upper + "\u00a0%"}
    if not prospect.share:
        return share_of_weight(0.0)
    if not prospect.share_error:
        return share_of_weight(prospect.share)
    # As many digits as tell the error apart from nothing.
    digits = max(1, -math.floor(math.log10(100 * prospect.share_error)))
    share, error = (localise(100 * value, f".{digits}f") for value in (prospect.share, prospect.share_error))
    return f"{share}\u00a0± {error}\u00a0%"


def mixture(shares: Mapping[str, Fraction], names: Mapping[str, str]) -> str:
    """A mixture of rivals: `a half-and-half mixture of A and B`, `a mixture of A (60 %) and B (40 %)`."""
    rivals = sorted(shares, key=lambda rival: (-shares[rival], rival))
    if len(rivals) == 2 and shares[rivals[0]] == shares[rivals[1]]:
        named = in_words([_name(rival, names) for rival in rivals])
        return gettext("a half-and-half mixture of %(rivals)s") % {"rivals": named}
    parts = [f"{_name(rival, names)} ({share_of_weight(shares[rival])})" for rival in rivals]
    return gettext("a mixture of %(rivals)s") % {"rivals": in_words(parts, RIVALS_NAMED)}


def _name(key: str, names: Mapping[str, str]) -> str:
    return shortened(names.get(key, key))


def evidence(prospect: Prospect, names: Mapping[str, str], conditions: Sequence[str] = (), rule: str = MAJORITY) -> str:
    """What proves the verdict, as a sentence.

    Args:
        prospect: of a system.
        names: of the systems, by key.
        conditions: under which the verdict holds, as the page tells them.
        rule: what is to be won.
    """
    if prospect.verdict not in ("strict", "tie_only", "none"):
        return as_sentence(in_page_language(prospect.reason))
    kind = "rival" if rule == MAJORITY else "score" if rule == "mean" else "points"
    if prospect.verdict == "strict":
        if kind == "score":
            return gettext("There are weights under which it has a higher score than every other system.")
        if kind == "points":
            return gettext("There are weights under which it has more points than every other system.")
        if prospect.margin is None or prospect.margin >= 1:
            return gettext("There are weights under which it is above every rival on every task with weight.")
        return gettext("With its best weights it beats every rival by a margin of at least %(share_of_weight)s.") % {
            "share_of_weight": share_of_weight(prospect.margin)
        }
    rivals = list(prospect.certificate)
    if not rivals and kind == "rival":
        return gettext(WITHOUT_RIVALS[prospect.verdict])
    if kind == "rival" and len(rivals) > 1:
        kind = "mixture"
    against = _name(rivals[0], names) if len(rivals) == 1 else mixture(prospect.certificate, names) if rivals else ""
    kept = in_words([f"“{conditions[place]}”" for place in sorted(prospect.condition_shares)], len(conditions))
    sentences = UNDER_CONDITIONS if kept else ON_EVERY_TASK
    return gettext(sentences[prospect.verdict, kind]) % {"conditions": kept, "rival": against}


def weights_in_words(weights: Mapping[str, Fraction], task_names: Mapping[str, str]) -> str:
    """`CoLA 60 %, RTE 40 %`, the heaviest first."""
    order = sorted(weights, key=lambda task: (-weights[task], task))
    parts = [f"{task_names.get(task, task)} {share_of_weight(weights[task])}" for task in order[:TASKS_NAMED]]
    return _and_more(", ".join(parts), len(order) - len(parts))


def _and_more(names: str, n_more: int) -> str:
    return gettext("%(names)s and %(n)s more") % {"names": names, "n": n_more} if n_more > 0 else names


def moves_of(change: WeightChange, before: Mapping[str, float]) -> list[tuple[str, float, float]]:
    """Task, weight before and weight after, of all tasks whose weight changes visibly; the largest change first."""
    after = {task: float(change.weights.get(task, 0)) for task in before}
    moved = [task for task in before if abs(after[task] - before[task]) >= SMALL_CHANGE]
    moved.sort(key=lambda task: (-round(abs(after[task] - before[task]), 9), after[task] < before[task], task))
    return [(task, before[task], after[task]) for task in moved]


def change_in_words(change: WeightChange, before: Mapping[str, float], task_names: Mapping[str, str]) -> str:
    """`CoLA from 10 % to 24 %, QNLI from 10 % to 0 %; the other 7 stay as they are`, the largest change first."""
    moved = moves_of(change, before)
    if not moved:
        return gettext("nothing")
    parts = [
        gettext("%(task)s from %(before)s to %(after)s")
        % {"task": task_names.get(task, task), "before": share_of_weight(old), "after": share_of_weight(new)}
        for task, old, new in moved[:TASKS_NAMED]
    ]
    text = _and_more(", ".join(parts), len(moved) - len(parts))
    still = len(before) - len(moved)
    if not still:
        return text
    return ngettext(
        "%(changes)s; the other one does not change", "%(changes)s; the other %(n)s do not change", still
    ) % {"changes": text, "n": still}


def counts_sentence(verdicts: Mapping[str, int]) -> str:
    """How many systems can win, how many cannot."""
    strict, tied, none = (verdicts.get(verdict, 0) for verdict in ("strict", "tie_only", "none"))
    n_decided = strict + tied + none
    can = strict + tied
    if not n_decided:
        return gettext("No system has scores to compare.")
    ties = "none" if not tied else "some" if can != tied else "all"
    counts = {"can": can, "n": n_decided, "tied": tied, "none": none}
    sentences = [CAN_WIN[ties, none > 0] % counts]
    if n := verdicts.get("undecided", 0):
        sentences.append(ngettext("%(n)s is undecided.", "%(n)s are undecided.", n) % {"n": n})
    if n := verdicts.get("no_scores", 0):
        sentences.append(
            ngettext(
                "%(n)s has no score on a task of weight above 0.", "%(n)s have no score on a task of weight above 0.", n
            )
            % {"n": n}
        )
    return " ".join(sentences)
