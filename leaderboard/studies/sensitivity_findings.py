"""What the studies found that are about a benchmark as a whole, not about one rule: in words and as a table."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext, gettext_noop, ngettext

from leaderboard.common.charts.critical_difference import critical_difference_diagram
from leaderboard.common.charts.lines import Curve, LineChart, line_chart
from leaderboard.common.language.engine import in_page_language, rule_name
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import in_words, percent
from leaderboard.rankings.confidence.separability import separability_sentence
from leaderboard.rankings.confidence.significance import OUTDATED, is_outdated
from leaderboard.studies.study_findings import (
    NamedSystems,
    StudyCell,
    StudyFindings,
    StudyNames,
    StudyRow,
    percent_cell,
    share_cell,
    side_by_side,
)
from ranking_engine.text.names import fold_name

Summary = Mapping[str, Any]
MAX_SYSTEMS = 10  # that are named; more are counted
MAX_TASKS = 5  # whose weights a sentence tells
FEASIBLE = {
    "scaled": gettext_noop("weights from 1 to 100, on scores in units of each task’s spread"),
    "box": gettext_noop("every weight between its minimum share and 1"),
}
SETS = {"scaled": gettext_noop("the code’s set (scaled)"), "box": gettext_noop("the paper’s set (box)")}
FAMILIES = {
    "neighbours": gettext_noop("Neighbours: pairs of consecutive ranks"),
    "top": gettext_noop("Pairs of the first ranks"),
    "every_pair": gettext_noop("All pairs"),
}
DIVERSITY = {
    "diversity": gettext_noop("1 − Kendall’s W"),
    "diversity_tie_corrected": gettext_noop("1 − W, corrected for ties"),
    "mean_max_rank_change": gettext_noop("Largest rank change between two tasks, mean"),
    "largest_max_rank_change": gettext_noop("Largest rank change between two tasks, greatest"),
    "dispersion_normalized": gettext_noop(
        "Pairs of systems that two tasks order differently, those tied by one counted half"
    ),
}


def diversity(summary: Summary, _marked: str, _names: StudyNames) -> StudyFindings:
    """How much the tasks disagree."""
    if summary["reason"]:
        return StudyFindings(
            gettext("No result: %(reason)s.") % {"reason": in_page_language(summary["reason"])}, [], []
        )
    value, apart = summary["diversity"], summary["dispersion_normalized"]
    sentence = ""
    if value is not None:
        sentence = gettext("On a scale from 0 (all tasks rank in the same way) to 1 (they disagree): %(value)s. ") % {
            "value": localise(value, ".2f")
        }
    if apart is not None:
        sentence += gettext(
            "Two tasks order %(apart)s of the pairs of systems differently; a pair tied on only one of the two tasks "
            "counts half."
        ) % {"apart": percent(apart)}
    filled = summary["n_imputed"]
    return StudyFindings(
        sentence.strip(),
        [gettext("Value")],
        [_row(gettext(name), [share_cell(summary[key])]) for key, name in DIVERSITY.items()],
        note=(
            gettext("%(n_systems)s systems on %(n_tasks)s tasks, each task counting once.")
            % {"n_systems": summary["n_systems"], "n_tasks": summary["n_tasks"]}
            + (
                gettext(" %(n)s missing scores were filled in from the nearest systems.") % {"n": localise(filled, ",")}
                if filled
                else ""
            )
        ),
        first_header=gettext("Measure"),
        is_by_rule=False,
    )


def significance(summary: Summary, marked: str, names: StudyNames) -> StudyFindings:
    """Which systems differ significantly on the board of the marked rule."""
    if "rules" not in summary:  # an experiment about one rule
        summary, marked = {"reason": "", **summary, "rules": {summary["rule"]: summary}}, summary["rule"]
    if summary["reason"]:
        return StudyFindings(
            gettext("Significant differences were not tested: %(reason)s.")
            % {"reason": in_page_language(summary["reason"])},
            [],
            [],
        )
    tests = summary["rules"].get(marked)
    if tests is None:
        return StudyFindings(
            gettext("%(name)s ranks no system here or takes too long, so nothing was tested.")
            % {"name": rule_name(marked)},
            [],
            [],
        )
    if is_outdated(tests):
        return StudyFindings(gettext(OUTDATED), [], [])
    friedman = summary["friedman"]
    if isinstance(friedman, str):  # engine 0.2.0 stored the reason alone
        friedman = {"reason": friedman or gettext("this revision was published before this was stored")}
    rows = [
        _row(
            gettext(name),
            [
                StudyCell(f"{tests[key]['n_pairs']:,}"),
                StudyCell(f"{tests[key]['n_separable']:,}"),
                StudyCell(f"{tests[key]['n_contradicted']:,}"),
                StudyCell(f"{tests[key]['n_not_separable']:,}"),
                StudyCell(f"{tests[key]['n_tied']:,}"),
                StudyCell(f"{tests[key]['n_too_few_tasks']:,}"),
            ],
        )
        for key, name in FAMILIES.items()
    ]
    return StudyFindings(
        separability_sentence(rule_name(marked), tests, summary["level"]),
        [
            gettext("Pairs"),
            gettext("Significant"),
            gettext("Contradicted"),
            gettext("Not significant"),
            gettext("Tied"),
            gettext("Too few tasks to tell"),
        ],
        rows,
        diagram=None
        if friedman["reason"]
        else critical_difference_diagram(
            names.system_names(friedman["systems"]),
            friedman["average_ranks"],
            friedman["critical_difference"],
            friedman["runs"],
        ),
        note=(
            gettext(
                "The null hypothesis: %(hypothesis)s. Significant: the system ranked higher is ahead by more than "
                "chance would explain; contradicted: the lower one is. Systems that share a rank are tied. "
            )
            % {"hypothesis": in_page_language(summary["null_hypothesis"])}
            + (
                gettext("No critical-difference diagram: %(reason)s.")
                % {"reason": "; ".join(map(in_page_language, friedman["reason"].split("; ")))}
                if friedman["reason"]
                else gettext("Friedman’s test: p = %(p_value)s. Nemenyi’s critical difference; %(note)s.")
                % {"p_value": localise(friedman["p_value"], ".2g"), "note": in_page_language(friedman["note"])}
            )
        ),
        first_header=gettext("Pairs under %(rule)s") % {"rule": rule_name(marked)},
        is_by_rule=False,
    )


def cardinal_sensitivity(summary: Summary, _marked: str, names: StudyNames) -> StudyFindings:
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
        "most": _most_pairs(share),
        "between": _between(share),
        "n_pairs": f"{bounds['n_pairs']:,}",
        "get": gettext(FEASIBLE.get(name, name)),
        "between2": _between(moved),
        "weights_in_words": _weights_in_words(share["weights"], names),
    }
    rows = []
    for feasible, answer in computed.items():
        rows += [
            _row(gettext("Reversed pairs (%(set)s)") % {"set": feasible}, _bounds(answer["discordant_share"])),
            _row(gettext("Largest rank change (%(set)s)") % {"set": feasible}, _bounds(answer["max_rank_change"])),
            _row(f"(1 − tau-b) / 2 ({feasible})", [share_cell(answer["tau_b_distance"]["lower"]), *_nothing(2)]),
        ]
        rows += [
            _row(
                gettext("Reversed pairs (%(set)s), ε = %(least)s")
                % {"set": feasible, "least": localise(point["least_weight"], "g")},
                _bounds(point["discordant_share"]),
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


def ordinal_sensitivity(summary: Summary, _marked: str, names: StudyNames) -> StudyFindings:
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
        "most": _most_pairs(share),
        "n_others": summary["n_others"],
        "between": _between(share),
        "pairs": pairs,
        "n_top": len(summary["top"]),
        "between2": _between(moved),
        "parts": join,
    }
    return StudyFindings(
        sentence,
        [gettext("At least"), gettext("At most"), gettext("Maximum")],
        [
            _row(gettext("Reversed pairs"), _bounds(share)),
            _row(gettext("Largest rank change"), _bounds(moved)),
            _row("(1 − tau-b) / 2", [share_cell(summary["tau_b_distance"]["lower"]), *_nothing(2)]),
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


def _row(name: str, cells: Sequence[StudyCell]) -> StudyRow:
    return StudyRow("", name, is_marked=False, cells=list(cells))


def _nothing(n: int) -> list[StudyCell]:
    return [StudyCell("")] * n


def _bounds(interval: Summary) -> list[StudyCell]:
    return [
        percent_cell(interval["lower"]),
        percent_cell(interval["upper"]),
        StudyCell(gettext("proven") if interval["proven"] else gettext("open")),
    ]


def _most_pairs(share: Summary) -> str:
    """How a clause begins that says how most pairs reverse, as far as is known."""
    return gettext("Most pairs reverse") if share["proven"] else gettext("The most that were reached reverse")


def _between(interval: Summary) -> str:
    if interval["proven"]:
        return gettext("at most %(share)s (proven)") % {"share": percent(interval["lower"])}
    return gettext("between %(lower)s and %(upper)s") % {
        "lower": percent(interval["lower"]),
        "upper": percent(interval["upper"]),
    }


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
