"""Programs of a benchmark's owners that score predictions outside the site: they claim, renew and report.

Files that wait for them are jobs as all others, of a queue for which the site has no workers. A claim has a lease: a
program that falls silent loses it, another one gets the job, and what the first one reports later is dropped.
"""

import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
from django.http import Http404

from leaderboard.access.locks import lock_as_owner
from leaderboard.computing.scoring import Scored, SplitFigure
from leaderboard.evaluation.entering import enter_if_complete, keep_result, problems_as_json, refuse
from leaderboard.evaluation.phases import PRIVATE, PUBLIC, TEST
from leaderboard.evaluation.problems import EvaluationError, ReportError
from leaderboard.evaluation.references import ids_of
from leaderboard.evaluation.rescoring.corrections import correct_if_all_are_scored
from leaderboard.models import Benchmark, Job, PredictionFile, PredictionSubmission, TaskReferences, User
from leaderboard.queue import jobs
from leaderboard.queue.kinds import EVALUATION
from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.files.problems import Problem

State = PredictionSubmission.State
CANDIDATES = 20
NAME_LENGTH = 60  # of a program, as it calls itself
LATE = "The lease of this evaluation ended, or it was reported already; what comes now is dropped."


@dataclass(frozen=True)
class ClaimedFile:
    """A file of predictions that a program has to score.

    Attributes:
        job: claimed; its token names the claim.
        file: with its task and its submission.
        split: `development` or `test`.
        references: that state the instances.
    """

    job: Job
    file: PredictionFile
    split: str
    references: TaskReferences

    @property
    def splits(self) -> tuple[str, ...]:
        """The parts of the split that need scores of their own: of the public and private one, where there are both."""
        n_by_split = self.references.n_by_split
        has_both = self.split == TEST and n_by_split.get(PUBLIC) and n_by_split.get(PRIVATE)
        return (PUBLIC, PRIVATE) if has_both else ()

    @property
    def content(self) -> bytes:
        """The file."""
        return zlib.decompress(bytes(self.file.content))


@dataclass(frozen=True)
class ReportedScore:
    """A score that a program computed.

    Attributes:
        value: the score, None where there is none.
        standard_error: of it, None where there is none.
    """

    value: float | None
    standard_error: float | None = None

    def figure(self, n_instances: int, place: str = "") -> SplitFigure:
        """The same as the site stores it.

        Args:
            n_instances: that it is on.
            place: of the score in the report, with a point at its end.

        Raises:
            ReportError: it is not finite, or its standard error cannot be one.
        """
        if self.value is None or not math.isfinite(self.value):
            raise ReportError("A report needs a finite value, or the problem for which there is none.", f"{place}value")
        error = self.standard_error
        if error is not None and not (math.isfinite(error) and error >= 0):
            raise ReportError("A standard error is a finite number that is not negative.", f"{place}standard_error")
        return SplitFigure(self.value, error, n_instances)


@dataclass(frozen=True)
class ProgramReport:
    """What a program found.

    Attributes:
        score: on all instances.
        split_scores: by split, where the references have a public and a private one; then both.
        instance_scores: by id, where there are any; then every instance has one.
        problem: why the predictions cannot be scored; then there is no value.
    """

    score: ReportedScore = ReportedScore(None)
    split_scores: Mapping[str, ReportedScore] = field(default_factory=dict)
    instance_scores: Mapping[str, float] | None = None
    problem: str = ""


def claim_evaluation(benchmark: Benchmark, *, program: str) -> ClaimedFile | None:
    """Make the next file of a benchmark a program's own for a while; None where nothing waits.

    Args:
        benchmark: whose predictions it scores.
        program: what it calls itself, for the status page.
    """
    waiting = Job.objects.filter(benchmark=benchmark, kind=EVALUATION, state=Job.State.WAITING)
    for number in list(waiting.order_by("-priority", "pk").values_list("pk", flat=True)[:CANDIDATES]):
        job = jobs.claim(number, worker=f"evaluator {program[:NAME_LENGTH]}")
        if job is None:
            continue
        evaluation = _evaluation_of(job)
        rows = PredictionSubmission.objects.filter(pk=evaluation.file.prediction_submission_id)
        if rows.filter(state__in=[State.CANCELLED, State.REFUSED]).exists():
            jobs.supersede(job)
            continue
        rows.filter(state=State.WAITING).update(state=State.SCORING)
        return evaluation
    return None


