"""Ranks by single instances."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api import instance_shapes, payloads
from leaderboard.api.openapi import REVISION, reading
from leaderboard.api.views.figures import FigureView
from leaderboard.services.instances_page import InstancesPage, instances_page
from ranking_engine.instances import AGGREGATIONS


class Instances(FigureView):
    """What the scores of single instances say."""

    @extend_schema(
        operation_id="instances",
        summary="Read the ranks by single instances",
        tags=["rankings"],
        parameters=[REVISION],
        responses=reading(instance_shapes.Instances),
    )
    def get(self, request: Request, key: str) -> Response:
        """Ranks on two levels, on one and by the mean, and which neighbours of the board can be told apart."""
        publication = self.published()
        page = instances_page(publication)
        return self.figures(
            publication, lambda: {**payloads.published(publication), **_content(page)}, [page.state, page.reason]
        )


def _content(page: InstancesPage) -> dict[str, Any]:
    return {
        "state": page.state,
        "reason": page.reason,
        "parameters": page.parameters or {},
        "tasks": [{name: value for name, value in task.items() if name != "name"} for task in page.tasks],
        "neighbours_under": page.rule,
        "neighbours": [
            {
                "systems": [row.first.key, row.second.key],
                "difference": payloads.number(row.difference),
                "lower": payloads.number(row.lower),
                "upper": payloads.number(row.upper),
                "n_common": row.n_common,
                "p_adjusted": row.p_adjusted,
                "verdict": row.verdict,
            }
            for row in page.neighbours
        ],
        "results": [
            {
                "system": row.key,
                "name": row.name,
                "n_instances": row.n_instances,
                **{
                    key: {"rank": cell["rank"], "score": cell["score"]}
                    for key, cell in zip(AGGREGATIONS, row.cells, strict=True)
                },
            }
            for row in page.rows
        ],
    }
