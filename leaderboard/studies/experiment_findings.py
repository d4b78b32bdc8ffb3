"""What studies found that run as experiments alone: a rule's worst case, how many tasks it needs or can lose."""

from collections.abc import Mapping
from typing import Any

from leaderboard.common.charts.lines import Curve, line_chart
from leaderboard.common.text import in_words, percent
from leaderboard.studies.study_findings import (
    CRITERIA,
    NamedSystems,
    StudyCell,
    StudyFindings,
    StudyNames,
    StudyRow,
    rule_name,
    rule_rows,
    share_cell,
    side_by_side,
)
from ranking_engine.catalogue.registry import get_rule

Summary = Mapping[str, Any]
MAX_NAMED = 10
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
        proof = "No choice reverses more pairs: that is proven."
    else:
        proof = f"No choice reverses more than {percent(upper)} of the pairs: that is proven."
    sentence = (
        f"Under {rule}, at least {share} of the pairs among the first {n_top} can reverse, and a system can move by "
        f"{moved} of all places. This happens if {by}."
    )
    if not n_chosen:
        sentence = f"The search found no change that moves the first {n_top} under {rule}."
    joining = None
    if is_of_systems and n_chosen:
        links = [names.system(key) for key in summary["chosen"][:MAX_NAMED]]
        joining = NamedSystems("Systems that join:", links, n_chosen - len(links))
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
    sentence = (
        f"For two rankings under {rule_name(marked)} from {drawn} to agree at {target:g} on average, {needed} enough."
    )
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
            "One line for each rule, over the number of tasks.",
            [
                Curve(rule, rule_name(rule), of_rule["judge_stability"], rule == marked)
                for rule, of_rule in rules.items()
            ],
            [str(size) for size in sizes],
            x_label="Tasks drawn",
            y_label="Correlation of two rankings",
        ),
        f"Mean of {summary['n_resamples']} draws of each size. A size above the number of tasks means more tasks of "
        f"the same kind. Number of tasks: the least size from which on a criterion is always at least {target:g}.",
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
        [f"Tasks for a distance above {limit:g}", f"Distance with {numbers[0]}", f"Distance with {numbers[-1]}"],
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
            "One line for each rule: 0 is the true order, 1 its reverse.",
            [Curve(rule, rule_name(rule), of_rule["distance"], rule == marked) for rule, of_rule in rules.items()],
            [str(number) for number in numbers],
            x_label="Manipulated tasks",
            y_label="Distance to the true order",
        ),
        f"Mean of {summary['n_repeats']} made-up boards with a known true order: strength φ = {summary['strength']:g}, "
        f"each score the mean of {summary['n_instances']} instances with Gumbel noise; manipulation: "
        f"{summary['manipulation']}. Only the size and the weights are this board’s.",
    )


def _row(name: str, value: float | None) -> StudyRow:
    cells: list[StudyCell] = [share_cell(value)]
    return StudyRow("", name, is_marked=False, cells=cells)
