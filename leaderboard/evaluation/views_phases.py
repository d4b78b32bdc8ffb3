"""The owner's page of phases: when predictions are accepted, what counts, how many; the Ladder; a computed quota."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from leaderboard.access.audience import administered_benchmark
from leaderboard.common.form_fields import take_errors
from leaderboard.common.requests import signed_in
from leaderboard.common.text import whole_number
from leaderboard.evaluation.forms import PhaseForm, QuotaForm
from leaderboard.evaluation.phases import (
    FIELDS,
    delete_phase,
    has_ladder,
    offered_quota,
    phase_now,
    phases_of,
    store_phase,
    use_ladder,
)
from leaderboard.evaluation.predicting import predicted
from leaderboard.evaluation.problems import EvaluationError
from leaderboard.evaluation.terms import phase_terms
from leaderboard.models import Benchmark


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def manage_phases(request: HttpRequest, key: str) -> HttpResponse:
    """All phases, and a form for one of them or another."""
    benchmark = administered_benchmark(request.user, key)
    if request.method != "POST":
        return _phases_page(request, benchmark, None)
    author, action = signed_in(request), request.POST.get("action", "")
    number = whole_number(request.POST.get("phase", ""))
    try:
        if action == "ladder":
            uses_ladder = request.POST.get("ladder") == "1"
            use_ladder(benchmark, uses_ladder=uses_ladder, author=author)
            messages.success(request, gettext("The Ladder is on.") if uses_ladder else gettext("The Ladder is off."))
        elif action == "delete":
            delete_phase(benchmark, number or 0, author=author)
            messages.success(request, gettext("The phase is deleted."))
        else:
            form = PhaseForm(request.POST)
            if not form.is_valid():
                return _phases_page(request, benchmark, form)
            try:
                phase = store_phase(benchmark, form.cleaned_data, author=author, number=number)
            except ValidationError as error:
                take_errors(form, error)
                return _phases_page(request, benchmark, form)
            messages.success(request, gettext("%(phase)s is stored.") % {"phase": phase.name})
    except EvaluationError as error:
        messages.error(request, str(error))
    return redirect("manage_phases", benchmark.key)


def _phases_page(request: HttpRequest, benchmark: Benchmark, form: PhaseForm | None) -> HttpResponse:
    """The page, with a form that was sent and has errors, or with an empty one, or that of the phase in the address."""
    phases = phases_of(benchmark)
    number = whole_number((request.POST if form else request.GET).get("phase", ""))
    chosen = next((phase for phase in phases if phase.pk == number), None)
    is_bad = form is not None
    quota_form = QuotaForm(request.GET if "error" in request.GET else None)
    quota: dict[str, Any] = {}
    if quota_form.is_bound and quota_form.is_valid():
        quota = offered_quota(benchmark, quota_form.cleaned_data["error"])
    if form is None and chosen:
        form = PhaseForm(initial={name: getattr(chosen, name) for name in FIELDS})
    elif form is None:
        form = PhaseForm(initial={"total_cap": quota.get("n_submissions") or None})
    open_now = phase_now(benchmark)
    context = {
        "benchmark": benchmark,
        "here": "phases",
        "has_references": bool(predicted(benchmark)),
        "phases": [(phase, phase_terms(phase), phase == open_now) for phase in phases],
        "chosen": chosen,
        "form": form,
        "quota_form": quota_form,
        "quota": quota,
        "uses_ladder": has_ladder(benchmark),
    }
    return render(request, "evaluation/manage_phases.html", context, status=400 if is_bad else 200)
