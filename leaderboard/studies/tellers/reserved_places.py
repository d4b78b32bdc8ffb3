"""Reserved places, in words."""

from django.utils.translation import gettext, ngettext

from leaderboard.common.language.engine import rule_name
from leaderboard.common.language.numbers import localise
from leaderboard.studies.study_findings import (
    NamedSystems,
    StudyCell,
    StudyFindings,
    StudyNames,
    StudyRow,
    Summary,
    Teller,
    figure_row,
    share_cell,
    side_by_side,
)

MAX_NAMED = 10


def _findings(summary: Summary, _marked: str, names: StudyNames) -> StudyFindings:
    """What changes if some systems have so many of the first places."""
    rule, places, n_group = rule_name(summary["rule"]), summary["places"], summary["n_group"]
    first = ngettext("the first place", "the first %(n)s places", places) % {"n": places}
    wanted = gettext("at least %(least)s") % {"least": summary["least"]}
    if summary["most"] is not None:
        wanted = gettext("at least %(least)s and at most %(most)s") % {
            "least": summary["least"], "most": summary["most"],
        }  # fmt: skip
    # Experiments that were stored before ties counted have one number.
    least, most = (summary.get(key, summary.get("first_before")) for key in ("before_least", "before_most"))
    before, n_reversed = localise(least, ","), summary["reversed_pairs"]
    if least != most:
        before = gettext("%(low)s to %(high)s") % {"low": before, "high": localise(most, ",")}
    named = ngettext("the %(n)s named system", "the %(n)s named systems", n_group) % {"n": n_group}
    ties = "" if least == most else gettext(", depending on how ties are broken")
    if summary.get("is_within", not n_reversed):
        sentence = gettext(
            "The ranking by %(rule)s already gives %(named)s %(wanted)s of %(first)s, however ties are broken: "
            "%(before)s."
        ) % {"rule": rule, "named": named, "wanted": wanted, "first": first, "before": before}
    elif not n_reversed:
        sentence = gettext(
            "The ranking by %(rule)s gives %(named)s %(wanted)s of %(first)s if ties are broken so: it gives "
            "%(before)s%(ties)s. No pair of systems must change order."
        ) % {"rule": rule, "named": named, "wanted": wanted, "first": first, "before": before, "ties": ties}
    else:
        figures = {"rule": rule, "named": named, "before": before, "first": first, "ties": ties}
        so_far = ngettext(
            "By %(rule)s, %(named)s has %(before)s of %(first)s%(ties)s.",
            "By %(rule)s, %(named)s have %(before)s of %(first)s%(ties)s.",
            n_group,
        )
        change = ngettext(
            "For %(wanted)s, %(n)s pair of systems must change order, and no order within these bounds changes fewer.",
            "For %(wanted)s, %(n)s pairs of systems must change order, and no order within these bounds changes fewer.",
            n_reversed,
        )
        sentence = f"{so_far % figures} {change % {'wanted': wanted, 'n': localise(n_reversed, ',')}}"
    moved = [names.system(key) for key in (*summary["moved_up"], *summary["moved_down"])]
    return StudyFindings(
        sentence,
        [gettext("Value")],
        [
            StudyRow("", gettext("Named systems among the first, before"), False, [StudyCell(before)]),
            StudyRow(
                "", gettext("Named systems among the first, after"), False, [StudyCell(f"{summary['first_after']:,}")]
            ),
            figure_row(gettext("Reversed pairs"), [share_cell(summary["discordant_share"])]),
            figure_row(gettext("Largest rank change"), [share_cell(summary["max_rank_change"])]),
        ],
        note=gettext("The order within the named systems, and within the others, is as the rule has it.")
        + (
            gettext(" The bounds also apply, in proportion, to every smaller number of places.")
            if summary["all_along"]
            else ""
        ),
        first_header=gettext("Quantity"),
        is_by_rule=False,
        systems=NamedSystems(
            gettext("Systems that enter or leave %(first)s:") % {"first": first},
            moved[:MAX_NAMED],
            max(0, len(moved) - MAX_NAMED),
        )
        if moved
        else None,
        slopes=side_by_side(rule, summary, names) if n_reversed else None,
    )


TELLER = Teller("reserved_places", _findings)