def claimed_evaluation(benchmark: Benchmark, claim: UUID) -> ClaimedFile:
    """What a program holds.

    Raises:
        Http404: there was no such claim on this benchmark.
        EvaluationError: it ended.
    """
    job = Job.objects.filter(benchmark=benchmark, kind=EVALUATION, claim_token=claim).first()
    if job is None:
        raise Http404("There is no such evaluation; its lease may have ended.")
    if job.state != Job.State.RUNNING:
        raise EvaluationError(LATE)
    return _evaluation_of(job)


def _evaluation_of(job: Job) -> ClaimedFile:
    file = PredictionFile.objects.select_related("task", "prediction_submission__benchmark").get(pk=job.subject_id)
    references = TaskReferences.objects.get(task=file.task_id, number=job.parameters["references"])
    return ClaimedFile(job, file, job.parameters["split"], references)


def renew_evaluation(evaluation: ClaimedFile) -> None:
    """Prolong the lease.

    Raises:
        EvaluationError: it ended.
    """
    if not jobs.renew(evaluation.job):
        raise EvaluationError(LATE)


def report_evaluation(evaluation: ClaimedFile, report: ProgramReport, *, author: User) -> None:
    """Take a program's report, once; where all files of the submission are scored, it enters.

    Args:
        evaluation: what the program scored.
        report: what it found.
        author: the owner whose program it is.

    Raises:
        EvaluationError: the lease ended.
        PermissionDenied: `author` does not own the benchmark now.
        ReportError: what it reports cannot be taken; the lease goes on.
    """
    file, row = evaluation.file, evaluation.file.prediction_submission
    ids = ids_of(evaluation.references, evaluation.split)
    values: np.ndarray | None = None
    figures: dict[str, SplitFigure] = {}
    if not report.problem:
        values = instance_values(report, ids)
        if report.split_scores.keys() != set(evaluation.splits):
            needed = " and ".join(f"`{name}`" for name in evaluation.splits)
            raise ReportError(
                f"The references have splits: `splits` of the report needs a score for {needed}."
                if needed
                else "These instances have no splits of which scores are reported; leave out `splits`.",
                "splits",
            )
        n_by_split = evaluation.references.n_by_split
        of_splits = {
            name: score.figure(n_by_split[name], f"splits.{name}.") for name, score in report.split_scores.items()
        }
        figures = {evaluation.split: report.score.figure(len(ids))} | of_splits

    def write() -> None:
        lock_as_owner(row.benchmark_id, author)
        if report.problem:
            refuse(row, problems_as_json([Problem(report.problem, source=file.name)]))
        else:
            keep_result(row, file, evaluation.references, Scored(figures, values))
            enter_if_complete(row)
        correct_if_all_are_scored(row.benchmark)

    try:
        jobs.finish(evaluation.job, write)
    except jobs.LeaseLostError as error:
        raise EvaluationError(LATE) from error


def instance_values(report: ProgramReport, ids: list[str]) -> FloatArray | None:
    """The reported scores of single instances, in the order of their ids; None where there are none.

    Raises:
        ReportError: they are of other instances, or not finite.
    """
    scores = report.instance_scores
    if scores is None:
        return None
    missing = [name for name in ids if name not in scores]
    if missing or len(scores) != len(ids):
        what = f"{len(missing):,} have none, such as {missing[0][:40]!r}" if missing else "there are scores of others"
        raise ReportError(f"Scores of single instances are needed for each of the {len(ids):,}: {what}.", "instances")
    values = np.array([scores[name] for name in ids], dtype=np.float64)
    if not np.isfinite(values).all():
        raise ReportError("A score of a single instance is not a finite number.", "instances")
    return values
