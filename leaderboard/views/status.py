"""What the workers are doing."""

from datetime import timedelta

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.timesince import timesince
from django.views.decorators.http import require_safe

from leaderboard.models import Job
from leaderboard.selectors.jobs import QueueCount, queue_counts, running_jobs, told_error, visible_jobs
from leaderboard.selectors.outbox import outbox_facts
from leaderboard.services.job_kinds import JOB_KINDS, STUDY, study_of
from leaderboard.services.study_plans import study_name

PAGE_JOBS = 50
STALLED_AFTER = timedelta(minutes=2)  # a job that is tried again waits less


@require_safe
def status(request: HttpRequest) -> HttpResponse:
    """Queues, workers and recent jobs, as far as this reader may know of their benchmarks."""
    page = Paginator(visible_jobs(request.user), PAGE_JOBS).get_page(request.GET.get("page"))
    lately = timezone.now() - timedelta(hours=1)
    seen = visible_jobs(request.user).filter(started_at__gt=lately).exclude(worker="").order_by()
    counts = queue_counts(request.user)
    queues = [
        {
            "name": count.queue,
            "n_waiting": count.n_waiting,
            "n_running": count.n_running,
            "oldest_text": timesince(count.oldest) if count.oldest else "",
        }
        for count in counts
    ]
    context = {
        "queues": queues,
        "jobs": [_job(job, with_error=request.user.is_staff) for job in page],
        "n_workers_seen": seen.values("worker").distinct().count(),
        "stalled_text": _stalled(counts),
        "at_work": [_at_work(job) for job in running_jobs(request.user)] if request.user.is_staff else None,
        "outbox": outbox_facts() if request.user.is_staff else None,  # it names people
        "pages": {
            "number": page.number,
            "n_pages": page.paginator.num_pages,
            "previous_url": f"?page={page.previous_page_number()}" if page.has_previous() else "",
            "next_url": f"?page={page.next_page_number()}" if page.has_next() else "",
        },
    }
    return render(request, "leaderboard/status.html", context)


def _stalled(counts: list[QueueCount]) -> str:
    """How long work has been waiting in a queue that no worker takes anything from; empty where that is not long."""
    since = [count.oldest for count in counts if count.oldest and not count.n_running]
    return timesince(min(since)) if since and timezone.now() - min(since) > STALLED_AFTER else ""


def _job(job: Job, *, with_error: bool) -> dict[str, object]:
    end = job.finished_at or (timezone.now() if job.state == Job.State.RUNNING else None)
    return {
        "kind": _kind_name(job),
        "benchmark_name": job.benchmark.name if job.benchmark else "",
        "revision_number": job.sequence,
        "state": job.state,
        "attempts": job.attempts,
        "queued_at": job.created_at,
        "seconds": (end - job.started_at).total_seconds() if job.started_at and end else None,
        "error": job.error if with_error else told_error(job, sees_all=False),
        "progress_percent": round(100 * job.progress),
    }


def _at_work(job: Job) -> dict[str, object]:
    """Who works on a job, since when, and until when it is theirs."""
    now = timezone.now()
    return {
        "worker": job.worker,
        "kind": _kind_name(job),
        "benchmark_name": job.benchmark.name if job.benchmark else "",
        "revision_number": job.sequence,
        "attempts": job.attempts,
        "seconds": (now - job.started_at).total_seconds() if job.started_at else None,
        "lease_seconds": (job.lease_until - now).total_seconds() if job.lease_until else None,
        "progress_percent": round(100 * job.progress),
    }


def _kind_name(job: Job) -> str:
    """What a job is about, in words."""
    family, study = job.kind.partition(":")[0], study_of(job.kind)
    if study:
        return f"{study_name(study)}, {f'part {job.chunk + 1}' if family == STUDY else 'put together'}"
    return JOB_KINDS[family].name if family in JOB_KINDS else job.kind
