"""Result files of other programs: what was recognised, which column is which task, and then a draft as any other."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from leaderboard.forms.imports import SCALE_LABELS, assignment_of, column_fields, system_fields
from leaderboard.forms.texts import sent_lines
from leaderboard.models import Benchmark, Task
from leaderboard.services.drafts import DraftError
from leaderboard.services.imports import Assignment, Import, import_draft, note_of, packed, suggested, unpacked
from leaderboard.services.upload_problems import Problems
from leaderboard.views.people import signed_in

NOTE_LENGTH = 5000


def ask(request: HttpRequest, benchmark: Benchmark, found: Import, note: str) -> HttpResponse:
    """The page that shows what was recognised, with what can be said without doubt filled in.

    Raises:
        ResultsError: there is too much for one page.
    """
    return _page(request, benchmark, found, suggested(benchmark, found), note=note, problems=Problems())


def take(request: HttpRequest, benchmark: Benchmark) -> HttpResponse | None:
    """A draft of what that page sent back, or the page again with its errors; None where it is not of that page."""
    found = unpacked(request.POST["imported"], benchmark, signed_in(request))
    if found is None:
        return None
    said = assignment_of(request.POST, found)
    note = sent_lines(request, "note", NOTE_LENGTH)
    try:
        draft = import_draft(benchmark, signed_in(request), found, said, note=note)
    except DraftError as error:
        return _page(request, benchmark, found, said, note=note, problems=error.problems)
    return redirect("draft", draft.uuid)


def _page(
    request: HttpRequest, benchmark: Benchmark, found: Import, said: Assignment, *, note: str, problems: Problems
) -> HttpResponse:
    errors = problems.by_place
    context = {
        "benchmark": benchmark,
        "found": found,
        "columns": column_fields(found, said, errors),
        "systems": system_fields(found, said, errors),
        "scales": SCALE_LABELS.items(),
        "errors": errors.get("", []),
        "n_errors": len(problems.found),
        "tasks": Task.objects.filter(benchmark=benchmark, is_archived=False),
        "packed": packed(found, benchmark, signed_in(request)),
        "note": note,
        "origin": note_of(found, ""),
    }
    return render(request, "leaderboard/import.html", context, status=400 if problems else 200)
