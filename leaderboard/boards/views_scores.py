"""The scores tab."""

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from leaderboard.access.audience import readable_benchmark
from leaderboard.boards.scores import ScoresPage, ScoresQuery
from leaderboard.common.files import export_links
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.rankings.published import UnknownChoiceError
from leaderboard.rankings.revision_parameter import publication_asked_for, revision_query
from leaderboard.votes.content import collects_votes
from leaderboard.votes.queries import is_rating


@require_safe
def scores(request: HttpRequest, key: str) -> HttpResponse:
    """Systems x tasks, sorted and folded as the address says; for those who may see the scores."""
    benchmark, _ = readable_benchmark(request.user, key)
    query = ScoresQuery.read(request.GET)
    if "" in (value for values in request.GET.lists() for value in values[1]):
        return redirect(request.path + query.text)  # a form sends its empty fields along
    benchmark.publication = publication_asked_for(benchmark, request.GET.get("revision", ""))
    if benchmark.publication is None:
        is_computing = benchmark.last_revision_number > 0 or is_rating(benchmark)
        context = {"benchmark": benchmark, "is_computing": is_computing, "collects_votes": collects_votes(benchmark)}
        return render(request, "boards/scores.html", context)
    try:
        page = ScoresPage(benchmark, benchmark.publication, query)
    except (TooLargeError, UnknownChoiceError) as error:
        raise BadRequest(str(error)) from error
    context = {
        "benchmark": benchmark,
        "page": page,
        "revision_number": benchmark.publication.revision.number,
        "revision_query": revision_query(benchmark, benchmark.publication.revision),
        "downloads": export_links(key, "scores", revision=query.revision),
    }
    return render(request, "boards/scores.html", context)
