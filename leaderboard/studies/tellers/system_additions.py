"""System additions, in words."""

from django.utils.translation import gettext

from leaderboard.common.language.engine import rule_name
from leaderboard.common.text import percent
from leaderboard.studies.grades import StudyGrade, graded
from leaderboard.studies.study_findings import (
    StudyCell,
    StudyFindings,
    StudyNames,
    Summary,
    Teller,
    extreme,
    few,
    of_all_repeats,
    percent_cell,
    rule_rows,
)


def _grade(summary: Summary, rule: str) -> StudyGrade | None:
    of_rule = summary["rules"].get(rule)
    if of_rule is None or not of_rule["n_newcomers"]:
        return None
    value = of_rule["reversals"] / of_rule["n_newcomers"]
    figure = gettext("%(share)s of the newcomers reverse two other systems") % {"share": percent(value)}
    return StudyGrade(graded(value, 0.01, 0.1), figure, gettext("when systems join"))


def _findings(summary: Summary, marked: str, names: StudyNames) -> StudyFindings:
    rules = summary["rules"]

    def share(of_rule: Summary, what: str) -> float | None:
        return of_rule[what] / of_rule["n_newcomers"] if of_rule["n_newcomers"] else None

    def cells(of_rule: Summary) -> list[StudyCell]:
        # The system whose joining changes something most often; equal ones by key, whatever order a database keeps.
        counts, most_disruptive = of_rule["most_disruptive"], StudyCell("")
        if counts:
            system = names.system(min(counts, key=lambda key: (-counts[key], key)))
            most_disruptive = StudyCell(system.text, url=system.url)
        return [percent_cell(share(of_rule, "any_change")), percent_cell(share(of_rule, "reversals")), most_disruptive]

    values = of_all_repeats({rule: share(r, "any_change") for rule, r in rules.items()}, summary, marked)
    never = [rule_name(rule) for rule, value in values.items() if value == 0]
    of_rule = rules.get(marked)
    parts = []
    if of_rule is not None and values[marked] is not None:
        own = gettext(
            "Under %(rule)s %(share)s of the newcomers change the order of the existing systems in some way, and "
            "%(reversed)s reverse two of them"
        )
        shares = {"share": percent(values[marked]), "reversed": percent(share(of_rule, "reversals"))}
        parts.append(own % {"rule": rule_name(marked), **shares})
    worst = extreme(values, largest=True)
    if worst is not None and worst != marked and values[worst]:
        most = gettext("the most of all rules is %(share)s, under %(rule)s")
        parts.append(most % {"share": percent(values[worst]), "rule": rule_name(worst)})
    if never:
        parts.append(gettext("never under %(rules)s") % {"rules": few(never)})
    sentence = "; ".join(parts)
    return StudyFindings(
        f"{sentence[:1].upper()}{sentence[1:]}." if sentence else "",
        [
            gettext("Newcomers that change anything"),
            gettext("that reverse two others"),
            gettext("Most disruptive system"),
        ],
        rule_rows(rules, marked, cells),
        note=gettext("Systems join an empty board one by one, in %(n)s random orders.") % {"n": summary["n_orders"]},
    )


TELLER = Teller("system_additions", _findings, _grade)
