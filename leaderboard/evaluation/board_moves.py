"""Whether a scored submission of predictions moves the board, and what its submitter sees of the scores.

The job that scores stores in each `PredictionFile.results` the figures by split: `test`, and what the references have
of `development`, `public` and `private`. Then `decide` says which of them become scores of an ordinary submission.

* Where the *last* submission of a system counts, each one moves the board.
* Where the *best* one counts, it moves if it is better than the system's counted one on tasks of more weight than those
  on which it is worse. This is our definition; it needs no common scale of the tasks. On several tasks the order of the
  submissions matters (`docs/scoring.md`).
* With the *Ladder* (`docs/ladder.md`) it moves only if it is better than the team's best submission so far by a paired
  test over the instances. Until it does, the submitter sees the scores of the best one, and nothing of this one.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils.translation import gettext_noop

from leaderboard.evaluation.phases import DEVELOPMENT, PRIVATE, PUBLIC, TEST, counted_split, has_ladder
from leaderboard.evaluation.predicting import metric_named
from leaderboard.evaluation.references import opened
from leaderboard.models import Phase, PredictionFile, PredictionSubmission, Task, TaskReferences
from leaderboard.submissions.instances.vectors import unpack_vector
from leaderboard.submissions.queries import OFF_BOARD
from leaderboard.submissions.rows import CheckedScore, measured_score
from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.evaluation.instances import References
from ranking_engine.evaluation.metrics.errors import error_of_mean
from ranking_engine.text.names import fold_name

State = PredictionSubmission.State
ROUNDING = 1e-9  # a single instance more is exactly one standard error
CLEAR = 8.0  # standard errors, of a difference that is the same on every instance; more would outvote other tasks
DUST = 1e-12  # what rounding leaves of instances that did not change


@dataclass(frozen=True)
class TaskFigure:
    """What scoring found of one task, on the instances that count.

    Attributes:
        value: the score.
        standard_error: of it, None where there is none.
        n_instances: that were scored.
        is_share: whether the scale of its metric is from 0 to 1.
        is_mean: whether it is the mean of values of the instances.
        instance_values: of each, in the order of the references; None where the metric has none, or where they were not
            asked for.
        hidden: the references of these instances, with their weights and clusters; None as above.
    """

    value: float
    standard_error: float | None
    n_instances: int
    is_share: bool = False
    is_mean: bool = False
    instance_values: FloatArray | None = None
    hidden: References | None = None

    @classmethod
    def of(cls, file: PredictionFile, split: str, *, with_values: bool) -> "TaskFigure":
        """The figure of one file on a split that it has."""
        result, values, hidden = file.results[split], None, None
        metric = metric_named(file.scored_by.get("metric", ""))
        if file.instance_values and with_values:
            values = unpack_vector(file.instance_values)
            # Which instances are public, and which clusters they form, is stored nowhere in clear.
            row = TaskReferences.objects.get(task=file.task_id, number=file.results["by"]["references"])
            hidden = opened(row)[1]
            if hidden.splits:
                hidden = hidden.at(np.flatnonzero([name != DEVELOPMENT for name in hidden.splits]))
            if split in (PUBLIC, PRIVATE):
                places = np.flatnonzero([name == split for name in hidden.splits or ()])
                values, hidden = values[places], hidden.at(places)
        return cls(
            result["value"],
            result["standard_error"],
            result["n_instances"],
            metric is not None and (metric.lowest, metric.highest) == (0, 1),
            bool(file.instance_values),
            values,
            hidden,
        )

    def is_paired_with(self, other: "TaskFigure") -> bool:
        """Whether the values of both are of the same instances, in the same order."""
        if self.hidden is None or other.hidden is None:
            return self.n_instances == other.n_instances
        return self.hidden.ids == other.hidden.ids


@dataclass(frozen=True)
class BoardMove:
    """What becomes of a scored submission.

    Attributes:
        scores: of an ordinary submission, by the key of the task; None where the board stays as it is.
        sentence: why, for the submitter; stored in English, and translated where it is shown.
    """

    scores: dict[str, CheckedScore] | None
    sentence: str


def decide(row: PredictionSubmission, files: Sequence[PredictionFile]) -> BoardMove:
    """Say what becomes of a submission that was scored. Call while its benchmark is locked.

    Args:
        row: the submission, not trial.
        files: of it, with results; their tasks are loaded.
    """
    uses_ladder = has_ladder(row.benchmark)
    before = [list(one.files.all()) for one in counted_before(row, of_any_system=uses_ladder)]
    return decide_after(row, files, before, uses_ladder=uses_ladder)


def decide_after(
    row: PredictionSubmission,
    files: Sequence[PredictionFile],
    before: Sequence[Sequence[PredictionFile]],
    *,
    uses_ladder: bool,
) -> BoardMove:
    """Say what becomes of a submission if these others counted before it.

    Args:
        row: the submission, not trial.
        files: of it, with results; their tasks are loaded.
        before: the files of what counted, the newest first.
        uses_ladder: whether a paired test decides.
    """
    # Which one is best is decided on the public split, also once the board shows the private one.
    split = row.phase.split if row.phase else TEST
    new = figures_of(files, split, with_values=uses_ladder)
    on_board = figures_of(files, counted_split(row.phase), with_values=False)
    if len(new) < len(files) or len(on_board) < len(files):
        return BoardMove(None, gettext_noop("The metric is undefined on the instances that count."))
    scores = {file.task.key: _score(on_board[file.task_id], is_rounded=uses_ladder) for file in files}
    if row.phase and row.phase.counts == Phase.Counts.LAST and not uses_ladder:
        return BoardMove(scores, gettext_noop("The last submission of a system counts."))
    if not before:
        return BoardMove(scores, gettext_noop("It is the first one that was scored."))
    tasks = {file.task_id: file.task for file in files}
    if uses_ladder:
        gain = ladder_gain(new, figures_of(before[0], split, with_values=True), tasks)
        if gain > 1 + ROUNDING:
            sentence = gettext_noop("It is better than the best one before by more than one standard error.")
            return BoardMove(scores, sentence)
        return BoardMove(
            None, gettext_noop("It is not better than the best one before by more than one standard error.")
        )
    old: dict[int, TaskFigure] = {}
    for one in before:  # of each task the newest that counts: a submission may be of some tasks alone
        old = figures_of(one, split, with_values=False) | old
    if weighted_majority(new, old, tasks) > 0:
        return BoardMove(scores, gettext_noop("It is better than the one before."))
    return BoardMove(None, gettext_noop("It is not better than the one before, which still counts."))


def counted_before(row: PredictionSubmission, *, of_any_system: bool) -> list[PredictionSubmission]:
    """The submissions that count so far, the newest first: of the same system, or of the Ladder's team.

    Args:
        row: the new submission.
        of_any_system: whether all systems of the team count as one, so that a new name gives no new start.
    """
    rows = PredictionSubmission.objects.filter(phase=row.phase_id, benchmark=row.benchmark_id, is_trial=False)
    # One that is being scored again counts, too.
    rows = rows.filter(state__in=[State.SCORED, State.SCORING]).exclude(submission=None).exclude(pk=row.pk)
    if not of_any_system:  # what was told of the Ladder's best one stays told
        rows = rows.exclude(submission__state__in=OFF_BOARD)
    rows = rows.filter(team=row.team_id) if row.team_id else rows.filter(team=None, submitter=row.submitter_id)
    name = fold_name(row.system_name)
    rows = rows.order_by("-scored_at", "-pk").prefetch_related("files")
    if of_any_system:
        return list(rows[:1])
    return [one for one in rows if fold_name(one.system_name) == name]


def figures_of(files: Sequence[PredictionFile], split: str, *, with_values: bool) -> dict[int, TaskFigure]:
    """The figures on one split, by the primary key of the task; those without a figure are left out.

    Args:
        files: of a submission that was scored.
        split: that counts; where the references of a task have no such split, all its instances count.
        with_values: whether the values of single instances are needed, for which references are decrypted. Not where a
            page is made.
    """
    figures = {}
    for file in files:
        counted = split if split == DEVELOPMENT or {PUBLIC, PRIVATE} & file.results.keys() else TEST
        if counted in file.results:
            figures[file.task_id] = TaskFigure.of(file, counted, with_values=with_values)
    return figures


def _score(figure: TaskFigure, *, is_rounded: bool) -> CheckedScore:
    if is_rounded:
        return measured_score(ladder_score(figure), None, figure.n_instances)
    return measured_score(figure.value, figure.standard_error, figure.n_instances)


def ladder_score(figure: TaskFigure) -> float:
    """The score that the Ladder states: further digits would tell more about the references.

    A mean by a metric from 0 to 1 is rounded to a multiple of 1 / n, other figures to the first digit of their standard
    error (our definition; the Ladder is defined for losses from 0 to 1). Without a standard error, a figure by a metric
    from 0 to 1 is a multiple of 1 / n, too, and others have two significant digits. The scale of the metric decides,
    and not the values of one submission, which it would give away.
    """
    error = figure.standard_error
    if figure.is_share and (figure.is_mean or not error):
        step = 1 / figure.n_instances
    elif error:
        step = 10.0 ** math.floor(math.log10(error))
    elif figure.value:
        step = 10.0 ** (math.floor(math.log10(abs(figure.value))) - 1)
    else:
        return 0.0
    return round(figure.value / step) * step


def weighted_majority(new: Mapping[int, TaskFigure], old: Mapping[int, TaskFigure], tasks: Mapping[int, Task]) -> float:
    """The weight of the tasks on which the new figures are better, minus that of those on which they are worse.

    Args:
        new: by task.
        old: by task; a task that is only among the new ones counts as better.
        tasks: with direction and weight.
    """
    balance = 0.0
    for key, task in tasks.items():
        gain = (new[key].value - old[key].value) * task.direction if key in old else 1.0
        balance += float(task.weight) * float(np.sign(gain))
    return balance


def ladder_gain(new: Mapping[int, TaskFigure], old: Mapping[int, TaskFigure], tasks: Mapping[int, Task]) -> float:
    """How much better the new figures are, in standard errors of chance; the Ladder asks for more than 1.

    On one task this is the mean of the paired differences over their standard error, as in `Ladder`. Over several it
    is their combination by Stouffer's method, weighted as the tasks are, so that chance alone exceeds 1 as rarely as on
    one task. Where the metric has no values of instances, the standard errors of both figures take the place of that of
    the differences.

    Args:
        new: by task.
        old: by task; tasks that it lacks are left out.
        tasks: with direction and weight.

    Returns:
        0 where no task with a weight can be compared, infinity where the tasks are all others than before.
    """
    if not old.keys() & new.keys():
        return math.inf
    gains = [
        (float(task.weight), standardized_gain(new[key], old[key]) * task.direction)
        for key, task in tasks.items()
        if key in old and task.weight > 0 and task.direction
    ]
    norm = math.sqrt(sum(weight**2 for weight, _ in gains))
    return sum(weight * gain for weight, gain in gains) / norm if norm else 0.0


def standardized_gain(new: TaskFigure, old: TaskFigure) -> float:
    """How much greater a new figure is than an old one, neither of them rounded, in standard errors of chance.

    0 where nothing changed on any instance, and where no standard error is known; at most `CLEAR` either way where the
    differences have no spread.
    """
    if new.instance_values is not None and old.instance_values is not None and new.is_paired_with(old):
        differences = new.instance_values - old.instance_values
        if float(np.abs(differences).max(initial=0.0)) <= DUST:
            return 0.0
        weights = None if new.hidden is None else new.hidden.weights
        clusters = np.arange(len(differences)) if new.hidden is None else new.hidden.cluster_codes()
        error = error_of_mean(differences, weights, clusters)
    elif new.standard_error is None or old.standard_error is None:
        error = None
    else:
        error = math.hypot(new.standard_error, old.standard_error)
    if error is None:
        return 0.0
    gain = new.value - old.value
    return gain / error if error > DUST else CLEAR * float(np.sign(gain))


def best_in_place_of(row: PredictionSubmission, *, uses_ladder: bool) -> PredictionSubmission | None:
    """The best submission so far, which the Ladder's submitter sees in place of one that did not move the board.

    Args:
        row: the submission.
        uses_ladder: as `phases.has_ladder` says.

    Returns:
        None where the figures of the submission itself are seen, or none are.
    """
    if not uses_ladder or row.is_trial or row.submission_id is not None or row.state != State.SCORED:
        return None
    return next(iter(counted_before(row, of_any_system=True)), None)


def seen_results(
    row: PredictionSubmission, files: Sequence[PredictionFile], *, uses_ladder: bool
) -> dict[str, dict[str, Any]]:
    """The figures that its submitter sees, by the key of the task; empty where there are none yet.

    Never those on the private split before the board shows them, nor, with the Ladder, those of a submission that did
    not move the board.

    Args:
        row: the submission.
        files: of it; their tasks are loaded.
        uses_ladder: as `phases.has_ladder` says.
    """
    if row.state != State.SCORED:
        return {}
    if uses_ladder and not row.is_trial and row.submission_id is None:
        return {}
    split = DEVELOPMENT if row.is_trial else counted_split(row.phase)
    figures = figures_of(files, split, with_values=False)
    return {
        file.task.key: dict(_score(figures[file.task_id], is_rounded=uses_ladder and not row.is_trial))
        for file in files
        if file.task_id in figures
    }
