"""The board page and its downloads."""

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from leaderboard.models import Benchmark
from leaderboard.selectors.audience import Audience, readable_benchmark
from leaderboard.selectors.history import show_revision
from leaderboard.selectors.jobs import own_system_ids
from leaderboard.services.board import build_board
from leaderboard.services.board_exports import FORMATS
from leaderboard.services.board_filters import UnknownChoiceError
from leaderboard.services.board_query import BoardQuery, query_text, read_query
from leaderboard.services.on_demand import TooLargeError, TooOftenError
from leaderboard.views.board_page import AGGREGATION_NAMES, POLICY_NAMES, BoardPage
from leaderboard.views.share import board_share

__all__ = ["AGGREGATION_NAMES", "POLICY_NAMES", "board", "board_csv", "board_download"]


@require_safe
def board(request: HttpRequest, key: str) -> HttpResponse:
    """Systems x rules of the published revision, as the address asks for it."""
    benchmark, audience, query = _asked(request, key)
    if "" in (value for values in request.GET.lists() for value in values[1]):
        # A form sends its empty fields along; the address that stays, and is passed on, says only what is asked.
        return redirect(request.path + query_text(query))
    try:
        found = build_board(benchmark, audience, query, own_system_ids(request.user, benchmark))
    except UnknownChoiceError as error:
        raise BadRequest(str(error)) from error
    except TooLargeError as error:
        return render(request, "leaderboard/too_large.html", {"benchmark": benchmark, "reason": error}, status=422)
    page = BoardPage(request.user, benchmark, audience, query, found)
    share = board_share(request, benchmark, query)
    return render(request, "leaderboard/board.html", {"board": page, "benchmark": benchmark, "share": share})


@require_safe
def board_csv(request: HttpRequest, key: str) -> HttpResponse:
    """All rows of this view of the board as CSV: ranks and rule scores, one column each a rule."""
    return _download(request, key, "csv")


@require_safe
def board_download(request: HttpRequest, key: str, extension: str) -> HttpResponse:
    """All rows of this view of the board as JSON, LaTeX or Markdown: the same columns, order and filters."""
    return _download(request, key, extension)


def _download(request: HttpRequest, key: str, extension: str) -> HttpResponse:
    benchmark, audience, query = _asked(request, key)
    if extension not in FORMATS:
        raise Http404(f"A board is not written as {extension!r}.")
    content_type, write = FORMATS[extension]
    own = own_system_ids(request.user, benchmark) if audience.is_restricted else frozenset[int]()
    try:
        found = build_board(benchmark, audience, query, own, is_whole=True)
    except UnknownChoiceError as error:
        raise BadRequest(str(error)) from error
    except TooLargeError as error:
        return HttpResponse(str(error), status=422, content_type="text/plain; charset=utf-8")
    except TooOftenError as error:
        wait = {"Retry-After": str(error.seconds)}
        return HttpResponse(str(error), status=429, headers=wait, content_type="text/plain; charset=utf-8")
    text = "" if found is None else write(found, benchmark.name)
    response = HttpResponse(text, content_type=f"{content_type}; charset=utf-8")
    response["Content-Disposition"] = content_disposition_header(
        as_attachment=True, filename=f"{benchmark.key}.{extension}"
    )
    return response


def _asked(request: HttpRequest, key: str) -> tuple[Benchmark, Audience, BoardQuery]:
    """The benchmark, pointing at the revision asked for; what the reader is to it; and what they asked."""
    benchmark, audience = readable_benchmark(request.user, key, restricted=True)
    query = read_query(request.GET)
    if query.revision:
        show_revision(benchmark, query.revision)
    return benchmark, audience, query
