"""The job that scores predictions: in a sealed child process, against references that are decrypted in memory alone.

What it finds is written in one transaction with the end of the job, so that a worker that dies at any moment leaves
either nothing or everything. The submission that comes of it has an idempotency key of its own, so that there is one.
"""

import logging
import zlib
from collections.abc import Callable

from django.conf import settings

from leaderboard.computing.pool import Limits, OutOfMemoryError, OutOfTimeError, Pool
from leaderboard.computing.scoring import Scored, ScoringCall, score_predictions
from leaderboard.computing.sealing import how_sealed
from leaderboard.evaluation.encryption import opened_file
from leaderboard.evaluation.entering import enter_if_complete, keep_result, problems_as_json, refuse
from leaderboard.evaluation.references import EVALUATOR
from leaderboard.evaluation.rescoring.corrections import correct_if_all_are_scored
from leaderboard.models import Job, PredictionFile, PredictionSubmission, TaskReferences
from ranking_engine.files.problems import Problem

logger = logging.getLogger(__name__)
State = PredictionSubmission.State
TOO_LONG = "scoring took longer than the {limit:,} s of computing that one file may take"
TOO_LARGE = "scoring needed more memory than one file may have"


def compute_scores(job: Job, checkpoint: Callable[[float], None]) -> Callable[[], None]:
    """Score the files of a submission. Returns the function that writes what came out.

    Args:
        job: about a submission of predictions; its parameters say against which references.
        checkpoint: takes the share that is done; it raises where the job is no longer this worker's.
    """
    row = PredictionSubmission.objects.select_related("benchmark", "phase").get(pk=job.subject_id)
    if row.state in (State.CANCELLED, State.REFUSED):
        return lambda: None
    PredictionSubmission.objects.filter(pk=row.pk, state=State.WAITING).update(state=State.SCORING)
    split, numbers = job.parameters["split"], job.parameters["references"]
    outcomes: list[tuple[PredictionFile, TaskReferences, Scored]] = []
    problems: list[Problem] = []
    pool = Pool(
        Limits(
            n_children=1,
            n_waiting=0,
            patience=0.0,
            seconds=settings.SCORING_SECONDS,
            memory_bytes=settings.SCORING_MEMORY_BYTES,
            is_sealed=True,
        )
    )
    files = list(row.files.select_related("task"))
    try:
        for k, file in enumerate(files):
            references = TaskReferences.objects.get(task=file.task_id, number=numbers[file.task.key])
            if references.metric == EVALUATOR.key:
                continue
            checkpoint(k / len(files))

            def is_abandoned(progress: float = k / len(files)) -> bool:
                checkpoint(progress)  # where it raises, the child is killed
                return False

            call = ScoringCall(
                metric=references.metric,
                options=references.options,
                references=opened_file(references),
                references_name=references.file_name,
                predictions=zlib.decompress(bytes(file.content)),
                predictions_name=file.name,
                split=split,
            )
            try:
                scored: Scored = pool.run(score_predictions, call, is_abandoned=is_abandoned)
            except OutOfTimeError:
                problems.append(Problem(TOO_LONG.format(limit=settings.SCORING_SECONDS), source=file.name))
                continue
            except OutOfMemoryError:
                problems.append(Problem(TOO_LARGE, source=file.name))
                continue
            problems += scored.problems
            outcomes.append((file, references, scored))
        if outcomes:
            logger.info("scored in a sealed process: %s", pool.run(how_sealed))
    finally:
        pool.stop()

    def write() -> None:
        if problems:
            refuse(row, problems_as_json(problems))
            correct_if_all_are_scored(row.benchmark)
            return
        for file, references, scored in outcomes:
            keep_result(row, file, references, scored)
        enter_if_complete(row)
        correct_if_all_are_scored(row.benchmark)

    return write
