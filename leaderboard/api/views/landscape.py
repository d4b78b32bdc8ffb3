"""The properties of rules on a benchmark, and all benchmarks side by side."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api import payloads
from leaderboard.api.openapi import PAGING, REVISION, reading
from leaderboard.api.pagination import cut_sorted, next_url, window
from leaderboard.api.shapes import landscape as shapes
from leaderboard.api.views.base import ApiView
from leaderboard.api.views.figures import FigureView
from leaderboard.computing.rankings import site_rules
from leaderboard.services.axioms import rule_properties
from leaderboard.services.landscape import Bounds, landscape


class RuleProperties(FigureView):
    """Which properties a rule has, and what violates them here."""

    @extend_schema(
        operation_id="rule_properties",
        summary="Read a rule's properties on a benchmark",
        tags=["rankings"],
        parameters=[REVISION],
        responses=reading(shapes.RulePropertiesDetail),
    )
    def get(self, request: Request, key: str, rule: str) -> Response:
        """Every property of the catalogue, with a violation in the benchmark's own scores where one was found."""
        publication = self.published()
        if rule not in site_rules():
            raise Http404(f"There is no rule {rule!r}; there are: {', '.join(site_rules())}.")
        found = rule_properties(publication.revision, rule)
        content: dict[str, Any] = {
            **payloads.published(publication),
            "rule": rule,
            "state": found.state,
            "reason": found.reason,
            "results": [
                {
                    "name": line.name,
                    "definition": line.definition,
                    "holds": line.holds,
                    "source": line.source,
                    "found": line.here,
                    "is_violated": line.is_violated,
                }
                for line in found.lines
            ],
        }
        return self.answer_here(lambda: content)


class Landscape(ApiView):
    """All benchmarks on the diversity-sensitivity plane."""

    @extend_schema(
        operation_id="landscape",
        summary="Compare all benchmarks",
        tags=["benchmarks"],
        parameters=PAGING,
        responses=reading(shapes.LandscapePage),
    )
    def get(self, request: Request) -> Response:
        """How diverse the tasks of each benchmark are, and how far changes that should not matter move its rankings."""
        places = sorted(landscape(request.user).places, key=lambda place: place.key)
        page = cut_sorted(places, window(request.query_params), lambda place: place.key)
        found = {
            "next": next_url(request, page),
            "results": [
                {
                    "key": place.key,
                    "name": place.name,
                    "diversity": place.diversity,
                    "cardinal_sensitivity": _bounds(place.cardinal),
                    "ordinal_sensitivity": _bounds(place.ordinal),
                }
                for place in page.items
            ],
        }
        return self.answer(lambda: found, is_public=True)


def _bounds(found: Bounds | None) -> dict[str, float] | None:
    return None if found is None else {"lower": found.lower, "upper": found.upper}
