"""The owner's page of a benchmark's studies: which run when, what they may take, how far they are."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.forms.studies import StudiesForm
from leaderboard.selectors.audience import administered_benchmark
from leaderboard.services.retry import retry_board
from leaderboard.services.study_plans import choose_studies, chosen_studies, request_study, study_name
from leaderboard.services.study_states import StudyState, chosen_states
from leaderboard.views.people import signed_in


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def manage_studies(request: HttpRequest, key: str) -> HttpResponse:
    """When each study runs, its budget, its estimate and what it took."""
    benchmark = administered_benchmark(request.user, key)
    states = chosen_states(benchmark, benchmark.publication)
    form = StudiesForm([state.choice for state in states if state.choice], request.POST or None)
    if request.method == "POST" and form.is_valid():
        n_changed = choose_studies(benchmark, form.chosen(), author=signed_in(request))
        told = f"{n_changed} {'study' if n_changed == 1 else 'studies'} changed; it holds from the next revision on."
        messages.success(request, told if n_changed else "Nothing changed.")
        return redirect("manage_studies", key)
    context = {"benchmark": benchmark, "here": "studies", "form": form, "states": [_row(s, form) for s in states]}
    return render(request, "leaderboard/manage_studies.html", context, status=400 if form.errors else 200)


@login_required
@require_POST
def run_study(request: HttpRequest, key: str) -> HttpResponse:
    """Have one study of the published revision run now."""
    benchmark = administered_benchmark(request.user, key)
    study = request.POST.get("study", "")
    if study not in chosen_studies():
        raise BadRequest(f"There is no study {study[:40]!r}.")
    job = request_study(benchmark, study)
    if job is None:
        messages.error(request, "There is nothing to study until the first board is published.")
    else:
        messages.success(request, f"The study of {study_name(study)} runs as soon as a worker is free.")
    return redirect("manage_studies", key)


@login_required
@require_POST
def compute_board(request: HttpRequest, key: str) -> HttpResponse:
    """Have the newest board computed now that was given up, or that rests after a failure."""
    benchmark = administered_benchmark(request.user, key)
    if retry_board(benchmark):
        messages.success(request, "The newest board is computed as soon as a worker is free.")
    else:
        messages.info(request, "The newest board is published already, or is being computed.")
    return redirect("board", key)


def _row(state: StudyState, form: StudiesForm) -> dict[str, Any]:
    return {
        "state": state,
        "progress_percent": round(100 * state.progress),
        "may_run": state.state not in ("waiting", "running", "done"),
        "when": form[f"{state.key}-when"],
        "budget": form[f"{state.key}-budget"],
    }
