"""Submitting many systems at once, as a CSV."""

import csv
import io
from collections.abc import Iterable

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from leaderboard.forms import UploadForm
from leaderboard.models import Benchmark, Task
from leaderboard.models.submissions import Source
from leaderboard.selectors.audience import readable_benchmark
from leaderboard.services.csv_uploads import rows_of_csv
from leaderboard.services.drafts import DraftError, RawRow, make_draft
from leaderboard.services.instance_uploads import rows_of_instances
from leaderboard.services.quotas import terms_of
from leaderboard.views.people import signed_in


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: HttpRequest, key: str) -> HttpResponse:
    """A file or a pasted table; a valid one becomes a draft and is previewed."""
    benchmark, audience = readable_benchmark(request.user, key, restricted=True)
    if not audience.may_submit:
        context = {"benchmark": benchmark, "why": audience.why_closed}
        return render(request, "leaderboard/closed.html", context, status=403)
    form = UploadForm(request.POST or None, request.FILES or None)
    errors: list[str] = []
    if request.method == "POST" and form.is_valid():
        try:
            rows = _rows(benchmark, form)
            note = form.cleaned_data["note"]
            found = make_draft(benchmark, signed_in(request), rows, source=Source.CSV, note=note)
        except DraftError as error:
            errors = error.problems.lines
        else:
            return redirect("draft", found.uuid)
    tasks = Task.objects.filter(benchmark=benchmark, is_archived=False)
    context = {"benchmark": benchmark, "form": form, "errors": errors, "header": _header(tasks),
               "terms": terms_of(benchmark, signed_in(request), limited=not audience.may_moderate)}  # fmt: skip
    return render(request, "leaderboard/upload.html", context, status=400 if request.method == "POST" else 200)


def _rows(benchmark: Benchmark, form: UploadForm) -> list[RawRow]:
    """What was sent: a table of scores, those of single instances, or both."""
    table, instances = form.content(), form.instance_content()
    rows = rows_of_csv(benchmark, table) if table.strip() or not instances else []
    if not instances:
        return rows
    column = form.cleaned_data["system_column"]
    return rows_of_instances(benchmark, instances, system_column=column, stated=rows)


def _header(tasks: Iterable[Task]) -> str:
    """The first line of a file with every task, to copy."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(["system", *(task.name for task in tasks)])
    return line.getvalue()
