"""Worst case of a rule, in words."""

from django.utils.translation import gettext, ngettext

from leaderboard.common.language.engine import in_page_language, rule_name
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import in_words, percent
from leaderboard.studies.study_findings import (
    NamedSystems,
    StudyFindings,
    StudyNames,
    Summary,
    Teller,
    figure_row,
    share_cell,
    side_by_side,
)

MAX_NAMED = 10
PROVEN = 1e-9  # what two shares may differ by that are the same


def _findings(summary: Summary, _marked: str, names: StudyNames) -> StudyFindings:
    """How far added systems, or other weights, move the first systems under one rule."""
    share, moved = percent(summary["discordant_share"]), percent(summary["max_rank_change"])
    rule, n_top, n_chosen = rule_name(summary["rule"]), summary["n_top"], summary["n_chosen"]
    is_of_systems = summary["change"] == "systems"
    tasks = in_words(names.task_names(summary["chosen"]), most=MAX_NAMED) if not is_of_systems else ""
    if is_of_systems:
        by = ngettext(
            "%(n)s of the other %(n_items)s systems joins", "%(n)s of the other %(n_items)s systems join", n_chosen
        ) % {"n": n_chosen, "n_items": summary["n_items"]}
    else:
        by = ngettext(
            "%(tasks)s keeps only %(share)s of the weight", "%(tasks)s keep only %(share)s of the weight", n_chosen
        ) % {"tasks": tasks, "share": percent(summary["least_weight"])}
    upper = summary.get("discordant_upper")  # results of earlier versions have none
    if upper is None:
        proof = gettext("These boards exist; there may be worse ones.")
        if summary.get("no_upper"):
            proof = gettext("These boards exist; there may be worse ones (nothing is proven beyond: %(reason)s).") % {
                "reason": in_page_language(summary["no_upper"])
            }
    elif upper - summary["discordant_share"] <= PROVEN:
        proof = gettext("No choice reverses more pairs: that is proven.")
    else:
        proof = gettext("No choice reverses more than %(upper)s of the pairs: that is proven.") % {
            "upper": percent(upper)
        }
    sentence = gettext(
        "Under %(rule)s, at least %(share)s of the pairs among the first %(n_top)s can reverse, and a system can move "
        "by %(moved)s of all places. This happens if %(by)s."
    ) % {"rule": rule, "share": share, "n_top": n_top, "moved": moved, "by": by}
    if not n_chosen:
        sentence = gettext("The search found no change that moves the first %(n_top)s under %(rule)s.") % {
            "n_top": n_top,
            "rule": rule,
        }
    joining = None
    if is_of_systems and n_chosen:
        links = [names.system(key) for key in summary["chosen"][:MAX_NAMED]]
        joining = NamedSystems(gettext("Systems that join:"), links, n_chosen - len(links))
    return StudyFindings(
        sentence,
        [gettext("At least")],
        [
            figure_row(gettext("Reversed pairs"), [share_cell(summary["discordant_share"])]),
            figure_row(gettext("Kendall’s distance"), [share_cell(summary["distance"])]),
            figure_row(gettext("Largest rank change"), [share_cell(summary["max_rank_change"])]),
        ],
        note=gettext("The worst of %(n)s ranked boards. %(proof)s")
        % {"n": localise(summary["rankings"], ","), "proof": proof},
        first_header=gettext("Quantity"),
        is_by_rule=False,
        systems=joining,
        slopes=side_by_side(rule, summary, names) if n_chosen else None,
    )


TELLER = Teller("worst_case", _findings)
