"""One rule's leaderboard."""

from dataclasses import replace
from typing import Any

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from leaderboard.access.audience import readable_benchmark
from leaderboard.boards.query import read_query
from leaderboard.boards.rule import build_rule_page
from leaderboard.common.files import export_links
from leaderboard.common.language.engine import rule_name
from leaderboard.common.paging import with_parameters
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.rankings.configuration import has_rule
from leaderboard.rankings.published import UnknownChoiceError
from leaderboard.rankings.revision_parameter import publication_asked_for, revision_query
from leaderboard.rankings.text import POLICY_NAMES
from ranking_engine.catalogue.registry import RULES, get_rule
from ranking_engine.catalogue.variants import rule_of_variant


@require_safe
def rule(request: HttpRequest, key: str, rule_key: str) -> HttpResponse:
    """The systems in the order of one rule, with what it was made from and what it means."""
    benchmark, audience = readable_benchmark(request.user, key)
    query = replace(read_query(request.GET), sort="", reference="")
    benchmark.publication = publication_asked_for(benchmark, request.GET.get("revision", ""))
    if not has_rule(benchmark, rule_key):
        raise Http404(gettext("There is no rule %(rule_key)s.") % {"rule_key": repr(rule_key)})
    publication = benchmark.publication
    at_revision = revision_query(benchmark, publication.revision if publication else None)
    try:
        page = build_rule_page(
            audience, query, rule_key, lambda system: reverse("system", args=[key, system]) + at_revision
        )
    except UnknownChoiceError as error:
        raise BadRequest(str(error)) from error
    except TooLargeError as error:
        return render(request, "common/too_large.html", {"benchmark": benchmark, "reason": error}, status=422)
    about = get_rule(rule_key)
    context: dict[str, Any] = {
        "benchmark": benchmark,
        "rule": {"name": rule_name(rule_key), "summary": gettext(about.summary), "source": gettext(about.source)},
        "catalogue_rule": RULES[rule_of_variant(rule_key)],
        "page": page,
    }
    if page is None:
        return render(request, "boards/rule.html", context)
    board = page.board

    def address(name: str, *arguments: str, **parameters: object) -> str:
        fields: dict[str, object] = {"q": query.q, "policy": query.policy, "aggregation": query.aggregation}
        fields |= {"revision": query.revision or ""} | parameters
        return with_parameters(reverse(name, args=[key, *arguments]), **fields)

    context |= {
        "policy_name": POLICY_NAMES[board.policy],
        "board_url": address("board", reference=rule_key),
        "newest_url": reverse("rule", args=[key, rule_key]),
        "others": [
            {"name": column.name, "url": address("rule", column.rule), "is_active": column.rule == rule_key}
            for column in [*board.columns, *board.undefined]
        ],
        "downloads": export_links(
            key,
            "ranks",
            rule=rule_key,
            q=query.q,
            policy=query.policy,
            aggregation=query.aggregation,
            revision=query.revision,
        ),
        "pages": {
            "number": board.page,
            "n_pages": board.n_pages,
            "previous_url": address("rule", rule_key, page=board.page - 1) if board.page > 1 else "",
            "next_url": address("rule", rule_key, page=board.page + 1) if board.page < board.n_pages else "",
        },
    }
    return render(request, "boards/rule.html", context)
