"""Benchmarks, their tasks and systems."""

from collections.abc import Callable
from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api import payloads, shapes
from leaderboard.api.negotiation import TABLES
from leaderboard.api.openapi import NAME_QUERY, PAGING, REVISION, TABLE_FORMAT, reading
from leaderboard.api.pagination import cut_sorted, next_url, window
from leaderboard.api.views.base import ApiView, BenchmarkView, job_states
from leaderboard.models import Benchmark as BenchmarkRow
from leaderboard.models import Publication
from leaderboard.models import System as SystemRow
from leaderboard.selectors.audience import Audience, Viewer
from leaderboard.selectors.scores import BoardSystem, systems_at
from leaderboard.selectors.systems import about_systems
from leaderboard.services.columns import published_board
from leaderboard.services.configuration import configuration_content
from leaderboard.services.filters import is_called
from leaderboard.services.listing import lines, matching
from leaderboard.services.masks import masked, seen_systems
from leaderboard.services.score_table import score_rows
from leaderboard.services.table_files import listed_sheet

TASK_COLUMNS = (
    "key", "name", "group", "metric", "unit", "direction", "weight", "minimum", "maximum", "chance", "precision",
    "cluster",
)  # fmt: skip
SYSTEM_COLUMNS = ("system", "name", "organisation", "url", "description", "tags")


class Benchmarks(ApiView):
    """The benchmarks that the user may know of."""

    @extend_schema(
        operation_id="benchmarks",
        summary="List benchmarks",
        tags=["benchmarks"],
        parameters=[
            OpenApiParameter("search", str, description="Only those whose name or first line says this."),
            OpenApiParameter("tag", str, description="Only those with this tag."),
            *PAGING,
        ],
        responses=reading(shapes.BenchmarkPage),
    )
    def get(self, request: Request) -> Response:
        """The public benchmarks, and with a token those that its user is a member of, by key."""
        query = request.query_params
        found = matching(
            request.user, query=query.get("search", "").strip()[:200], tag=query.get("tag", "").strip()[:80]
        )
        page = cut_sorted(found, window(query), lambda benchmark: benchmark.key)

        def build() -> dict[str, Any]:
            results = [payloads.listed_benchmark(line) for line in lines(request.user, list(page.items))]
            return {"next": next_url(request, page), "results": results}

        return self.answer(build, is_public=True)


class Benchmark(BenchmarkView):
    """One benchmark."""

    is_open_to_restricted = True

    @extend_schema(
        operation_id="benchmark",
        summary="Read a benchmark",
        tags=["benchmarks"],
        responses=reading(shapes.BenchmarkDetail),
    )
    def get(self, request: Request, key: str) -> Response:
        """What a benchmark says of itself, and where its board stands."""
        return self.answer_here(lambda: benchmark_content(self.benchmark, self.audience, request.user))


def benchmark_content(benchmark: BenchmarkRow, seeing: Audience, viewer: Viewer) -> dict[str, Any]:
    """A benchmark as `viewer`, who is `seeing` to it, may see it."""
    publication = benchmark.publication
    board = published_board(publication) if publication and not seeing.is_restricted else None
    hidden = {"input_hash": None} if seeing.is_restricted else {}
    jobs = [job | {"error": ""} if seeing.is_restricted else job for job in job_states(publication)]
    return {
        **payloads.benchmark_about(benchmark),
        **payloads.published(publication),
        **hidden,
        "last_revision": benchmark.last_revision_number,
        "is_computing": benchmark.last_revision_number > benchmark.published_number,
        **payloads.board_facts(board),
        "may_submit": seeing.may_submit,
        "jobs": jobs,
    }


