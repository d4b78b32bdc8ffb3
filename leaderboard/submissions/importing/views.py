"""Uploading: a table, or files with results, of which the pages ask what is not clear."""

from collections.abc import Sequence

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_http_methods

from leaderboard.access.audience import Audience, readable_benchmark
from leaderboard.common.form_fields import NOTE_LENGTH, sent_lines, with_text_of_file
from leaderboard.common.requests import signed_in
from leaderboard.models import Benchmark, Task
from leaderboard.models.submissions import Source
from leaderboard.submissions.checks import with_row_problems
from leaderboard.submissions.csv_tables import is_plain, rows_of_csv
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.imported_metadata import imported_metadata
from leaderboard.submissions.importing.choices import keep_assignment, keep_columns, kept_assignment, kept_columns
from leaderboard.submissions.importing.forms import (
    SCALE_LABELS,
    UploadForm,
    assignment_of,
    column_choices_of,
    column_fields,
    system_fields,
    table_column_fields,
)
from leaderboard.submissions.importing.packing import packed, packed_files, unpacked, unpacked_from_page
from leaderboard.submissions.imports import (
    Assignment,
    import_draft,
    note_of,
    read_import,
    read_tables,
    suggested,
)
from leaderboard.submissions.instances.uploads import rows_of_instances
from leaderboard.submissions.problems import PartlyReadError
from leaderboard.submissions.quotas import terms_of
from ranking_engine.files.csv_rows import csv_line
from ranking_engine.files.problems import InputError, Problems
from ranking_engine.files.roles import ABOUT, ROLES, ColumnChoices
from ranking_engine.importers import FORMATS, UnclearColumnsError
from ranking_engine.importers.results_table import Import
from ranking_engine.importers.table import SourceTable

PASTED = "table.csv"  # what the table itself is called where someone pastes it
DECIMALS = {".": gettext_lazy("a point: 1,250 is large"), ",": gettext_lazy("a comma: 1,250 is between 1 and 2")}
SPREADS = {"ignored": gettext_lazy("left out"), "stderr": gettext_lazy("standard errors")}

Files = Sequence[tuple[str, bytes]]


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: HttpRequest, key: str) -> HttpResponse:
    """A file or a pasted table; a valid one becomes a draft and is previewed. Result files are asked about first."""
    benchmark, audience = readable_benchmark(request.user, key, restricted=True)
    if not audience.may_submit:
        context = {"benchmark": benchmark, "why": audience.why_closed}
        return render(request, "submissions/closed.html", context, status=403)
    errors: list[str] = []
    if "imported" in request.POST or "tables" in request.POST:
        form, errors = (
            UploadForm(),
            [gettext("This page has expired or belongs to another account; choose the files again")],
        )
        try:
            answer = (
                _take_import(request, audience) if "imported" in request.POST else _take_columns(request, benchmark)
            )
        except InputError as error:
            answer, errors = None, error.problems.lines
        if answer is not None:
            return answer
    else:
        form = UploadForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            return _draft_or_question(request, audience, form)
        except PartlyReadError as error:
            errors = with_row_problems(audience, error).problems.lines
        except InputError as error:
            errors = error.problems.lines
    kept_form = with_text_of_file(form) if errors else None
    tasks = Task.objects.filter(benchmark=benchmark, is_archived=False)
    context = {
        "benchmark": benchmark,
        "form": kept_form or form,
        "errors": errors,
        "kept_file": kept_form and request.FILES["file"],
        "is_file_forgotten": bool(errors and form.files and not kept_form),
        "header": csv_line(
            ["system", *(task.name for task in tasks), *(f"meta:{field.key}" for field in benchmark.fields_of_systems)]
        ),  # to copy
        "format_names": [gettext(one.name) for one in FORMATS],
        "terms": terms_of(benchmark, signed_in(request), limited=not audience.may_moderate),
    }
    return render(request, "submissions/upload.html", context, status=400 if request.method == "POST" else 200)


def _draft_or_question(request: HttpRequest, audience: Audience, form: UploadForm) -> HttpResponse:
    """The draft of what was sent, or the page that asks what is in it.

    Raises:
        InputError: it cannot be read.
    """
    benchmark, note, asks = audience.benchmark, form.cleaned_data["note"], form.cleaned_data["asks_columns"]
    if files := form.result_files():
        return _ask_about_files(request, benchmark, files, note, asks_columns=asks)
    table, instances = form.content(), form.instance_content()
    if table.strip() and not instances and (asks or not is_plain(table)):
        chosen = form.cleaned_data["file"]
        return _ask_about_files(
            request, benchmark, [(chosen.name if chosen else PASTED, table)], note, asks_columns=asks
        )
    notes: list[str] = []
    rows = rows_of_csv(benchmark, table, notes) if table.strip() or not instances else []
    if instances:
        column = form.cleaned_data["system_column"]
        rows = rows_of_instances(benchmark, instances, system_column=column, table_rows=rows)
    draft = make_draft(audience, rows, source=Source.CSV, note=note)
    for note_text in notes:
        messages.info(request, f"{note_text}.")
    return redirect("draft", draft.uuid)


