"""Corrupted tasks, in words."""

from django.utils.translation import gettext

from leaderboard.common.charts.lines import line_chart
from leaderboard.common.language.engine import rule_name
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import percent
from leaderboard.studies.grades import StudyGrade, graded
from leaderboard.studies.study_findings import (
    StudyFindings,
    StudyNames,
    Summary,
    Teller,
    compared,
    curves,
    few,
    of_all_repeats,
    percent_cell,
    rule_rows,
)


def _grade(summary: Summary, rule: str) -> StudyGrade | None:
    of_rule = summary["rules"].get(rule)
    if of_rule is None or not of_rule["reversed"] or of_rule["reversed"][0] is None:
        return None
    value = of_rule["reversed"][0]
    figure = gettext("%(share)s of the pairs of systems reordered, where a tie in one ranking alone counts half") % {
        "share": percent(value)
    }
    return StudyGrade(graded(value, 0.05, 0.15), figure, gettext("when one task is reversed"))


def _findings(summary: Summary, marked: str, _names: StudyNames) -> StudyFindings:
    rules, sizes, factors = summary["rules"], summary["n_reversed"], summary["factors"]
    of_all = of_all_repeats(rules, summary, marked)
    values = {rule: of_rule["reversed"][0] for rule, of_rule in of_all.items() if of_rule["reversed"]}
    unmoved = [rule_name(rule) for rule, of_rule in of_all.items() if not any(of_rule["scaled_largest"])]
    last = len(factors) - 1
    sentence = ""
    if sizes:
        what = gettext("of all pairs of systems, where a tie in one ranking alone counts half")
        reordered = compared(values, marked, what, is_distance=True)
        sentence = gettext("Reversing %(n)s of the tasks reorders %(reordered)s") % {
            "n": sizes[0], "reordered": reordered,
        }  # fmt: skip
    if unmoved and factors:
        sentence += gettext(" Multiplying one task by %(factor)s changes nothing under %(rules)s.") % {
            "factor": localise(factors[last], "g"), "rules": few(unmoved),
        }  # fmt: skip
    return StudyFindings(
        sentence,
        [
            gettext("1 task reversed"),
            *(
                [gettext("One task × %(factor)s") % {"factor": localise(factors[last], "g")}, gettext("at worst")]
                if factors
                else []
            ),
        ],
        rule_rows(
            rules,
            marked,
            lambda of_rule: [
                percent_cell(of_rule["reversed"][0] if of_rule["reversed"] else None),
                *(
                    [percent_cell(of_rule["scaled"][last]), percent_cell(of_rule["scaled_largest"][last])]
                    if factors
                    else []
                ),
            ],
        ),
        line_chart(
            gettext("Pairs of systems reordered when tasks are reversed, %(rule)s highlighted")
            % {"rule": rule_name(marked)},
            gettext("One line for each rule, over the number of tasks reversed."),
            curves(rules, marked, "reversed", "reversed_deviation"),
            [str(size) for size in sizes],
            x_label=gettext("tasks reversed"),
            y_label=gettext("share of pairs"),
        ),
        gettext("Mean of %(n)s choices of the tasks; the distance is Kendall’s, as a share of all pairs.")
        % {"n": summary["n_repeats"]},
    )


TELLER = Teller("corrupted_tasks", _findings, _grade)
