"""The worker's part of an experiment: one job, whose report has the same parameters as the experiment."""

from collections.abc import Callable

from leaderboard.computing.stopwatch import Stopwatch
from leaderboard.models import Job, Revision
from leaderboard.queue.kinds import EXPERIMENT
from leaderboard.rankings.reports import make_report, storing
from leaderboard.studies.chunks import SITE_PARAMETERS, study_matrix
from ranking_engine.stability.catalogue import run_study


def compute_experiment(job: Job, checkpoint: Callable[[float], None]) -> Callable[[], None]:
    """Run the study with the job's parameters; the returned function stores what it found."""
    revision = Revision.objects.select_related("configuration").get(pk=job.subject_id)
    parameters = {name: value for name, value in job.parameters.items() if name not in SITE_PARAMETERS}
    matrix, stopwatch = study_matrix(revision), Stopwatch()
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
        seconds=stopwatch.seconds,
    )
    return storing(report, may_be_there=True)
