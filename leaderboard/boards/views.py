"""The board page and its downloads."""

from dataclasses import replace

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest, ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from leaderboard.access.audience import Audience, administered_benchmark, readable_benchmark
from leaderboard.benchmarks.baselines import mark_baseline
from leaderboard.benchmarks.releases import cite
from leaderboard.boards.board import build_board
from leaderboard.boards.exports import FORMATS
from leaderboard.boards.forms import BaselineForm
from leaderboard.boards.open_data.pages import published_dataset
from leaderboard.boards.page import BoardPage
from leaderboard.boards.query import BoardQuery, query_text, read_query
from leaderboard.boards.share import board_share, system_share
from leaderboard.boards.system import system_page
from leaderboard.common.citations import cite_figure
from leaderboard.common.file_parts import file_response
from leaderboard.common.paging import page_links
from leaderboard.common.requests import signed_in
from leaderboard.comparisons.since import note_visit
from leaderboard.evaluation.terms import evaluation_terms
from leaderboard.models import Baseline, Benchmark
from leaderboard.models.systems import PROVISIONAL
from leaderboard.on_demand.allowance import may_ask
from leaderboard.on_demand.budget import TooLargeError, TooOftenError
from leaderboard.rankings.published import UnknownChoiceError
from leaderboard.rankings.redaction import hidden_text
from leaderboard.rankings.revision_parameter import publication_asked_for, revision_query
from leaderboard.rankings.revisions import release_of, show_revision, visible_hash
from leaderboard.rankings.systems import WithdrawnSystemError
from leaderboard.submissions.quotas import board_terms


@require_safe
def board(request: HttpRequest, key: str) -> HttpResponse:
    """Systems x rules of the published revision, as the address asks for it."""
    benchmark, audience, query = _asked(request, key)
    if "" in (value for values in request.GET.lists() for value in values[1]):
        # A form sends its empty fields along; the address that stays, and is passed on, says only what is asked.
        return redirect(request.path + query_text(query))
    try:
        content = build_board(audience, query, marks_own=True)
    except UnknownChoiceError as error:
        raise BadRequest(str(error)) from error
    except TooLargeError as error:
        return render(request, "common/too_large.html", {"benchmark": benchmark, "reason": error}, status=422)
    page = BoardPage(audience, query, content)
    visited_at = note_visit(request.user, benchmark)
    share = board_share(request, benchmark, query)
    publication, citation, dataset = benchmark.publication, None, ""
    if content is not None and publication is not None:
        address = request.build_absolute_uri(
            reverse("board", args=[key]) + query_text(replace(query, revision=publication.revision.number))
        )
        input_hash = visible_hash(publication.revision, audience)
        title = gettext("ranks under %(n)s rules") % {"n": len(content.columns)}
        citation = cite_figure(benchmark, publication, title, address, input_hash)
        if share:
            dataset = published_dataset(request, benchmark, publication, content.published.facts["n_systems"])
    context = {
        "board": page,
        "benchmark": benchmark,
        "share": share,
        "terms": board_terms(audience) + evaluation_terms(benchmark),
        "citation": citation,
        "dataset": dataset,
        "visited_at": visited_at,
    }
    return render(request, "boards/board.html", context)


@require_safe
def board_csv(request: HttpRequest, key: str) -> HttpResponseBase:
    """All rows of this view of the board as CSV: ranks and rule scores, one column each a rule."""
    return _download(request, key, "csv")


@require_safe
def board_download(request: HttpRequest, key: str, extension: str) -> HttpResponseBase:
    """All rows of this view of the board as JSON, LaTeX or Markdown: the same columns, order and filters."""
    return _download(request, key, extension)


def _download(request: HttpRequest, key: str, extension: str) -> HttpResponseBase:
    benchmark, audience, query = _asked(request, key)
    if extension not in FORMATS:
        raise Http404(gettext("A board cannot be downloaded as %(extension)s.") % {"extension": repr(extension)})
    content_type, write = FORMATS[extension]
    try:
        content = build_board(audience, query, is_whole=True)
    except UnknownChoiceError as error:
        raise BadRequest(str(error)) from error
    except TooLargeError as error:
        return HttpResponse(str(error), status=422, content_type="text/plain; charset=utf-8")
    except TooOftenError as error:
        wait = {"Retry-After": str(error.seconds)}
        return HttpResponse(str(error), status=429, headers=wait, content_type="text/plain; charset=utf-8")
    lines = () if content is None else write(content, benchmark.name)
    response = file_response(request, lines, f"{content_type}; charset=utf-8")
    response["Content-Disposition"] = content_disposition_header(
        as_attachment=True, filename=f"{benchmark.key}.{extension}"
    )
    return response


