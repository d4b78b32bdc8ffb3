"""The catalogue of rules."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api import payloads, shapes
from leaderboard.api.openapi import PAGING, reading
from leaderboard.api.pagination import cut_sorted, next_url, window
from leaderboard.api.views.base import ApiView
from ranking_engine import RULES
from ranking_engine import __version__ as engine_version


class Rules(ApiView):
    """Every rule."""

    @extend_schema(
        operation_id="rules",
        summary="List the rules",
        tags=["rankings"],
        parameters=PAGING,
        responses=reading(shapes.RuleList),
    )
    def get(self, request: Request) -> Response:
        """What each rule is called, means and needs, by key."""
        page = cut_sorted([RULES[key] for key in sorted(RULES)], window(request.query_params), lambda rule: rule.key)
        found = {
            "engine_version": engine_version,
            "next": next_url(request, page),
            "results": [payloads.rule(rule) for rule in page.items],
        }
        return self.answer(lambda: found, is_public=True)
