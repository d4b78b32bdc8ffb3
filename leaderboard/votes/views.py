"""Pages of votes: the ratings, sending votes, one batch with its steps, the downloads, and how votes are rated."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.http import content_disposition_header
from django.utils.translation import gettext, gettext_noop, ngettext
from django.views.decorators.http import require_http_methods, require_safe

from leaderboard.access.audience import administered_benchmark
from leaderboard.common.file_parts import file_response
from leaderboard.common.form_fields import REASON_LENGTH, sent_lines
from leaderboard.common.language.numbers import localise
from leaderboard.common.paging import page_links
from leaderboard.common.parquet import CONTENT_TYPE as PARQUET
from leaderboard.common.requests import signed_in
from leaderboard.common.text import in_words, shortened
from leaderboard.models import Benchmark, VoteSettings
from leaderboard.on_demand.allowance import may_ask
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.submissions.problems import SubmissionError
from leaderboard.submissions.quotas import terms_of, why_not_now
from leaderboard.votes.content import UNNAMED, SentVotes, categories_of, checked_votes, collects_votes
from leaderboard.votes.exports import vote_lines, vote_parquet
from leaderboard.votes.forms import ForgetVoterForm, SendVotesForm, VoteSettingsForm
from leaderboard.votes.lifecycle import STEPS, confirm_votes, discard_draft, draft_votes
from leaderboard.votes.queries import (
    batches_for,
    benchmark_to_vote_on,
    events_of,
    ratings_for,
    require_step,
    steps_at,
    visible_vote_batch,
    voting_benchmark,
)
from leaderboard.votes.settings import FIELDS, change_vote_settings, forget_voter, start_collecting
from ranking_engine.files.problems import InputError

BATCHES_A_PAGE = 50
SHOWN_NAMES = 300
SHOWN_CATEGORIES = 30
# What became of a batch after a step.
DONE = {
    "accept": gettext_noop("The votes were accepted. The ratings follow in a moment."),
    "reject": gettext_noop("The votes were rejected."),
    "withdraw": gettext_noop("The votes were withdrawn. The ratings follow in a moment."),
    "reinstate": gettext_noop("The votes count again. The ratings follow in a moment."),
    "retract": gettext_noop("Your votes were withdrawn."),
}


@require_safe
def votes(request: HttpRequest, key: str) -> HttpResponse:
    """The ratings of a benchmark's votes, and the batches that they come from."""
    benchmark, audience = voting_benchmark(request.user, key)
    page = Paginator(batches_for(audience), BATCHES_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "benchmark": benchmark,
        "audience": audience,
        "shown": ratings_for(audience),
        "settings": VoteSettings.objects.get(benchmark=benchmark),
        "batches": page,
        "pages": page_links(page, anchor="batches"),
    }
    return render(request, "votes/votes.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def send_votes(request: HttpRequest, key: str) -> HttpResponse:
    """A file of votes; a valid one becomes a draft, which its sender confirms."""
    benchmark, audience = benchmark_to_vote_on(request.user, key)
    if not audience.may_send_votes:
        return render(request, "votes/closed.html", {"benchmark": benchmark, "why": audience.why_no_votes}, status=403)
    form = SendVotesForm(request.POST or None, request.FILES or None)
    categories = categories_of(benchmark)
    errors: list[str] = []
    status = 400 if request.method == "POST" else 200
    if request.method == "POST" and form.is_valid():
        cleaned = form.cleaned_data
        try:
            checked = checked_votes(audience, SentVotes(cleaned["data"], cleaned["columns"], cleaned["note"]))
            return redirect("vote_batch", draft_votes(audience, checked).uuid)
        except InputError as error:
            errors = error.problems.lines
        except TooLargeError as error:
            errors, status = [str(error)], 422
    context = {
        "benchmark": benchmark,
        "form": form,
        "errors": errors,
        "covariates": VoteSettings.objects.get(benchmark=benchmark).covariates,
        "adds_categories": audience.may_administer,
        "categories": in_words([shortened(name) for name in categories], SHOWN_CATEGORIES),
        "needs_category": not set(categories) & set(UNNAMED),
        "terms": terms_of(benchmark, signed_in(request), limited=not audience.may_moderate),
    }
    return render(request, "votes/send.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def vote_batch(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """One batch: what is in it, what happened to it, and what its viewer may do."""
    batch, audience = visible_vote_batch(request.user, uuid)
    if request.method == "POST":
        actor, action = signed_in(request), request.POST.get("action", "")
        if action not in (*STEPS, "confirm", "discard"):
            raise BadRequest(gettext("There is no such step."))
        require_step(batch, audience, action)
        try:
            if action == "discard":
                discard_draft(batch, actor=actor)
                messages.info(request, gettext("The draft was discarded; no votes were sent."))
                return redirect("send_votes", batch.benchmark.key)
            if action == "confirm":
                confirm_votes(batch, actor=actor)
                done = gettext("Your votes were sent.")
            else:
                done = gettext(DONE[action])
                STEPS[action](batch, actor=actor, reason=sent_lines(request, "reason", REASON_LENGTH))
        except InputError as error:
            messages.error(request, "; ".join(error.problems.lines))
        except SubmissionError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, done)
        return redirect("vote_batch", uuid)
    names = sorted(batch.systems.items(), key=lambda entry: (-entry[1], entry[0]))
    steps = steps_at(batch, audience)
    context = {
        "benchmark": batch.benchmark,
        "batch": batch,
        "systems": names[:SHOWN_NAMES],
        "n_more_systems": max(0, len(names) - SHOWN_NAMES),
        "categories": sorted(batch.categories.items(), key=lambda entry: (-entry[1], entry[0]))[:SHOWN_NAMES],
        "events": events_of(batch),
        "steps": steps,
        "why_not": why_not_now([audience])[batch.benchmark_id] if "draft" in steps else "",
        "sees_votes": not audience.is_restricted,
    }
    return render(request, "votes/batch.html", context)


@require_safe
def votes_file(request: HttpRequest, key: str, extension: str) -> HttpResponseBase:
    """All accepted votes as CSV or Parquet."""
    benchmark, audience = voting_benchmark(request.user, key)
    if extension not in ("csv", "parquet"):
        raise Http404(gettext("There is no such file; there are votes.csv and votes.parquet."))
    if not may_ask(request):
        return HttpResponse(
            gettext("Too many downloads in a minute. Try again later."),
            status=429,
            content_type="text/plain; charset=utf-8",
        )
    if extension == "csv":
        response = file_response(request, vote_lines(audience), "text/csv; charset=utf-8")
    else:
        response = HttpResponse(vote_parquet(audience), content_type=PARQUET)
    name = f"{benchmark.key}-votes.{extension}"
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name)
    response["Cache-Control"] = "private, no-store"
    return response


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def manage_votes(request: HttpRequest, key: str) -> HttpResponse:
    """How votes are rated; before anything was submitted, whether the benchmark collects votes at all."""
    benchmark = administered_benchmark(request.user, key)
    action = request.POST.get("action", "")
    if not collects_votes(benchmark):
        if action == "start":
            try:
                start_collecting(benchmark, author=signed_in(request))
            except SubmissionError as error:
                messages.error(request, str(error))
            else:
                messages.success(request, gettext("This benchmark collects votes now."))
            return redirect("manage_votes", benchmark.key)
        return _manage_page(request, benchmark, status=400 if request.method == "POST" else 200)
    if action == "forget":
        forget = ForgetVoterForm(request.POST)
        if not forget.is_valid():
            return _manage_page(request, benchmark, forget=forget, status=400)
        data = forget.cleaned_data
        n_batches = forget_voter(benchmark, data["voter"], author=signed_in(request), reason=data["reason"])
        done = ngettext(
            "Done: this person had voted in %(n)s batch, and no vote says so any more.",
            "Done: this person had voted in %(n)s batches, and no vote says so any more.",
            n_batches,
        )
        messages.success(request, done % {"n": localise(n_batches, ",")})
        return redirect("manage_votes", benchmark.key)
    if request.method == "POST":
        form = VoteSettingsForm(request.POST)
        if not form.is_valid():
            return _manage_page(request, benchmark, form=form, status=400)
        values = {name: form.cleaned_data[name] for name in FIELDS}
        reason = form.cleaned_data["reason"]
        n_changed = change_vote_settings(benchmark, values, author=signed_in(request), reason=reason)
        messages.success(request, gettext("The settings were saved.") if n_changed else gettext("Nothing changed."))
        return redirect("manage_votes", benchmark.key)
    return _manage_page(request, benchmark)


def _manage_page(request: HttpRequest, benchmark: Benchmark, *, status: int = 200, **context: object) -> HttpResponse:
    page: dict[str, object] = {"benchmark": benchmark, "here": "votes", "collects": collects_votes(benchmark)}
    if page["collects"]:
        page["form"] = VoteSettingsForm.showing(VoteSettings.objects.get(benchmark=benchmark))
        page["forget"] = ForgetVoterForm(auto_id="forget_%s")
    else:
        page["has_submissions"] = benchmark.batches.exists()
    return render(request, "votes/manage.html", page | context, status=status)
