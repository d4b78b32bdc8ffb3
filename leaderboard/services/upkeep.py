"""What the sweep does once a minute."""

from django.utils import timezone

from leaderboard.models import Benchmark, Draft
from leaderboard.services.job_kinds import JOB_KINDS, insert_job
from ranking_engine import __version__ as engine_version


def insert_jobs_after_upgrade() -> int:
    """Have every published revision that another engine version computed computed again.

    Inserting a job that stands already changes nothing. Returns how many benchmarks are behind.
    """
    behind = (
        Benchmark.objects.exclude(publication=None)
        .exclude(published_engine_version=engine_version)
        .select_related("publication__revision")
    )
    for benchmark in behind:
        if benchmark.publication:
            for kind in JOB_KINDS.values():
                insert_job(kind, benchmark.publication.revision)
    return len(behind)


def delete_expired_drafts() -> int:
    """Forget drafts that nobody confirmed in time."""
    return Draft.objects.filter(expires_at__lt=timezone.now()).delete()[0]
