"""Missing scores, in words."""

from collections.abc import Mapping

from django.utils.translation import gettext, gettext_noop

from leaderboard.common.charts.lines import line_chart
from leaderboard.common.language.engine import rule_name
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import signed
from leaderboard.studies.grades import StudyGrade, graded
from leaderboard.studies.study_findings import (
    CORRELATION_NAMES,
    StudyFindings,
    StudyNames,
    Summary,
    Teller,
    compared,
    curves,
    extreme,
    of_all_repeats,
    rule_rows,
    share_cell,
)
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.stability.studies.missing_scores import reported_level

# By policy that fills gaps.
FILLED = {"median": gettext_noop("the task’s median"), "worst": gettext_noop("the task’s worst score")}


def _grade(summary: Summary, rule: str) -> StudyGrade | None:
    at = reported_level(summary["levels"])
    value = summary["rules"].get(rule, {}).get("mean", {at: None})[at]
    if value is None or not summary.get("n_deleted", {at: 1})[at]:  # on a small board nothing may be deleted
        return None
    figures = {
        "value": signed(value), "n": summary["top"], "level": localise(summary["levels"][at], "g"),
    }  # fmt: skip
    figure = gettext("correlation %(value)s of the first %(n)s systems with %(level)s %% of the scores deleted")
    condition = gettext("when %(level)s %% of the scores are missing (first %(n)s systems only)")
    return StudyGrade(graded(1 - value, 0.1, 0.3), figure % figures, condition % figures)


def _findings(summary: Summary, marked: str, _names: StudyNames) -> StudyFindings:
    rules, levels = summary["rules"], summary["levels"]
    at = reported_level(levels)
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
    value = signed(own_filled)
    parts = [how % {"rule": rule_name(marked), "what": gettext(FILLED[policy]), "value": value}]
    if own_other is not None:
        filled_so = {"what": gettext(FILLED[other]), "value": signed(own_other)}
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


TELLER = Teller("missing_scores", _findings, _grade)
