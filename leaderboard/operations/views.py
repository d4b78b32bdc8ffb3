"""What the workers are doing."""

from dataclasses import asdict
from datetime import datetime, timedelta

from django.conf import settings
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.timesince import timesince
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django.views.defaults import page_not_found

from leaderboard.access.audience import audience_of
from leaderboard.common import documents as service
from leaderboard.common.paging import page_links
from leaderboard.common.requests import DeadLinkError
from leaderboard.models import Job, RetentionState, Revision
from leaderboard.notifications.queries import outbox_facts
from leaderboard.operations.health import problems, readiness
from leaderboard.operations.metrics import metrics_text
from leaderboard.operations.retention import DESCRIPTIONS
from leaderboard.queue.heartbeats import living_processes
from leaderboard.queue.kinds import JOB_KINDS, REVISION, STUDY, study_of
from leaderboard.queue.places import last_of, newer_revisions, places
from leaderboard.queue.queries import queue_counts, running_jobs, visible_error, visible_jobs, workers_since
from leaderboard.rankings.ranks_again import is_requested
from leaderboard.rankings.revisions import RemovedRanksError, WithdrawnRevisionError, visible_hash
from leaderboard.studies.plans import study_name

PAGE_JOBS = 50
MAX_JOBS = 5_000  # further back no one counts them
STALLED_AFTER = timedelta(minutes=2)  # a job that is tried again waits less


@require_safe
def status(request: HttpRequest) -> HttpResponse:
    """Queues, workers and recent jobs, as far as this reader may know of their benchmarks."""
    now, is_staff = timezone.now(), request.user.is_staff
    page = Paginator(visible_jobs(request.user)[:MAX_JOBS], PAGE_JOBS).get_page(request.GET.get("page"))
    counts = queue_counts(request.user)
    lines = {count.queue: places(count.queue) if count.n_waiting else {} for count in counts}
    waiting = [job for job in page if job.state == Job.State.WAITING]
    newer = newer_revisions(job for job in waiting if job.pk not in lines[job.queue])
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
    # How long work has been waiting in a queue that no worker takes anything from.
    oldest = min((count.oldest for count in counts if count.oldest and not count.n_running), default=now)
    context: dict[str, object] = {
        "queues": queues,
        "jobs": [
            _job(job, now, with_error=is_staff) | {"place": lines[job.queue].get(job.pk), "newer": newer.get(job.pk, 0)}
            for job in page
        ],
        "is_at_work": any(count.n_waiting or count.n_running for count in counts),
        "n_workers_seen": workers_since(request.user, now - timedelta(hours=1)),
        "stalled_text": timesince(oldest) if now - oldest > STALLED_AFTER else "",
        "processes": None,
        "at_work": None,
        "outbox": None,
        "pages": page_links(page),
    }
    if is_staff:  # what names people and machines, and what was deleted for its age
        retention = RetentionState.objects.first()
        context |= {
            "processes": [
                {"row": row, "seconds": max(0.0, (now - row.seen_at).total_seconds())} for row in living_processes()
            ],
            "at_work": [_job(job, now, with_error=True) for job in running_jobs(request.user)],
            "outbox": outbox_facts(),
            "retention": retention,
            "retention_rows": [
                {
                    "description": DESCRIPTIONS.get(name, name),
                    "n_last": retention.removed.get(name, 0),
                    "n_in_all": n_in_all,
                }
                for name, n_in_all in retention.removed_in_all.items()
            ]
            if retention
            else [],
        }
    return render(request, "operations/status.html", context)


def _job(job: Job, now: datetime, *, with_error: bool) -> dict[str, object]:
    """A job, who works on it, since when, and until when it is theirs."""
    end = job.finished_at or (now if job.state == Job.State.RUNNING else None)
    family, study = job.kind.partition(":")[0], study_of(job.kind)
    kind_name = gettext(JOB_KINDS[family].name) if family in JOB_KINDS else job.kind
    if study:
        if family == STUDY:
            kind_name = gettext("stability: %(study)s, part %(n)s") % {"study": study_name(study), "n": job.chunk + 1}
        else:
            kind_name = gettext("stability: %(study)s, last step") % {"study": study_name(study)}
    return {
        "worker": job.worker,
        "kind": kind_name,
        "benchmark_name": job.benchmark.name if job.benchmark else "",
        "revision_number": job.sequence if job.subject_kind == REVISION else None,
        "state": job.state,
        "attempts": job.attempts,
        "queued_at": job.created_at,
        "seconds": (end - job.started_at).total_seconds() if job.started_at and end else None,
        "lease_seconds": (job.lease_until - now).total_seconds() if job.lease_until else None,
        "error": job.error if with_error else visible_error(job, sees_all=False),
        "progress_percent": round(100 * job.progress),
    }


@require_safe
def documents(request: HttpRequest) -> HttpResponse:
    """Overview to read, the first hour first."""
    context = {"first_hours": service.first_hours(), "documents": service.other_documents()}
    return render(request, "operations/documents.html", context)


@require_safe
def document(request: HttpRequest, path: str) -> HttpResponse:
    """One document."""
    page = service.find_document(path)
    if page is None:
        raise Http404(gettext("The documentation has no page %(path)s.") % {"path": repr(path)})
    return render(request, "operations/document.html", {"document": page})


@require_safe
def document_file(request: HttpRequest, path: str) -> HttpResponse:
    """A picture of the documentation."""
    file = service.find_file(path)
    if file is None:
        raise Http404(gettext("The documentation has no picture %(path)s.") % {"path": repr(path)})
    response = HttpResponse(file.read_bytes(), content_type=service.FILES[file.suffix])
    response["Cache-Control"] = "public, max-age=3600"
    return response


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """There is no such page; or it was there, and its scores were taken down, or its ranks were removed."""
    if isinstance(exception, WithdrawnRevisionError):
        return render(request, "410.html", {"reason": str(exception)}, status=410)
    if isinstance(exception, DeadLinkError):
        return render(request, "404.html", {"reason": str(exception)}, status=404)
    if not isinstance(exception, RemovedRanksError):
        return page_not_found(request, exception)
    # What is left of the revision, and how its ranks come back.
    revision = exception.revision
    reader = audience_of(request.user, revision.benchmark)
    earlier = Revision.objects.filter(benchmark=revision.benchmark, number=revision.number - 1, withdrawn_at=None)
    context = {
        "benchmark": revision.benchmark,
        "revision": revision,
        "number_before": earlier.values_list("number", flat=True).first(),
        "is_open": not reader.is_restricted,
        "may_administer": reader.may_administer,
        "input_hash": visible_hash(revision, reader),
        "is_requested": is_requested(revision),
    }
    return render(request, "operations/removed_ranks.html", context, status=410)


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """`ok` while the web server reaches its database, else 503; what exactly is wrong is in the log."""
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
    """The site's numbers for Prometheus, for anyone who brings `PLURANK_METRICS_TOKEN`; to all others there is no
    page."""
    given, wanted = request.headers.get("Authorization", ""), f"Bearer {settings.METRICS_TOKEN}"
    if not settings.METRICS_TOKEN or not constant_time_compare(given, wanted):
        raise Http404
    return HttpResponse(metrics_text(), content_type="text/plain; version=0.0.4; charset=utf-8")
