"""The missing scores of a revision that can be predicted from the others, and how well: computed on demand."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.utils.translation import gettext, ngettext

from leaderboard.common.language.engine import in_page_language
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import percent, value_text
from leaderboard.computing.completions import predicted_scores
from leaderboard.models import Benchmark, Revision
from leaderboard.on_demand.budget import TooLargeError, compute, refuse_beyond_budget, single_flight
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.margins import inputs_of
from leaderboard.rankings.score_matrix import revision_matrix
from leaderboard.rankings.text import ScoreCell
from ranking_engine.core.missing import LEVEL

STEPS_OF_CELL = 500  # comparisons of two scores that take as long as the predictions of one


@dataclass(frozen=True)
class PredictedScores:
    """Those of one revision; systems and tasks by their ids.

    Attributes:
        cells: the predicted scores.
        half_widths: by task, how far a share LEVEL of predictions of held-out scores is from them at most.
        task_errors: by task the root of the mean squared error of held-out scores, in its own units.
        n_missing: how many scores on voting tasks are missing, of systems that have any.
        error: the root of the mean squared error of held-out scores, in units of their task's spread, over the tasks of
            predicted scores, each as often as one of it is predicted.
        explained: the share of the variance that predictions of the same held-out scores explain.
        reason: why none is predicted; empty where some are or none is missing.
        task_keys: of all tasks.
    """

    cells: Mapping[tuple[int, int], float]
    half_widths: Mapping[int, float]
    task_errors: Mapping[int, float]
    n_missing: int
    error: float
    explained: float
    reason: str
    task_keys: Mapping[int, str]

    @property
    def sentence(self) -> str:
        """What someone who may choose to rank by them has to know."""
        if not self.n_missing:
            return gettext("No score of the published revision is missing, so that nothing would be predicted.")
        if not self.cells:
            text = ngettext(
                "Of the one missing score of the published revision none would be predicted: %(reason)s.",
                "Of the %(n)s missing scores of the published revision none would be predicted: %(reason)s.",
                self.n_missing,
            )
            return text % {"n": localise(self.n_missing, ","), "reason": in_page_language(self.reason)}
        inwards = gettext(
            "Predictions draw the best systems down and the worst up, also where gaps are by chance: in simulations "
            "about %(least)s to %(most)s %% of the best system’s scores are within the range that should have "
            "%(level)s %%."
        ) % {"least": 70, "most": 80, "level": 90}
        text = ngettext(
            "Of the one missing score of the published revision %(n_predicted)s would be predicted. On their tasks, "
            "predictions of held-out scores miss by %(error)s of the task’s spread (root mean square) and explain "
            "%(explained)s of the variance. %(inwards)s The error is that of scores missing by chance: if systems "
            "leave out tasks on which they are bad, predictions are wrong by more.",
            "Of the %(n)s missing scores of the published revision %(n_predicted)s would be predicted. On their tasks, "
            "predictions of held-out scores miss by %(error)s of the task’s spread (root mean square) and explain "
            "%(explained)s of the variance. %(inwards)s The error is that of scores missing by chance: if systems "
            "leave out tasks on which they are bad, predictions are wrong by more.",
            self.n_missing,
        )
        return text % {
            "n": localise(self.n_missing, ","), "n_predicted": localise(len(self.cells), ","),
            "error": localise(self.error, ".2g"), "explained": percent(self.explained, 2),
            "inwards": inwards,
        }  # fmt: skip

    def of_system(self, system: int) -> dict[str, dict[str, float]]:
        """The predicted scores of one system, by the keys of the tasks."""
        return {
            self.task_keys[task]: {
                "value": value,
                "half_width": self.half_widths[task],
                "error": self.task_errors[task],
            }
            for (of, task), value in self.cells.items()
            if of == system
        }

    def in_place_of(self, cell: ScoreCell, system: int, task: int) -> ScoreCell:
        """A cell of a page; where its score is missing and predicted, with the prediction and how far it may be off."""
        value = self.cells.get((system, task))
        if cell.value_text or value is None:
            return cell
        width, error = (value_text(float(f"{by_task[task]:.2g}")) for by_task in (self.half_widths, self.task_errors))
        about = gettext(
            "predicted, not measured; %(level)s %% of held-out scores of this task are within ± %(width)s (root mean "
            "square error %(error)s)"
        ) % {"level": f"{100 * LEVEL:.0f}", "width": width, "error": error}
        return replace(cell, predicted_text=f"≈{value_text(value)} ± {width}", reason=f"{cell.reason}; {about}")


def predictions_of(revision: Revision) -> PredictedScores | None:
    """The predicted scores of a revision; None where it has no scores.

    Raises:
        TooLargeError: it is too large for an answer on demand.
        TooOftenError, BusyError: this reader asked too often of late, or too much is computed for others.
    """
    table = revision_matrix(revision)
    if table is None:
        return None
    matrix = table.matrix
    refuse_beyond_budget(*matrix.values.shape)
    key = f"predicted:{inputs_of(revision)}"
    steps = matrix.values.size * STEPS_OF_CELL
    figures = single_flight(key, lambda: compute(predicted_scores, matrix, n_steps=steps))
    systems = [system.id for system in table.systems]
    task_keys = {task.id: task.key for task in configuration_of(revision).tasks}
    tasks = list(task_keys)
    return PredictedScores(
        cells={(systems[i], tasks[t]): value for (i, t), value in figures["cells"].items()},
        half_widths={tasks[t]: width for t, width in figures["half_widths"].items()},
        task_errors={tasks[t]: error for t, error in figures["task_errors"].items()},
        n_missing=figures["n_missing"],
        error=figures["error"],
        explained=figures["explained"],
        reason=figures["reason"],
        task_keys=task_keys,
    )


def predictions_in_time(revision: Revision) -> PredictedScores | None:
    """The same, and None where the revision is too large: a page is shown without them."""
    try:
        return predictions_of(revision)
    except TooLargeError:
        return None


def prediction_offer(benchmark: Benchmark) -> str:
    """What an owner has to know who may choose that missing scores are predicted."""
    publication = benchmark.publication
    if publication is None:
        return gettext("nothing is published yet, so that no one knows how well scores can be predicted.")
    predictions = predictions_in_time(publication.revision)
    if predictions is None:
        return gettext("the board is too large to say on this page how well its scores can be predicted.")
    return predictions.sentence
