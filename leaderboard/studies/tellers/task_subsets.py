"""Task subsets, in words."""

from django.utils.translation import gettext, ngettext

from leaderboard.common.charts.lines import line_chart
from leaderboard.common.language.engine import rule_name
from leaderboard.common.text import in_words, signed
from leaderboard.studies.grades import StudyGrade, graded
from leaderboard.studies.study_findings import (
    StudyCell,
    StudyFindings,
    StudyNames,
    Summary,
    Teller,
    compared,
    curves,
    of_all_repeats,
    rule_rows,
    share_cell,
)


def _grade(summary: Summary, rule: str) -> StudyGrade | None:
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
    figures = {"value": signed(value), "kept": half, "left_out": max(sizes) - half, "n": max(sizes)}
    figure = gettext("Kendall’s τ %(value)s between the rankings on %(kept)s of %(n)s tasks and on all") % figures
    condition = gettext("when %(left_out)s of %(n)s tasks are left out") % figures
    return StudyGrade(graded(apart, 0.1, 0.2), figure, condition)


def _findings(summary: Summary, marked: str, names: StudyNames) -> StudyFindings:
    rules = {rule: {**of_rule} for rule, of_rule in summary["rules"].items()}
    for one in rules.values():
        if "sizes" in one:  # of very many tasks only these have values: the curves get a place for every number
            for name in ("mean", "deviation"):
                known = dict(zip(one["sizes"], one[name], strict=True))
                one[name] = [known.get(size) for size in range(1, one["sizes"][-1] + 1)]
    n_tasks = max((len(of_rule["mean"]) for of_rule in rules.values()), default=0)
    half = max(1, n_tasks // 2)
    values = {rule: of_rule["mean"][half - 1] for rule, of_rule in rules.items() if len(of_rule["mean"]) >= half}
    agreed = compared(of_all_repeats(values, summary, marked), marked, gettext("Kendall’s tau"))
    sentence = gettext(
        "A ranking on %(half)s of the %(n)s tasks, drawn at random, agrees with the full one %(agreed)s"
    ) % {"half": half, "n": n_tasks, "agreed": agreed}
    of_rule = rules.get(marked)
    if of_rule is not None:
        if of_rule["smallest"] is None:
            sentence += gettext(" We found no subset of up to %(n)s tasks that gives the full ranking of %(rule)s.") % {
                "n": len(of_rule["best"]),
                "rule": rule_name(marked),
            }
        else:
            tasks = names.task_names(of_rule["smallest_tasks"])
            alone = ngettext(
                " %(tasks)s alone gives the ranking of %(rule)s; %(fewer)s.",
                " %(tasks)s alone give the ranking of %(rule)s; %(fewer)s.",
                len(tasks),
            )
            fewer = gettext("no fewer do") if of_rule["smallest_is_proven"] else gettext("fewer might do")
            sentence += alone % {"tasks": in_words(tasks), "rule": rule_name(marked), "fewer": fewer}
    return StudyFindings(
        sentence,
        [
            gettext("1 task"),
            *([gettext("%(n)s tasks") % {"n": half}] if half > 1 else []),
            gettext("Smallest subset with the full ranking"),
        ],
        rule_rows(
            rules,
            marked,
            lambda of_rule: [
                share_cell(of_rule["mean"][0] if of_rule["mean"] else None),
                *(
                    [share_cell(of_rule["mean"][half - 1] if len(of_rule["mean"]) >= half else None)]
                    if half > 1
                    else []
                ),
                StudyCell(
                    ("%(n)s" if of_rule["smallest_is_proven"] else gettext("at most %(n)s"))
                    % {"n": of_rule["smallest"]}
                    if of_rule["smallest"]
                    else gettext("none of up to %(n)s found") % {"n": len(of_rule["best"])}
                ),
            ],
        ),
        line_chart(
            gettext("Agreement of rankings on some of the tasks with the full ranking, %(rule)s highlighted")
            % {"rule": rule_name(marked)},
            gettext("One line for each rule, over the number of tasks."),
            curves(rules, marked, "mean", "deviation", length=n_tasks),
            [str(k) for k in range(1, n_tasks + 1)],
            x_label=gettext("tasks"),
            y_label=gettext("Kendall’s tau-b"),
        ),
        gettext("Mean of %(n)s random subsets of each size, or of all subsets if there are fewer.")
        % {"n": summary["n_repeats"]},
    )


TELLER = Teller("task_subsets", _findings, _grade)
