"""Margins between all systems, and any two of them task by task."""

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard.selectors.audience import readable_benchmark
from leaderboard.services.board_filters import UnknownChoiceError
from leaderboard.services.head_to_head import HeadToHead, HeadToHeadQuery
from leaderboard.services.head_to_head import head_to_head as build
from leaderboard.services.on_demand import TooLargeError
from leaderboard.services.pair_page import Pair
from leaderboard.services.sheets import is_small
from leaderboard.views.allowance import may_ask
from leaderboard.views.downloads import csv_response, export_links
from leaderboard.views.publications import publication_asked_for


@require_safe
def head_to_head(request: HttpRequest, key: str) -> HttpResponse:
    """The heat map, the majority relation, and with `?a=&b=` two systems; `?format=csv` downloads what is shown."""
    benchmark, audience = readable_benchmark(request.user, key)
    query = _query(request)
    publication = publication_asked_for(benchmark, query.revision)
    if publication is None:
        return render(request, "leaderboard/head_to_head.html", {"benchmark": benchmark})
    if (query.a and query.b) and not may_ask(request):
        return render(request, "429.html", status=429)
    try:
        page = build(benchmark, publication, query, audience_level=audience.level)
    except UnknownChoiceError as error:
        raise BadRequest(str(error)) from error
    except TooLargeError as error:
        return render(request, "leaderboard/too_large.html", {"benchmark": benchmark, "reason": error}, status=422)
    if page is not None and request.GET.get("format") == "csv":
        return csv_response(f"{key}-head-to-head", _pair_rows(page.pair) if page.pair else _margin_rows(page))
    context = {
        "benchmark": benchmark,
        "publication": publication,
        "is_earlier": publication.pk != benchmark.publication_id,
        "page": page,
        "query": query,
        "rules": [
            (query.address(rule=rule, a="", b="") + "#margins", name, is_active)
            for rule, name, is_active in (page.rules if page else [])
        ],
        "clear_url": query.address(a="", b=""),
        "margins_url": f"{query.address(a='', b='')}&format=csv",
        "downloads": export_links(key, "margins", revision=query.revision) if page and is_small(page.n_systems) else [],
        "pair_url": f"{query.address()}&format=csv",
    }
    return render(request, "leaderboard/head_to_head.html", context)


def _query(request: HttpRequest) -> HeadToHeadQuery:
    stated = request.GET

    def number(name: str) -> int:
        text = stated.get(name, "1")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 8 else 1

    return HeadToHeadQuery(
        a=stated.get("a", "")[:200].strip(),
        b=stated.get("b", "")[:200].strip(),
        rule=stated.get("rule", "")[:60],
        rows=number("rows"),
        columns=number("columns"),
        revision=stated.get("revision", ""),
    )


def _margin_rows(page: HeadToHead) -> list[list[object]]:
    """One line a pair of systems: every digit of its shares."""
    rows: list[list[object]] = [["system", "rival", "ahead", "behind", "margin"]]
    for i, row in enumerate(page.rows):
        for j, rival in enumerate(page.columns):
            if page.margins.is_compared[i, j]:
                ahead, behind = float(page.margins.ahead[i, j]), float(page.margins.behind[i, j])
                rows.append([row.system.name, rival.name, ahead, behind, ahead - behind])
    return rows


def _pair_rows(pair: Pair) -> list[list[object]]:
    rows: list[list[object]] = [["task", pair.first.name, pair.second.name, "weight", "ahead"]]
    ahead = {"first": pair.first.name, "second": pair.second.name, "level": "level"}
    rows += [
        [task.name, task.first, task.second, task.weight, ahead.get(task.outcome, "")] for task in pair.tasks
    ]
    return rows
