"""Tasks needed, in words."""

from django.utils.translation import gettext, ngettext

from leaderboard.common.charts.lines import Curve, line_chart
from leaderboard.common.language.engine import rule_name
from leaderboard.common.language.numbers import localise
from leaderboard.studies.study_findings import (
    CRITERIA,
    StudyCell,
    StudyFindings,
    StudyNames,
    Summary,
    Teller,
    of_all_repeats,
    rule_rows,
)
from ranking_engine.stability.studies.judge_bootstrap import CHANCE_AGREEMENT
from ranking_engine.stability.studies.tasks_needed import REACHED


def _findings(summary: Summary, marked: str, _names: StudyNames) -> StudyFindings:
    """From how many tasks on two rankings agree."""
    rules, sizes, target = summary["rules"], summary["sizes"], summary["target"]
    reached = {rule: of_rule["reached"]["judge_stability"] for rule, of_rule in rules.items()}
    own = reached.get(marked)
    comparable = of_all_repeats(reached, summary, marked)
    known = {rule: size for rule, size in comparable.items() if size is not None}
    least = min(known, key=lambda rule: known[rule]) if known else None
    if own is None:
        sentence = gettext(
            "For two rankings under %(rule)s from this board’s %(n_tasks)s tasks, drawn with replacement, to agree at "
            "%(target)s on average, no tried number of tasks is enough."
        )
    else:
        sentence = ngettext(
            "For two rankings under %(rule)s from this board’s %(n_tasks)s tasks, drawn with replacement, to agree at "
            "%(target)s on average, %(n)s task is enough.",
            "For two rankings under %(rule)s from this board’s %(n_tasks)s tasks, drawn with replacement, to agree at "
            "%(target)s on average, %(n)s tasks are enough.",
            own,
        )
    sentence %= {
        "rule": rule_name(marked), "n_tasks": summary["n_tasks"], "target": localise(target, "g"),
        "n": localise(own or 0, ","),
    }  # fmt: skip
    if least is not None and (own is None or known[least] < own):
        sentence += gettext(" %(rule)s needs the fewest, %(n)s.") % {
            "rule": rule_name(least), "n": localise(known[least], ","),
        }  # fmt: skip
    sentence += gettext(" Rankings from new tasks agree less, and need more of them.")
    note = gettext(
        "Mean of %(n_resamples)s draws of each size. Number of tasks: the least size from which on a criterion is "
        "always at least %(target)s. Both rankings are drawn from the same tasks, so that they agree more and more, "
        "even if systems differ by chance alone: then two rankings from as many tasks as the board has agree at about "
        "%(chance)s, and two rankings from new tasks do not agree at all."
    ) % {
        "n_resamples": summary["n_resamples"], "target": localise(target, "g"),
        "chance": localise(CHANCE_AGREEMENT[summary.get("correlation", "spearman")], "g"),
    }  # fmt: skip
    return StudyFindings(
        sentence if marked in rules else "",
        [gettext("%(criterion)s: number of tasks") % {"criterion": gettext(CRITERIA[name])} for name in REACHED],
        rule_rows(
            rules,
            marked,
            lambda of_rule: [
                StudyCell(
                    gettext("not reached") if of_rule["reached"][name] is None else f"{of_rule['reached'][name]:,}"
                )
                for name in REACHED
            ],
        ),
        line_chart(
            gettext("Agreement of two rankings by the number of tasks drawn, %(rule)s highlighted")
            % {"rule": rule_name(marked)},
            gettext("One line for each rule, over the number of tasks."),
            [
                Curve(rule, rule_name(rule), of_rule["judge_stability"], rule == marked)
                for rule, of_rule in rules.items()
            ],
            [str(size) for size in sizes],
            x_label=gettext("Tasks drawn"),
            y_label=gettext("Correlation of two rankings"),
        ),
        note,
    )


TELLER = Teller("tasks_needed", _findings)
