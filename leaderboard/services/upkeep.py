"""What the sweep does once a minute."""

from datetime import timedelta

from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from leaderboard.models import Benchmark, BenchmarkDraft, Draft, Job, Revision, StudyPartial
from leaderboard.services.engine_versions import is_older
from leaderboard.services.job_kinds import JOB_KINDS, RANKINGS, insert_job, insert_revision_jobs
from ranking_engine import __version__ as engine_version


def insert_jobs_after_upgrade() -> int:
    """Have computed again what an older engine version published, and the newest boards that it failed to compute.

    Inserting a job that stands already changes nothing. Returns how many benchmarks are behind.
    """
    published = Benchmark.objects.exclude(publication=None).exclude(published_engine_version=engine_version)
    behind = [b for b in published.select_related("publication__revision") if is_older(b.published_engine_version)]
    for benchmark in behind:
        if benchmark.publication:
            insert_revision_jobs(benchmark.publication.revision)
    failed = Job.objects.filter(kind=RANKINGS, state=Job.State.FAILED, sequence=F("benchmark__last_revision_number"))
    for job in failed.exclude(engine_version=engine_version):
        if is_older(job.engine_version):
            insert_job(JOB_KINDS[RANKINGS], Revision.objects.get(pk=job.subject_id))
    return len(behind)


def delete_forgotten_partials() -> int:
    """Forget what chunks found of studies that were given up, or that nobody put together for a week."""
    given_up = Job.objects.filter(
        kind=OuterRef("job__kind"),
        subject_id=OuterRef("job__subject_id"),
        parameter_hash=OuterRef("job__parameter_hash"),
        engine_version=OuterRef("job__engine_version"),
        state__in=[Job.State.SUPERSEDED, Job.State.FAILED],
    )
    is_old = Q(created_at__lt=timezone.now() - timedelta(days=7))
    return StudyPartial.objects.filter(Q(Exists(given_up)) | is_old).delete()[0]


def delete_expired_drafts() -> int:
    """Forget drafts that nobody confirmed in time."""
    now = timezone.now()
    BenchmarkDraft.objects.filter(expires_at__lt=now).delete()
    return Draft.objects.filter(expires_at__lt=now).delete()[0]
