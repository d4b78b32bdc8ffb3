"""Running the studies of the engine's catalogue: one chunk a job, then the merge that writes the report."""

from collections.abc import Callable

from leaderboard.computing.rankings import TWO_STEP
from leaderboard.computing.stopwatch import Stopwatch
from leaderboard.models import Job, Report, Revision, StudyPartial
from leaderboard.queue.chunks import chunks_of, insert_merge_if_whole
from leaderboard.queue.kinds import STUDY, study_of
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.reports import make_report, pack_arrays, unpack_arrays
from leaderboard.rankings.score_matrix import NOTHING_TO_RANK, revision_matrix
from ranking_engine import ScoreMatrix
from ranking_engine.core.aggregation import reweighted
from ranking_engine.stability import catalogue

# Of a study job's parameters, those that are not the study's own.
SITE_PARAMETERS = ("study", "seed")


def compute_chunk(job: Job, checkpoint: Callable[[float], None]) -> Callable[[], None]:
    """Run one chunk of a study; the returned function stores what it found and, after the last one, has it merged."""
    study = catalogue.STUDIES[study_of(job.kind)]
    matrix = study_matrix(Revision.objects.select_related("configuration").get(pk=job.subject_id))
    stopwatch = Stopwatch()
    arrays = study.run_chunk(
        matrix,
        _own_parameters(job),
        job.parameters["seed"],
        job.chunk,
        lambda done, total: checkpoint(done / max(1, total)),
    )
    packed, seconds = pack_arrays(arrays), stopwatch.seconds

    def write() -> None:
        StudyPartial.objects.create(job=job, arrays=packed, seconds=seconds)
        insert_merge_if_whole(job)

    return write


def compute_merge(job: Job, checkpoint: Callable[[float], None]) -> Callable[[], None]:
    """Put a study's chunks together; the returned function writes the report and forgets the chunks' results."""
    study = catalogue.STUDIES[study_of(job.kind)]
    revision = Revision.objects.select_related("configuration").get(pk=job.subject_id)
    matrix, parameters = study_matrix(revision), _own_parameters(job)
    partials = list(StudyPartial.objects.filter(job__in=chunks_of(job)).order_by("job__chunk").select_related("job"))
    n_chunks = study.n_chunks(matrix, parameters)
    numbers = [partial.job.chunk for partial in partials]
    if numbers != list(range(n_chunks)):
        raise RuntimeError(f"{job} needs the chunks 0 to {n_chunks - 1} and there are {numbers}; run the study again")
    stopwatch = Stopwatch()
    result = study.merge(
        matrix, parameters, job.parameters["seed"], [unpack_arrays(partial.arrays) for partial in partials]
    )
    checkpoint(0.9)
    report = make_report(
        revision,
        STUDY,
        parameters=job.parameters,
        summary=result.summary,
        arrays=result.arrays,
        seconds=sum(partial.seconds for partial in partials) + stopwatch.seconds,
    )

    def write() -> None:
        Report.objects.bulk_create([report])
        StudyPartial.objects.filter(pk__in=[partial.pk for partial in partials]).delete()

    return write


def _own_parameters(job: Job) -> dict[str, object]:
    """The parameters of a study job that the engine's study knows, with those that came later at their defaults."""
    own = {name: value for name, value in job.parameters.items() if name not in SITE_PARAMETERS}
    return catalogue.STUDIES[study_of(job.kind)].with_defaults(own)


def study_matrix(revision: Revision) -> ScoreMatrix:
    """What a study of this revision perturbs: its scores, with the weights of its aggregation.

    With two-step aggregation the groups are ranked; there a study perturbs the tasks by their own weight.

    Raises:
        ValueError: the benchmark has no system or no task.
    """
    table = revision_matrix(revision)
    if table is None:
        raise ValueError(NOTHING_TO_RANK)
    aggregation = configuration_of(revision).aggregation
    return table.matrix if aggregation == TWO_STEP else reweighted(table.matrix, aggregation)
