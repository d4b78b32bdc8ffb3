"""How many attempts at jobs ended in which way, and how long they took, counted as they end.

Job rows are deleted once they are old, and workers come and go; these counts stay and never fall. They are rows of the
database, so that any web server tells the same, whichever machines the workers run on.
"""

from bisect import bisect_left
from collections.abc import Iterator
from functools import partial

from django.db import IntegrityError, transaction
from django.db.models import F, Sum
from django.utils import timezone
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from leaderboard.models import Job, JobCount
from leaderboard.queue.kinds import JOB_KINDS, is_known

DONE, FAILED, SUPERSEDED = "done", "failed", "superseded"
RETRIED = "retried"  # this attempt failed, and there will be another
RETURNED = "returned"  # its worker was told to stop
OUTCOMES = (DONE, FAILED, RETRIED, SUPERSEDED, RETURNED)
BOUNDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0, 1800.0)  # seconds
INFINITE, NEVER_RAN = "+Inf", ""
UNKNOWN = "unknown"  # kinds of other releases


def count_attempt(job: Job, outcome: str) -> None:
    """Count, once it is committed, that an attempt ended which began at `job.started_at`.

    Args:
        job: as it was when it ran.
        outcome: one of `OUTCOMES`.
    """
    seconds = (timezone.now() - job.started_at).total_seconds() if job.started_at else 0.0
    place = bisect_left(BOUNDS, seconds)
    bucket = str(BOUNDS[place]) if place < len(BOUNDS) else INFINITE
    _count_on_commit(job.queue, job.kind, outcome, bucket, seconds=max(0.0, seconds))


def count_unstarted(queue: str, kind: str, outcome: str, n: int = 1) -> None:
    """Count, once it is committed, that jobs ended which no worker had in hand."""
    if n:
        _count_on_commit(queue, kind, outcome, NEVER_RAN, n=n)


def _count_on_commit(queue: str, kind: str, outcome: str, bucket: str, *, n: int = 1, seconds: float = 0.0) -> None:
    # Not in the transaction that ends the job: its one row would have all workers wait for each other.
    key = {"queue": queue, "kind": label_of(kind), "outcome": outcome, "bucket": bucket}
    transaction.on_commit(partial(_add, key, n, seconds), robust=True)


def _add(key: dict[str, str], n: int, seconds: float) -> None:
    rows, more = JobCount.objects.filter(**key), {"n": F("n") + n, "seconds": F("seconds") + seconds}
    if rows.update(**more):
        return
    try:
        with transaction.atomic():
            JobCount.objects.create(**key, n=n, seconds=seconds)
    except IntegrityError:  # another worker was first
        rows.update(**more)


def label_of(kind: str) -> str:
    """How a job row's `kind` is counted: all chunks of studies as one kind, kinds of other releases as another."""
    return kind.partition(":")[0] if is_known(kind) else UNKNOWN


def families() -> Iterator[Metric]:
    """The counts for Prometheus. Two queries."""
    counts = list(JobCount.objects.order_by("kind", "outcome"))
    # What never happened is told as 0: a counter that begins at 1 shows no increase.
    totals = {(kind, outcome): 0 for kind in JOB_KINDS for outcome in OUTCOMES}
    for count in counts:
        key = count.kind, count.outcome
        totals[key] = totals.get(key, 0) + count.n
    description = (
        "Attempts at jobs that ended, by kind and how; jobs that were superseded before any attempt among them."
    )
    attempts = CounterMetricFamily("plurank_jobs", description, labels=["kind", "outcome"])
    for labels, n in totals.items():
        attempts.add_metric(labels, n)
    yield attempts
    description = "Seconds that attempts at jobs took, by kind and how they ended."
    durations = HistogramMetricFamily("plurank_job_duration_seconds", description, labels=["kind", "outcome"])
    keys = dict.fromkeys((count.kind, count.outcome) for count in counts if count.bucket != NEVER_RAN)
    for key in keys:
        rows = [count for count in counts if (count.kind, count.outcome) == key and count.bucket != NEVER_RAN]
        so_far, buckets = 0, []
        for bound in [*map(str, BOUNDS), INFINITE]:
            so_far += sum(count.n for count in rows if count.bucket == bound)
            buckets.append((bound, so_far))
        durations.add_metric(key, buckets, sum(count.seconds for count in rows))
    yield durations
    # By queue: what staff look after.
    failed = JobCount.objects.filter(outcome=FAILED).order_by().values("queue").annotate(total=Sum("n"))
    n_failed = {row["queue"]: row["total"] for row in failed}
    description = "Jobs that were ever marked failed, by queue; it never falls."
    given_up = GaugeMetricFamily("plurank_jobs_failed", description, labels=["queue"])
    for queue in Job.Queue.values:
        given_up.add_metric([queue], n_failed.get(queue, 0))
    yield given_up
