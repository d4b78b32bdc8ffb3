"""Cardinal sensitivity, in words."""

import math
from collections.abc import Mapping

from django.utils.translation import gettext, gettext_noop, ngettext

from leaderboard.common.charts.lines import Curve, LineChart, line_chart
from leaderboard.common.language.engine import in_page_language
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import in_words, percent
from leaderboard.studies.grades import StudyGrade
from leaderboard.studies.study_findings import (
    StudyFindings,
    StudyNames,
    Summary,
    Teller,
    figure_row,
    share_cell,
    side_by_side,
)
from leaderboard.studies.worst_case_bounds import between, bound_cells, most_pairs, nothing, reversed_pairs

MAX_TASKS = 5  # whose weights a sentence tells
FEASIBLE = {
    "scaled": gettext_noop("weights from 1 to 100, on scores in units of each task’s spread"),
    "box": gettext_noop("every weight between its minimum share and 1"),
}
SETS = {"scaled": gettext_noop("the code’s set (scaled)"), "box": gettext_noop("the paper’s set (box)")}


def _grade(summary: Summary, rule: str) -> StudyGrade | None:
    bounds = next((one for one in summary["feasible"].values() if not one["reason"]), None)
    if bounds is None:
        return None
    condition = gettext("when tasks get other weights (worst case)") if rule == "mean" else ""
    return reversed_pairs(bounds["discordant_share"], gettext("in the ranking by mean score"), condition)


def _findings(summary: Summary, _marked: str, names: StudyNames) -> StudyFindings:
    """How far other task weights move the ranking by mean score."""
    computed = {name: bounds for name, bounds in summary["feasible"].items() if not bounds["reason"]}
    if not computed:
        reason = next((bounds["reason"] for bounds in summary["feasible"].values()), gettext("nothing was tried"))
        return StudyFindings(gettext("No result: %(reason)s.") % {"reason": in_page_language(reason)}, [], [])
    name, bounds = next(iter(computed.items()))
    share, moved = bounds["discordant_share"], bounds["max_rank_change"]
    sentence = gettext(
        "Other weights of the tasks can reverse %(between)s of the %(n_pairs)s pairs in the ranking by mean score "
        "(%(get)s), and move a system by %(between2)s of all places. %(most)s with %(weights_in_words)s."
    ) % {
        "most": most_pairs(share),
        "between": between(share),
        "n_pairs": f"{bounds['n_pairs']:,}",
        "get": gettext(FEASIBLE.get(name, name)),
        "between2": between(moved),
        "weights_in_words": _weights_in_words(share["weights"], names),
    }
    rows = []
    for feasible, answer in computed.items():
        rows += [
            figure_row(
                gettext("Reversed pairs (%(set)s)") % {"set": feasible}, bound_cells(answer["discordant_share"])
            ),
            figure_row(
                gettext("Largest rank change (%(set)s)") % {"set": feasible}, bound_cells(answer["max_rank_change"])
            ),
            figure_row(f"(1 − tau-b) / 2 ({feasible})", [share_cell(answer["tau_b_distance"]["lower"]), *nothing(2)]),
        ]
        rows += [
            figure_row(
                gettext("Reversed pairs (%(set)s), ε = %(least)s")
                % {"set": feasible, "least": localise(point["least_weight"], "g")},
                bound_cells(point["discordant_share"]),
            )
            for point in summary.get("curve", {}).get(feasible, [])
            if "discordant_share" in point
        ]
    notes = [f"{name}: {gettext(text)}" for name, text in FEASIBLE.items() if name in computed]
    before_after = bounds.get("side_by_side")
    return StudyFindings(
        sentence,
        [gettext("At least"), gettext("At most"), gettext("Maximum")],
        rows,
        note=gettext(
            "%(sets)s. A lower bound is reached by stored weights, applied to the scores as they are; an upper bound "
            "is proven."
        )
        % {"sets": "; ".join(notes)},
        first_header=gettext("Quantity"),
        is_by_rule=False,
        chart=_over_least_weights(summary),
        slopes=side_by_side(gettext("the mean, with the weights that reverse most pairs"), before_after, names)
        if before_after
        else None,
    )


def _over_least_weights(summary: Summary) -> LineChart | None:
    """How far weights move the ranking by how much noise preserves, the paper's set and the code's (figure 4)."""
    curves = summary.get("curve")
    if not curves:
        return None
    ordered = {name: sorted(points, key=lambda point: point["least_weight"]) for name, points in curves.items()}
    ordered = {name: points for name, points in ordered.items() if all("discordant_share" in point for point in points)}
    if not ordered:
        return None
    lines = [
        Curve(
            f"{name}-{bound}",
            f"{gettext(SETS.get(name, name))}, {text}",
            [point["discordant_share"][bound] for point in points],
            is_marked=name == "box" and bound == "lower",
        )
        for name, points in ordered.items()
        for bound, text in (("lower", gettext("at least")), ("upper", gettext("at most")))
    ]
    return line_chart(
        gettext("Pairs that weights can reverse, by the smallest share that noise preserves (ε)"),
        gettext(
            "Each set of weights has two lines: what weights reach, and a proven bound. The paper’s set is highlighted."
        ),
        lines,
        [localise(point["least_weight"], "g") for point in next(iter(ordered.values()))],
        x_label="ε",
        y_label=gettext("Share of pairs"),
        caption=gettext(
            "Thick line: the paper’s set of weights (box). Thin line: the set of its code (scaled). Each set has "
            "two lines: the share reached and the proven upper bound. They meet where the maximum is proven."
        ),
        top=min(1.0, math.ceil(10 * max(value for line in lines for value in line.values if value is not None)) / 10),
    )


def _weights_in_words(weights: Mapping[str, float], names: StudyNames) -> str:
    """What each task weighs that weighs more than an equal share, and what is left for the others."""
    total = sum(weights.values()) or 1.0
    heaviest_first = sorted(weights, key=lambda key: (-weights[key], key))
    heavy = [key for key in heaviest_first if weights[key] / total > 1 / len(weights)][:MAX_TASKS]
    if not heavy:
        return gettext("equal weights")
    shares = [percent(weights[key] / total) for key in heavy]
    pairs = [{"share": share, "task": task} for share, task in zip(shares, names.task_names(heavy), strict=True)]
    named = [gettext("%(share)s on %(task)s") % pair for pair in pairs]
    named[0] = gettext("%(share)s of the weight on %(task)s") % pairs[0]
    n_others = len(weights) - len(heavy)
    if not n_others:
        return in_words(named, most=MAX_TASKS)
    others = ngettext("the other task has %(share)s", "the other %(n)s tasks share %(share)s", n_others)
    rest = percent(1 - sum(weights[key] for key in heavy) / total)
    return f"{in_words(named, most=MAX_TASKS)}; {others % {'n': n_others, 'share': rest}}"


TELLER = Teller("cardinal_sensitivity", _findings, _grade)
