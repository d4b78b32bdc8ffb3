"""The owner's page of the systems' metadata: which fields there are, and values of many systems by a table."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_http_methods

from leaderboard.access.audience import administered_benchmark
from leaderboard.benchmarks.forms_metadata import DeclareForm, FieldForms, ValuesForm, field_rows
from leaderboard.benchmarks.metadata import change_values, declare_fields, values_of_table
from leaderboard.common.requests import signed_in
from leaderboard.models import Benchmark
from leaderboard.submissions.problems import QuotaError
from ranking_engine.files.metadata import STARTER
from ranking_engine.files.problems import InputError

SHOWN_CHANGES = 200
FIELDS, VALUES, STARTER_ACTION = "fields", ("preview", "apply"), "starter"


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def manage_metadata(request: HttpRequest, key: str) -> HttpResponse:
    """Fields are declared, or a table of values is shown with what it would change and then stored."""
    benchmark = administered_benchmark(request.user, key)
    action = request.POST.get("action", "")
    if action in VALUES:
        return _take_values(request, benchmark, is_dry=action == "preview")
    if action == STARTER_ACTION:
        known = {field.key for field in benchmark.fields_of_systems}
        declared = [*benchmark.metadata_fields, *(field.declaration for field in STARTER if field.key not in known)]
        return _declare(request, benchmark, declared, "")
    if action == FIELDS:
        rows, why = FieldForms(request.POST, prefix="field"), DeclareForm(request.POST)
        if not (rows.is_valid() and why.is_valid()):
            return _page(request, benchmark, rows=rows, why=why, errors=[*rows.non_form_errors()], status=400)
        declared = [declaration for row in rows if (declaration := row.declaration())]
        return _declare(request, benchmark, declared, why.cleaned_data["reason"], rows=rows, why=why)
    return _page(request, benchmark, status=400 if action else 200)


def _declare(
    request: HttpRequest, benchmark: Benchmark, declared: list[object], reason: str, **forms: object
) -> HttpResponse:
    try:
        n_changed = declare_fields(benchmark, declared, author=signed_in(request), reason=reason)
    except ValidationError as error:
        return _page(request, benchmark, errors=error.messages, status=400, **forms)
    sentence = (
        ngettext("%(n_changed)s field changed.", "%(n_changed)s fields changed.", n_changed) % {"n_changed": n_changed}
        if n_changed
        else "Nothing changed."
    )
    messages.success(request, gettext("%(sentence)s No rank depends on it.") % {"sentence": sentence})
    return redirect("manage_metadata", benchmark.key)


def _take_values(request: HttpRequest, benchmark: Benchmark, *, is_dry: bool) -> HttpResponse:
    """What a table would change; where `is_dry` is false, it is stored."""
    form = ValuesForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, benchmark, form=form, status=400)
    table = form.content()
    try:
        values, left_alone = values_of_table(benchmark, table)
    except InputError as error:
        return _page(request, benchmark, form=form, problems=error.problems.lines, status=400)
    reason = form.cleaned_data["reason"]
    try:
        changes = change_values(benchmark, values, author=signed_in(request), reason=reason, is_dry=is_dry)
    except QuotaError as error:
        return _page(request, benchmark, form=form, problems=[str(error)], status=429)
    if not is_dry:
        n_systems = len({change.system for change in changes})
        messages.success(
            request,
            gettext("%(n_changes)s values of %(n_systems)s systems changed. No rank depends on it.")
            % {"n_changes": len(changes), "n_systems": n_systems},
        )
        return redirect("manage_metadata", benchmark.key)
    preview = {
        "table": table.decode("utf-8-sig"),
        "reason": reason,
        "changes": changes[:SHOWN_CHANGES],
        "n_changes": len(changes),
        "n_more": max(0, len(changes) - SHOWN_CHANGES),
        "n_systems": len({change.system for change in changes}),
        "left_alone": left_alone[:20],
    }
    return _page(request, benchmark, form=ValuesForm(), preview=preview)


def _page(request: HttpRequest, benchmark: Benchmark, *, status: int = 200, **context: object) -> HttpResponse:
    fields = benchmark.fields_of_systems
    page = {
        "benchmark": benchmark,
        "here": "metadata",
        "fields": fields,
        "rows": FieldForms(initial=field_rows(fields), prefix="field"),
        "why": DeclareForm(auto_id="why_%s"),
        "form": ValuesForm(),
        "starter_names": ", ".join(field.name for field in STARTER),
        "header": ",".join(["system", *(f"meta:{field.key}" for field in fields)]),
    }
    return render(request, "benchmarks/manage_metadata.html", page | context, status=status)
