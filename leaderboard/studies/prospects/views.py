"""Who can win under which weights, and under conditions on them."""

from dataclasses import replace
from typing import Any

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from leaderboard.access.audience import readable_benchmark
from leaderboard.common.citations import cite_figure
from leaderboard.common.text import whole_number
from leaderboard.on_demand.allowance import may_ask
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.revision_parameter import publication_asked_for, revision_query
from leaderboard.rankings.revisions import visible_hash
from leaderboard.studies.prospects.conditions import (
    answer,
    choices,
    problem_text,
    read_form,
    rule_choices,
)
from leaderboard.studies.prospects.links import ProspectsLinks
from leaderboard.studies.prospects.page import (
    ALL,
    ProspectsQuery,
    key_of_system,
    prospects_page,
    waiting_for,
)
from leaderboard.studies.prospects.stored import stored_prospects
from leaderboard.studies.prospects.text import VERDICT_WORDS
from ranking_engine.prospects import ConditionError


@require_safe
def prospects(request: HttpRequest, key: str) -> HttpResponse:
    """Every system's verdict with its evidence; with conditions in the address, who can win under them."""
    benchmark, audience = readable_benchmark(request.user, key)
    publication = publication_asked_for(benchmark, request.GET.get("revision", ""))
    context: dict[str, Any] = {"benchmark": benchmark, "publication": publication}
    if publication is None:
        return render(request, "studies/prospects/prospects.html", context)
    if system_key := key_of_system(publication, request.GET.get("system", "")):
        address = reverse("system", args=[key, system_key]) + revision_query(benchmark, publication.revision)
        return redirect(f"{address}#prospects")
    verdict, page_number = request.GET.get("verdict", ""), whole_number(request.GET.get("page", "1"), 7)
    if verdict not in ("", ALL, *VERDICT_WORDS):
        raise BadRequest(
            gettext("There is no verdict %(verdict)s; there are %(verdict_words)s.")
            % {"verdict": repr(verdict[:40]), "verdict_words": ", ".join(VERDICT_WORDS)}
        )
    query = ProspectsQuery(
        q=(request.GET.get("q") or request.GET.get("system", "")).strip()[:200],
        verdict=verdict,
        all_tasks=request.GET.get("all_tasks") == "1",
        page=page_number if page_number is not None else 1,
    )
    page, context["reason"] = prospects_page(publication, query)
    is_waiting = page is None and not context["reason"]
    context |= {"page": page, "query": query, "waiting": waiting_for(publication) if is_waiting else None}
    form = read_form(request.GET, publication.revision)
    if form.is_asked:
        if not may_ask(request):
            return render(request, "429.html", status=429)
        try:
            if form.conditions is not None:
                stored, _ = stored_prospects(publication)
                context["answer"] = answer(publication.revision, form, stored, audience_level=audience.level)
        except ConditionError as error:
            form = replace(form, problem=problem_text(error), conditions=None)
        except TooLargeError as error:
            context_of_error = {"benchmark": benchmark, "reason": error}
            return render(request, "common/too_large.html", context_of_error, status=422)
    context["form"] = form
    if page is not None:
        voting = page.stored.prospects.tasks
        names = configuration_of(publication.revision).task_names
        examples = [names[task] for task in voting[:2]]  # with the benchmark's own tasks
        parameters = request.GET.copy()
        parameters["revision"] = str(publication.revision.number)
        context |= {
            "citation": cite_figure(
                benchmark,
                publication,
                gettext("who can win under which weights of the tasks"),
                request.build_absolute_uri(f"{request.path}?{parameters.urlencode()}"),
                visible_hash(publication.revision, audience),
                part="prospects",
            ),
            "links": ProspectsLinks(benchmark, publication, query, page),
            "choices": choices(publication.revision, voting),
            "rules": rule_choices().items(),
            "example_sum": " + ".join(examples),
            "example_order": " >= ".join(examples) if len(examples) > 1 else f"{examples[0]} <= 50%",
            "example_task": examples[0],
        }
    return render(request, "studies/prospects/prospects.html", context)
