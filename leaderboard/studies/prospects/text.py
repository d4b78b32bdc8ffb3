"""Prospects in words: the verdict, the proof that no weighting works, and what it would take."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from django.utils.translation import gettext

from leaderboard.common.language.numbers import in_language, localise
from leaderboard.common.text import in_words, shortened
from ranking_engine.prospects import MAJORITY, Prospect, WeightChange

RIVALS_NAMED, TASKS_NAMED = 4, 6
VERDICT_WORDS = {
    "strict": "Can win",
    "tie_only": "Can tie for first",
    "none": "Cannot win",
    "no_scores": "No scores",
    "undecided": "Undecided",
}
SMALL_CHANGE = 0.0005  # smaller changes of a task's weight are not told one by one


def share_of_weight(share: Fraction | float) -> str:
    """A share of the weight: `24 %`, `24.5 %`, `under 0.1 %`; number and sign stay on one line."""
    value = 100 * float(share)
    if 0 < value < 0.05:
        return "under 0.1\u00a0%"
    return in_language(f"{value:.1f}".removesuffix(".0")) + "\u00a0%"


def share_text(prospect: Prospect) -> str:
    """The share of all weightings under which it wins, with its error, bound or exact interval; empty if unknown."""
    if prospect.share is None:
        return ""
    if prospect.share_bound is not None and not prospect.share:
        return f"less than {localise(100 * prospect.share_bound, '.2g')}\u00a0%"
    if prospect.share_lower is not None and prospect.share_upper is not None:
        return f"{localise(100 * prospect.share_lower, '.2g')} to {localise(100 * prospect.share_upper, '.2g')}\u00a0%"
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
        return f"a half-and-half mixture of {in_words([_name(rival, names) for rival in rivals])}"
    parts = [f"{_name(rival, names)} ({share_of_weight(shares[rival])})" for rival in rivals]
    return f"a mixture of {in_words(parts, RIVALS_NAMED)}"


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
        return prospect.reason[:1].upper() + prospect.reason[1:] + "." if prospect.reason else ""
    is_by_points, more = rule != MAJORITY, "a higher score" if rule == "mean" else "more points"
    if prospect.verdict == "strict":
        if is_by_points:
            return gettext("There are weights under which it has %(more)s than every other system.") % {"more": more}
        if prospect.margin is None or prospect.margin >= 1:
            return gettext("There are weights under which it is above every rival on every task with weight.")
        return gettext("With its best weights it beats every rival by a margin of at least %(share_of_weight)s.") % {
            "share_of_weight": share_of_weight(prospect.margin)
        }
    rivals = list(prospect.certificate)
    against = _name(rivals[0], names) if len(rivals) == 1 else mixture(prospect.certificate, names) if rivals else ""
    kept = in_words([f"“{conditions[place]}”" for place in sorted(prospect.condition_shares)], len(conditions))
    if prospect.verdict == "none":
        start = "No weights work"
        loses = f"{against} has {more}" if is_by_points else f"it loses on balance to {against}"
        under_conditions = gettext("No weights that satisfy %(kept)s work: %(loses)s under all of them.") % {
            "kept": kept,
            "loses": loses,
        }
        by_points, by_one = f"{against} has {more} on every task", f"{against} is ahead of it on every task"
        by_mixture = f"against {against} it loses on balance on every task"
    else:
        start = "Under some weights no rival beats it, but under none does it beat every rival"
        if is_by_points:
            start = "Under some weights no rival has more, but under none does it have more than every rival"
        under_conditions = f"{start}, if {kept}."
        by_points, by_one = f"it has {more} than {against} on no task", f"{against} is behind it on no task"
        by_mixture = f"against {against} it gains on balance on no task"
    if not rivals and not is_by_points:
        return f"{start}."
    if kept:
        return under_conditions
    return f"{start}: {by_points if is_by_points else by_one if len(rivals) == 1 else by_mixture}."


def weights_in_words(weights: Mapping[str, Fraction], task_names: Mapping[str, str]) -> str:
    """`CoLA 60 %, RTE 40 %`, the heaviest first."""
    order = sorted(weights, key=lambda task: (-weights[task], task))
    parts = [f"{task_names.get(task, task)} {share_of_weight(weights[task])}" for task in order[:TASKS_NAMED]]
    more = len(order) - TASKS_NAMED
    return ", ".join(parts) + (f" and {more} more" if more > 0 else "")


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
        return "nothing"
    parts = [
        f"{task_names.get(task, task)} from {share_of_weight(old)} to {share_of_weight(new)}"
        for task, old, new in moved[:TASKS_NAMED]
    ]
    rest = len(moved) - len(parts)
    still = len(before) - len(moved)
    text = ", ".join(parts) + (f" and {rest} more" if rest > 0 else "")
    if not still:
        return text
    return f"{text}; the other {'one does not change' if still == 1 else f'{still} do not change'}"


def counts_sentence(verdicts: Mapping[str, int]) -> str:
    """How many systems can win, how many cannot."""
    strict, tied, none = (verdicts.get(verdict, 0) for verdict in ("strict", "tie_only", "none"))
    n_decided = strict + tied + none
    can = strict + tied
    if not n_decided:
        return gettext("No system has scores to compare.")
    sentence = f"{can} of {n_decided} system{'' if n_decided == 1 else 's'} can win head to head under some weights"
    if tied:
        sentence += f" ({tied} of them only by a tie)" if can != tied else " (only by a tie)"
    if none:
        sentence += f"; {none} cannot under any weights"
    sentence += "."
    if n := verdicts.get("undecided", 0):
        sentence += f" {n} {'is' if n == 1 else 'are'} undecided."
    if n := verdicts.get("no_scores", 0):
        sentence += f" {n} {'has' if n == 1 else 'have'} no score on a task of weight above 0."
    return sentence
