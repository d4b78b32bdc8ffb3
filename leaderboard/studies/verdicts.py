"""How stable a ranking is by each study, in one figure and one word, and a sentence for the whole board.

Where good, mixed and poor begin is a convention, written down in `docs/studies.md`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext

from leaderboard.common.language.numbers import localise
from leaderboard.common.text import in_words, percent
from leaderboard.studies.intervals import IntervalRow
from ranking_engine.stability.missing_scores import level_told

Summary = Mapping[str, Any]
GOOD, MIXED, POOR, UNKNOWN = "good", "mixed", "poor", "not known"
TOO_FEW_TASKS = "too few tasks to tell"


@dataclass(frozen=True)
class StudyGrade:
    """What one study says of the ranking under one rule.

    Attributes:
        grade: `good`, `mixed`, `poor`, `not known`, or `too few tasks to tell`.
        figure: the figure that it rests on, in words.
        condition: what the study does to the board, as in "stable when ..."; empty where it disturbs nothing, and where
            it is about another rule.
    """

    grade: str
    figure: str
    condition: str = ""


def verdict_of(study: str, summary: Summary, rule: str) -> StudyGrade | None:
    """The verdict of a study.

    Args:
        study: a key of the engine's catalogue.
        summary: its report's.
        rule: the rule that the page is about.

    Returns:
        None where the study has no figure for the rule.
    """
    teller = _VERDICTS.get(study)
    verdict = teller(summary, rule) if teller is not None else None
    slow = summary.get("slow_rules", {}).get(rule)
    if verdict is None or slow is None or slow["n_repeats"] == slow["of"]:
        return verdict
    repeats = f" ({slow['n_repeats']:,} of {slow['of']:,} repeats)"
    return replace(
        verdict, figure=verdict.figure + repeats, condition=verdict.condition and verdict.condition + repeats
    )


def board_sentence(
    verdicts: Sequence[StudyGrade], rule_name: str, n_studies: int, first: Sequence[IntervalRow], level: float
) -> str:
    """All verdicts in a sentence or two.

    Args:
        verdicts: of the studies that are done.
        rule_name: of the rule that they are about.
        n_studies: how many studies there are, with those that are skipped or not done.
        first: the systems at rank 1 with their intervals; none where these are not computed.
        level: of the intervals, each system separately.
    """
    parts = []
    if len(first) == 1 and (row := first[0]).interval_text:
        interval = f"the {localise(100 * level, 'g')} % interval of its rank is {row.interval_text}"
        parts.append(
            gettext("%(row)s is first under %(rule_name)s; if the tasks are drawn again, %(interval)s.")
            % {"row": row.name, "rule_name": rule_name, "interval": interval}
        )
    by_grade = {grade: [v.condition for v in verdicts if v.grade == grade and v.condition] for grade in _HOW}
    clauses = [f"{how} {in_words(by_grade[grade])}" for grade, how in _HOW.items() if by_grade[grade]]
    if clauses:
        n, n_without = sum(map(len, by_grade.values())), n_studies - len(verdicts)
        without = f"; {n_without} {'has' if n_without == 1 else 'have'} no result for this rule" if n_without else ""
        parts.append(
            gettext("The order %(clauses)s. This sums up %(n)s of %(n_studies)s studies%(without)s.")
            % {"clauses": ", ".join(clauses), "n": n, "n_studies": n_studies, "without": without}
        )
    return " ".join(parts)


_HOW = {GOOD: "is stable", MIXED: "changes somewhat", POOR: "changes a lot"}


def _graded(value: float, good: float, mixed: float) -> str:
    """The grade of a value of which less is better."""
    return GOOD if value <= good else MIXED if value <= mixed else POOR


def _missing_scores(summary: Summary, rule: str) -> StudyGrade | None:
    at = level_told(summary["levels"])
    value = summary["rules"].get(rule, {}).get("mean", {at: None})[at]
    if value is None:
        return None
    level = f"{localise(summary['levels'][at], 'g')} %"
    first = f"first {summary['top']} systems"
    figure = f"correlation {localise(value, '.2f')} of the {first} with {level} of the scores deleted"
    return StudyGrade(_graded(1 - value, 0.1, 0.3), figure, f"when {level} of the scores are missing ({first} only)")


def _system_additions(summary: Summary, rule: str) -> StudyGrade | None:
    of_rule = summary["rules"].get(rule)
    if of_rule is None or not of_rule["n_newcomers"]:
        return None
    value = of_rule["reversals"] / of_rule["n_newcomers"]
    figure = f"{percent(value)} of the newcomers reverse two other systems"
    return StudyGrade(_graded(value, 0.01, 0.1), figure, "when systems join")


def _task_subsets(summary: Summary, rule: str) -> StudyGrade | None:
    of_rule = summary["rules"].get(rule)
    if of_rule is None or not of_rule["mean"]:
        return None
    sizes = of_rule.get("sizes") or range(1, len(of_rule["mean"]) + 1)
    means = dict(zip(sizes, of_rule["mean"], strict=True))
    half = max((size for size in means if size <= max(1, max(sizes) // 2)), default=None)
    value = None if half is None else means[half]
    if half is None or value is None:
        return None
    apart = (1 - value) / 2
    figure = f"{percent(apart)} of the pairs of systems reordered on {half} of {max(sizes)} tasks"
    return StudyGrade(_graded(apart, 0.1, 0.2), figure, "when half of the tasks are left out")


def _corrupted_tasks(summary: Summary, rule: str) -> StudyGrade | None:
    of_rule = summary["rules"].get(rule)
    if of_rule is None or not of_rule["reversed"] or of_rule["reversed"][0] is None:
        return None
    value = of_rule["reversed"][0]
    figure = f"{percent(value)} of the pairs of systems reordered"
    return StudyGrade(_graded(value, 0.05, 0.15), figure, "when one task is reversed")


def _judge_bootstrap(summary: Summary, rule: str) -> StudyGrade | None:
    value = summary["rules"].get(rule, {}).get("judge_stability", {}).get("mean")
    if value is None:
        return None
    figure = f"correlation {localise(value, '.2f')} of two rankings from tasks drawn again"
    return StudyGrade(_graded(1 - value, 0.1, 0.3), figure, "when tasks are drawn again")


def _diversity(summary: Summary, _rule: str) -> StudyGrade | None:
    value = summary.get("dispersion_normalized")
    if summary["reason"] or value is None:
        return None
    figure = f"two tasks order {percent(value)} of the pairs of systems differently, whatever the rule"
    return StudyGrade(_graded(value, 0.1, 0.3), figure)


def _significance(summary: Summary, rule: str) -> StudyGrade | None:
    neighbours = summary.get("rules", {}).get(rule, {}).get("neighbours", {})
    if summary.get("reason") or not neighbours.get("n_pairs"):
        return None
    n, n_too_few = neighbours["n_separable"], neighbours.get("n_too_few_tasks", 0)
    n_pairs = neighbours["n_pairs"] - n_too_few
    if neighbours.get("verdict") == "too_few_tasks" or not n_pairs:
        return StudyGrade(TOO_FEW_TASKS, f"no test of {n_too_few:,} pairs of neighbours could be significant")
    figure = f"{n:,} of {n_pairs:,} pairs of neighbours differ significantly"
    figure += f"; {n_too_few:,} more have too few tasks to tell" if n_too_few else ""
    return StudyGrade(_graded(1 - n / n_pairs, 0.5, 0.9), figure)


def _cardinal_sensitivity(summary: Summary, rule: str) -> StudyGrade | None:
    bounds = next((one for one in summary["feasible"].values() if not one["reason"]), None)
    if bounds is None:
        return None
    condition = "when tasks get other weights (worst case)" if rule == "mean" else ""
    return _reversed(bounds["discordant_share"], "in the ranking by mean score", condition)


def _ordinal_sensitivity(summary: Summary, rule: str) -> StudyGrade | None:
    if summary["reason"]:
        return None
    first = "the first two" if summary.get("note") else "the first fifth"
    condition = f"when other systems take part (worst case, among {first}, ties as losses)"
    of = f"among {first} by win rate (ties as losses)"
    return _reversed(summary["discordant_share"], of, condition if rule == "win_rate" else "")


def _reversed(share: Summary, of: str, condition: str) -> StudyGrade:
    """The grade of a worst case of the pairs `of` a ranking; no condition where that is another rule's ranking."""
    lower, upper = share["lower"], share["upper"]
    size = f"up to {percent(lower)}" if share["proven"] else f"between {percent(lower)} and {percent(upper)}"
    figure = f"{size} of the pairs {of} can be reversed in the worst case"
    grade = _graded(lower, 0.05, 0.15)
    if not share["proven"] and _graded(upper, 0.05, 0.15) != grade:
        return StudyGrade(UNKNOWN, figure)
    return StudyGrade(grade, figure, condition)


_VERDICTS: dict[str, Callable[[Summary, str], StudyGrade | None]] = {
    "missing_scores": _missing_scores,
    "system_additions": _system_additions,
    "task_subsets": _task_subsets,
    "corrupted_tasks": _corrupted_tasks,
    "judge_bootstrap": _judge_bootstrap,
    "diversity": _diversity,
    "significance": _significance,
    "cardinal_sensitivity": _cardinal_sensitivity,
    "ordinal_sensitivity": _ordinal_sensitivity,
}
