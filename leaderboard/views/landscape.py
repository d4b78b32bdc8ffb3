"""All benchmarks on the diversity-sensitivity plane."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard.services import landscape as service


@require_safe
def landscape(request: HttpRequest) -> HttpResponse:
    """How diverse the benchmarks are, and how sensitive to what should not matter."""
    return render(request, "leaderboard/landscape.html", {"landscape": service.landscape(request.user)})
