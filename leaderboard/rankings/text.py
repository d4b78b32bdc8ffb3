"""Scores as people read them: values as they are ranked, why there is none, and what the ways to count are called."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext, gettext_lazy, gettext_noop

from leaderboard.common.language.numbers import in_language, localise
from leaderboard.common.text import figure_text, figure_texts, in_a_list, value_text
from leaderboard.models import Score
from leaderboard.rankings.configuration import ConfiguredTask
from leaderboard.rankings.scores import NOT_SUBMITTED, CurrentScore
from ranking_engine.core.decimals import exact_precision, rounded, rounded_to

REASONS = {**dict(Score.MissingReason.choices), NOT_SUBMITTED: gettext_lazy("not submitted")}

POLICY_NAMES = {
    "undefined": gettext_lazy("No ranking"),
    "drop_systems": gettext_lazy("Incomplete systems unranked"),
    "drop_tasks": gettext_lazy("Incomplete tasks left out"),
    "median": gettext_lazy("Task median filled in"),
    "worst": gettext_lazy("Task’s worst score filled in"),
    "predicted": gettext_lazy("Predicted from the other scores"),
}
POLICY_SHORT_NAMES = {
    "undefined": gettext_lazy("no ranking"),
    "drop_systems": gettext_lazy("unranked"),
    "drop_tasks": gettext_lazy("tasks left out"),
    "median": gettext_lazy("median"),
    "worst": gettext_lazy("worst score"),
    "predicted": gettext_lazy("predicted"),
}
AGGREGATION_NAMES = {
    "basic": gettext_lazy("tasks by their own weight"),
    "weighted": gettext_lazy("weighted by group"),
    "balanced": gettext_lazy("groups balanced"),
    "two_step": gettext_lazy("two steps"),
}
AGGREGATION_SHORT_NAMES = {
    "basic": gettext_lazy("by task"),
    "weighted": gettext_lazy("weighted"),
    "balanced": gettext_lazy("balanced"),
    "two_step": gettext_lazy("two steps"),
}
PREDICTED_MARK = gettext_noop(
    "Systems with predicted scores are marked ≈; ranks of other systems depend on these predictions, too."
)
TIE_NAMES = {
    "": gettext_lazy("rule default"),
    "average": gettext_lazy("average place"),
    "best": gettext_lazy("best place"),
    "worst": gettext_lazy("worst place"),
}


@dataclass(frozen=True)
class ScoreCell:
    """One system's score on one task: a value, or why there is none."""

    value_text: str  # in all its digits
    reason: str
    details_text: str = ""  # its standard error and number of instances, where they are known
    predicted_text: str = ""  # what is ranked in its place, where that is predicted: "≈71.3 ± 4.2"
    value: float = math.nan  # as it is ranked
    text: str = ""  # for reading: in the digits of a figure

    @property
    def title(self) -> str:
        """All its digits, where those for reading are fewer."""
        return self.value_text if len(self.value_text) > len(self.text) else ""


def score_cell(score: CurrentScore | None, task: ConfiguredTask) -> ScoreCell:
    """A score as pages show it, in the precision of its task; None where no one submitted one."""
    if score is not None and score.value is not None:
        value = score.value
        if task.precision is not None:  # as it is ranked
            value = float(rounded_to(rounded(value), exact_precision(task.precision)))
        full = in_language(value_text(value))
        return ScoreCell(full, "", details_text(score), value=value, text=figure_text(value))
    return ScoreCell("", missing_text(score.missing_reason if score else NOT_SUBMITTED))


def score_column(cells: Sequence[ScoreCell]) -> list[ScoreCell]:
    """Scores of one task that people read below each other, with as many decimals each."""
    texts = figure_texts([cell.value for cell in cells])
    return [replace(cell, text=text) for cell, text in zip(cells, texts, strict=True)]


def precision_sentence(precisions: Mapping[str, str | None]) -> str:
    """To what scores are rounded before anything is ranked, for people; empty where no task states a precision.

    Args:
        precisions: by the name of the task; None where it states none.
    """
    named: dict[str, list[str]] = {}
    for name, precision in precisions.items():
        if precision is not None:
            named.setdefault(precision, []).append(name)
    if not named:
        return ""
    parts = [
        gettext("%(names)s to %(precision)s")
        % {"names": gettext("all") if len(names) == len(precisions) else in_a_list(names), "precision": precision}
        for precision, names in named.items()
    ]
    return gettext(
        "Scores are rounded to the precision of their tasks before ranking, and shown rounded: %(parts)s. Downloads "
        "have them as submitted."
    ) % {"parts": "; ".join(parts)}


def details_text(score: CurrentScore | None) -> str:
    """What was stated of how a score was measured: "± 0.4 (n = 1,000)", or as much of it as is known."""
    if score is None or score.value is None:
        return ""
    error, n = score.standard_error, score.n_instances
    parts = [
        "" if error is None else f"± {localise(float(f'{error:.3g}'), '.12g')}",
        "" if n is None else f"(n = {localise(n, ',')})",
    ]
    return " ".join(part for part in parts if part)


def missing_text(reason: str) -> str:
    """Why a score is missing, in words."""
    return str(REASONS[reason])
