"""Findings of studies that run only as experiments: worst cases, manipulated tasks, needed tasks."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext, ngettext

from leaderboard.common.charts.lines import Curve, line_chart
from leaderboard.common.language.engine import in_page_language, rule_name
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import in_words, percent
from leaderboard.studies.study_findings import (
    CRITERIA,
    MEASURE_HEADERS,
    MEASURE_NAMES,
    NamedSystems,
    StudyCell,
    StudyFindings,
    StudyNames,
    StudyRow,
    of_all_repeats,
    percent_cell,
    rule_rows,
    share_cell,
    side_by_side,
)

Summary = Mapping[str, Any]
MAX_NAMED = 10
PROVEN = 1e-9  # what two shares may differ by that are the same


def worst_case(summary: Summary, _marked: str, names: StudyNames) -> StudyFindings:
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
            _row(gettext("Reversed pairs"), summary["discordant_share"]),
            _row(gettext("Kendall’s distance"), summary["distance"]),
            _row(gettext("Largest rank change"), summary["max_rank_change"]),
        ],
        note=gettext("The worst of %(n)s ranked boards. %(proof)s")
        % {"n": localise(summary["rankings"], ","), "proof": proof},
        first_header=gettext("Quantity"),
        is_by_rule=False,
        systems=joining,
        slopes=side_by_side(rule, summary, names) if n_chosen else None,
    )


def tasks_needed(summary: Summary, marked: str, _names: StudyNames) -> StudyFindings:
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
    criteria = [name for name in CRITERIA if name in next(iter(rules.values()), {})]
    return StudyFindings(
        sentence if marked in rules else "",
        [gettext("%(criterion)s: number of tasks") % {"criterion": gettext(CRITERIA[name])} for name in criteria],
        rule_rows(
            rules,
            marked,
            lambda of_rule: [
                StudyCell(
                    gettext("not reached") if of_rule["reached"][name] is None else f"{of_rule['reached'][name]:,}"
                )
                for name in criteria
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
    if own is None:
        sentence = gettext(
            "On made-up boards of %(n_systems)s systems and %(n_tasks)s tasks, no number of manipulated tasks that was "
            "tried takes %(rule)s further than %(limit)s of all pairs from the true order, on average."
        )
    else:
        sentence = ngettext(
            "On made-up boards of %(n_systems)s systems and %(n_tasks)s tasks, %(n)s manipulated task takes %(rule)s "
            "further than %(limit)s of all pairs from the true order, on average.",
            "On made-up boards of %(n_systems)s systems and %(n_tasks)s tasks, %(n)s manipulated tasks take %(rule)s "
            "further than %(limit)s of all pairs from the true order, on average.",
            own,
        )
    sentence %= {
        "n_systems": summary["n_systems"], "n_tasks": summary["n_tasks"], "rule": rule_name(marked),
        "limit": percent(limit), "n": own,
    }  # fmt: skip
    return StudyFindings(
        sentence if marked in rules else "",
        [
            gettext("Tasks for a distance above %(limit)s") % {"limit": localise(limit, "g")},
            gettext("Distance with %(n)s") % {"n": numbers[0]},
            gettext("Distance with %(n)s") % {"n": numbers[-1]},
        ],
        rule_rows(
            rules,
            marked,
            lambda of_rule: [
                StudyCell(gettext("none tried") if of_rule["first_beyond"] is None else str(of_rule["first_beyond"])),
                share_cell(of_rule["distance"][0]),
                share_cell(of_rule["distance"][-1]),
            ],
        ),
        line_chart(
            gettext("Distance to the true order by the number of manipulated tasks, %(rule)s highlighted")
            % {"rule": rule_name(marked)},
            gettext("One line for each rule: 0 is the true order, 1 its reverse."),
            [Curve(rule, rule_name(rule), of_rule["distance"], rule == marked) for rule, of_rule in rules.items()],
            [str(number) for number in numbers],
            x_label=gettext("Manipulated tasks"),
            y_label=gettext("Distance to the true order"),
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
            "manipulation": gettext(summary["manipulation"]),
        },
    )


def best_ranking(summary: Summary, marked: str, names: StudyNames) -> StudyFindings:
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


def reserved_places(summary: Summary, _marked: str, names: StudyNames) -> StudyFindings:
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
            _row(gettext("Reversed pairs"), summary["discordant_share"]),
            _row(gettext("Largest rank change"), summary["max_rank_change"]),
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


def score_completion(summary: Summary, _marked: str, names: StudyNames) -> StudyFindings:
    """Which missing scores can be predicted, with which error; nothing of it is ranked."""
    level, coverage = f"{localise(100 * summary['level'], 'g')} %", percent(summary["coverage"])
    n_missing, n_predictable = summary["n_missing"], summary["n_predictable"]
    explained = max(0.0, summary["explained"])
    sentence = gettext(
        "Held-out scores are predicted with an error of %(error)s standard deviations of their task, which explains "
        "%(explained)s of the differences; %(coverage)s of them are inside their intervals of %(level)s. "
    ) % {
        "error": localise(summary["error"], ".2f"),
        "explained": percent(explained),
        "coverage": coverage,
        "level": level,
    }
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
    more = gettext(" %(n)s further tasks are in the downloads.") % {"n": localise(beyond, ",")} if beyond else ""
    return StudyFindings(
        sentence,
        [
            gettext("Missing"),
            gettext("Held-out error"),
            gettext("Interval, %(level)s") % {"level": level},
            gettext("Explained"),
            gettext("Inside"),
        ],
        rows,
        note=gettext(
            "Predictions are never ranked; they are in the downloads. Scores are held out at random: if systems leave "
            "out tasks on which they are bad, real errors are larger."
        )
        + more,
        first_header=gettext("Task"),
        is_by_rule=False,
    )


def _row(name: str, value: float | None) -> StudyRow:
    cells: list[StudyCell] = [share_cell(value)]
    return StudyRow("", name, is_marked=False, cells=cells)
