"""What a study found, in words, as a table and as a chart: one function a study."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from leaderboard.common.charts.lines import Curve, line_chart
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import by_catalogue, in_words, percent
from leaderboard.studies import experiment_findings, sensitivity_findings
from leaderboard.studies.study_findings import (
    CRITERIA,
    NO_NAMES,
    StudyCell,
    StudyFindings,
    StudyNames,
    StudyRow,
    percent_cell,
    rule_name as _name,
    rule_rows,
    share_cell,
)
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.stability.catalogue import EXPERIMENTS
from ranking_engine.stability.missing_scores import level_told

Summary = Mapping[str, Any]
MAX_NAMED = 4
BASELINES = {"random_ranking": "A random ranking", "dictator": "One random task decides alone (a dictator)"}
CORRELATION_NAMES = {"spearman": "Spearman’s correlation", "kendall": "Kendall’s tau-b"}
FILLED = {"median": "the task’s median", "worst": "the task’s worst score"}  # by policy that fills gaps


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
        return StudyFindings(f"{name} is computed; see the downloads for its figures.", [], [])
    if "rules" in summary:
        summary = {**summary, "rules": by_catalogue(summary["rules"])}
    return TELLERS[study](summary, marked, names)


def _missing_scores(summary: Summary, marked: str, _names: StudyNames) -> StudyFindings:
    rules, levels = summary["rules"], summary["levels"]
    at = level_told(levels)
    chosen = sorted({next((i for i, level in enumerate(levels) if level >= wanted), len(levels) - 1) for wanted in
                    (5, 10, 20)})  # fmt: skip
    values = {rule: of_rule["mean"][at] for rule, of_rule in rules.items()}
    figure = CORRELATION_NAMES[summary.get("correlation", "spearman")]
    agreed = _compared(values, marked, f"{figure} with the full ranking")
    sentence = (
        f"With {levels[at]} % of the scores deleted at random, the order of the first {summary['top']} systems "
        f"agrees with the full one {agreed}"
    )
    filled = {
        policy: {rule: _filled_value(of_rule, policy, levels[at]) for rule, of_rule in rules.items()}
        for policy in FILLED
    }
    is_filled = any(value is not None for by_rule in filled.values() for value in by_rule.values())
    policy = summary.get("missing", "median")
    return StudyFindings(
        f"{sentence} {_by_filling(values, filled, marked, policy)}".strip(),
        [
            *(f"{levels[i]} % deleted" for i in chosen),
            *(f"{levels[at]} %, missing scores filled with {what}" for what in FILLED.values() if is_filled),
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
            f"Agreement with the full ranking when scores are missing, {_name(marked)} highlighted",
            "One line for each rule, over the share of scores that was deleted.",
            _curves(rules, marked, "mean", "deviation"),
            [localise(level, "g") for level in levels],
            x_label="% of the scores deleted",
            y_label=figure,
        ),
        f"Mean of {summary['n_repeats']} repeats; the band is one standard deviation. Rules that need every score "
        f"rank tables whose missing scores are filled with {FILLED[policy]}; the others compare two systems on the "
        f"tasks for which both have scores. On tables filled in the same way, a difference between two rules comes "
        f"from the rules; the rest of a difference comes from the filling.",
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
    best = _extreme(values, largest=True)
    own_filled = filled[policy].get(marked)
    if best is None or own_filled is None:
        return ""
    other = next(name for name in FILLED if name != policy)
    own_other = filled[other].get(marked)
    needs_complete = get_rule(marked).needs_complete
    how = "needs every score" if needs_complete else "needs no score to be filled in"
    parts = [
        f"{_name(marked)} {how}: on tables filled with {FILLED[policy]} it agrees at {localise(own_filled, '.2f')}"
    ]
    if own_other is not None:
        parts.append(f"with {FILLED[other]} at {localise(own_other, '.2f')}")
    rival = best if best != marked else _extreme({k: v for k, v in values.items() if k != marked}, largest=True)
    alike = filled[policy].get(rival) if rival is not None else None
    if rival is None or alike is None or get_rule(rival).needs_complete == needs_complete:
        return f"{', '.join(parts)}."
    return (
        f"{', '.join(parts)}. On the same filled tables {_name(rival)} agrees at {localise(alike, '.2f')}: any further "
        "difference "
        f"comes from the filling, not from the rule."
    )


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

    values = {rule: share(of_rule, "any_change") for rule, of_rule in rules.items()}
    never = [_name(rule) for rule, value in values.items() if value == 0]
    of_rule = rules.get(marked)
    parts = []
    if of_rule is not None and values[marked] is not None:
        reversed_share = share(of_rule, "reversals")
        parts.append(
            f"Under {_name(marked)} {percent(values[marked])} of the newcomers change the order of the existing "
            f"systems in some way, and {percent(reversed_share)} reverse two of them"
        )
    worst = _extreme(values, largest=True)
    if worst is not None and worst != marked and values[worst]:
        parts.append(f"the most of all rules is {percent(values[worst])}, under {_name(worst)}")
    if never:
        parts.append(f"never under {_few(never)}")
    sentence = "; ".join(parts)
    return StudyFindings(
        f"{sentence[:1].upper()}{sentence[1:]}." if sentence else "",
        ["Newcomers that change anything", "that reverse two others", "Most disruptive system"],
        rule_rows(rules, marked, cells),
        note=f"Systems join an empty board one by one, in {summary['n_orders']} random orders.",
    )


def _task_subsets(summary: Summary, marked: str, names: StudyNames) -> StudyFindings:
    rules = {rule: {**of_rule, **_at_every_size(of_rule)} for rule, of_rule in summary["rules"].items()}
    n_tasks = max((len(of_rule["mean"]) for of_rule in rules.values()), default=0)
    half = max(1, n_tasks // 2)
    values = {
        rule: of_rule["mean"][half - 1] if len(of_rule["mean"]) >= half else None for rule, of_rule in rules.items()
    }
    agreed = _compared(values, marked, "Kendall’s tau")
    sentence = f"A ranking on {half} of the {n_tasks} tasks, drawn at random, agrees with the full one {agreed}"
    of_rule = rules.get(marked)
    if of_rule is not None:
        if of_rule["smallest"] is None:
            n_most = len(of_rule["best"])
            sentence += f" We found no subset of up to {n_most} tasks that gives the full ranking of {_name(marked)}."
        else:
            tasks = names.task_names(of_rule["smallest_tasks"])
            alone = f"{in_words(tasks)} alone give{'s' if len(tasks) == 1 else ''} the ranking of {_name(marked)}"
            sentence += f" {alone}; {'no fewer do' if of_rule['smallest_is_proven'] else 'fewer might do'}."
    return StudyFindings(
        sentence,
        ["1 task", *([f"{half} tasks"] if half > 1 else []), "Smallest subset with the full ranking"],
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
                    f"{'' if of_rule['smallest_is_proven'] else 'at most '}{of_rule['smallest']}"
                    if of_rule["smallest"]
                    else f"none of up to {len(of_rule['best'])} found"
                ),
            ],
        ),
        line_chart(
            f"Agreement of rankings on some of the tasks with the full ranking, {_name(marked)} highlighted",
            "One line for each rule, over the number of tasks.",
            _curves(rules, marked, "mean", "deviation", length=n_tasks),
            [str(k) for k in range(1, n_tasks + 1)],
            x_label="tasks",
            y_label="Kendall’s tau-b",
        ),
        f"Mean of {summary['n_repeats']} random subsets of each size, or of all subsets if there are fewer.",
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
    values = {rule: of_rule["reversed"][0] for rule, of_rule in rules.items() if of_rule["reversed"]}
    unmoved = [_name(rule) for rule, of_rule in rules.items() if not any(of_rule["scaled_largest"])]
    last = len(factors) - 1
    sentence = (
        f"Reversing {sizes[0]} of the tasks reorders "
        f"{_compared(values, marked, 'of all pairs of systems', is_distance=True)}"
        if sizes
        else ""
    )
    if unmoved and factors:
        sentence += f" Multiplying one task by {localise(factors[last], 'g')} changes nothing under {_few(unmoved)}."
    return StudyFindings(
        sentence,
        ["1 task reversed", *([f"One task × {localise(factors[last], 'g')}", "at worst"] if factors else [])],
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
            f"Pairs of systems reordered when tasks are reversed, {_name(marked)} highlighted",
            "One line for each rule, over the number of tasks reversed.",
            _curves(rules, marked, "reversed", "reversed_deviation"),
            [str(size) for size in sizes],
            x_label="tasks reversed",
            y_label="share of pairs",
        ),
        f"Mean of {summary['n_repeats']} choices of the tasks; the distance is Kendall’s, as a share of all pairs.",
    )


def _judge_bootstrap(summary: Summary, marked: str, _names: StudyNames) -> StudyFindings:
    rules = summary["rules"]
    values = {rule: of_rule["judge_stability"]["mean"] for rule, of_rule in rules.items()}
    unseen = rules.get(marked, {}).get("generalization", {}).get("mean")
    figure = CORRELATION_NAMES[summary.get("correlation", "spearman")]
    others = summary.get("baselines", {}).items()

    # Reports of earlier versions, and experiments that leave copies out, have one reading of a system drawn twice.
    has_copies = any("candidate_stability_copies" in of_rule for of_rule in rules.values())
    criteria = [name for name in CRITERIA if has_copies or name != "candidate_stability_copies"]

    def cells(of_rule: Summary) -> list[StudyCell]:
        return [share_cell(of_rule[criterion]["mean"]) for criterion in criteria]

    sentence = f"Two rankings from resampled tasks agree {_compared(values, marked, figure)}"
    if unseen is not None:
        correlation = localise(unseen, ".2f")
        sentence += f" With tasks that were not drawn, the ranking of {_name(marked)} correlates at {correlation}."
    once, often = (
        rules.get(marked, {}).get(name, {}).get("mean")
        for name in ("candidate_stability", "candidate_stability_copies")
    )
    if once is not None and often is not None:
        sentence += (
            f" Two rankings from resampled systems agree at {localise(once, '.2f')} if a system that is drawn twice "
            f"takes part once, and at {localise(often, '.2f')} if it takes part twice."
        )
    return StudyFindings(
        sentence,
        [CRITERIA[name] for name in criteria],
        [
            *rule_rows(rules, marked, cells),
            *(
                StudyRow("", BASELINES.get(name, name), is_marked=False, cells=cells(baseline))
                for name, baseline in others
            ),
        ],
        note=(
            f"{summary['n_trials']:,} trials that resample tasks and systems. Winner’s rank: 1 if the winner is first "
            f"on every drawn task. Condorcet rate: how often the winner is the system that beats every other one head "
            f"to head (the Condorcet winner), if there is one. Unseen "
            f"tasks: {figure} with the tasks that were not drawn. Resampled tasks, resampled systems: {figure} "
            f"between the rankings of two resamples."
            + (
                " A system that is drawn several times takes part once in one column; in the other as often as it is "
                "drawn, as in the paper, so that rules that count rivals feel its copies."
                if has_copies
                else ""
            )
        ),
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


# --- Pieces ----------------------------------------------------------------------------------------------------------


def _few(names: Sequence[str]) -> str:
    return in_words(list(names)) if len(names) <= MAX_NAMED else f"{len(names)} of the rules"


def _extreme(values: Mapping[str, float | None], *, largest: bool) -> str | None:
    known = {rule: value for rule, value in values.items() if value is not None}
    if not known:
        return None
    return max(known, key=lambda rule: known[rule]) if largest else min(known, key=lambda rule: known[rule])


def _compared(values: Mapping[str, float | None], marked: str, what: str, *, is_distance: bool = False) -> str:
    """The rest of a sentence: how the marked rule does, and which do best and worst."""
    best, worst = _extreme(values, largest=not is_distance), _extreme(values, largest=is_distance)
    if best is None or worst is None:
        return "under no rule: there is nothing to compare."

    def figure(rule: str) -> str:
        value = values[rule]
        return percent(value) if is_distance or value is None else localise(value, ".2f")

    own = values.get(marked)
    if values[best] == values[worst]:
        return f"the same under every rule ({figure(best)} {what})." if not is_distance else f"{figure(best)} {what}."
    if is_distance:
        start = f"{figure(marked)} {what} under {_name(marked)}; " if own is not None else ""
        return f"{start}least under {_name(best)} ({figure(best)}), most under {_name(worst)} ({figure(worst)})."
    start = f"at {figure(marked)} under {_name(marked)} ({what}); " if own is not None else f"({what}) "
    return f"{start}best under {_name(best)} ({figure(best)}), worst under {_name(worst)} ({figure(worst)})."


def _curves(rules: Mapping[str, Summary], marked: str, values: str, band: str, *, length: int = 0) -> list[Curve]:
    def padded(row: Sequence[float | None]) -> list[float | None]:
        return [*row, *[None] * max(0, length - len(row))]

    return [
        Curve(
            rule,
            _name(rule),
            padded(of_rule[values]),
            rule == marked,
            padded(of_rule[band]) if rule == marked else None,
        )
        for rule, of_rule in rules.items()
    ]
