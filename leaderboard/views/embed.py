"""The board as a bare table, to be shown in a frame on other sites.

It is the one page that other sites may frame: it sets no cookie, reads no session, has no form and no script, so there
is nothing on it that a click could be stolen for. It is there for public benchmarks only.
"""

from dataclasses import replace

from csp.decorators import csp_replace
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from leaderboard.models import Benchmark
from leaderboard.selectors.audience import Audience
from leaderboard.selectors.history import show_revision
from leaderboard.services.board import build_board, reference_first
from leaderboard.services.board_filters import UnknownChoiceError
from leaderboard.services.board_query import BoardQuery, query_text, read_query
from leaderboard.services.columns import Column
from leaderboard.services.masks import hidden_text
from leaderboard.services.on_demand import RETRY_SECONDS, BusyError, TooLargeError, TooOftenError
from leaderboard.services.public_board import open_benchmark
from leaderboard.views.shared import rendered, shared_answer

SHOWN_SYSTEMS = 10  # where the address does not say how many
HTML = "text/html; charset=utf-8"


POLICY = {"frame-ancestors": ["*"], "script-src": ["'none'"], "form-action": ["'none'"]}


@xframe_options_exempt
@csp_replace(POLICY)  # type: ignore[arg-type]  # it knows views without arguments alone
@require_safe
def embed(request: HttpRequest, key: str) -> HttpResponse:
    """Systems x rules of the published revision, as the address asks for it: its parameters are the board's."""
    benchmark, audience = open_benchmark(key)
    if benchmark.visibility != Benchmark.Visibility.PUBLIC:
        raise Http404("No public benchmark of this name stands here.")
    query = read_query(request.GET)
    context = {"benchmark": benchmark, "board_url": reverse("board", args=[key]) + query_text(query)}
    try:
        context |= _table(benchmark, audience, query)
    except UnknownChoiceError as error:
        return _refused(context, str(error), 400)
    except TooLargeError:
        return _refused(context, "This view is too large to be computed here; the board itself says more.", 422)
    except TooOftenError as error:
        return _refused(context, str(error), 429, retry_after=error.seconds)
    except BusyError:
        problem = "Too much is being computed at this moment. Load the page again in a few seconds."
        return _refused(context, problem, 503, retry_after=RETRY_SECONDS)
    return shared_answer(request, rendered("leaderboard/embed.html", context), HTML, benchmark=benchmark)


def _table(benchmark: Benchmark, audience: Audience, query: BoardQuery) -> dict[str, object]:
    """What the template shows of the board."""
    if query.revision:
        show_revision(benchmark, query.revision)
    has_size = bool(query.top or query.page > 1)
    found = build_board(benchmark, audience, query)
    if found is None:
        return {"is_computing": benchmark.last_revision_number > 0, "hidden_text": hidden_text(audience)}
    found = reference_first(found)
    rows = found.rows if has_size else found.rows[: found.n_pinned + SHOWN_SYSTEMS]
    return {
        "board": found,
        "rows": [replace(row, url=_system_url(benchmark, audience, row.key)) for row in rows],
        "columns": [_head(column, is_reference=column is found.reference) for column in found.shown],
        "shown": found.shown,
        "hidden_text": hidden_text(audience),
        "n_more": found.n_shown - len(rows),
    }


def _head(column: Column, *, is_reference: bool) -> dict[str, object]:
    return {
        "name": column.name,
        "status": column.status,
        "summary": column.summary,
        "n_ranked": column.n_ranked,
        "is_reference": is_reference,
    }


def _system_url(benchmark: Benchmark, audience: Audience, key: str) -> str:
    return "" if audience.is_restricted else reverse("system", args=[benchmark.key, key])


def _refused(context: dict[str, object], problem: str, status: int, *, retry_after: int = 0) -> HttpResponse:
    content = rendered("leaderboard/embed.html", context | {"problem": problem})
    response = HttpResponse(content, content_type=HTML, status=status)
    response["Cache-Control"] = "no-store"
    if retry_after:
        response["Retry-After"] = str(retry_after)
    return response
