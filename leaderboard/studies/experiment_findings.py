"""Findings of studies that run only as experiments: worst cases, manipulated tasks, needed tasks."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext, ngettext

from leaderboard.common.charts.lines import Curve, line_chart
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import in_words, percent
from leaderboard.studies.study_findings import (
    CRITERIA,
    NamedSystems,
    StudyCell,
    StudyFindings,
    StudyNames,
    StudyRow,
    percent_cell,
    rule_name,
    rule_rows,
    share_cell,
    side_by_side,
)
from ranking_engine.catalogue.registry import get_rule

Summary = Mapping[str, Any]
MAX_NAMED = 10
MEASURE_NAMES = {
    "kendall": "Kendall’s distance",
    "footrule": "the footrule",
    "squares": "squared differences of ranks",
    "spearman": "Spearman’s correlation",
    "places": "systems at another place",
}
MEASURE_HEADERS = {
    "kendall": "Kendall’s distance",
    "footrule": "Footrule",
    "squares": "Squared rank differences",
    "spearman": "(1 − Spearman’s ρ) / 2",
    "places": "Systems at another place",
}
PROVEN = 1e-9  # what two shares may differ by that are the same


def worst_case(summary: Summary, _marked: str, names: StudyNames) -> StudyFindings:
    """How far added systems, or other weights, move the first systems under one rule."""
    share, moved = percent(summary["discordant_share"]), percent(summary["max_rank_change"])
    rule, n_top, n_chosen = get_rule(summary["rule"]).name, summary["n_top"], summary["n_chosen"]
    is_of_systems = summary["change"] == "systems"
    tasks = in_words(names.task_names(summary["chosen"]), most=MAX_NAMED) if not is_of_systems else ""
    if is_of_systems:
        by = f"{n_chosen} of the other {summary['n_items']} systems join{'s' if n_chosen == 1 else ''}"
    else:
        keep = "keeps" if n_chosen == 1 else "keep"
        by = f"{tasks} {keep} only {percent(summary['least_weight'])} of the weight"
    upper = summary.get("discordant_upper")  # results of earlier versions have none
    if upper is None:
        proof = f"nothing is proven beyond: {summary['no_upper']}" if summary.get("no_upper") else ""
        proof = f"These boards exist; there may be worse ones{f' ({proof})' if proof else ''}."
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
        ["At least"],
        [
            _row("Reversed pairs", summary["discordant_share"]),
            _row("Kendall’s distance", summary["distance"]),
            _row("Largest rank change", summary["max_rank_change"]),
        ],
        note=f"The worst of {summary['rankings']:,} ranked boards. {proof}",
        first_header="Quantity",
        is_by_rule=False,
        systems=joining,
        slopes=side_by_side(rule, summary, names) if n_chosen else None,
    )


def tasks_needed(summary: Summary, marked: str, _names: StudyNames) -> StudyFindings:
    """From how many tasks on two rankings agree."""
    rules, sizes, target = summary["rules"], summary["sizes"], summary["target"]
    reached = {rule: of_rule["reached"]["judge_stability"] for rule, of_rule in rules.items()}
    own, drawn = reached.get(marked), f"this board’s {summary['n_tasks']} tasks, drawn with replacement,"
    needed = "no tried number of tasks is" if own is None else f"{own:,} task{'s are' if own > 1 else ' is'}"
    known = {rule: size for rule, size in reached.items() if size is not None}
    least = min(known, key=lambda rule: known[rule]) if known else None
    sentence = gettext(
        "For two rankings under %(marked)s from %(drawn)s to agree at %(target)s on average, %(needed)s enough."
    ) % {"marked": rule_name(marked), "drawn": drawn, "target": localise(target, "g"), "needed": needed}
    if least is not None and (own is None or known[least] < own):
        sentence += f" {rule_name(least)} needs the fewest, {known[least]:,}."
    criteria = [name for name in CRITERIA if name in next(iter(rules.values()), {})]
    return StudyFindings(
        sentence if marked in rules else "",
        [f"{CRITERIA[name]}: number of tasks" for name in criteria],
        rule_rows(
            rules,
            marked,
            lambda of_rule: [
                StudyCell("not reached" if of_rule["reached"][name] is None else f"{of_rule['reached'][name]:,}")
                for name in criteria
            ],
        ),
        line_chart(
            f"Agreement of two rankings by the number of tasks drawn, {rule_name(marked)} highlighted",
            gettext("One line for each rule, over the number of tasks."),
            [
                Curve(rule, rule_name(rule), of_rule["judge_stability"], rule == marked)
                for rule, of_rule in rules.items()
            ],
            [str(size) for size in sizes],
            x_label="Tasks drawn",
            y_label="Correlation of two rankings",
        ),
        gettext(
            "Mean of %(n_resamples)s draws of each size. A size above the number of tasks means more tasks of the "
            "same kind. Number of tasks: the least size from which on a criterion is always at least %(target)s."
        )
        % {"n_resamples": summary["n_resamples"], "target": localise(target, "g")},
    )


def manipulated_tasks(summary: Summary, marked: str, _names: StudyNames) -> StudyFindings:
    """From how many manipulated tasks on the rules state a wrong order."""
    rules, numbers, limit = summary["rules"], summary["n_manipulated"], summary["limit"]
    own = rules[marked]["first_beyond"] if marked in rules else None
    never = f"no number of manipulated tasks that was tried takes {rule_name(marked)} further than {percent(limit)}"
    reached = f"{own} manipulated task{'' if own == 1 else 's'} take{'s' if own == 1 else ''} {rule_name(marked)} "
    reached += f"further than {percent(limit)}"
    sentence = (
        f"On made-up boards of {summary['n_systems']} systems and {summary['n_tasks']} tasks, "
        f"{never if own is None else reached} of all pairs from the true order, on average."
    )
    return StudyFindings(
        sentence if marked in rules else "",
        [
            f"Tasks for a distance above {localise(limit, 'g')}",
            f"Distance with {numbers[0]}",
            f"Distance with {numbers[-1]}",
        ],
        rule_rows(
            rules,
            marked,
            lambda of_rule: [
                StudyCell("none tried" if of_rule["first_beyond"] is None else str(of_rule["first_beyond"])),
                share_cell(of_rule["distance"][0]),
                share_cell(of_rule["distance"][-1]),
            ],
        ),
        line_chart(
            f"Distance to the true order by the number of manipulated tasks, {rule_name(marked)} highlighted",
            gettext("One line for each rule: 0 is the true order, 1 its reverse."),
            [Curve(rule, rule_name(rule), of_rule["distance"], rule == marked) for rule, of_rule in rules.items()],
            [str(number) for number in numbers],
            x_label="Manipulated tasks",
            y_label="Distance to the true order",
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
            "manipulation": summary["manipulation"],
        },
    )


def best_ranking(summary: Summary, marked: str, names: StudyNames) -> StudyFindings:
    """The order that is closest to the tasks, and how far every rule is from it."""
    measure, best, rules = summary["measure"], summary["best"], summary["rules"]
    closest, own = best[measure], rules[summary["rule"]][measure]
    rule = rule_name(summary["rule"])
    if closest["distance"] is None:
        sentence = f"By {MEASURE_NAMES[measure]}, no closest order is known: {closest['reason']}."
    else:
        sentence = (
            f"By {MEASURE_NAMES[measure]}, the tasks are {percent(closest['distance'])} of the largest distance away "
            f"from {'the closest order' if closest['proven'] else 'the closest order that was found'}, on average, and "
            f"{percent(own)} from the ranking by {rule}."
        )
    unproven = [MEASURE_NAMES[key] for key, one in best.items() if one["distance"] is not None and not one["proven"]]
    proof = f" Nothing closer was found by {unproven[0]}, which is no proof." if unproven else ""
    first = StudyRow("", "Closest order", is_marked=False, cells=[percent_cell(best[key]["distance"]) for key in best])
    return StudyFindings(
        sentence,
        [MEASURE_HEADERS[key] for key in best],
        [first, *rule_rows(rules, marked, lambda of_rule: [percent_cell(of_rule[key]) for key in best])],
        note="Mean distances to the tasks, by their weights, as shares of the largest distance between two orders. "
        "Each measure has a closest order of its own, and there may be others as close. Closest orders have no ties; a "
        f"rule that ties systems can come out closer.{proof}",
        slopes=side_by_side(rule, summary["side_by_side"], names) if "side_by_side" in summary else None,
    )


def reserved_places(summary: Summary, _marked: str, names: StudyNames) -> StudyFindings:
    """What changes if some systems have so many of the first places."""
    rule, places, n_group = rule_name(summary["rule"]), summary["places"], summary["n_group"]
    first = "the first place" if places == 1 else f"the first {places} places"
    wanted = f"at least {summary['least']}"
    if summary["most"] is not None:
        wanted += f" and at most {summary['most']}"
    # Experiments that were stored before ties counted have one number.
    least, most = (summary.get(key, summary.get("first_before")) for key in ("before_least", "before_most"))
    before, n_reversed = f"{least:,}" if least == most else f"{least:,} to {most:,}", summary["reversed_pairs"]
    named = f"the {n_group} named system{'' if n_group == 1 else 's'}"
    ties = "" if least == most else ", depending on how ties are broken"
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
        sentence = (
            f"By {rule}, {named} {'has' if n_group == 1 else 'have'} {before} of {first}{ties}. For {wanted}, "
            f"{n_reversed:,} pair{'' if n_reversed == 1 else 's'} of systems must change order, and no order within "
            "these bounds changes fewer."
        )
    moved = [names.system(key) for key in (*summary["moved_up"], *summary["moved_down"])]
    return StudyFindings(
        sentence,
        ["Value"],
        [
            StudyRow("", "Named systems among the first, before", False, [StudyCell(before)]),
            StudyRow("", "Named systems among the first, after", False, [StudyCell(f"{summary['first_after']:,}")]),
            _row("Reversed pairs", summary["discordant_share"]),
            _row("Largest rank change", summary["max_rank_change"]),
        ],
        note="The order within the named systems, and within the others, is as the rule has it."
        + (" The bounds also apply, in proportion, to every smaller number of places." if summary["all_along"] else ""),
        first_header="Quantity",
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


def score_completion(summary: Summary, _marked: str, names: StudyNames) -> StudyFindings:
    """Which missing scores can be predicted, with which error; nothing of it is ranked."""
    level, coverage = f"{localise(100 * summary['level'], 'g')} %", percent(summary["coverage"])
    n_missing, n_predictable = summary["n_missing"], summary["n_predictable"]
    explained = max(0.0, summary["explained"])
    sentence = (
        f"Held-out scores are predicted with an error of {localise(summary['error'], '.2f')} standard deviations of "
        "their task, "
        f"which explains {percent(explained)} of the differences; {coverage} of them are inside their intervals of "
        f"{level}. "
    )
    if n_missing:
        sentence += ngettext(
            "Of %(n_missing)s missing score, %(n_predictable)s can be predicted: on tasks of which at least half of "
            "the differences are explained.",
            "Of %(n_missing)s missing scores, %(n_predictable)s can be predicted: on tasks of which at least half of "
            "the differences are explained.",
            n_missing,
        ) % {"n_missing": f"{n_missing:,}", "n_predictable": f"{n_predictable:,}"}
    else:
        sentence += gettext("No score is missing.")
    tasks = zip(
        *(summary[name] for name in ("tasks", "missing", "task_error", "task_half_width", "task_explained")),
        summary["task_coverage"],
        strict=True,
    )
    rows = [
        StudyRow(
            "",
            names.tasks.get(key, key),
            False,
            [
                StudyCell(f"{missing:,}"),
                StudyCell(localise(error, ".3g")),
                StudyCell(f"± {localise(width, '.3g')}"),
                percent_cell(max(0.0, share)),
                percent_cell(inside),
            ],
        )
        for key, missing, error, width, share, inside in tasks
    ]
    beyond = summary["n_tasks"] - len(rows)
    more = f" {beyond:,} further tasks are in the downloads." if beyond else ""
    return StudyFindings(
        sentence,
        ["Missing", "Held-out error", f"Interval, {level}", "Explained", "Inside"],
        rows,
        note="Predictions are never ranked; they are in the downloads. Scores are held out at random: if systems leave "
        f"out tasks on which they are bad, real errors are larger.{more}",
        first_header="Task",
        is_by_rule=False,
    )


def _row(name: str, value: float | None) -> StudyRow:
    cells: list[StudyCell] = [share_cell(value)]
    return StudyRow("", name, is_marked=False, cells=cells)
