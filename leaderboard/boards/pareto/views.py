"""The page of the Pareto front: ranks and scores against what is known of the systems."""

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard.access.audience import readable_benchmark
from leaderboard.boards.pareto.front import pareto_page
from leaderboard.common.files import export_links
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.rankings.published import UnknownChoiceError

WORDS = {"date": ("Earlier", "Later"), "number": ("Less", "More")}


@require_safe
def pareto(request: HttpRequest, key: str) -> HttpResponse:
    """Systems on a plane, those on the front listed."""
    benchmark, audience = readable_benchmark(request.user, key)
    x, y, better, mark = (request.GET.get(name, "")[:200] for name in ("x", "y", "better", "mark"))
    try:
        page = pareto_page(audience, x=x, y=y, better=better, mark=mark)
    except (TooLargeError, UnknownChoiceError) as error:
        raise BadRequest(str(error)) from error
    less, more = WORDS[page.field.kind if page and page.field else "number"]
    context = {
        "benchmark": benchmark,
        "page": page,
        "less": less,
        "more": more,
        "downloads": export_links(key, "pareto", x=x, y=y, better=better),
        "may_administer": audience.may_administer,
    }
    return render(request, "boards/pareto.html", context)
