"""Margins between all systems, any two of them task by task, and how far the rules agree."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from leaderboard.access.audience import readable_benchmark
from leaderboard.common.charts.rank_lines import MAX_PINNED
from leaderboard.common.files import csv_response, export_links
from leaderboard.common.language.engine import in_page_language
from leaderboard.common.text import as_sentence, whole_number
from leaderboard.comparisons.agreement import AgreementPage, AgreementQuery, agreement_page
from leaderboard.comparisons.head_to_head import HeadToHeadQuery, head_to_head as build
from leaderboard.comparisons.places import Places, PlacesError
from leaderboard.comparisons.several import MAX_COMPARED
from leaderboard.evaluation.visibility import sees_instances
from leaderboard.on_demand.allowance import may_ask
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.rankings.margins import is_small
from leaderboard.rankings.published import UnknownChoiceError, published_board
from leaderboard.rankings.revision_parameter import publication_asked_for, revision_query
from ranking_engine.catalogue.variants import LONGEST_KEY
from ranking_engine.core.decimals import finite_or_none


@require_safe
def head_to_head(request: HttpRequest, key: str) -> HttpResponseBase:
    """The heat map, the majority relation, and with `?a=&b=` two systems; `?format=csv` downloads what is shown."""
    benchmark, audience = readable_benchmark(request.user, key)
    parameters = request.GET
    rows, columns = (whole_number(parameters.get(name, "1"), 7) for name in ("rows", "columns"))
    query = HeadToHeadQuery(
        a=parameters.get("a", "")[:200].strip(),
        b=parameters.get("b", "")[:200].strip(),
        rule=parameters.get("rule", "")[:LONGEST_KEY],
        rows=1 if rows is None else rows,
        columns=1 if columns is None else columns,
        revision=parameters.get("revision", ""),
    )
    # The board's form sends the ticked systems with all that it says; one or two are a pair, more are side by side.
    pins = tuple(dict.fromkeys(pin[:200] for pin in parameters.getlist("pin")))[:MAX_COMPARED]
    if len(pins) > 2:
        query = replace(query, pin=pins)
    if pins and (len(pins) < 3 or parameters.keys() - {"pin", "rule", "revision", "format"}):
        a, b = (*pins, "", "")[:2] if len(pins) < 3 else ("", "")
        address = HeadToHeadQuery(a=a, b=b, pin=query.pin, revision=query.revision).address()
        return redirect(reverse("head_to_head", args=[key]) + address + "#pair")
    publication = publication_asked_for(benchmark, query.revision)
    if publication is None:
        return render(request, "comparisons/head_to_head.html", {"benchmark": benchmark})
    if (query.pin or (query.a and query.b)) and not may_ask(request):
        return render(request, "429.html", status=429)
    try:
        has_instances = sees_instances(audience)
        page = build(benchmark, publication, query, audience_level=audience.level, has_instances=has_instances)
    except UnknownChoiceError as error:
        raise BadRequest(str(error)) from error
    except TooLargeError as error:
        return render(request, "common/too_large.html", {"benchmark": benchmark, "reason": error}, status=422)
    if page is not None and request.GET.get("format") == "csv":
        lines: list[list[object]]
        if pair := page.pair:
            ahead = {"first": pair.first.name, "second": pair.second.name, "level": "level"}
            lines = [["task", pair.first.name, pair.second.name, "weight", "ahead"]]
            lines += [[t.name, t.first, t.second, t.weight, ahead.get(t.outcome, "")] for t in pair.tasks]
        else:  # one line a pair of systems, with every digit of its shares
            margins = page.margins
            lines = [["system", "rival", "ahead", "behind", "margin"]]
            for i, j in np.argwhere(margins.is_compared).tolist():
                shares = float(margins.ahead[i, j]), float(margins.behind[i, j])
                lines.append([page.rows[i].system.name, page.columns[j].name, *shares, shares[0] - shares[1]])
        return csv_response(request, f"{key}-head-to-head", lines)
    context = {
        "benchmark": benchmark,
        "publication": publication,
        "is_earlier": publication.pk != benchmark.publication_id,
        "revision_query": revision_query(benchmark, publication.revision),
        "page": page,
        "query": query,
        "rules": [
            (query.address(rule=rule, a="", b="") + "#margins", name, is_active)
            for rule, name, is_active in (page.rules if page else [])
        ],
        "is_none_ticked": "compare" in parameters and not pins,
        "clear_url": query.address(a="", b="", pin=()),
        "margins_url": f"{query.address(a='', b='')}&format=csv",
        "downloads": export_links(key, "margins", revision=query.revision) if page and is_small(page.n_systems) else [],
        "pair_url": f"{query.address()}&format=csv",
    }
    return render(request, "comparisons/head_to_head.html", context)


TABLES = ("ranks", "tau", "figures", "map")


@require_safe
def agreement(request: HttpRequest, key: str) -> HttpResponseBase:
    """Charts and figures; `?pin=` marks systems, `?top=` and `?least=` say how many first and last places are compared,
    `?format=csv&table=ranks`, `tau`, `figures` or `map` downloads them."""
    benchmark, audience = readable_benchmark(request.user, key)
    try:
        query = AgreementQuery(
            tuple(dict.fromkeys(pin[:80] for pin in request.GET.getlist("pin")[:MAX_PINNED])),
            request.GET.get("revision", ""),
            Places.of_address(request.GET),
        )
    except PlacesError as error:
        raise BadRequest(str(error)) from error
    publication = publication_asked_for(benchmark, query.revision)
    try:
        page = agreement_page(benchmark, publication, query, audience_level=audience.level) if publication else None
    except TooLargeError as error:
        return render(request, "common/too_large.html", {"benchmark": benchmark, "reason": error}, status=422)
    if page is not None and request.GET.get("format") == "csv":
        table = request.GET.get("table", "ranks")
        if table not in TABLES:
            raise BadRequest(
                gettext("There is no table %(table)s; the tables are %(tables)s.")
                % {"table": repr(table[:40]), "tables": ", ".join(TABLES)}
            )
        rows = {"ranks": _ranks, "tau": _taus, "figures": _figures, "map": _map}[table](page)
        return csv_response(request, f"{key}-{table}", rows)
    why_nothing = published_board(publication).why_nothing_ranked if publication and page is None else ""
    context = {
        "benchmark": benchmark,
        "publication": publication,
        "is_earlier": publication is not None and publication.pk != benchmark.publication_id,
        "revision_query": revision_query(benchmark, publication.revision if publication else None),
        "page": page,
        "why_nothing": as_sentence(in_page_language(why_nothing)),
        "query": query,
        "here": query.address([]),
        "api_url": reverse("api:agreement", args=[key]) + query.address([]).rstrip("?"),
    }
    return render(request, "comparisons/agreement.html", context)


def _ranks(page: AgreementPage) -> Sequence[Sequence[object]]:
    head = ["system", *(column.rule for column in page.columns)]
    return [head, *([system.name, *texts] for system, texts in page.rows)]


def _taus(page: AgreementPage) -> Sequence[Sequence[object]]:
    head = ["rule", *(column.rule for column in page.columns), "mean_with_others"]
    return [head, *([column.rule, *figures, mean] for column, figures, mean in page.tau)]


def _figures(page: AgreementPage) -> Sequence[Sequence[object]]:
    figures = page.figures.rows if page.figures else []
    rows = [{"rule": row.column.rule, "kendall_tau": finite_or_none(row.kendall_tau), **row.values} for row in figures]
    return [list(row) for row in rows[:1]] + [list(row.values()) for row in rows]


def _map(page: AgreementPage) -> Sequence[Sequence[object]]:
    return [["kind", "key", "name", "x", "y"], *(list(row.values()) for row in page.map["members"])]
