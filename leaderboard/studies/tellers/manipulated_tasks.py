"""Manipulated tasks, in words."""

from django.utils.translation import gettext, ngettext

from leaderboard.common.charts.lines import Curve, line_chart
from leaderboard.common.language.engine import rule_name
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import percent
from leaderboard.studies.study_findings import (
    StudyCell,
    StudyFindings,
    StudyNames,
    Summary,
    Teller,
    rule_rows,
    share_cell,
)


def _findings(summary: Summary, marked: str, _names: StudyNames) -> StudyFindings:
    """From how many manipulated tasks on the rules state a wrong order."""
    rules, numbers, limit = summary["rules"], summary["n_manipulated"], summary["limit"]
    own = rules[marked]["first_beyond"] if marked in rules else None
    if own is None:
        sentence = gettext(
            "On made-up boards of %(n_systems)s systems and %(n_tasks)s tasks, no number of manipulated tasks that was "
            "tried takes %(rule)s further than %(limit)s of all pairs from the true order, on average."
        )
    else:
        sentence = ngettext(
            "On made-up boards of %(n_systems)s systems and %(n_tasks)s tasks, %(n)s manipulated task takes %(rule)s "
            "further than %(limit)s of all pairs from the true order, on average.",
            "On made-up boards of %(n_systems)s systems and %(n_tasks)s tasks, %(n)s manipulated tasks take %(rule)s "
            "further than %(limit)s of all pairs from the true order, on average.",
            own,
        )
    sentence %= {
        "n_systems": summary["n_systems"], "n_tasks": summary["n_tasks"], "rule": rule_name(marked),
        "limit": percent(limit), "n": own,
    }  # fmt: skip
    return StudyFindings(
        sentence if marked in rules else "",
        [
            gettext("Tasks for a distance above %(limit)s") % {"limit": localise(limit, "g")},
            gettext("Distance with %(n)s") % {"n": numbers[0]},
            gettext("Distance with %(n)s") % {"n": numbers[-1]},
        ],
        rule_rows(
            rules,
            marked,
            lambda of_rule: [
                StudyCell(gettext("none tried") if of_rule["first_beyond"] is None else str(of_rule["first_beyond"])),
                share_cell(of_rule["distance"][0]),
                share_cell(of_rule["distance"][-1]),
            ],
        ),
        line_chart(
            gettext("Distance to the true order by the number of manipulated tasks, %(rule)s highlighted")
            % {"rule": rule_name(marked)},
            gettext("One line for each rule: 0 is the true order, 1 its reverse."),
            [Curve(rule, rule_name(rule), of_rule["distance"], rule == marked) for rule, of_rule in rules.items()],
            [str(number) for number in numbers],
            x_label=gettext("Manipulated tasks"),
            y_label=gettext("Distance to the true order"),
        ),
        gettext(
            "Mean of %(n_repeats)s made-up boards with a known true order: strength φ = %(strength)s, each score the "
            "mean of %(n_instances)s instances with Gumbel noise; manipulation: %(manipulation)s. Only the size and "
            "the weights are this board’s."
        )
        % {
            "n_repeats": summary["n_repeats"],
            "strength": localise(summary["strength"], "g"),
            "n_instances": summary["n_instances"],
            "manipulation": gettext(summary["manipulation"]),
        },
    )


TELLER = Teller("manipulated_tasks", _findings)
