"""Benchmarks side by side, and a board over them."""

from dataclasses import replace

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import content_disposition_header, urlencode
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from leaderboard.benchmarks.meta_boards import MAX_BENCHMARKS, MIN_BENCHMARKS
from leaderboard.boards.board import Board
from leaderboard.boards.exports import FORMATS
from leaderboard.computing.rankings import site_rules
from leaderboard.explore.benchmarks import (
    DEFAULT_POLICY,
    SCORES,
    CompareQuery,
    choices,
    compare,
    known_policy,
)
from leaderboard.explore.forms import variants_in
from leaderboard.explore.page import ComparePage
from leaderboard.on_demand.allowance import may_ask

TOO_OFTEN = gettext_lazy("You asked for many computations within a minute. Wait a moment and try again.")
PARAMETERS = ("b", "rule", "score", "policy", "reference", "least", "variants", "q", "find")


@require_safe
def compare_page(request: HttpRequest) -> HttpResponse:
    """The chosen benchmarks: the same systems across them, and who comes first over all of them."""
    if any(not value for name in request.GET for value in request.GET.getlist(name)):
        # A form sends its empty fields along; the address that stays says only what is asked.
        pairs = [(name, value) for name in PARAMETERS for value in request.GET.getlist(name) if value]
        return redirect(reverse("compare") + (f"?{urlencode(pairs)}" if pairs else ""))
    query = read_query(request)
    page = ComparePage(query, choices(request.user, query))
    if not query.keys:
        return render(request, "explore/compare.html", {"page": page})
    if not may_ask(request):
        return render(request, "429.html", {"message": TOO_OFTEN}, status=429)
    compared = compare(request.user, query)
    extension = request.GET.get("format", "")
    if extension in FORMATS and compared.board is not None:
        return board_file(compared.board, "Several benchmarks", f"benchmarks.{extension}")
    parameters = request.GET.copy()
    parameters.pop("format", None)
    page = replace(page, compared=compared, address=f"{reverse('compare')}?{parameters.urlencode()}")
    return render(request, "explore/compare.html", {"page": page, "compared": compared, "board": page.board})


def board_file(board: Board, title: str, name: str) -> HttpResponse:
    """A board over benchmarks as a file.

    Args:
        board: what is in it.
        title: what it is of.
        name: of the file; its ending is a key of FORMATS.
    """
    content_type, write = FORMATS[name.rpartition(".")[2]]
    response = HttpResponse(write(board, title), content_type=f"{content_type}; charset=utf-8")
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name) or "attachment"
    return response


def read_query(request: HttpRequest) -> CompareQuery:
    """What an address asks; what it does not say, or names something unknown, has its default."""
    parameters = request.GET
    rule, score = parameters.get("rule", ""), parameters.get("score", "share")
    variants, refusal = tuple[str, ...](), ""
    try:
        variants = variants_in(parameters.get("variants", ""))
    except ValidationError as error:
        refusal = " ".join(error.messages)
    least, known = parameters.get("least", ""), {str(n) for n in range(MIN_BENCHMARKS, MAX_BENCHMARKS + 1)}
    return CompareQuery(
        keys=tuple(key for key in parameters.getlist("b")[:100] if "\0" not in key),
        rule=rule if rule in {*site_rules(), *variants} else "",
        score=score if score in SCORES else "share",
        policy=known_policy(parameters.get("policy", DEFAULT_POLICY)),
        reference=parameters.get("reference", ""),
        least=int(least) if least in known else MIN_BENCHMARKS,
        variants=variants,
        refusal=refusal,
        q=parameters.get("q", "")[:200],
        find=parameters.get("find", "")[:200],
    )
