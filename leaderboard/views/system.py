"""One system's page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard.selectors.audience import readable_benchmark
from leaderboard.services.on_demand import TooLargeError
from leaderboard.services.system_page import system_page
from leaderboard.views.allowance import may_ask
from leaderboard.views.share import system_share


@require_safe
def system(request: HttpRequest, key: str, system_key: str) -> HttpResponse:
    """A system's rank under every rule, its scores with the reasons of missing ones, its submissions."""
    benchmark, audience = readable_benchmark(request.user, key, restricted=True)
    rival = request.GET.get("above", "")[:80]
    if rival and not may_ask(request):
        return render(request, "429.html", status=429)
    try:
        page = system_page(request.user, benchmark, system_key, rival=rival, level=audience.level)
    except TooLargeError as error:
        return render(request, "leaderboard/too_large.html", {"benchmark": benchmark, "reason": error}, status=422)
    share = system_share(request, benchmark, system_key, page["system"]["name"])
    return render(request, "leaderboard/system.html", page | {"key": system_key, "share": share})
