"""Resampled tasks and systems, in words."""

from django.utils.translation import gettext

from leaderboard.common.language.engine import rule_name
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import signed
from leaderboard.studies.grades import StudyGrade, graded
from leaderboard.studies.study_findings import (
    BASELINES,
    CORRELATION_NAMES,
    CRITERIA,
    StudyCell,
    StudyFindings,
    StudyNames,
    StudyRow,
    Summary,
    Teller,
    compared,
    of_all_repeats,
    rule_rows,
    share_cell,
)
from ranking_engine.stability.studies.judge_bootstrap import CHANCE_AGREEMENT


def _grade(summary: Summary, rule: str) -> StudyGrade | None:
    value = summary["rules"].get(rule, {}).get("judge_stability", {}).get("mean")
    if value is None:
        return None
    figure = gettext("correlation %(value)s of two rankings from tasks drawn again") % {"value": signed(value)}
    return StudyGrade(graded(1 - value, 0.1, 0.3), figure, gettext("when tasks are drawn again"))


def _findings(summary: Summary, marked: str, _names: StudyNames) -> StudyFindings:
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
            "rule": rule_name(marked), "value": signed(unseen),
        }  # fmt: skip
    once, often = (
        rules.get(marked, {}).get(name, {}).get("mean")
        for name in ("candidate_stability", "candidate_stability_copies")
    )
    if once is not None and often is not None:
        sentence += gettext(
            " Two rankings from resampled systems agree at %(once)s if a system that is drawn twice takes part once, "
            "and at %(often)s if it takes part twice."
        ) % {"once": signed(once), "often": signed(often)}
    note = gettext(
        "%(n)s trials that resample tasks and systems. Winner’s rank: 1 if the winner is first on every drawn task. "
        "Condorcet rate: how often the winner is the system that beats every other one head to head (the Condorcet "
        "winner), if there is one. Unseen tasks: %(figure)s with the tasks that were not drawn. Resampled tasks, "
        "resampled systems: %(figure)s between the rankings of two resamples."
    ) % {"n": localise(summary["n_trials"], ","), "figure": figure}
    note += gettext(
        " Both rankings from resampled tasks are drawn from the same tasks, so that they agree at about %(chance)s "
        "even if systems differ by chance alone."
    ) % {"chance": localise(CHANCE_AGREEMENT[summary.get("correlation", "spearman")], "g")}
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


TELLER = Teller("judge_bootstrap", _findings, _grade)
