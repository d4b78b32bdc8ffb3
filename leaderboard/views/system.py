"""One system's page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard.selectors.audience import readable_benchmark
from leaderboard.services.system_page import system_page


@require_safe
def system(request: HttpRequest, key: str, system_key: str) -> HttpResponse:
    """A system's rank under every rule, its scores with the reasons of missing ones, its submissions."""
    benchmark, _ = readable_benchmark(request.user, key)
    return render(request, "leaderboard/system.html", system_page(request.user, benchmark, system_key))
