"""Every change of what ratings depend on: counted, and a job for it in the same transaction."""

from django.db.models import F
from django.utils import timezone

from config.monitoring.logs import current_request
from leaderboard.common.hashing import content_hash
from leaderboard.models import Benchmark, Job, VoteSettings
from leaderboard.queue.kinds import JOB_KINDS, VOTES
from leaderboard.queue.turns import want_after_votes
from leaderboard.queue.wake_ups import wake_on_commit
from ranking_engine import __version__ as engine_version

SUBJECT = "benchmark"


def take_change(benchmark: Benchmark) -> int:
    """Take the next number of a change, with the job that rates all votes again.

    Call inside the transaction that makes the change and has locked the benchmark.
    """
    rows = VoteSettings.objects.filter(benchmark=benchmark)
    rows.update(last_change=F("last_change") + 1)
    change = rows.values_list("last_change", flat=True).get()
    kind, now = JOB_KINDS[VOTES], timezone.now()
    job = Job.objects.create(
        kind=kind.key,
        subject_kind=SUBJECT,
        subject_id=benchmark.pk,
        chunk=change,  # one job a change
        parameter_hash=content_hash(kind.parameters),
        engine_version=engine_version,
        benchmark_id=benchmark.pk,
        sequence=change,
        parameters=kind.parameters,
        queue=kind.queue,
        priority=kind.priority,
        not_before=now,
        woken_at=now,
        request_id=current_request(),
    )
    want_after_votes(benchmark.pk)
    wake_on_commit(job, limit_seconds=kind.limit_seconds)
    return change


def newest_job(benchmark: Benchmark) -> Job | None:
    """The job about the newest change; None before the first one."""
    return Job.objects.filter(benchmark=benchmark, kind=VOTES).order_by("-sequence", "-pk").first()
