"""Best ranking, in words."""

from django.utils.translation import gettext

from leaderboard.common.language.engine import in_page_language, rule_name
from leaderboard.common.text import percent
from leaderboard.studies.study_findings import (
    MEASURE_HEADERS,
    MEASURE_NAMES,
    StudyFindings,
    StudyNames,
    StudyRow,
    Summary,
    Teller,
    percent_cell,
    rule_rows,
    side_by_side,
)


def _findings(summary: Summary, marked: str, names: StudyNames) -> StudyFindings:
    """The order that is closest to the tasks, and how far every rule is from it."""
    measure, best, rules = summary["measure"], summary["best"], summary["rules"]
    closest, own = best[measure], rules[summary["rule"]][measure]
    rule = rule_name(summary["rule"])
    if closest["distance"] is None:
        sentence = gettext("By %(measure)s, no closest order is known: %(reason)s.")
    elif own is None:
        sentence = gettext(
            "By %(measure)s, the tasks are %(distance)s of the largest distance away from the closest order that was "
            "found, on average; the ranking by %(rule)s has no distance, because it does not rank all systems."
        )
    elif closest["proven"]:
        sentence = gettext(
            "By %(measure)s, the tasks are %(distance)s of the largest distance away from the closest order, on "
            "average, and %(own)s from the ranking by %(rule)s."
        )
    else:
        sentence = gettext(
            "By %(measure)s, the tasks are %(distance)s of the largest distance away from the closest order that was "
            "found, on average, and %(own)s from the ranking by %(rule)s."
        )
    sentence %= {
        "measure": gettext(MEASURE_NAMES[measure]), "reason": in_page_language(closest.get("reason", "")),
        "distance": percent(closest["distance"]), "own": percent(own), "rule": rule,
    }  # fmt: skip
    unproven = [MEASURE_NAMES[key] for key, one in best.items() if one["distance"] is not None and not one["proven"]]
    proof = ""
    if unproven:
        proof = gettext(" Nothing closer was found by %(measure)s, which is no proof.") % {
            "measure": gettext(unproven[0])
        }
    first = StudyRow(
        "", gettext("Closest order"), is_marked=False, cells=[percent_cell(best[key]["distance"]) for key in best]
    )
    return StudyFindings(
        sentence,
        [gettext(MEASURE_HEADERS[key]) for key in best],
        [first, *rule_rows(rules, marked, lambda of_rule: [percent_cell(of_rule[key]) for key in best])],
        note=gettext(
            "Mean distances to the tasks, by their weights, as shares of the largest distance between two orders. Each "
            "measure has a closest order of its own, and there may be others as close. Closest orders have no ties; a "
            "rule that ties systems can come out closer. A rule that does not rank all systems has no distance."
        )
        + proof,
        slopes=side_by_side(rule, summary["side_by_side"], names) if "side_by_side" in summary else None,
    )


TELLER = Teller("best_ranking", _findings)
