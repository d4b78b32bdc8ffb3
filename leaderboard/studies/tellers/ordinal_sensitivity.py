"""Ordinal sensitivity, in words."""

from django.utils.translation import gettext, ngettext

from leaderboard.common.language.engine import in_page_language
from leaderboard.studies.grades import StudyGrade
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
from leaderboard.studies.worst_case_bounds import between, bound_cells, most_pairs, nothing, reversed_pairs
from ranking_engine.text.names import fold_name

MAX_SYSTEMS = 10  # that are named; more are counted


def _grade(summary: Summary, rule: str) -> StudyGrade | None:
    if summary["reason"]:
        return None
    first = {"first": gettext("the first two") if summary.get("note") else gettext("the first fifth")}
    condition = gettext("when other systems take part (worst case, among %(first)s, ties as losses)") % first
    of = gettext("among %(first)s by win rate (ties as losses)") % first
    return reversed_pairs(summary["discordant_share"], of, condition if rule == "win_rate" else "")


def _findings(summary: Summary, _marked: str, names: StudyNames) -> StudyFindings:
    """How far adding other systems moves the order of the first by win rate."""
    if summary["reason"]:
        return StudyFindings(
            gettext("No result: %(reason)s.") % {"reason": in_page_language(summary["reason"])}, [], []
        )
    share, moved = summary["discordant_share"], summary["max_rank_change"]
    # The systems that join the first, or those that do not where these are fewer.
    added = share["added"]
    left_out = set(names.systems) - set(summary["top"]) - set(added)
    is_shorter = 0 < len(left_out) < len(added) and len(left_out) + len(added) == summary["n_others"]
    links = sorted((names.system(key) for key in (left_out if is_shorter else added)), key=lambda x: fold_name(x.text))
    intro = gettext("All others join except:") if is_shorter else gettext("Systems that join:")
    join = gettext("none of the others joins")
    if added:
        join = ngettext("%(n)s of the others joins", "%(n)s of the others join", len(added)) % {"n": len(added)}
    pairs = gettext("the one pair")
    if summary["n_pairs"] != 1:
        pairs = gettext("the %(n)s pairs") % {"n": summary["n_pairs"]}
    sentence = gettext(
        "Which of the other %(n_others)s systems take part can reverse %(between)s of %(pairs)s among the first "
        "%(n_top)s under win rate, and move one of them by %(between2)s of their places. %(most)s if %(parts)s the "
        "first."
    ) % {
        "most": most_pairs(share),
        "n_others": summary["n_others"],
        "between": between(share),
        "pairs": pairs,
        "n_top": len(summary["top"]),
        "between2": between(moved),
        "parts": join,
    }
    return StudyFindings(
        sentence,
        [gettext("At least"), gettext("At most"), gettext("Maximum")],
        [
            figure_row(gettext("Reversed pairs"), bound_cells(share)),
            figure_row(gettext("Largest rank change"), bound_cells(moved)),
            figure_row("(1 − tau-b) / 2", [share_cell(summary["tau_b_distance"]["lower"]), *nothing(2)]),
        ],
        note=" ".join(
            [
                *([f"{summary['note'][0].upper()}{summary['note'][1:]}."] if summary.get("note") else []),
                gettext("A lower bound is reached by a stored choice of systems; an upper bound is proven."),
            ]
        ),
        first_header=gettext("Quantity"),
        is_by_rule=False,
        systems=NamedSystems(intro, links[:MAX_SYSTEMS], len(links[MAX_SYSTEMS:])) if links else None,
        slopes=side_by_side(gettext("win rate"), summary["side_by_side"], names)
        if added and "side_by_side" in summary
        else None,
    )


TELLER = Teller("ordinal_sensitivity", _findings, _grade)
