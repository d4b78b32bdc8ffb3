"""The page of ranks and the leading score over time."""

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard.access.audience import readable_benchmark
from leaderboard.boards.timeline.page import time_page
from leaderboard.common.files import export_links
from leaderboard.on_demand.allowance import may_ask
from leaderboard.rankings.published import UnknownChoiceError


@require_safe
def timeline(request: HttpRequest, key: str) -> HttpResponse:
    """Who led when, by the dates and under the rule of the address."""
    benchmark, audience = readable_benchmark(request.user, key)
    if not may_ask(request):
        return render(request, "429.html", status=429)
    by, rule = (request.GET.get(name, "")[:200] for name in ("by", "rule"))
    try:
        page = time_page(audience, by=by, rule=rule)
    except UnknownChoiceError as error:
        raise BadRequest(str(error)) from error
    context = {
        "benchmark": benchmark,
        "page": page,
        "downloads": export_links(key, "time", by=by, rule=rule),
        "may_administer": audience.may_administer,
    }
    return render(request, "boards/timeline.html", context)
