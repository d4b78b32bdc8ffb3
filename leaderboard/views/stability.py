"""How far the rankings of a benchmark can be trusted: every study, with its plot and its table."""

from dataclasses import replace
from urllib.parse import urlencode

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from leaderboard.selectors.audience import readable_benchmark
from leaderboard.services.dependence import published_dependence
from leaderboard.services.interval_section import interval_section
from leaderboard.services.stability_page import marked_rule, stability_sections, study_arrays
from leaderboard.views.downloads import export_links
from leaderboard.views.publications import publication_asked_for
from ranking_engine import RULES
from ranking_engine.stability import catalogue


@require_safe
def stability(request: HttpRequest, key: str) -> HttpResponse:
    """Every study of what is published; `?rule=` says which rule the charts mark."""
    benchmark, audience = readable_benchmark(request.user, key)
    publication = publication_asked_for(benchmark, request.GET.get("revision", ""))
    try:
        marked = marked_rule(benchmark, request.GET.get("rule", ""))
    except ValueError as error:
        raise BadRequest(str(error)) from error
    sections = stability_sections(benchmark, publication, marked) if publication else []
    stated = {} if publication is None or publication.pk == benchmark.publication_id else {
        "revision": publication.revision.number
    }
    path = reverse("stability", args=[key])
    rules = dict.fromkeys(row.key for section in sections if section.findings and section.findings.is_by_rule
                          for row in section.findings.rows)
    context = {
        "benchmark": benchmark,
        "publication": publication,
        "intervals": interval_section(publication, marked) if publication else None,
        "sections": [
            replace(section, downloads=export_links(key, "studies", study=section.state.key, **stated))
            for section in sections
        ],
        "dependence": published_dependence(publication),
        "marked": RULES[marked],
        "rules": [
            {
                "name": RULES[rule].name,
                "url": f"{path}?{urlencode({'rule': rule} | stated)}",
                "is_active": rule == marked,
            }
            for rule in rules
        ],
        "downloads": export_links(key, "studies", **stated),
        "revision_query": f"?{urlencode(stated)}" if stated else "",
        "may_administer": audience.may_administer,
    }
    return render(request, "leaderboard/stability.html", context)


@require_safe
def distribution(request: HttpRequest, key: str, study: str) -> HttpResponse:
    """The whole distribution of a study as a compressed .npz file of arrays."""
    benchmark, _ = readable_benchmark(request.user, key)
    publication = publication_asked_for(benchmark, request.GET.get("revision", ""))
    packed = study_arrays(publication, study) if publication and study in catalogue.STUDIES else None
    if packed is None or publication is None:
        raise Http404(f"There is no study {study!r} of this revision.")
    response = HttpResponse(packed, content_type="application/zip")
    name = f"{benchmark.key}-revision-{publication.revision.number}-{study}.npz"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
