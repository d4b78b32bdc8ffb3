"""How stable a ranking is by each study, in one figure and one word, and a sentence for the whole board.

Where good, mixed and poor begin is a convention, written down in `docs/studies.md`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext, gettext_noop, ngettext

from leaderboard.common.language.numbers import localise
from leaderboard.common.text import in_words, percent
from leaderboard.studies.intervals import IntervalRow
from leaderboard.studies.study_findings import fewer_repeats
from ranking_engine.stability.studies.missing_scores import level_told

Summary = Mapping[str, Any]
GOOD, MIXED, POOR = gettext_noop("good"), gettext_noop("mixed"), gettext_noop("poor")
UNKNOWN, TOO_FEW_TASKS = gettext_noop("not known"), gettext_noop("too few tasks to tell")


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
    slow = fewer_repeats(summary.get("slow_rules", {})).get(rule)
    if verdict is None or slow is None:
        return verdict
    repeats = f" ({slow['n_repeats']:,} of {slow['of']:,} repeats)"
    return replace(
        verdict, figure=verdict.figure + repeats, condition=verdict.condition and verdict.condition + repeats
    )


def board_sentence(
    verdicts: Sequence[StudyGrade],
    rule_name: str,
    n_studies: int,
    first: Sequence[IntervalRow],
    level: float,
    *,
    n_pending: int = 0,
) -> str:
    """All verdicts in some sentences.

    Args:
        verdicts: of the studies that are done.
        rule_name: of the rule that they are about.
        n_studies: how many studies there are, with those that are skipped or not done.
        first: the systems at rank 1 with their intervals; none where these are not computed.
        level: of the intervals, each system separately.
        n_pending: how many of the studies are being computed or queued.
    """
    parts = []
    if len(first) == 1 and (row := first[0]).interval_text:
        interval = gettext(
            "%(name)s is first under %(rule)s; if the tasks are drawn again, the %(level)s %% interval of its rank is "
            "%(interval)s."
        ) % {"name": row.name, "rule": rule_name, "level": localise(100 * level, "g"), "interval": row.interval_text}
        parts.append(interval)
    by_grade = {grade: [v.condition for v in verdicts if v.grade == grade and v.condition] for grade in _HOW}
    clauses = {
        grade: gettext(how) % {"conditions": in_words(by_grade[grade])}
        for grade, how in _HOW.items()
        if by_grade[grade]
    }
    stable = clauses.pop(GOOD, "")
    changing = in_words(list(clauses.values()))
    what = stable or changing
    if stable and changing:
        what = gettext("%(stable)s, but %(changing)s") % {"stable": stable, "changing": changing}
    if what:
        n, n_without = sum(map(len, by_grade.values())), n_studies - len(verdicts) - n_pending
        parts.append(gettext("The order %(clauses)s.") % {"clauses": what})
        parts.append(
            gettext("This sums up %(n)s of %(n_studies)s studies.") % {"n": n, "n_studies": n_studies},
        )
        if n_pending:
            pending = ngettext("%(n)s study is not computed yet.", "%(n)s studies are not computed yet.", n_pending)
            parts.append(pending % {"n": n_pending})
        if n_without:
            without = ngettext(
                "%(n)s study has no result for this rule.", "%(n)s studies have no result for this rule.", n_without
            )
            parts.append(without % {"n": n_without})
    return " ".join(parts)


_HOW = {
    GOOD: gettext_noop("is stable %(conditions)s"),
    MIXED: gettext_noop("changes somewhat %(conditions)s"),
    POOR: gettext_noop("changes a lot %(conditions)s"),
}


def _graded(value: float, good: float, mixed: float) -> str:
    """The grade of a value of which less is better."""
    return GOOD if value <= good else MIXED if value <= mixed else POOR


def _missing_scores(summary: Summary, rule: str) -> StudyGrade | None:
    at = level_told(summary["levels"])
    value = summary["rules"].get(rule, {}).get("mean", {at: None})[at]
    if value is None or not summary.get("n_deleted", {at: 1})[at]:  # on a small board nothing may be deleted
        return None
    figures = {
        "value": localise(value, ".2f"), "n": summary["top"], "level": localise(summary["levels"][at], "g"),
    }  # fmt: skip
    figure = gettext("correlation %(value)s of the first %(n)s systems with %(level)s %% of the scores deleted")
    condition = gettext("when %(level)s %% of the scores are missing (first %(n)s systems only)")
    return StudyGrade(_graded(1 - value, 0.1, 0.3), figure % figures, condition % figures)


def _system_additions(summary: Summary, rule: str) -> StudyGrade | None:
    of_rule = summary["rules"].get(rule)
    if of_rule is None or not of_rule["n_newcomers"]:
        return None
    value = of_rule["reversals"] / of_rule["n_newcomers"]
    figure = gettext("%(share)s of the newcomers reverse two other systems") % {"share": percent(value)}
    return StudyGrade(_graded(value, 0.01, 0.1), figure, gettext("when systems join"))


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
    figures = {"value": localise(value, ".2f"), "kept": half, "left_out": max(sizes) - half, "n": max(sizes)}
    figure = gettext("Kendall’s τ %(value)s between the rankings on %(kept)s of %(n)s tasks and on all") % figures
    condition = gettext("when %(left_out)s of %(n)s tasks are left out") % figures
    return StudyGrade(_graded(apart, 0.1, 0.2), figure, condition)


def _corrupted_tasks(summary: Summary, rule: str) -> StudyGrade | None:
    of_rule = summary["rules"].get(rule)
    if of_rule is None or not of_rule["reversed"] or of_rule["reversed"][0] is None:
        return None
    value = of_rule["reversed"][0]
    figure = gettext("%(share)s of the pairs of systems reordered, where a tie in one ranking alone counts half") % {
        "share": percent(value)
    }
    return StudyGrade(_graded(value, 0.05, 0.15), figure, gettext("when one task is reversed"))


def _judge_bootstrap(summary: Summary, rule: str) -> StudyGrade | None:
    value = summary["rules"].get(rule, {}).get("judge_stability", {}).get("mean")
    if value is None:
        return None
    figure = gettext("correlation %(value)s of two rankings from tasks drawn again") % {"value": localise(value, ".2f")}
    return StudyGrade(_graded(1 - value, 0.1, 0.3), figure, gettext("when tasks are drawn again"))


def _diversity(summary: Summary, _rule: str) -> StudyGrade | None:
    value = summary.get("dispersion_normalized")
    if summary["reason"] or value is None:
        return None
    figure = gettext(
        "two tasks order %(share)s of the pairs of systems differently, where a tie on one of them alone counts half, "
        "whatever the rule"
    ) % {"share": percent(value)}
    return StudyGrade(_graded(value, 0.1, 0.3), figure)


def _significance(summary: Summary, rule: str) -> StudyGrade | None:
    neighbours = summary.get("rules", {}).get(rule, {}).get("neighbours", {})
    if summary.get("reason") or not neighbours.get("n_pairs"):
        return None
    n, n_too_few = neighbours["n_separable"], neighbours.get("n_too_few_tasks", 0)
    n_pairs = neighbours["n_pairs"] - n_too_few
    if neighbours.get("verdict") == "too_few_tasks" or not n_pairs:
        none = gettext("no test of %(n)s pairs of neighbours could be significant")
        return StudyGrade(TOO_FEW_TASKS, none % {"n": localise(n_too_few, ",")})
    figure = gettext("%(n)s of %(n_pairs)s pairs of neighbours differ significantly") % {
        "n": localise(n, ","), "n_pairs": localise(n_pairs, ","),
    }  # fmt: skip
    if n_too_few:
        figure += gettext("; %(n)s more have too few tasks to tell") % {"n": localise(n_too_few, ",")}
    return StudyGrade(_graded(1 - n / n_pairs, 0.5, 0.9), figure)


def _cardinal_sensitivity(summary: Summary, rule: str) -> StudyGrade | None:
    bounds = next((one for one in summary["feasible"].values() if not one["reason"]), None)
    if bounds is None:
        return None
    condition = gettext("when tasks get other weights (worst case)") if rule == "mean" else ""
    return _reversed(bounds["discordant_share"], gettext("in the ranking by mean score"), condition)


def _ordinal_sensitivity(summary: Summary, rule: str) -> StudyGrade | None:
    if summary["reason"]:
        return None
    first = {"first": gettext("the first two") if summary.get("note") else gettext("the first fifth")}
    condition = gettext("when other systems take part (worst case, among %(first)s, ties as losses)") % first
    of = gettext("among %(first)s by win rate (ties as losses)") % first
    return _reversed(summary["discordant_share"], of, condition if rule == "win_rate" else "")


def _reversed(share: Summary, of: str, condition: str) -> StudyGrade:
    """The grade of a worst case of the pairs `of` a ranking; no condition where that is another rule's ranking."""
    lower, upper = share["lower"], share["upper"]
    figure = gettext("between %(lower)s and %(upper)s of the pairs %(of)s can be reversed in the worst case")
    if share["proven"]:
        figure = gettext("up to %(lower)s of the pairs %(of)s can be reversed in the worst case")
    figure %= {"lower": percent(lower), "upper": percent(upper), "of": of}
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
