"""The page of submitters."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard.access.audience import readable_benchmark
from leaderboard.boards.submitters.page import submitters_page
from leaderboard.rankings.redaction import hidden_text


@require_safe
def submitters(request: HttpRequest, key: str) -> HttpResponse:
    """How many systems each submitter entered, withdrew or kept off the board, beside the best on it."""
    benchmark, audience = readable_benchmark(request.user, key, restricted=True)
    context = {
        "benchmark": benchmark,
        "page": submitters_page(audience),
        "hidden_text": hidden_text(audience),
        "may_administer": audience.may_administer,
        "may_moderate": audience.may_moderate,
    }
    return render(request, "boards/submitters.html", context)
