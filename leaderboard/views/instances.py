"""The ranks of systems by their scores on single instances."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard.selectors.audience import readable_benchmark
from leaderboard.services.instances_page import NAMES, instances_page
from leaderboard.views.publications import publication_asked_for


@require_safe
def instances(request: HttpRequest, key: str) -> HttpResponse:
    """Ranks under the three aggregations side by side, and which neighbours can be told apart."""
    benchmark, _ = readable_benchmark(request.user, key)
    publication = publication_asked_for(benchmark, request.GET.get("revision", ""))
    context = {
        "benchmark": benchmark,
        "publication": publication,
        "page": instances_page(publication),
        "names": NAMES.values(),
    }
    return render(request, "leaderboard/instances.html", context)
