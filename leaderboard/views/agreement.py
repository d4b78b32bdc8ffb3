"""How far the rules agree: ranks as lines, and the agreement of every two rules."""

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard.charts.rank_lines import MAX_PINNED
from leaderboard.selectors.audience import readable_benchmark
from leaderboard.services.agreement_page import AgreementPage, AgreementQuery, agreement_page
from leaderboard.views.downloads import csv_response
from leaderboard.views.publications import publication_asked_for

TABLES = ("ranks", "tau")


@require_safe
def agreement(request: HttpRequest, key: str) -> HttpResponse:
    """Both charts; `?pin=` marks systems, `?format=csv&table=ranks` or `tau` downloads what they show."""
    benchmark, _ = readable_benchmark(request.user, key)
    query = AgreementQuery(
        tuple(dict.fromkeys(pin[:80] for pin in request.GET.getlist("pin")[:MAX_PINNED])),
        request.GET.get("revision", ""),
    )
    publication = publication_asked_for(benchmark, query.revision)
    page = agreement_page(benchmark, publication, query) if publication else None
    if page is not None and request.GET.get("format") == "csv":
        table = request.GET.get("table", "ranks")
        if table not in TABLES:
            raise BadRequest(f"There is no table {table[:40]!r}; there are {', '.join(TABLES)}.")
        return csv_response(f"{key}-{table}", _ranks(page) if table == "ranks" else _taus(page))
    context = {
        "benchmark": benchmark,
        "publication": publication,
        "is_earlier": publication is not None and publication.pk != benchmark.publication_id,
        "page": page,
        "here": query.address([]),
    }
    return render(request, "leaderboard/agreement.html", context)


def _ranks(page: AgreementPage) -> list[list[str]]:
    head = ["system", *(column.rule for column in page.columns)]
    return [head, *([system.name, *texts] for system, texts in page.rows)]


def _taus(page: AgreementPage) -> list[list[str]]:
    head = ["rule", *(column.rule for column in page.columns), "mean_with_others"]
    return [head, *([column.rule, *figures, mean] for column, figures, mean in page.tau)]
