"""The page of one task."""

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from leaderboard.access.audience import readable_benchmark
from leaderboard.common.paging import page_links
from leaderboard.explore.task import task_page
from leaderboard.on_demand.allowance import may_ask
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.rankings.revision_parameter import publication_asked_for, revision_query


@require_safe
def task(request: HttpRequest, key: str, task: str) -> HttpResponse:
    """Who is best at a task, what it counts, how it agrees with the others, and the board without it."""
    benchmark, audience = readable_benchmark(request.user, key)
    number = request.GET.get("revision", "")
    publication = publication_asked_for(benchmark, number)
    page = None
    if publication is not None:
        try:
            page = task_page(audience, publication, task, page=request.GET.get("page"), may_compute=may_ask(request))
        except TooLargeError as error:
            raise BadRequest(str(error)) from error
    if page is None or publication is None:
        raise Http404(gettext("The published board has no task of this name."))
    context = {
        "benchmark": benchmark,
        "page": page,
        "revision_number": publication.revision.number,
        "revision_query": revision_query(benchmark, publication.revision),
        "pages": page_links(page.rows, revision=number),
    }
    return render(request, "explore/task.html", context)
