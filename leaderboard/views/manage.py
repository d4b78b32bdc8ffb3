"""The owner's pages of a benchmark: settings, tasks with the ranks that a change would move, frozen revisions."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.forms.manage import EditionForm, ReasonForm, ReleaseForm, SettingsForm
from leaderboard.forms.tasks import ProposalForms
from leaderboard.selectors.audience import administered_benchmark
from leaderboard.services.benchmark_settings import archive, change_settings
from leaderboard.services.cluster_suggestions import cluster_suggestions, declare_suggested
from leaderboard.services.releases import ReleaseError, freeze_revision, new_edition
from leaderboard.services.task_changes import (
    ProposalError,
    ProposalPreview,
    StaleProposalError,
    apply_proposal,
    present_proposal,
    preview_proposal,
)
from leaderboard.views.new import take_errors
from leaderboard.views.people import signed_in


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def manage(request: HttpRequest, key: str) -> HttpResponse:
    """The settings that no rank depends on."""
    benchmark = administered_benchmark(request.user, key)
    form = SettingsForm(request.POST or None, instance=benchmark)
    if request.method == "POST" and form.is_valid():
        reason = form.cleaned_data["reason"]
        try:
            n_changed = change_settings(benchmark, form.values(), author=signed_in(request), reason=reason)
        except ValidationError as error:
            take_errors(form, error)
        else:
            told = f"{n_changed} setting{'' if n_changed == 1 else 's'} changed." if n_changed else "Nothing changed."
            messages.success(request, told)
            return redirect("manage", key)
    # The form has written what was typed into its own benchmark; the page names the one that is stored.
    context = {"benchmark": administered_benchmark(request.user, key), "form": form, "here": "settings"}
    return render(request, "leaderboard/manage.html", context, status=400 if form.errors else 200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def manage_tasks(request: HttpRequest, key: str) -> HttpResponse:
    """Tasks, groups and how they count: entered, previewed with the ranks that would change, then made a revision."""
    benchmark = administered_benchmark(request.user, key)
    data = request.POST if request.method == "POST" else None
    parts = ProposalForms(present_proposal(benchmark), data)
    preview: ProposalPreview | None = None
    is_stale = False
    if data is not None and parts.is_valid():
        proposal, token = parts.proposal(), data.get("token", "")
        try:
            if data.get("action") == "apply":
                reason = data.get("reason", "")[:1000]
                revision = apply_proposal(
                    benchmark, proposal, author=signed_in(request), token=token, reason=reason
                )
                told = f"Revision {revision.number} is being computed." if revision else "No rank depends on it."
                messages.success(request, f"Changed. {told}")
                return redirect("history" if revision else "manage_tasks", key)
            preview = preview_proposal(benchmark, proposal)
        except ProposalError as error:
            parts.take_problems(error.problems)
        except StaleProposalError:
            is_stale = True
            preview = preview_proposal(benchmark, proposal)
    context = {
        "benchmark": benchmark,
        "parts": parts,
        "preview": preview,
        "stale": is_stale,
        "here": "tasks",
        "suggestions": cluster_suggestions(benchmark) if data is None else [],
    }
    status = 400 if parts.has_errors else 409 if is_stale else 200
    return render(request, "leaderboard/manage_tasks.html", context, status=status)


@login_required
@require_POST
def manage_clusters(request: HttpRequest, key: str) -> HttpResponse:
    """Declare as one cluster the tasks of a suggestion."""
    benchmark = administered_benchmark(request.user, key)
    number, revision_number = request.POST.get("suggestion", ""), request.POST.get("revision", "")
    if not all(text.isascii() and text.isdigit() and len(text) < 10 for text in (number, revision_number)):
        raise BadRequest("A suggestion is named by its number and its revision.")
    author = signed_in(request)
    try:
        revision = declare_suggested(
            benchmark, int(number), revision_number=int(revision_number), author=author
        )
    except StaleProposalError:
        messages.warning(request, "Nothing was changed: the suggestions have changed since you read them.")
    else:
        computed = f" Revision {revision.number} is being computed." if revision else ""
        messages.success(request, f"Declared as one cluster.{computed}")
    return redirect("manage_tasks", key)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def manage_releases(request: HttpRequest, key: str) -> HttpResponse:
    """Frozen revisions, and a form for another one."""
    benchmark = administered_benchmark(request.user, key)
    form = ReleaseForm(request.POST or None, initial={"number": benchmark.published_number or None})
    if request.method == "POST" and form.is_valid():
        try:
            release = freeze_revision(benchmark, author=signed_in(request), **form.cleaned_data)
        except ReleaseError as error:
            form.add_error(None, str(error))
        else:
            return redirect("release", key, release.key)
    context = {"benchmark": benchmark, "form": form, "here": "releases", "edition": EditionForm(),
               "releases": benchmark.releases.select_related("revision")}  # fmt: skip
    return render(request, "leaderboard/manage_releases.html", context, status=400 if form.errors else 200)


@login_required
@require_POST
def manage_edition(request: HttpRequest, key: str) -> HttpResponse:
    """Duplicate the benchmark as a new edition."""
    benchmark = administered_benchmark(request.user, key)
    form = EditionForm(request.POST)
    if form.is_valid():
        try:
            edition = new_edition(benchmark, author=signed_in(request), **form.cleaned_data)
        except ValidationError as error:
            take_errors(form, error)
        else:
            messages.success(request, "The new edition is there. It is private until you say otherwise.")
            return redirect("manage", edition.key)
    context = {"benchmark": benchmark, "form": ReleaseForm(), "here": "releases", "edition": form,
               "releases": benchmark.releases.select_related("revision")}  # fmt: skip
    return render(request, "leaderboard/manage_releases.html", context, status=400)


@login_required
@require_POST
def manage_archive(request: HttpRequest, key: str) -> HttpResponse:
    """Archive the benchmark, or open it again."""
    benchmark = administered_benchmark(request.user, key)
    form = ReasonForm(request.POST)
    archived = request.POST.get("archived") == "1"
    reason = form.cleaned_data["reason"] if form.is_valid() else ""
    archive(benchmark, author=signed_in(request), archived=archived, reason=reason)
    messages.success(request, "The benchmark is archived." if archived else "The benchmark is open again.")
    return redirect(reverse("manage", args=[key]))
