"""The owner's pages of references: which tasks have any, and for each task its versions and a form for the next one.

Nothing that was uploaded is ever sent back: neither the file nor a value of it, to no one, not even to the owner.
"""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_safe

from leaderboard.access.audience import administered_benchmark
from leaderboard.common.language.numbers import localise
from leaderboard.common.requests import InMemoryUpload, signed_in
from leaderboard.evaluation.encryption import MissingKeyError, opened_sha256
from leaderboard.evaluation.forms import ReferencesForm, metric_choices
from leaderboard.evaluation.references import (
    EVALUATOR,
    check_file,
    chosen_metric,
    metric_name,
    newest_references,
    store_references,
    versions_of,
)
from leaderboard.models import Task
from ranking_engine.evaluation.metrics import METRICS
from ranking_engine.files.problems import InputError

FORM_BYTES = 100_000  # of a form beside its file
PAGE = "evaluation/manage_task_references.html"


@login_required
@never_cache
@require_safe
def manage_references(request: HttpRequest, key: str) -> HttpResponse:
    """Every task with the references that count."""
    benchmark = administered_benchmark(request.user, key)
    tasks = list(Task.objects.filter(benchmark=benchmark, is_archived=False))
    newest = newest_references([task.pk for task in tasks])
    rows = [(task, row, metric_name(row.metric) if row else "") for task in tasks for row in [newest.get(task.pk)]]
    context = {"benchmark": benchmark, "here": "references", "rows": rows}
    return render(request, "evaluation/manage_references.html", context)


@csrf_exempt  # only so that the handler can be chosen before the form is read; the view beneath is protected
def manage_task_references(request: HttpRequest, key: str, task: str) -> HttpResponse:
    """The references of one task. The file stays in memory: it is never written to a disk."""
    limit = settings.UPLOAD_BYTES + FORM_BYTES
    request.upload_handlers = [InMemoryUpload(request)]
    if int(request.META.get("CONTENT_LENGTH") or 0) > limit:
        text = gettext("The file is larger than %(n)s MB.") % {"n": localise(settings.UPLOAD_BYTES / 1e6, ".0f")}
        return HttpResponse(text, status=413)
    return task_references_page(request, key, task)


@csrf_protect
@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters()
@sensitive_variables()
def task_references_page(request: HttpRequest, key: str, task: str) -> HttpResponse:
    """The versions, and a form for the next one. Its file is in memory."""
    benchmark = administered_benchmark(request.user, key)
    chosen = Task.objects.filter(benchmark=benchmark, is_archived=False, key=task).first()
    if chosen is None:
        raise Http404(gettext("There is no such task."))
    versions = list(versions_of(chosen))
    metric_key = request.GET.get("metric") or request.POST.get("metric") or (versions[0].metric if versions else "")
    metric = EVALUATOR if metric_key == EVALUATOR.key else METRICS.get(metric_key)
    options = versions[0].options if versions else {}
    chosen_before = {f"option-{name}": value for name, value in options.items()}
    form = ReferencesForm(metric, initial=chosen_before) if metric else None
    errors: list[str] = []
    if request.method == "POST" and metric:
        form = ReferencesForm(metric, request.POST, request.FILES)
        if form.is_valid():
            file = form.cleaned_data["file"]
            try:
                checked = check_file(file.read(), file.name, metric.key, form.options())
                row = store_references(chosen, checked, author=signed_in(request))
            except InputError as error:
                errors = error.problems.lines
            except MissingKeyError as error:
                errors = [str(error)]
            else:
                done = gettext("Version %(number)s is stored encrypted: %(n_instances)s instances.") % {
                    "number": row.number,
                    "n_instances": localise(row.n_instances, ","),
                }
                if checked.ignored_columns:
                    ignored = gettext("These columns mean nothing here: %(columns)s.") % {
                        "columns": ", ".join(checked.ignored_columns)
                    }
                    done = f"{done} {ignored}"
                messages.success(request, done)
                return redirect("manage_task_references", key, task)
    why_not = ""
    if metric:
        try:
            chosen_metric(metric.key)
        except InputError as error:
            why_not = str(error)
    version_rows = []
    for row in versions:
        try:
            sha256 = opened_sha256(row)
        except MissingKeyError as error:
            sha256 = str(error)
        options_text = ", ".join(f"{name} {value}" for name, value in row.options.items() if value not in (None, ""))
        splits_text = ", ".join(f"{n:,} {split}" for split, n in sorted(row.n_by_split.items()))
        about = {"metric": metric_name(row.metric), "options": options_text, "splits": splits_text, "sha256": sha256}
        version_rows.append({"row": row, **about})
    context = {
        "benchmark": benchmark,
        "here": "references",
        "task": chosen,
        "versions": version_rows,
        "choices": metric_choices(),
        "metric": metric,
        "form": form,
        "errors": errors,
        "why_not": why_not,
    }
    return render(request, PAGE, context, status=400 if request.method == "POST" else 200)
