"""What a benchmark was: its revisions, and those that were frozen."""

from dataclasses import replace

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from leaderboard.selectors.audience import readable_benchmark
from leaderboard.selectors.history import release_of, show_revision
from leaderboard.selectors.jobs import own_system_ids
from leaderboard.services.board import BoardQuery, build_board
from leaderboard.services.history import history_page
from leaderboard.services.masks import hidden_text
from leaderboard.services.releases import cite


@require_safe
def history(request: HttpRequest, key: str) -> HttpResponse:
    """The revisions, newest first: what each changed, and because of whom."""
    benchmark, audience = readable_benchmark(request.user, key, restricted=True)
    revisions, page = history_page(benchmark, audience, request.GET.get("page"))
    context = {
        "benchmark": benchmark,
        "may_administer": audience.may_administer,
        "revisions": revisions,
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
    show_revision(benchmark, found.revision.number)
    own = own_system_ids(request.user, benchmark) if audience.is_restricted else frozenset[int]()
    board = build_board(benchmark, audience, replace(BoardQuery(), revision=found.revision.number), own)
    address = request.build_absolute_uri(reverse("release", args=[key, release_key]))
    context = {
        "benchmark": benchmark,
        "release": found,
        "board": board,
        "publication": benchmark.publication,
        "hidden_text": hidden_text(audience),
        "citation": cite(found, address),
    }
    return render(request, "leaderboard/release.html", context)
