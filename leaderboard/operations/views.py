"""What the workers are doing."""

from dataclasses import asdict
from datetime import timedelta

from django.conf import settings
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.timesince import timesince
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django.views.defaults import page_not_found

from leaderboard.access.audience import audience_of
from leaderboard.common import documents as service
from leaderboard.common.paging import page_links
from leaderboard.models import Heartbeat, Job, RetentionState, Revision
from leaderboard.notifications.queries import outbox_facts
from leaderboard.operations.health import problems, readiness
from leaderboard.operations.metrics import metrics_text
from leaderboard.operations.retention import DESCRIPTIONS
from leaderboard.queue.heartbeats import living_processes
from leaderboard.queue.kinds import JOB_KINDS, STUDY, study_of
from leaderboard.queue.places import Place, last_of, places
from leaderboard.queue.queries import QueueCount, queue_counts, running_jobs, told_error, visible_jobs, workers_since
from leaderboard.rankings.ranks_again import is_requested
from leaderboard.rankings.revisions import RemovedRanksError, WithdrawnRevisionError, told_hash
from leaderboard.studies.plans import study_name

PAGE_JOBS = 50
MAX_JOBS = 5_000  # further back nobody counts them
STALLED_AFTER = timedelta(minutes=2)  # a job that is tried again waits less


@require_safe
def status(request: HttpRequest) -> HttpResponse:
    """Queues, workers and recent jobs, as far as this reader may know of their benchmarks."""
    page = Paginator(visible_jobs(request.user)[:MAX_JOBS], PAGE_JOBS).get_page(request.GET.get("page"))
    counts = queue_counts(request.user)
    lines = {count.queue: places(count.queue) if count.n_waiting else {} for count in counts}
    queues = [
        {
            "name": count.queue,
            "n_waiting": count.n_waiting,
            "n_running": count.n_running,
            "oldest_text": timesince(count.oldest) if count.oldest else "",
            "left_text": last_of(lines[count.queue]),
        }
        for count in counts
    ]
    context = {
        "queues": queues,
        "jobs": [_job(job, lines[job.queue].get(job.pk), with_error=request.user.is_staff) for job in page],
        "is_at_work": any(count.n_waiting or count.n_running for count in counts),
        "n_workers_seen": workers_since(request.user, timezone.now() - timedelta(hours=1)),
        "stalled_text": _stalled(counts),
        "processes": [_process(row) for row in living_processes()] if request.user.is_staff else None,
        "at_work": [_at_work(job) for job in running_jobs(request.user)] if request.user.is_staff else None,
        **(_retention() if request.user.is_staff else {}),
        "outbox": outbox_facts() if request.user.is_staff else None,  # it names people
        "pages": page_links(page),
    }
    return render(request, "operations/status.html", context)


def _retention() -> dict[str, object]:
    """When what is old was last deleted, and how much of each kind."""
    state = RetentionState.objects.first()
    if state is None:
        return {}
    rows = [
        {"description": DESCRIPTIONS.get(name, name), "n_last": state.removed.get(name, 0), "n_in_all": n_in_all}
        for name, n_in_all in state.removed_in_all.items()
    ]
    return {"retention": state, "retention_rows": rows}


def _stalled(counts: list[QueueCount]) -> str:
    """How long work has been waiting in a queue that no worker takes anything from; empty where that is not long."""
    since = [count.oldest for count in counts if count.oldest and not count.n_running]
    return timesince(min(since)) if since and timezone.now() - min(since) > STALLED_AFTER else ""


def _job(job: Job, place: Place | None, *, with_error: bool) -> dict[str, object]:
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
        "place": place,
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


def _process(row: Heartbeat) -> dict[str, object]:
    """A process of the background that lives."""
    return {
        "role": row.role,
        "name": row.name,
        "host": row.host,
        "pid": row.pid,
        "engine_version": row.engine_version,
        "started_at": row.started_at,
        "seconds": max(0.0, (timezone.now() - row.seen_at).total_seconds()),
    }


def _kind_name(job: Job) -> str:
    """What a job is about, in words."""
    family, study = job.kind.partition(":")[0], study_of(job.kind)
    if study:
        return f"{study_name(study)}, {f'part {job.chunk + 1}' if family == STUDY else 'put together'}"
    return JOB_KINDS[family].name if family in JOB_KINDS else job.kind


@require_safe
def documents(request: HttpRequest) -> HttpResponse:
    """What there is to read, the first hour first."""
    context = {"first_hours": service.first_hours(), "documents": service.other_documents()}
    return render(request, "operations/documents.html", context)


@require_safe
def document(request: HttpRequest, path: str) -> HttpResponse:
    """One document."""
    page = service.find_document(path)
    if page is None:
        raise Http404(f"The documentation has no page {path!r}.")
    return render(request, "operations/document.html", {"document": page})


@require_safe
def document_file(request: HttpRequest, path: str) -> HttpResponse:
    """A picture of the documentation."""
    file = service.find_file(path)
    if file is None:
        raise Http404(f"The documentation has no picture {path!r}.")
    response = HttpResponse(file.read_bytes(), content_type=service.FILES[file.suffix])
    response["Cache-Control"] = "public, max-age=3600"
    return response


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """There is no such page; or it was there, and its scores were taken down, or its ranks were removed."""
    if isinstance(exception, WithdrawnRevisionError):
        return render(request, "410.html", {"reason": str(exception)}, status=410)
    if isinstance(exception, RemovedRanksError):
        return _removed_ranks(request, exception.revision)
    return page_not_found(request, exception)


def _removed_ranks(request: HttpRequest, revision: Revision) -> HttpResponse:
    """What became of a revision's ranks, what is left of it, and how its ranks come back."""
    reader = audience_of(request.user, revision.benchmark)
    before = Revision.objects.filter(
        benchmark=revision.benchmark, number=revision.number - 1, withdrawn_at=None
    ).first()
    context = {
        "benchmark": revision.benchmark,
        "revision": revision,
        "number_before": before.number if before else None,
        "is_open": not reader.is_restricted,
        "may_administer": reader.may_administer,
        "input_hash": told_hash(revision, reader),
        "is_requested": is_requested(revision),
    }
    return render(request, "operations/removed_ranks.html", context, status=410)


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """`ok` while the web server reaches its database, else 503; what exactly is wrong stands in the log."""
    is_well = not problems("web")
    return HttpResponse("ok\n" if is_well else "unwell\n", status=200 if is_well else 503, content_type="text/plain")


@never_cache
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Whether the whole site works: database and migrations, broker, sweep, workers. 503 where what it needs lacks."""
    state = readiness()
    return JsonResponse(asdict(state), status=200 if state.is_ready else 503)


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """The site's numbers for Prometheus, for whoever brings `PLURANK_METRICS_TOKEN`; to all others there is no page."""
    given, wanted = request.headers.get("Authorization", ""), f"Bearer {settings.METRICS_TOKEN}"
    if not settings.METRICS_TOKEN or not constant_time_compare(given, wanted):
        raise Http404
    return HttpResponse(metrics_text(), content_type="text/plain; version=0.0.4; charset=utf-8")
