"""The worker's part of an experiment: one job, whose report has the same parameters as the experiment."""

import time
from collections.abc import Callable

from leaderboard.models import Job, Report, Revision
from leaderboard.queue.kinds import EXPERIMENT
from leaderboard.rankings.reports import make_report
from leaderboard.studies.chunks import SITE_PARAMETERS, study_matrix
from ranking_engine.stability.catalogue import run_study


def compute_experiment(job: Job, checkpoint: Callable[[float], None]) -> Callable[[], None]:
    """Run the study with the job's parameters; the returned function stores what it found."""
    revision = Revision.objects.select_related("configuration").get(pk=job.subject_id)
    parameters = {name: value for name, value in job.parameters.items() if name not in SITE_PARAMETERS}
    matrix, started = study_matrix(revision), time.process_time()
    result = run_study(
        job.parameters["study"],
        matrix,
        parameters,
        job.parameters["seed"],
        lambda done, total: checkpoint(done / max(1, total)),
    )
    report = make_report(
        revision,
        EXPERIMENT,
        parameters=job.parameters,
        summary=result.summary,
        arrays=result.arrays,
        seconds=time.process_time() - started,
    )

    def write() -> None:
        Report.objects.bulk_create([report], ignore_conflicts=True)

    return write