class Tasks(BenchmarkView):
    """The tasks of a benchmark."""

    renderer_classes = TABLES
    is_open_to_restricted = True

    @extend_schema(
        operation_id="tasks",
        summary="List a benchmark's tasks",
        tags=["benchmarks"],
        parameters=[REVISION, TABLE_FORMAT, *PAGING],
        responses=reading(shapes.TaskPage, table=f"{', '.join(TASK_COLUMNS)}."),
    )
    def get(self, request: Request, key: str) -> Response:
        """The tasks as they were at the revision, by key; the present ones while nothing is published."""
        publication = self.publication()
        content = (
            publication.revision.configuration.content if publication else configuration_content(self.benchmark)
        )
        tasks = sorted((payloads.task(entry) for entry in content["tasks"]), key=lambda task: str(task["key"]))
        if self.file_format:
            sheet = listed_sheet(f"{self.benchmark.key}-tasks", f"{self.benchmark.name}: tasks.", TASK_COLUMNS, tasks)
            return self.named_file(self.answer_here(lambda: self.written(sheet)), sheet.stem)
        page = cut_sorted(tasks, window(request.query_params), lambda task: task["key"])
        number = publication.revision.number if publication else None
        found = {
            "revision": number,
            "groups": content["groups"],
            "next": next_url(request, page, revision=number),
            "results": page.items,
        }
        return self.answer_here(lambda: found)


class Systems(BenchmarkView):
    """The systems of a benchmark."""

    renderer_classes = TABLES
    is_open_to_restricted = True

    @extend_schema(
        operation_id="systems",
        summary="List a benchmark's systems",
        tags=["systems"],
        parameters=[REVISION, NAME_QUERY, TABLE_FORMAT, *PAGING],
        responses=reading(shapes.SystemPage, table=f"{', '.join(SYSTEM_COLUMNS)}."),
    )
    def get(self, request: Request, key: str) -> Response:
        """The systems on the board of the revision, by key."""
        publication = self.publication()
        wanted, words = window(request.query_params), request.query_params.get("q", "").strip()[:200]
        systems = systems_at(publication.revision) if publication else []
        seen = seen_systems(systems, self.audience, self.own)
        systems = [system for system in seen if is_called(system, words)]
        if self.file_format:
            rows = [row | {"tags": " ".join(row["tags"])} for row in _about(systems, self._is_told)]
            sheet = listed_sheet(
                f"{self.benchmark.key}-systems", f"{self.benchmark.name}: systems.", SYSTEM_COLUMNS, rows
            )
            return self.named_file(self.answer_here(lambda: self.written(sheet)), sheet.stem)
        page = cut_sorted(systems, wanted, lambda system: system.key)
        number = publication.revision.number if publication else None
        found = {
            **self.stamp(publication),
            "next": next_url(request, page, revision=number),
            "results": _about(list(page.items), self._is_told),
        }
        return self.answer_here(lambda: found)

    def _is_told(self, system: BoardSystem) -> bool:
        return self.audience.sees_names or system.id in self.own


class System(BenchmarkView):
    """One system."""

    is_open_to_restricted = True

    @extend_schema(
        operation_id="system",
        summary="Read a system",
        tags=["systems"],
        parameters=[REVISION],
        responses=reading(shapes.SystemDetail),
    )
    def get(self, request: Request, key: str, system_key: str) -> Response:
        """A system's scores, and its rank under every rule with interval or reason."""
        publication = self.published()
        systems = systems_at(publication.revision)
        place = next((i for i, system in enumerate(systems) if system.key == system_key), None)
        if place is None or (self.audience.is_restricted and systems[place].id not in self.own):
            raise Http404(f"No system {system_key!r} is on the board of revision {publication.revision.number}.")
        return self.answer_here(lambda: self._content(publication, systems, systems[place]))

    def _content(self, publication: Publication, systems: list[BoardSystem], system: BoardSystem) -> dict[str, Any]:
        board, shown = masked(published_board(publication), systems, self.audience, self.own)
        i = next(place for place, one in enumerate(shown) if one.id == system.id)
        scores = score_rows(publication.revision, [system])[0]
        return {
            **self.stamp(publication),
            **_about([system], lambda system: True)[0],
            "scores": {task: payloads.cell(cell) for task, cell in scores.items()},
            "ranks": [payloads.system_rank(column, i, system) for column in board.columns],
        }


def _about(systems: list[BoardSystem], is_told: Callable[[BoardSystem], bool]) -> list[dict[str, Any]]:
    """What is said of systems; of those that are not told, nothing but what they are called here."""
    about = about_systems([system.id for system in systems])
    entries = []
    for system in systems:
        row = about[system.id] if is_told(system) else SystemRow()
        told = {"organisation": row.organisation, "url": row.url, "description": row.description}
        entries.append({"system": system.key, "name": system.name, **told, "tags": [str(tag) for tag in row.tags]})
    return entries
