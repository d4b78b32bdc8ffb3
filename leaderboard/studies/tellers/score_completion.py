"""Score completion, in words."""

from django.utils.translation import gettext, ngettext

from leaderboard.common.language.numbers import localise
from leaderboard.common.text import percent
from leaderboard.studies.study_findings import (
    StudyCell,
    StudyFindings,
    StudyNames,
    StudyRow,
    Summary,
    Teller,
    percent_cell,
)
from ranking_engine.core.missing import LEAST_OWN


def _findings(summary: Summary, _marked: str, names: StudyNames) -> StudyFindings:
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
        ) % {"n_missing": localise(n_missing, ","), "n_predictable": localise(n_predictable, ",")}
        if n_few := summary.get("n_with_few_scores", 0):
            sentence += ngettext(
                " %(n)s is not predicted, because its system has fewer than %(least)s scores, or scores on fewer than "
                "half of the tasks.",
                " %(n)s are not predicted, because their systems have fewer than %(least)s scores, or scores on fewer "
                "than half of the tasks.",
                n_few,
            ) % {"n": localise(n_few, ","), "least": LEAST_OWN}
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
                StudyCell(localise(missing, ",")),
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
            "Predictions are never ranked; they are in the downloads. Scores are held out at random, most of them of "
            "systems with many scores: if systems leave out tasks on which they are bad, or have few scores, real "
            "errors are larger."
        )
        + more,
        first_header=gettext("Task"),
        is_by_rule=False,
    )


TELLER = Teller("score_completion", _findings)
