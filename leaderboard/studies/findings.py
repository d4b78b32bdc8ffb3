"""What a study found, in words, as a table and as a chart: one function a study."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext, gettext_noop, ngettext

from leaderboard.common.charts.lines import line_chart
from leaderboard.common.language.engine import rule_name
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import by_catalogue, in_words, percent
from leaderboard.studies import experiment_findings, sensitivity_findings
from leaderboard.studies.study_findings import (
    BASELINES,
    CORRELATION_NAMES,
    CRITERIA,
    NO_NAMES,
    StudyCell,
    StudyFindings,
    StudyNames,
    StudyRow,
    compared,
    curves,
    extreme,
    few,
    of_all_repeats,
    percent_cell,
    rule_rows,
    share_cell,
    with_repeats,
)
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.stability.catalogue import EXPERIMENTS
from ranking_engine.stability.studies.missing_scores import level_told

Summary = Mapping[str, Any]
# By policy that fills gaps.
FILLED = {"median": gettext_noop("the task’s median"), "worst": gettext_noop("the task’s worst score")}


def findings(study: str, summary: Summary, marked: str, names: StudyNames = NO_NAMES) -> StudyFindings:
    """What the report of a study says.

    Args:
        study: a key of the engine's catalogue.
        summary: the report's.
        marked: the rule that the reader looks at; the sentence is about it.
        names: of the systems and tasks at the report's revision.

    A study of which nothing here knows how to tell gets a plain sentence.
    """
    if study not in TELLERS:
        name = EXPERIMENTS[study].name if study in EXPERIMENTS else study
        return StudyFindings(
            gettext("%(study)s is computed; see the downloads for its figures.") % {"study": gettext(name)}, [], []
        )
    if "rules" in summary:
        summary = {**summary, "rules": by_catalogue(summary["rules"])}
    result = TELLERS[study](summary, marked, names)
    return replace(result, rows=with_repeats(result.rows, summary.get("slow_rules", {})))


def _missing_scores(summary: Summary, marked: str, _names: StudyNames) -> StudyFindings:
    rules, levels = summary["rules"], summary["levels"]
    at = level_told(levels)
    chosen = sorted({next((i for i, level in enumerate(levels) if level >= wanted), len(levels) - 1) for wanted in
                    (5, 10, 20)})  # fmt: skip
    values = of_all_repeats({rule: of_rule["mean"][at] for rule, of_rule in rules.items()}, summary, marked)
    figure = gettext(CORRELATION_NAMES[summary.get("correlation", "spearman")])
    agreed = compared(values, marked, gettext("%(figure)s with the full ranking") % {"figure": figure})
    sentence = gettext(
        "With %(level)s %% of the scores deleted at random, the order of the first %(n)s systems agrees with the full "
        "one %(agreed)s"
    ) % {"level": levels[at], "n": summary["top"], "agreed": agreed}
    filled = {
        policy: {rule: _filled_value(of_rule, policy, levels[at]) for rule, of_rule in rules.items()}
        for policy in FILLED
    }
    is_filled = any(value is not None for by_rule in filled.values() for value in by_rule.values())
    policy = summary.get("missing", "median")
    return StudyFindings(
        f"{sentence} {_by_filling(values, filled, marked, policy)}".strip(),
        [
            *(gettext("%(level)s %% deleted") % {"level": levels[i]} for i in chosen),
            *(
                gettext("%(level)s %%, missing scores filled with %(what)s")
                % {"level": levels[at], "what": gettext(what)}
                for what in FILLED.values()
                if is_filled
            ),
        ],
        rule_rows(
            rules,
            marked,
            lambda of_rule: [
                *(share_cell(of_rule["mean"][i]) for i in chosen),
                *(share_cell(_filled_value(of_rule, name, levels[at])) for name in FILLED if is_filled),
            ],
        ),
        line_chart(
            gettext("Agreement with the full ranking when scores are missing, %(rule)s highlighted")
            % {"rule": rule_name(marked)},
            gettext("One line for each rule, over the share of scores that was deleted."),
            curves(rules, marked, "mean", "deviation"),
            [localise(level, "g") for level in levels],
            x_label=gettext("%(sign)s of the scores deleted") % {"sign": "%"},
            y_label=figure,
        ),
        gettext(
            "Mean of %(n)s repeats; the band is one standard deviation. Rules that need every score rank tables whose "
            "missing scores are filled with %(what)s; the others compare two systems on the tasks for which both have "
            "scores. On tables filled in the same way, a difference between two rules comes from the rules; the rest "
            "of a difference comes from the filling."
        )
        % {"n": summary["n_repeats"], "what": gettext(FILLED[policy])},
    )


def _filled_value(of_rule: Summary, policy: str, level: float) -> float | None:
    filled = of_rule.get("filled", {}).get(policy)
    return filled["mean"][filled["levels"].index(level)] if filled else None


def _by_filling(
    values: Mapping[str, float | None],
    filled: Mapping[str, Mapping[str, float | None]],
    marked: str,
    policy: str,
) -> str:
    """How much of the distance between the marked rule and the best one is left where gaps are filled alike."""
    best = extreme(values, largest=True)
    own_filled = filled[policy].get(marked)
    if best is None or own_filled is None:
        return ""
    other = next(name for name in FILLED if name != policy)
    own_other = filled[other].get(marked)
    needs_complete = get_rule(marked).needs_complete
    how = gettext("%(rule)s needs no score to be filled in: on tables filled with %(what)s it agrees at %(value)s")
    if needs_complete:
        how = gettext("%(rule)s needs every score: on tables filled with %(what)s it agrees at %(value)s")
    value = localise(own_filled, ".2f")
    parts = [how % {"rule": rule_name(marked), "what": gettext(FILLED[policy]), "value": value}]
    if own_other is not None:
        filled_so = {"what": gettext(FILLED[other]), "value": localise(own_other, ".2f")}
        parts.append(gettext("with %(what)s at %(value)s") % filled_so)
    rival = best if best != marked else extreme({k: v for k, v in values.items() if k != marked}, largest=True)
    alike = filled[policy].get(rival) if rival is not None else None
    if rival is None or alike is None or get_rule(rival).needs_complete == needs_complete:
        return f"{', '.join(parts)}."
    rest = gettext(
        "On the same filled tables %(rule)s agrees at %(value)s: any further difference comes from the filling, not "
        "from the rule."
    )
    return f"{', '.join(parts)}. {rest % {'rule': rule_name(rival), 'value': localise(alike, '.2f')}}"


def _system_additions(summary: Summary, marked: str, names: StudyNames) -> StudyFindings:
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


def _task_subsets(summary: Summary, marked: str, names: StudyNames) -> StudyFindings:
    rules = {rule: {**of_rule, **_at_every_size(of_rule)} for rule, of_rule in summary["rules"].items()}
    n_tasks = max((len(of_rule["mean"]) for of_rule in rules.values()), default=0)
    half = max(1, n_tasks // 2)
    values = {rule: of_rule["mean"][half - 1] for rule, of_rule in rules.items() if len(of_rule["mean"]) >= half}
    agreed = compared(of_all_repeats(values, summary, marked), marked, gettext("Kendall’s tau"))
    sentence = gettext(
        "A ranking on %(half)s of the %(n)s tasks, drawn at random, agrees with the full one %(agreed)s"
    ) % {"half": half, "n": n_tasks, "agreed": agreed}
    of_rule = rules.get(marked)
    if of_rule is not None:
        if of_rule["smallest"] is None:
            sentence += gettext(" We found no subset of up to %(n)s tasks that gives the full ranking of %(rule)s.") % {
                "n": len(of_rule["best"]),
                "rule": rule_name(marked),
            }
        else:
            tasks = names.task_names(of_rule["smallest_tasks"])
            alone = ngettext(
                " %(tasks)s alone gives the ranking of %(rule)s; %(fewer)s.",
                " %(tasks)s alone give the ranking of %(rule)s; %(fewer)s.",
                len(tasks),
            )
            fewer = gettext("no fewer do") if of_rule["smallest_is_proven"] else gettext("fewer might do")
            sentence += alone % {"tasks": in_words(tasks), "rule": rule_name(marked), "fewer": fewer}
    return StudyFindings(
        sentence,
        [
            gettext("1 task"),
            *([gettext("%(n)s tasks") % {"n": half}] if half > 1 else []),
            gettext("Smallest subset with the full ranking"),
        ],
        rule_rows(
            rules,
            marked,
            lambda of_rule: [
                share_cell(of_rule["mean"][0] if of_rule["mean"] else None),
                *(
                    [share_cell(of_rule["mean"][half - 1] if len(of_rule["mean"]) >= half else None)]
                    if half > 1
                    else []
                ),
                StudyCell(
                    ("%(n)s" if of_rule["smallest_is_proven"] else gettext("at most %(n)s"))
                    % {"n": of_rule["smallest"]}
                    if of_rule["smallest"]
                    else gettext("none of up to %(n)s found") % {"n": len(of_rule["best"])}
                ),
            ],
        ),
        line_chart(
            gettext("Agreement of rankings on some of the tasks with the full ranking, %(rule)s highlighted")
            % {"rule": rule_name(marked)},
            gettext("One line for each rule, over the number of tasks."),
            curves(rules, marked, "mean", "deviation", length=n_tasks),
            [str(k) for k in range(1, n_tasks + 1)],
            x_label=gettext("tasks"),
            y_label=gettext("Kendall’s tau-b"),
        ),
        gettext("Mean of %(n)s random subsets of each size, or of all subsets if there are fewer.")
        % {"n": summary["n_repeats"]},
    )


def _at_every_size(of_rule: Summary) -> Summary:
    """Return the curves with a place for every number of tasks; of very many tasks only some `sizes` have values."""
    if "sizes" not in of_rule:
        return {}
    curves: dict[str, Any] = {}
    for name in ("mean", "deviation"):
        known = dict(zip(of_rule["sizes"], of_rule[name], strict=True))
        curves[name] = [known.get(size) for size in range(1, of_rule["sizes"][-1] + 1)]
    return curves


def _corrupted_tasks(summary: Summary, marked: str, _names: StudyNames) -> StudyFindings:
    rules, sizes, factors = summary["rules"], summary["n_reversed"], summary["factors"]
    of_all = of_all_repeats(rules, summary, marked)
    values = {rule: of_rule["reversed"][0] for rule, of_rule in of_all.items() if of_rule["reversed"]}
    unmoved = [rule_name(rule) for rule, of_rule in of_all.items() if not any(of_rule["scaled_largest"])]
    last = len(factors) - 1
    sentence = ""
    if sizes:
        what = gettext("of all pairs of systems, where a tie in one ranking alone counts half")
        reordered = compared(values, marked, what, is_distance=True)
        sentence = gettext("Reversing %(n)s of the tasks reorders %(reordered)s") % {
            "n": sizes[0], "reordered": reordered,
        }  # fmt: skip
    if unmoved and factors:
        sentence += gettext(" Multiplying one task by %(factor)s changes nothing under %(rules)s.") % {
            "factor": localise(factors[last], "g"), "rules": few(unmoved),
        }  # fmt: skip
    return StudyFindings(
        sentence,
        [
            gettext("1 task reversed"),
            *(
                [gettext("One task × %(factor)s") % {"factor": localise(factors[last], "g")}, gettext("at worst")]
                if factors
                else []
            ),
        ],
        rule_rows(
            rules,
            marked,
            lambda of_rule: [
                percent_cell(of_rule["reversed"][0] if of_rule["reversed"] else None),
                *(
                    [percent_cell(of_rule["scaled"][last]), percent_cell(of_rule["scaled_largest"][last])]
                    if factors
                    else []
                ),
            ],
        ),
        line_chart(
            gettext("Pairs of systems reordered when tasks are reversed, %(rule)s highlighted")
            % {"rule": rule_name(marked)},
            gettext("One line for each rule, over the number of tasks reversed."),
            curves(rules, marked, "reversed", "reversed_deviation"),
            [str(size) for size in sizes],
            x_label=gettext("tasks reversed"),
            y_label=gettext("share of pairs"),
        ),
        gettext("Mean of %(n)s choices of the tasks; the distance is Kendall’s, as a share of all pairs.")
        % {"n": summary["n_repeats"]},
    )


def _judge_bootstrap(summary: Summary, marked: str, _names: StudyNames) -> StudyFindings:
    rules = summary["rules"]
    values = {rule: r["judge_stability"]["mean"] for rule, r in of_all_repeats(rules, summary, marked).items()}
    unseen = rules.get(marked, {}).get("generalization", {}).get("mean")
    figure = gettext(CORRELATION_NAMES[summary.get("correlation", "spearman")])

    # Reports of earlier versions, and experiments that leave copies out, have one reading of a system drawn twice.
    has_copies = any("candidate_stability_copies" in of_rule for of_rule in rules.values())
    criteria = [name for name in CRITERIA if has_copies or name != "candidate_stability_copies"]

    def cells(of_rule: Summary) -> list[StudyCell]:
        return [share_cell(of_rule[criterion]["mean"]) for criterion in criteria]

    sentence = gettext("Two rankings from resampled tasks agree %(agreed)s") % {
        "agreed": compared(values, marked, figure)
    }
    if unseen is not None:
        sentence += gettext(" With tasks that were not drawn, the ranking of %(rule)s correlates at %(value)s.") % {
            "rule": rule_name(marked), "value": localise(unseen, ".2f"),
        }  # fmt: skip
    once, often = (
        rules.get(marked, {}).get(name, {}).get("mean")
        for name in ("candidate_stability", "candidate_stability_copies")
    )
    if once is not None and often is not None:
        sentence += gettext(
            " Two rankings from resampled systems agree at %(once)s if a system that is drawn twice takes part once, "
            "and at %(often)s if it takes part twice."
        ) % {"once": localise(once, ".2f"), "often": localise(often, ".2f")}
    note = gettext(
        "%(n)s trials that resample tasks and systems. Winner’s rank: 1 if the winner is first on every drawn task. "
        "Condorcet rate: how often the winner is the system that beats every other one head to head (the Condorcet "
        "winner), if there is one. Unseen tasks: %(figure)s with the tasks that were not drawn. Resampled tasks, "
        "resampled systems: %(figure)s between the rankings of two resamples."
    ) % {"n": localise(summary["n_trials"], ","), "figure": figure}
    if has_copies:
        note += gettext(
            " A system that is drawn several times takes part once in one column; in the other as often as it is "
            "drawn, as in the paper, so that rules that count rivals feel its copies."
        )
    return StudyFindings(
        sentence,
        [gettext(CRITERIA[name]) for name in criteria],
        [
            *rule_rows(rules, marked, cells),
            *(
                StudyRow("", gettext(BASELINES.get(name, name)), is_marked=False, cells=cells(baseline))
                for name, baseline in summary.get("baselines", {}).items()
            ),
        ],
        note=note,
    )


TELLERS: dict[str, Callable[[Summary, str, StudyNames], StudyFindings]] = {
    "missing_scores": _missing_scores,
    "system_additions": _system_additions,
    "task_subsets": _task_subsets,
    "corrupted_tasks": _corrupted_tasks,
    "judge_bootstrap": _judge_bootstrap,
    "diversity": sensitivity_findings.diversity,
    "significance": sensitivity_findings.significance,
    "cardinal_sensitivity": sensitivity_findings.cardinal_sensitivity,
    "ordinal_sensitivity": sensitivity_findings.ordinal_sensitivity,
    "worst_case": experiment_findings.worst_case,
    "tasks_needed": experiment_findings.tasks_needed,
    "manipulated_tasks": experiment_findings.manipulated_tasks,
    "best_ranking": experiment_findings.best_ranking,
    "reserved_places": experiment_findings.reserved_places,
    "score_completion": experiment_findings.score_completion,
}
