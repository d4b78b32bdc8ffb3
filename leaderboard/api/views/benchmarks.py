"""Benchmarks, their tasks and systems."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api import payloads, shapes
from leaderboard.api.openapi import PAGING, REVISION, reading
from leaderboard.api.pagination import cut_sorted, next_url, window
from leaderboard.api.views.base import ApiView, BenchmarkView, job_states
from leaderboard.models import Publication
from leaderboard.selectors.scores import BoardSystem, systems_at
from leaderboard.selectors.systems import about_systems
from leaderboard.services.columns import published_board
from leaderboard.services.configuration import configuration_content
from leaderboard.services.listing import lines, matching
from leaderboard.services.score_table import score_rows


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
        benchmark, publication = self.benchmark, self.benchmark.publication

        def build() -> dict[str, Any]:
            board = published_board(publication) if publication and not self.audience.is_restricted else None
            return {
                **payloads.benchmark_about(benchmark),
                **payloads.published(publication),
                "last_revision": benchmark.last_revision_number,
                "is_computing": benchmark.last_revision_number > benchmark.published_number,
                **payloads.board_facts(board),
                "may_submit": self.audience.may_submit,
                "jobs": job_states(publication),
            }

        return self.answer_here(build)


class Tasks(BenchmarkView):
    """The tasks of a benchmark."""

    is_open_to_restricted = True

    @extend_schema(
        operation_id="tasks",
        summary="List a benchmark's tasks",
        tags=["benchmarks"],
        parameters=[REVISION, *PAGING],
        responses=reading(shapes.TaskPage),
    )
    def get(self, request: Request, key: str) -> Response:
        """The tasks as they were at the revision, by key; the present ones while nothing is published."""
        publication = self.publication()
        content = (
            publication.revision.configuration.content if publication else configuration_content(self.benchmark)
        )
        tasks = sorted((payloads.task(entry) for entry in content["tasks"]), key=lambda task: str(task["key"]))
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

    @extend_schema(
        operation_id="systems",
        summary="List a benchmark's systems",
        tags=["systems"],
        parameters=[REVISION, *PAGING],
        responses=reading(shapes.SystemPage),
    )
    def get(self, request: Request, key: str) -> Response:
        """The systems on the board of the revision, by key."""
        publication = self.publication()
        wanted = window(request.query_params)
        systems = systems_at(publication.revision) if publication else []
        page = cut_sorted(systems, wanted, lambda system: system.key)
        number = publication.revision.number if publication else None
        found = {
            **payloads.published(publication),
            "next": next_url(request, page, revision=number),
            "results": _about(list(page.items)),
        }
        return self.answer_here(lambda: found)


class System(BenchmarkView):
    """One system."""

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
        if place is None:
            raise Http404(f"No system {system_key!r} is on the board of revision {publication.revision.number}.")
        return self.answer_here(lambda: _system(publication, systems, place))


def _system(publication: Publication, systems: list[BoardSystem], i: int) -> dict[str, Any]:
    board = published_board(publication)
    scores = score_rows(publication.revision, [systems[i]])[0]
    return {
        **payloads.published(publication),
        **_about([systems[i]])[0],
        "scores": {task: payloads.cell(cell) for task, cell in scores.items()},
        "ranks": [payloads.system_rank(column, i, systems[i]) for column in board.columns],
    }


def _about(systems: list[BoardSystem]) -> list[dict[str, Any]]:
    about = about_systems([system.id for system in systems])
    return [
        {
            "system": system.key,
            "name": system.name,
            "organisation": about[system.id].organisation,
            "url": about[system.id].url,
            "description": about[system.id].description,
            "tags": [str(tag) for tag in about[system.id].tags],
        }
        for system in systems
    ]