def _ask_about_files(
    request: HttpRequest, benchmark: Benchmark, files: Files, note: str, *, asks_columns: bool
) -> HttpResponse:
    """The page that asks what the columns of a table are, where that is not clear, else what was recognised.

    Raises:
        InputError: the files cannot be read.
    """
    try:
        if not asks_columns:
            return _ask_about_import(request, benchmark, read_import(files), note)
        table = read_tables(files, None)
    except UnclearColumnsError as error:
        table = error.table
    kept = kept_columns(benchmark, signed_in(request), table.columns.names)
    proposal = read_tables(files, kept) if kept is not None else table
    return _columns_page(
        request, benchmark, files, proposal, note, doubts=table.columns.doubts, is_kept=kept is not None
    )


def _take_columns(request: HttpRequest, benchmark: Benchmark) -> HttpResponse | None:
    """What was recognised in the tables with what was said of their columns; None where they are not of that page.

    Where something is wrong with it, and where another sheet is to be proposal, the answer is that page again.
    """
    user = signed_in(request)
    files = unpacked_from_page(request.POST["tables"], benchmark, user)
    if files is None:
        return None
    note = sent_lines(request, "note", NOTE_LENGTH)
    sheet = ColumnChoices(sheet=request.POST.get("sheet", "")[:400])
    table = read_tables(files, sheet)
    if "show" in request.POST:
        return _columns_page(request, benchmark, files, table, note, doubts=table.columns.doubts)
    choices = column_choices_of(request.POST, table.columns.names)
    try:
        results = read_import(files, columns=choices)
        answer = _ask_about_import(request, benchmark, results, note)
    except UnclearColumnsError as error:
        said = error.table
        return _columns_page(request, benchmark, files, said, note, errors=list(said.columns.doubts))
    except InputError as error:
        proposal = table if choices.problems(table.columns.names) else read_tables(files, choices)
        return _columns_page(request, benchmark, files, proposal, note, errors=error.problems.lines)
    keep_columns(benchmark, user, choices)
    return answer


def _ask_about_import(request: HttpRequest, benchmark: Benchmark, results: Import, note: str) -> HttpResponse:
    """The page that shows what was recognised, with what can be said without doubt filled in.

    Raises:
        InputError: there is too much for one page.
    """
    kept = kept_assignment(benchmark, signed_in(request), results)
    said = suggested(benchmark, results, kept)
    return _import_page(request, benchmark, results, said, note=note, problems=Problems(), n_kept=len(kept.tasks))


def _take_import(request: HttpRequest, audience: Audience) -> HttpResponse | None:
    """A draft of what that page sent back, or the page again with its errors; None where it is not of that page."""
    benchmark, user = audience.benchmark, signed_in(request)
    results = unpacked(request.POST["imported"], benchmark, user)
    if results is None:
        return None
    said = assignment_of(request.POST, results)
    note = sent_lines(request, "note", NOTE_LENGTH)
    try:
        draft = import_draft(audience, results, said, note=note)
    except InputError as error:
        return _import_page(request, benchmark, results, said, note=note, problems=error.problems)
    keep_assignment(benchmark, user, results, said)
    return redirect("draft", draft.uuid)


def _import_page(
    request: HttpRequest,
    benchmark: Benchmark,
    results: Import,
    said: Assignment,
    *,
    note: str,
    problems: Problems,
    n_kept: int = 0,
) -> HttpResponse:
    errors = problems.by_place
    context = {
        "benchmark": benchmark,
        "found": results,
        "notes": [*results.notes, *imported_metadata(benchmark, results).notes],
        "columns": column_fields(results, said, errors),
        "systems": system_fields(results, said, errors),
        "scales": SCALE_LABELS.items(),
        "errors": errors.get("", []),
        "n_errors": len(problems.listed),
        "n_kept": n_kept,
        "tasks": Task.objects.filter(benchmark=benchmark, is_archived=False),
        "packed": packed(results, benchmark, signed_in(request)),
        "note": note,
        "origin": note_of(results, ""),
    }
    return render(request, "submissions/import.html", context, status=400 if problems else 200)


def _columns_page(
    request: HttpRequest,
    benchmark: Benchmark,
    files: Files,
    table: SourceTable,
    note: str,
    *,
    doubts: Sequence[str] = (),
    errors: Sequence[str] = (),
    is_kept: bool = False,
) -> HttpResponse:
    context = {
        "benchmark": benchmark,
        "table": table,
        "columns": table_column_fields(table),
        "roles": ROLES.items(),
        "about": ABOUT,
        "decimals": DECIMALS.items(),
        "spreads": SPREADS.items(),
        "sheets": list(table.file.sheets) if len(table.file.sheets) > 1 else [],
        "n_files": len(files),
        "doubts": doubts,
        "errors": errors,
        "is_kept": is_kept,
        "packed": packed_files(files, benchmark, signed_in(request)),
        "note": note,
    }
    return render(request, "submissions/table_columns.html", context, status=400 if errors else 200)