def _asked(request: HttpRequest, key: str) -> tuple[Benchmark, Audience, BoardQuery]:
    """The benchmark, pointing at the revision asked for; what the reader is to it; and what they asked."""
    counts_queue = request.user.is_authenticated  # for those who manage it
    benchmark, audience = readable_benchmark(request.user, key, restricted=True, counts_queue=counts_queue)
    query = read_query(request.GET)
    benchmark.publication = publication_asked_for(benchmark, request.GET.get("revision", ""))
    return benchmark, audience, query


@require_safe
def system(request: HttpRequest, key: str, system_key: str) -> HttpResponse:
    """A system's rank under every rule, its scores with the reasons of missing ones, its submissions.

    Of one whose scores were withdrawn, at which revision they were, and why.
    """
    benchmark, audience = readable_benchmark(request.user, key, restricted=True)
    publication = benchmark.publication = publication_asked_for(benchmark, request.GET.get("revision", ""))
    at_revision = revision_query(benchmark, publication.revision if publication else None)
    earlier_number = publication.revision.number if publication and at_revision else 0
    rival = request.GET.get("above", "")[:80]
    if rival and not may_ask(request):
        return render(request, "429.html", status=429)
    try:
        page = system_page(audience, system_key, rival=rival, page=request.GET.get("submissions"))
    except WithdrawnSystemError as error:
        context = {"benchmark": benchmark, "withdrawn": error, "hidden_text": hidden_text(audience)}
        return render(request, "boards/withdrawn_system.html", context, status=410)
    except TooLargeError as error:
        return render(request, "common/too_large.html", {"benchmark": benchmark, "reason": error}, status=422)
    context = {
        "benchmark": benchmark,
        "page": page,
        "hidden_text": page.hidden_text,
        "revision_query": at_revision,
        "earlier_number": earlier_number,
        "pair_url": reverse("head_to_head", args=[key]) + (f"{at_revision}&" if at_revision else "?"),
        "pages": page_links(
            page.submission_page, parameter="submissions", anchor="submissions", above=rival, revision=earlier_number
        ),
        # Both are about the board as it is now.
        "share": {} if earlier_number else system_share(request, benchmark, system_key, page.name),
        "baseline_form": BaselineForm(initial={"baseline": page.baseline})
        if audience.may_administer and not earlier_number
        else None,
    }
    return render(request, "boards/system.html", context)


@login_required
@require_POST
def baseline(request: HttpRequest, key: str, system_key: str) -> HttpResponse:
    """Mark a system as a baseline, or take the mark away."""
    benchmark = administered_benchmark(request.user, key)
    system = get_object_or_404(benchmark.systems.exclude(key__startswith=PROVISIONAL), key=system_key)
    form = BaselineForm(request.POST)
    if not form.is_valid():
        raise BadRequest(gettext("Choose one of the kinds of baseline in the form, and give the reason in one line."))
    try:
        mark_baseline(system, author=signed_in(request), **form.cleaned_data)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        messages.success(
            request,
            gettext("%(system)s is now marked as: %(label)s.")
            % {"system": system.name, "label": Baseline(system.baseline).label},
        )
    return redirect("system", key, system_key)


@require_safe
def release(request: HttpRequest, key: str, release_key: str) -> HttpResponse:
    """A frozen revision: what it says, and how to cite it."""
    benchmark, audience = readable_benchmark(request.user, key, restricted=True)
    frozen = release_of(benchmark, release_key)
    is_withdrawn = frozen.revision.withdrawn_at is not None
    if not is_withdrawn:
        show_revision(benchmark, frozen.revision.number)
    query = replace(BoardQuery(), revision=frozen.revision.number)
    board = None if is_withdrawn else build_board(audience, query)
    url = request.build_absolute_uri(reverse("release", args=[key, release_key]))
    input_hash = visible_hash(frozen.revision, audience)
    dataset = ""
    if board is not None and benchmark.publication is not None:
        n_systems = board.published.facts["n_systems"]
        dataset = published_dataset(request, benchmark, benchmark.publication, n_systems, frozen)
    context = {
        "benchmark": benchmark,
        "release": frozen,
        "board": board,
        "publication": None if is_withdrawn else benchmark.publication,
        "hidden_text": hidden_text(audience),
        "input_hash": input_hash,
        "citation": cite(frozen, url, input_hash),
        "dataset": dataset,
        "has_data": not (is_withdrawn or audience.is_restricted),
    }
    return render(request, "boards/release.html", context)
