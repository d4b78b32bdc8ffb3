"""Creating a benchmark: what it begins with, then how it was understood, then it is there."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from leaderboard.forms.manage import CreateForm, NewBenchmarkForm
from leaderboard.forms.tasks import ProposalForms
from leaderboard.models import Benchmark, BenchmarkDraft
from leaderboard.selectors.audience import own_benchmark_draft
from leaderboard.services.benchmark_drafts import (
    RuleVerdict,
    create_from_draft,
    draft_contents,
    draft_question,
    draft_verdicts,
    make_benchmark_draft,
)
from leaderboard.services.task_changes import Proposal, ProposalError
from leaderboard.views.people import signed_in
from ranking_engine.tables import TableError


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """A table of scores or a list of tasks; a valid one becomes a draft, which the next page shows."""
    form = NewBenchmarkForm(request.POST or None, request.FILES or None)
    errors: list[str] = []
    if request.method == "POST" and form.is_valid():
        try:
            draft = make_benchmark_draft(signed_in(request), **form.contents())
        except TableError as error:
            errors = [f"{error.source}, {issue}" for issue in error.errors]
        except ValidationError as error:
            take_errors(form, error)
        else:
            return redirect("new_draft", draft.uuid)
    context = {"form": form, "errors": errors}
    return render(request, "leaderboard/new.html", context, status=400 if request.method == "POST" else 200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_draft(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """A benchmark that is to be: its tasks and settings to be looked over, who would be first, and the way to it."""
    draft = own_benchmark_draft(request.user, uuid)
    if request.POST.get("action") == "discard":
        draft.delete()
        messages.info(request, "The draft is discarded; no benchmark was created.")
        return redirect("new")
    found = draft_contents(draft)
    stated = {name: value for name, value in found.fields.items() if name in CreateForm.base_fields}
    initial = {"name": draft.name, "visibility": "private", "submission_policy": "moderated", **stated}
    data = request.POST if request.method == "POST" else None
    about = CreateForm(data, initial=initial, instance=Benchmark())
    parts = ProposalForms(found.proposal, data, new_tasks=0 if found.table else 3)
    status, verdicts, proposal = 200, list[RuleVerdict](), found.proposal
    try:
        if data is None:
            verdicts = draft_verdicts(draft, found.proposal)
        elif about.is_valid() & parts.is_valid():
            proposal = parts.proposal()
            if data.get("action") == "create":
                benchmark = create_from_draft(draft, proposal, about.cleaned_data)
                messages.success(request, "The benchmark is created. Here you change what you like.")
                return redirect("board" if benchmark.last_revision_number else "manage", benchmark.key)
            verdicts = draft_verdicts(draft, proposal)
    except ProposalError as error:
        parts.take_problems(error.problems)
    except TableError as error:
        parts.general.append(error.one_line())
    except ValidationError as error:
        take_errors(about, error)
    if about.errors or parts.has_errors:
        status = 400
    context = _context(draft, about, parts, verdicts, proposal)
    return render(request, "leaderboard/new_draft.html", context, status=status)


def _context(
    draft: BenchmarkDraft,
    about: CreateForm,
    parts: ProposalForms,
    verdicts: list[RuleVerdict],
    proposal: Proposal,
) -> dict[str, Any]:
    found = draft_contents(draft)
    return {
        "draft": draft,
        "direction_question": draft_question(found, proposal),
        "form": about,
        "parts": parts,
        "verdicts": verdicts,
        "n_systems": found.n_systems,
        "n_tasks": len(found.table.task_names) if found.table else 0,
        "n_missing": found.n_missing,
        "rounding": found.table.rounding if found.table else "",
        "first_systems": list(found.table.system_names[:8]) if found.table else [],
    }


def take_errors(form: BaseForm, error: ValidationError) -> None:
    """Put what a service refused to the fields that it concerns."""
    stated = error.message_dict if hasattr(error, "error_dict") else {"": error.messages}
    for name, texts in stated.items():
        for text in texts:
            form.add_error(name if name in form.fields else None, text)
