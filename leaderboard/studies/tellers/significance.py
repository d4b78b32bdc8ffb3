"""Significance, in words."""

from django.utils.translation import gettext, gettext_noop

from leaderboard.common.charts.critical_difference import critical_difference_diagram
from leaderboard.common.language.engine import in_page_language, rule_name
from leaderboard.common.language.numbers import localise
from leaderboard.rankings.confidence.separability import separability_sentence
from leaderboard.rankings.confidence.significance import OUTDATED, is_outdated
from leaderboard.studies.grades import TOO_FEW_TASKS, StudyGrade, graded
from leaderboard.studies.study_findings import (
    StudyCell,
    StudyFindings,
    StudyNames,
    Summary,
    Teller,
    figure_row,
)

FAMILIES = {
    "neighbours": gettext_noop("Neighbours: pairs of consecutive ranks"),
    "top": gettext_noop("Pairs of the first ranks"),
    "every_pair": gettext_noop("All pairs"),
}


def _grade(summary: Summary, rule: str) -> StudyGrade | None:
    neighbours = summary.get("rules", {}).get(rule, {}).get("neighbours", {})
    if summary.get("reason") or not neighbours.get("n_pairs"):
        return None
    n, n_too_few = neighbours["n_separable"], neighbours.get("n_too_few_tasks", 0)
    n_pairs = neighbours["n_pairs"] - n_too_few
    if neighbours.get("verdict") == "too_few_tasks" or not n_pairs:
        none = gettext("no test of %(n)s pairs of neighbours could be significant")
        sentence = gettext("There are too few tasks to show that any neighbours differ significantly.")
        return StudyGrade(TOO_FEW_TASKS, none % {"n": localise(n_too_few, ",")}, sentence=sentence)
    figures = {"n": localise(n, ","), "n_pairs": localise(n_pairs, ",")}
    figure = gettext("%(n)s of %(n_pairs)s pairs of neighbours differ significantly") % figures
    sentence = gettext("%(n)s of %(n_pairs)s pairs of neighbours differ significantly.") % figures
    if not n:
        sentence = gettext("No two neighbours differ significantly.")
    if n_too_few:
        figure += gettext("; %(n)s more have too few tasks to tell") % {"n": localise(n_too_few, ",")}
    return StudyGrade(graded(1 - n / n_pairs, 0.5, 0.9), figure, sentence=sentence)


def _findings(summary: Summary, marked: str, names: StudyNames) -> StudyFindings:
    """Which systems differ significantly on the board of the marked rule."""
    if "rules" not in summary:  # an experiment about one rule
        summary, marked = {"reason": "", **summary, "rules": {summary["rule"]: summary}}, summary["rule"]
    if summary["reason"]:
        return StudyFindings(
            gettext("Significant differences were not tested: %(reason)s.")
            % {"reason": in_page_language(summary["reason"])},
            [],
            [],
        )
    tests = summary["rules"].get(marked)
    if tests is None:
        return StudyFindings(
            gettext("%(name)s ranks no system here or takes too long, so nothing was tested.")
            % {"name": rule_name(marked)},
            [],
            [],
        )
    if is_outdated(tests):
        return StudyFindings(gettext(OUTDATED), [], [])
    friedman = summary["friedman"]
    if isinstance(friedman, str):  # engine 0.2.0 stored the reason alone
        friedman = {"reason": friedman or gettext("this revision was published before this was stored")}
    rows = [
        figure_row(
            gettext(name),
            [
                StudyCell(f"{tests[key]['n_pairs']:,}"),
                StudyCell(f"{tests[key]['n_separable']:,}"),
                StudyCell(f"{tests[key]['n_contradicted']:,}"),
                StudyCell(f"{tests[key]['n_not_separable']:,}"),
                StudyCell(f"{tests[key]['n_tied']:,}"),
                StudyCell(f"{tests[key]['n_too_few_tasks']:,}"),
            ],
        )
        for key, name in FAMILIES.items()
    ]
    return StudyFindings(
        separability_sentence(rule_name(marked), tests, summary["level"]),
        [
            gettext("Pairs"),
            gettext("Significant"),
            gettext("Contradicted"),
            gettext("Not significant"),
            gettext("Tied"),
            gettext("Too few tasks to tell"),
        ],
        rows,
        diagram=None
        if friedman["reason"]
        else critical_difference_diagram(
            names.system_names(friedman["systems"]),
            friedman["average_ranks"],
            friedman["critical_difference"],
            friedman["runs"],
        ),
        note=(
            gettext(
                "The null hypothesis: %(hypothesis)s. Significant: the system ranked higher is ahead by more than "
                "chance would explain; contradicted: the lower one is. Systems that share a rank are tied. "
            )
            % {"hypothesis": in_page_language(summary["null_hypothesis"])}
            + (
                gettext("No critical-difference diagram: %(reason)s.")
                % {"reason": "; ".join(map(in_page_language, friedman["reason"].split("; ")))}
                if friedman["reason"]
                else gettext("Friedman’s test: p = %(p_value)s. Nemenyi’s critical difference; %(note)s.")
                % {"p_value": localise(friedman["p_value"], ".2g"), "note": in_page_language(friedman["note"])}
            )
        ),
        first_header=gettext("Pairs under %(rule)s") % {"rule": rule_name(marked)},
        is_by_rule=False,
    )


TELLER = Teller("significance", _findings, _grade)
