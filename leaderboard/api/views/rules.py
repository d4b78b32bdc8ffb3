"""The catalogue of rules."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api import payloads, shapes
from leaderboard.api.negotiation import TABLES
from leaderboard.api.openapi import PAGING, TABLE_FORMAT, reading
from leaderboard.api.pagination import cut_sorted, next_url, window
from leaderboard.api.views.base import ApiView
from leaderboard.services.table_files import listed_sheet
from ranking_engine import RULES
from ranking_engine import __version__ as engine_version

COLUMNS = ("key", "name", "family", "summary", "needs_complete", "tie_convention", "source")


class Rules(ApiView):
    """Every rule."""

    renderer_classes = TABLES

    @extend_schema(
        operation_id="rules",
        summary="List the rules",
        tags=["rankings"],
        parameters=[TABLE_FORMAT, *PAGING],
        responses=reading(shapes.RuleList, table=f"{', '.join(COLUMNS)}."),
    )
    def get(self, request: Request) -> Response:
        """What each rule is called, means and needs, by key."""
        if self.file_format:
            rows = [payloads.rule(RULES[key]) for key in sorted(RULES)]
            sheet = listed_sheet("rules", f"Ranking rules of engine {engine_version}.", COLUMNS, rows)
            return self.named_file(self.answer(lambda: self.written(sheet), is_public=True), sheet.stem)
        page = cut_sorted([RULES[key] for key in sorted(RULES)], window(request.query_params), lambda rule: rule.key)
        found = {
            "engine_version": engine_version,
            "next": next_url(request, page),
            "results": [payloads.rule(rule) for rule in page.items],
        }
        return self.answer(lambda: found, is_public=True)
