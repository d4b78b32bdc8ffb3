"""The four papers, recomputed: published figures next to ours, and the conclusions."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard.papers import results as service


@require_safe
def papers(request: HttpRequest) -> HttpResponse:
    """What holds up, what does not, and every table behind it."""
    page = service.papers_page(paper=request.GET.get("paper", ""), verdict=request.GET.get("verdict", ""))
    return render(request, "papers/papers.html", {"page": page, "verdicts": service.VERDICTS})


@require_safe
def papers_json(request: HttpRequest) -> HttpResponse:
    """All of it as the file that the page is made from."""
    return HttpResponse(service.RESULTS.read_bytes(), content_type="application/json")
