"""Rows of jobs, for tests."""

from leaderboard.models import Benchmark, Job, Publication, Report
from leaderboard.models.append_only import AppendOnlyPermit
from leaderboard.queue.kinds import JOB_KINDS

OLD = "0.0.9"
N_JOBS = sum(kind.comes_with_revision for kind in JOB_KINDS.values())


def rankings_job(benchmark: Benchmark, number: int = 1) -> Job:
    return Job.objects.get(kind="rankings", benchmark=benchmark, sequence=number)


def pointer(benchmark: Benchmark) -> tuple[int, str]:
    published = Benchmark.objects.values_list("published_number", "published_engine_version").get(pk=benchmark.pk)
    publication = Benchmark.objects.get(pk=benchmark.pk).publication
    assert published == ((publication.revision.number, publication.engine_version) if publication else (0, ""))
    return published


def age_everything(version: str = OLD) -> None:
    """Make the database what an older engine version would have left."""
    permit = AppendOnlyPermit.objects.create(reason="as an older version left it")
    for model in (Job, Report, Publication):
        model.objects.update(engine_version=version)
    permit.delete()
    Benchmark.objects.exclude(published_number=0).update(published_engine_version=version)
