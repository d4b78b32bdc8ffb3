"""The owner's pages of a benchmark: settings, tasks with the ranks that a change would move, frozen revisions."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.messages import get_messages
from django.core.exceptions import BadRequest, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from leaderboard.access.audience import administered_benchmark, own_benchmark_draft, readable_benchmark
from leaderboard.benchmarks.announcements import MAX_LENGTH, announce, announcements_of, remove_announcement
from leaderboard.benchmarks.cluster_suggestions import cluster_suggestions, declare_suggested
from leaderboard.benchmarks.drafts import (
    RuleVerdict,
    create_for_votes,
    create_from_draft,
    draft_contents,
    draft_question,
    draft_verdicts,
    make_benchmark_draft,
)
from leaderboard.benchmarks.forms import (
    CreateForm,
    EditionForm,
    NewBenchmarkForm,
    ReasonForm,
    ReleaseForm,
    SettingsForm,
    TemplateForm,
)
from leaderboard.benchmarks.forms_tasks import ProposalForms
from leaderboard.benchmarks.listing import listed
from leaderboard.benchmarks.releases import (
    ReleaseError,
    freezable_revision,
    freeze_revision,
    new_edition,
    use_as_template,
)
from leaderboard.benchmarks.settings import archive, change_settings, settings_token
from leaderboard.benchmarks.tasks import (
    ProposalError,
    ProposalPreview,
    StaleProposalError,
    apply_proposal,
    present_proposal,
    preview_proposal,
)
from leaderboard.common.form_fields import take_errors, with_text_of_file
from leaderboard.common.paging import page_links, with_parameters
from leaderboard.common.public_responses import shared_answer
from leaderboard.common.requests import DeadLinkError, signed_in
from leaderboard.common.text import whole_number
from leaderboard.models import Benchmark
from leaderboard.rankings.predictions import prediction_offer
from leaderboard.submissions.preview.reading import reading_of
from ranking_engine.files.tables import TableError

# In a session: the draft of which a benchmark was made last, and the key of that. The row of the draft is gone then.
MADE_LAST = "benchmark_made_last"


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def manage(request: HttpRequest, key: str) -> HttpResponse:
    """The settings that no rank depends on."""
    benchmark = administered_benchmark(request.user, key)
    form = SettingsForm(request.POST or None, instance=benchmark)
    if request.method == "POST" and form.is_valid():
        reason = form.cleaned_data["reason"]
        try:
            n_changed = change_settings(
                benchmark, form.values(), author=signed_in(request), reason=reason, token=request.POST.get("token", "")
            )
        except ValidationError as error:
            take_errors(form, error)
        else:
            sentence = (
                ngettext("%(n_changed)s setting changed.", "%(n_changed)s settings changed.", n_changed)
                % {"n_changed": n_changed}
                if n_changed
                else gettext("Nothing was changed.")
            )
            messages.success(request, sentence)
            return redirect("manage", key)
    # The form has written what was typed into its own benchmark; the page names the one that is stored.
    stored = administered_benchmark(request.user, key)
    announcements = {"announcements": announcements_of(stored), "max_length": MAX_LENGTH}
    # What was typed was typed beside what the page showed first: a second try must not pass for having seen more.
    token = request.POST.get("token", "") or settings_token(stored)
    context = {"benchmark": stored, "form": form, "here": "settings", "token": token, **announcements}
    return render(request, "benchmarks/manage.html", context, status=400 if form.errors else 200)


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
                revision = apply_proposal(benchmark, proposal, author=signed_in(request), token=token, reason=reason)
                sentence = (
                    gettext("Revision %(number)s is being computed.") % {"number": revision.number}
                    if revision
                    else (gettext("This does not change any rank."))
                )
                messages.success(request, gettext("Saved. %(sentence)s") % {"sentence": sentence})
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
        "prediction": prediction_offer(benchmark),
    }
    status = 400 if parts.has_errors else 409 if is_stale else 200
    return render(request, "benchmarks/manage_tasks.html", context, status=status)


@login_required
@require_POST
def manage_clusters(request: HttpRequest, key: str) -> HttpResponse:
    """Declare as one cluster the tasks of a suggestion."""
    benchmark = administered_benchmark(request.user, key)
    number, revision_number = (whole_number(request.POST.get(name, "")) for name in ("suggestion", "revision"))
    if number is None or revision_number is None:
        raise BadRequest(gettext("A suggestion is identified by its number and its revision."))
    author = signed_in(request)
    try:
        revision = declare_suggested(benchmark, number, revision_number=revision_number, author=author)
    except StaleProposalError:
        messages.warning(
            request, gettext("Nothing was changed: the suggestions have changed since you opened this page.")
        )
    else:
        done = gettext("Declared as one cluster.")
        if revision:
            done = gettext("Declared as one cluster. Revision %(number)s is being computed.") % {
                "number": revision.number
            }
        messages.success(request, done)
    return redirect("manage_tasks", key)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def manage_releases(request: HttpRequest, key: str) -> HttpResponse:
    """Frozen revisions, and a form for another one; what it would freeze is shown before it is."""
    benchmark = administered_benchmark(request.user, key)
    form = ReleaseForm(request.POST or None, initial={"number": benchmark.published_number or None})
    freezable = None
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            if request.POST.get("action") == "freeze":
                release = freeze_revision(benchmark, author=signed_in(request), **data)
                return redirect("release", key, release.key)
            freezable = freezable_revision(benchmark, number=data["number"], name=data["name"])
        except ReleaseError as error:
            form.add_error(None, str(error))
    context = {"benchmark": benchmark, "form": form, "here": "releases", "edition": EditionForm(auto_id="edition_%s"),
               "freezable": freezable,
               "releases": benchmark.releases.select_related("revision")}  # fmt: skip
    return render(request, "benchmarks/manage_releases.html", context, status=400 if form.errors else 200)


@login_required
@require_POST
def manage_edition(request: HttpRequest, key: str) -> HttpResponse:
    """Duplicate the benchmark as a new edition."""
    benchmark = administered_benchmark(request.user, key)
    form = EditionForm(request.POST, auto_id="edition_%s")
    if form.is_valid():
        try:
            edition = new_edition(benchmark, author=signed_in(request), **form.cleaned_data)
        except ValidationError as error:
            take_errors(form, error)
        else:
            messages.success(request, gettext("The new edition was created. It is private until you change that."))
            return redirect("manage", edition.key)
    context = {"benchmark": benchmark, "form": ReleaseForm(), "here": "releases", "edition": form,
               "releases": benchmark.releases.select_related("revision")}  # fmt: skip
    return render(request, "benchmarks/manage_releases.html", context, status=400)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def use_template(request: HttpRequest, key: str) -> HttpResponse:
    """A new benchmark with the tasks and weights of one that the reader sees whole."""
    benchmark, _ = readable_benchmark(request.user, key)
    form = TemplateForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            made = use_as_template(benchmark, author=signed_in(request), **form.cleaned_data)
        except ValidationError as error:
            take_errors(form, error)
        else:
            messages.success(request, gettext("The benchmark was created. It is private until you change that."))
            return redirect("manage", made.key)
    context = {"benchmark": benchmark, "form": form}
    return render(request, "benchmarks/use_template.html", context, status=400 if form.errors else 200)


@login_required
@require_POST
def manage_announcements(request: HttpRequest, key: str) -> HttpResponse:
    """Tell readers something above the board, or take it down."""
    benchmark = administered_benchmark(request.user, key)
    author = signed_in(request)
    try:
        if request.POST.get("action") == "remove":
            remove_announcement(benchmark, request.POST.get("moment", "")[:40], author=author)
            messages.success(request, gettext("The announcement is no longer on the board."))
        else:
            announce(benchmark, request.POST.get("text", ""), author=author)
            messages.success(request, gettext("The announcement is on the board."))
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    return redirect("manage", key)


@login_required
@require_POST
def manage_archive(request: HttpRequest, key: str) -> HttpResponse:
    """Archive the benchmark, or open it again."""
    benchmark = administered_benchmark(request.user, key)
    form = ReasonForm(request.POST)
    archived = request.POST.get("archived") == "1"
    reason = form.cleaned_data["reason"] if form.is_valid() else ""
    archive(benchmark, author=signed_in(request), archived=archived, reason=reason)
    messages.success(
        request, gettext("The benchmark was archived.") if archived else gettext("The benchmark was reopened.")
    )
    return redirect(reverse("manage", args=[key]))


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The benchmarks that this reader may know of, a page of them, each with its winner and whom most rules elect."""
    query, tag = request.GET.get("q", "").strip()[:200], request.GET.get("tag", "").strip()[:80]
    listing = listed(request.user, query=query, tag=tag, page=request.GET.get("page"))
    tags = listing.tags if not tag or tag in listing.tags else [tag, *listing.tags]
    context = {
        "benchmarks": listing.benchmarks,
        "n_benchmarks": listing.page.paginator.count,
        "first": listing.page.start_index(),
        "last": listing.page.end_index(),
        "query": query,
        "tag": tag,
        "tags": [
            (name, with_parameters(reverse("home"), q=query, tag="" if name == tag else name), name == tag)
            for name in tags
        ],
        "pages": page_links(listing.page, reverse("home"), anchor="benchmarks", q=query, tag=tag),
    }
    is_for_anybody = not request.user.is_authenticated and not len(get_messages(request))
    page = render(request, "benchmarks/home.html", context)
    return shared_answer(request, page.content, page["Content-Type"]) if is_for_anybody else page


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """A table of scores or a list of tasks; a valid one becomes a draft, which the next page shows.

    Where votes are to be collected the name is enough.
    """
    form = NewBenchmarkForm(request.POST or None, request.FILES or None)
    errors: list[str] = []
    if request.method == "POST" and form.is_valid():
        try:
            if form.is_for_votes:
                made = create_for_votes(signed_in(request), form.cleaned_data["name"])
                messages.success(
                    request, gettext("Benchmark created. It collects votes; here you choose how they are rated.")
                )
                return redirect("manage_votes", made.key)
            draft = make_benchmark_draft(signed_in(request), **form.contents())
        except TableError as error:
            errors = [f"{error.source}, {issue}" for issue in error.errors]
        except ValidationError as error:
            take_errors(form, error)
        else:
            return redirect("new_draft", draft.uuid)
    is_refused = bool(errors) or (form.is_for_votes and bool(form.errors))
    kept_form = with_text_of_file(form) if is_refused else None
    context = {
        "form": kept_form or form,
        "errors": errors,
        "kept_file": kept_form and request.FILES["file"],
        "is_file_forgotten": bool(is_refused and form.files and not kept_form),
    }
    return render(request, "benchmarks/new.html", context, status=400 if request.method == "POST" else 200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_draft(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """A benchmark that is to be: its tasks and settings to be looked over, who would be first, and the way to it."""
    try:
        draft = own_benchmark_draft(request.user, uuid)
    except DeadLinkError:
        made = request.session.get(MADE_LAST, {})
        if made.get("draft") != str(uuid):
            raise
        return redirect("board", made["key"])  # a way back
    if request.POST.get("action") == "discard":
        draft.delete()
        messages.info(request, gettext("The draft was discarded; no benchmark was created."))
        return redirect("new")
    contents = draft_contents(draft)
    form_values = {name: value for name, value in contents.fields.items() if name in CreateForm.base_fields}
    initial = {"name": draft.name, "visibility": "private", "submission_policy": "moderated", **form_values}
    data = request.POST if request.method == "POST" else None
    about = CreateForm(data, initial=initial, instance=Benchmark(variants=list(contents.proposal.variants)))
    parts = ProposalForms(contents.proposal, data, new_tasks=0 if contents.table else 3)
    status, verdicts = 200, list[RuleVerdict]()
    try:
        if data is None:
            verdicts = draft_verdicts(draft, contents.proposal)
        elif about.is_valid() & parts.is_valid():
            proposal = parts.proposal()
            if data.get("action") == "create":
                benchmark = create_from_draft(draft, proposal, about.cleaned_data)
                request.session[MADE_LAST] = {"draft": str(uuid), "key": benchmark.key}
                messages.success(request, gettext("Benchmark created. Change anything under Manage."))
                return redirect("board" if benchmark.last_revision_number else "manage", benchmark.key)
            verdicts = draft_verdicts(draft, proposal)
            # With a row for each group that only tasks name, so that its weight can be set.
            parts = ProposalForms(proposal, new_tasks=0 if contents.table else 3)
    except ProposalError as error:
        parts.take_problems(error.problems)
    except TableError as error:
        parts.general.append(error.one_line())
    except ValidationError as error:
        take_errors(about, error)
    if about.errors or parts.has_errors:
        status = 400
    table = contents.table
    context = {
        "draft": draft,
        "direction_question": draft_question(contents, parts.directions),
        "form": about,
        "parts": parts,
        "verdicts": verdicts,
        "n_systems": contents.n_systems,
        "n_tasks": len(table.task_names) if table else 0,
        "n_missing": contents.n_missing,
        "reading": reading_of(table) if table else None,
    }
    return render(request, "benchmarks/new_draft.html", context, status=status)
