"""What a benchmark was: its revisions, and those that were frozen."""

from dataclasses import replace

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from leaderboard.selectors.audience import readable_benchmark
from leaderboard.selectors.history import release_of, show_revision, told_hash
from leaderboard.selectors.jobs import own_system_ids
from leaderboard.selectors.scores import systems_at
from leaderboard.services.board import build_board
from leaderboard.services.board_query import BoardQuery
from leaderboard.services.history import history_page
from leaderboard.services.masks import hidden_text
from leaderboard.services.rank_history import rank_history
from leaderboard.services.releases import cite
from leaderboard.views.downloads import csv_response
from ranking_engine import RULES


@require_safe
def history(request: HttpRequest, key: str) -> HttpResponse:
    """The revisions, newest first: what each changed, and because of whom."""
    benchmark, audience = readable_benchmark(request.user, key, restricted=True)
    revisions, page = history_page(benchmark, audience, request.GET.get("page"))
    is_open = not audience.is_restricted
    rule = request.GET.get("rule", "") or benchmark.default_rule
    if rule not in RULES:
        raise BadRequest(f"There is no rule {rule[:60]!r}.")
    ranks = None
    if is_open and page.number == 1 and benchmark.publication is not None:
        ranks = rank_history(benchmark, systems_at(benchmark.publication.revision), rule)
        if ranks is not None and request.GET.get("format") == "csv":
            rows = [[system.name, *texts] for system, texts in ranks.rows]
            return csv_response(f"{key}-ranks-{rule}", [["system", *ranks.numbers], *rows])
    context = {
        "benchmark": benchmark,
        "may_administer": audience.may_administer,
        "revisions": revisions,
        "is_open": is_open,
        "ranks": ranks,
        "ranks_csv_url": f"?rule={rule}&format=csv",
        "pages": {
            "number": page.number,
            "n_pages": page.paginator.num_pages,
            "previous_url": f"?page={page.previous_page_number()}" if page.has_previous() else "",
            "next_url": f"?page={page.next_page_number()}" if page.has_next() else "",
        },
    }
    return render(request, "leaderboard/history.html", context)


@require_safe
def release(request: HttpRequest, key: str, release_key: str) -> HttpResponse:
    """A frozen revision: what it says, and how to cite it."""
    benchmark, audience = readable_benchmark(request.user, key, restricted=True)
    found = release_of(benchmark, release_key)
    is_withdrawn = found.revision.withdrawn_at is not None
    if not is_withdrawn:
        show_revision(benchmark, found.revision.number)
    own = own_system_ids(request.user, benchmark) if audience.is_restricted else frozenset[int]()
    query = replace(BoardQuery(), revision=found.revision.number)
    board = None if is_withdrawn else build_board(benchmark, audience, query, own)
    address = request.build_absolute_uri(reverse("release", args=[key, release_key]))
    input_hash = told_hash(found.revision, audience)
    context = {
        "benchmark": benchmark,
        "release": found,
        "board": board,
        "publication": None if is_withdrawn else benchmark.publication,
        "hidden_text": hidden_text(audience),
        "input_hash": input_hash,
        "citation": cite(found, address, input_hash),
    }
    return render(request, "leaderboard/release.html", context)
