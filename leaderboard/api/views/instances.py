"""Ranks by single instances."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api import payloads
from leaderboard.api.negotiation import CSVRenderer
from leaderboard.api.openapi import FORMAT, PAGING, REVISION, error, reading
from leaderboard.api.pagination import Window, cut_counted, cut_sorted, next_url, window
from leaderboard.api.problems import ApiError
from leaderboard.api.shapes import instances as shapes
from leaderboard.api.views.figures import FigureView
from leaderboard.models import Publication
from leaderboard.services.instance_tables import TaskInstances, instance_lines, task_instances
from leaderboard.services.instances_page import InstancesPage, instances_page
from leaderboard.services.table_files import csv_text
from ranking_engine.instances import AGGREGATIONS

SCORES_A_PAGE, SCORES_A_FILE = 100_000, 1_000_000


class Instances(FigureView):
    """What the scores of single instances say."""

    @extend_schema(
        operation_id="instances",
        summary="Read the ranks by single instances",
        tags=["rankings"],
        parameters=[REVISION, *PAGING],
        responses=reading(shapes.Instances),
    )
    def get(self, request: Request, key: str) -> Response:
        """Ranks on two levels, on one and by the mean, and which neighbours of the board can be told apart."""
        publication, wanted = self.published(), window(request.query_params)
        page = instances_page(publication)

        def build() -> dict[str, Any]:
            content = _content(page)
            part = cut_counted(content["results"], wanted)
            following = next_url(request, part, revision=publication.revision.number)
            return {**payloads.published(publication), **content, "next": following, "results": part.items}

        return self.figures(publication, build, [page.state, page.reason])


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


class InstanceScores(FigureView):
    """The scores of single instances themselves."""

    renderer_classes = [JSONRenderer, CSVRenderer]

    @extend_schema(
        operation_id="instance_scores",
        summary="Read the scores of single instances",
        tags=["systems"],
        parameters=[REVISION, FORMAT, *PAGING],
        responses=reading(
            shapes.InstanceScorePage, csv="system, task, instance, score: a line each, which can be submitted again."
        )
        | {422: error("There are more scores than are sent as one file.")},
    )
    def get(self, request: Request, key: str, task: str) -> Response:
        """Of one task every system's score on every instance. A page has at most 100,000 scores."""
        publication, wanted = self.published(), window(request.query_params)
        entries = publication.revision.configuration.content["tasks"]
        entry = next((one for one in entries if one["key"] == task), None)
        if entry is None:
            raise Http404(f"There is no task {task[:80]!r} at revision {publication.revision.number}.")
        found = task_instances(publication.revision, entry)
        if not self.file_format:
            return self.figures(publication, lambda: self._page(publication, found, wanted))
        size = len(found.names) * len(found.rows)
        if size > SCORES_A_FILE:
            raise ApiError(422, f"There are {size:,} scores; up to {SCORES_A_FILE:,} are sent as one file.")
        return self.table(publication, f"{task}-instances", lambda: csv_text(instance_lines(found)))

    def _page(self, publication: Publication, found: TaskInstances, wanted: Window) -> dict[str, Any]:
        size = max(1, min(wanted.size, SCORES_A_PAGE // max(1, len(found.names))))
        page = cut_sorted(found.rows, Window(wanted.after, size), lambda row: row.system.key)
        return {
            **payloads.published(publication),
            "task": found.task["key"],
            "instances": found.names,
            "n_other_set": found.n_other_set,
            "next": next_url(self.request, page, revision=publication.revision.number),
            "results": [
                {
                    "system": row.system.key,
                    "name": row.system.name,
                    "submission": row.submission,
                    "scores": row.values,
                }
                for row in page.items
            ],
        }
