"""Submitting many systems at once: as a CSV, or as the result files of other programs."""

from collections.abc import Iterable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from leaderboard.forms import UploadForm
from leaderboard.importers import ResultsError
from leaderboard.models import Benchmark, Task
from leaderboard.models.submissions import Source
from leaderboard.selectors.audience import readable_benchmark
from leaderboard.services.csv_uploads import rows_of_csv
from leaderboard.services.drafts import DraftError, RawRow, make_draft
from leaderboard.services.imports import read_import
from leaderboard.services.instance_uploads import rows_of_instances
from leaderboard.services.quotas import terms_of
from leaderboard.views import imports
from leaderboard.views.people import signed_in
from ranking_engine.csv_rows import csv_line


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: HttpRequest, key: str) -> HttpResponse:
    """A file or a pasted table; a valid one becomes a draft and is previewed. Result files are asked about first."""
    benchmark, audience = readable_benchmark(request.user, key, restricted=True)
    if not audience.may_submit:
        context = {"benchmark": benchmark, "why": audience.why_closed}
        return render(request, "leaderboard/closed.html", context, status=403)
    errors: list[str] = []
    if "imported" in request.POST:
        if answer := imports.take(request, benchmark):
            return answer
        form, errors = UploadForm(), ["This page is too old, or was meant for somebody else; choose the files again"]
    else:
        form = UploadForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            return _taken(request, benchmark, form)
        except DraftError as error:
            errors = error.problems.lines
        except ResultsError as error:
            errors = [str(issue) for issue in error.issues]
    tasks = Task.objects.filter(benchmark=benchmark, is_archived=False)
    context = {"benchmark": benchmark, "form": form, "errors": errors, "header": _header(tasks),
               "terms": terms_of(benchmark, signed_in(request), limited=not audience.may_moderate)}  # fmt: skip
    return render(request, "leaderboard/upload.html", context, status=400 if request.method == "POST" else 200)


def _taken(request: HttpRequest, benchmark: Benchmark, form: UploadForm) -> HttpResponse:
    """A draft of a table; of result files, the page that asks what is what."""
    note = form.cleaned_data["note"]
    if files := form.result_files():
        return imports.ask(request, benchmark, read_import(files), note)
    notes: list[str] = []
    rows = _rows(benchmark, form, notes)
    draft = make_draft(benchmark, signed_in(request), rows, source=Source.CSV, note=note)
    for told in notes:
        messages.info(request, f"{told}.")
    return redirect("draft", draft.uuid)


def _rows(benchmark: Benchmark, form: UploadForm, notes: list[str]) -> list[RawRow]:
    """What was sent: a table of scores, those of single instances, or both; `notes` gets what to say of it."""
    table, instances = form.content(), form.instance_content()
    rows = rows_of_csv(benchmark, table, notes) if table.strip() or not instances else []
    if not instances:
        return rows
    column = form.cleaned_data["system_column"]
    return rows_of_instances(benchmark, instances, system_column=column, stated=rows)


def _header(tasks: Iterable[Task]) -> str:
    """The first line of a file with every task, to copy."""
    return csv_line(["system", *(task.name for task in tasks)])
