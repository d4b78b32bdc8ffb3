"""Diversity, in words."""

from django.utils.translation import gettext, gettext_noop

from leaderboard.common.language.engine import in_page_language
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import percent, signed
from leaderboard.studies.grades import StudyGrade, graded
from leaderboard.studies.study_findings import (
    StudyFindings,
    StudyNames,
    Summary,
    Teller,
    figure_row,
    share_cell,
)

DIVERSITY = {
    "diversity": gettext_noop("1 − Kendall’s W"),
    "diversity_tie_corrected": gettext_noop("1 − W, corrected for ties"),
    "mean_max_rank_change": gettext_noop("Largest rank change between two tasks, mean"),
    "largest_max_rank_change": gettext_noop("Largest rank change between two tasks, greatest"),
    "dispersion_normalized": gettext_noop(
        "Pairs of systems that two tasks order differently, those tied by one counted half"
    ),
}


def _grade(summary: Summary, _rule: str) -> StudyGrade | None:
    value = summary.get("dispersion_normalized")
    if summary["reason"] or value is None:
        return None
    figure = gettext(
        "two tasks order %(share)s of the pairs of systems differently, where a tie on one of them alone counts half, "
        "whatever the rule"
    ) % {"share": percent(value)}
    return StudyGrade(graded(value, 0.1, 0.3), figure)


def _findings(summary: Summary, _marked: str, _names: StudyNames) -> StudyFindings:
    """How much the tasks disagree."""
    if summary["reason"]:
        return StudyFindings(
            gettext("No result: %(reason)s.") % {"reason": in_page_language(summary["reason"])}, [], []
        )
    value, apart = summary["diversity"], summary["dispersion_normalized"]
    sentence = ""
    if value is not None:
        sentence = gettext("On a scale from 0 (all tasks rank in the same way) to 1 (they disagree): %(value)s. ") % {
            "value": signed(value)
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
        [figure_row(gettext(name), [share_cell(summary[key])]) for key, name in DIVERSITY.items()],
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


TELLER = Teller("diversity", _findings, _grade)
