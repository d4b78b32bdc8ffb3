"""Every change of what ratings depend on: counted, and a job for it in the same transaction."""

from django.db.models import F

from leaderboard.models import Benchmark, Job, VoteSettings
from leaderboard.queue.kinds import JOB_KINDS, VOTES
from leaderboard.queue.rows import about, insert_new, row_of
from leaderboard.queue.turns import want_after_votes


def take_change(benchmark: Benchmark) -> int:
    """Take the next number of a change, with the job that rates all votes again.

    Call inside the transaction that makes the change and has locked the benchmark.
    """
    rows = VoteSettings.objects.filter(benchmark=benchmark)
    rows.update(last_change=F("last_change") + 1)
    change = rows.values_list("last_change", flat=True).get()
    # Each change is a job of its own about the same benchmark: as chunks they are told apart.
    subject = about(benchmark, benchmark.pk, sequence=change)
    insert_new([row_of(JOB_KINDS[VOTES], subject, chunk=change)])
    want_after_votes(benchmark.pk)
    return change


def newest_job(benchmark: Benchmark) -> Job | None:
    """The job about the newest change; None before the first one."""
    return Job.objects.filter(benchmark=benchmark, kind=VOTES).order_by("-sequence", "-pk").first()
