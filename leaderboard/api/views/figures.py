"""Scores and rankings: JSON for programs, CSV for tables."""

import csv
import io
from dataclasses import replace
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api import payloads, shapes
from leaderboard.api.negotiation import CSVRenderer
from leaderboard.api.openapi import AGGREGATION, FORMAT, MISSING, PAGING, REVISION, error, reading
from leaderboard.api.pagination import cut_sorted, next_url, window
from leaderboard.api.problems import ApiError
from leaderboard.api.views.base import BenchmarkView, job_states
from leaderboard.models import Benchmark, Publication
from leaderboard.selectors.scores import BoardSystem, systems_at
from leaderboard.services.columns import (
    Column,
    PublishedBoard,
    TooLargeError,
    board_under,
    published_board,
    separability_of,
)
from leaderboard.services.score_table import score_rows, scores_csv


class FigureView(BenchmarkView):
    """Figures of a published revision, which never change."""

    def figures(self, publication: Publication | None, build: Any, jobs: Any = ()) -> Response:  # noqa: ANN401
        """An answer that depends on nothing but the publication and, where it shows them, the state of its jobs."""
        return self.answer_here(build, state=[publication.pk if publication else None, list(jobs)])

    def table(self, publication: Publication | None, name: str, text: Any, jobs: Any = ()) -> Response:  # noqa: ANN401
        """As `figures`, as a file."""
        response = self.figures(publication, text, jobs)
        number = publication.revision.number if publication else 0
        file = f"{self.benchmark.key}-{name}-r{number}.csv"
        response["Content-Disposition"] = f'attachment; filename="{file}"'
        return response


class Scores(FigureView):
    """The score matrix."""

    renderer_classes = [JSONRenderer, CSVRenderer]

    @extend_schema(
        operation_id="scores",
        summary="Read the scores",
        tags=["systems"],
        parameters=[REVISION, FORMAT, *PAGING],
        responses=reading(shapes.ScorePage, csv="All rows as a scores.csv, which imports again."),
    )
    def get(self, request: Request, key: str) -> Response:
        """Every score of the revision, or why there is none, with the submission that it comes from."""
        publication = self.publication()
        if self.is_csv:
            if publication is None:
                raise ApiError(404, "Nothing is published here yet.")
            return self.table(publication, "scores", lambda: scores_csv(publication.revision))
        wanted = window(request.query_params)
        return self.figures(publication, lambda: self._page(publication, wanted))

    def _page(self, publication: Publication | None, wanted: Any) -> dict[str, Any]:  # noqa: ANN401
        if publication is None:
            return {**payloads.published(None), "tasks": [], "next": None, "results": []}
        revision = publication.revision
        page = cut_sorted(systems_at(revision), wanted, lambda system: system.key)
        rows = score_rows(revision, page.items)
        return {
            **payloads.published(publication),
            "tasks": [task["key"] for task in revision.configuration.content["tasks"]],
            "next": next_url(self.request, page, revision=revision.number),
            "results": [
                {
                    "system": system.key,
                    "name": system.name,
                    "scores": {task: payloads.cell(cell) for task, cell in row.items()},
                }
                for system, row in zip(page.items, rows, strict=True)
            ],
        }


class Rankings(FigureView):
    """Every rule's verdict."""

    @extend_schema(
        operation_id="rankings",
        summary="Compare the rules",
        tags=["rankings"],
        parameters=[REVISION],
        responses=reading(shapes.Rankings),
    )
    def get(self, request: Request, key: str) -> Response:
        """All rules of the revision in the catalogue's order: status, reason, winners."""
        publication = self.published()
        jobs = job_states(publication)

        def build() -> dict[str, Any]:
            systems = systems_at(publication.revision)
            return {
                **payloads.published(publication),
                "missing": publication.revision.configuration.content["missing_policy"],
                "aggregation": publication.revision.configuration.content["aggregation"],
                "jobs": jobs,
                "results": [payloads.column_head(column, systems) for column in published_board(publication).columns],
            }

        return self.figures(publication, build, jobs)


class Ranking(FigureView):
    """One rule's ranking."""

    renderer_classes = [JSONRenderer, CSVRenderer]

    @extend_schema(
        operation_id="ranking",
        summary="Read a ranking",
        tags=["rankings"],
        parameters=[REVISION, MISSING, AGGREGATION, FORMAT],
        responses=reading(shapes.RankingDetail, csv="system, name, rank, score, interval, reason.")
        | {422: error("The board is too large to be ranked on demand; the message says the limit.")},
    )
    def get(self, request: Request, key: str, rule: str) -> Response:
        """Ranks, rule scores, reasons and rank intervals of every system, best first."""
        publication = self.published()
        own = publication.revision.configuration.content
        policy = self._choice("missing", own["missing_policy"], Benchmark.MissingPolicy.values)
        aggregation = self._choice("aggregation", own["aggregation"], Benchmark.Aggregation.values)
        jobs = job_states(publication)
        if self.is_csv:

            def text() -> str:
                column, systems, _ = self._column(publication, rule, policy, aggregation)
                return _csv(column, systems)

            return self.table(publication, rule, text, jobs)

        def build() -> dict[str, Any]:
            column, systems, board = self._column(publication, rule, policy, aggregation)
            told_apart = separability_of(board, column)
            return {
                **payloads.published(publication),
                **payloads.column_head(column, systems),
                "missing": policy,
                "aggregation": aggregation,
                "jobs": jobs,
                "intervals": payloads.intervals(board),
                "separability": told_apart.text or None,
                "results": payloads.column_rows(column, systems, told_apart),
            }

        return self.figures(publication, build, jobs)

    def _choice(self, name: str, own: str, known: list[str]) -> str:
        """What the address asks for, or the revision's own."""
        chosen = str(self.request.query_params.get(name, "") or own)
        if chosen not in known:
            raise ApiError(400, f"`{name}` is {chosen[:40]!r}; expected one of {', '.join(known)}.")
        return chosen

    def _column(
        self, publication: Publication, rule: str, policy: str, aggregation: str
    ) -> tuple[Column, list[BoardSystem], PublishedBoard]:
        board = published_board(publication)
        systems = systems_at(publication.revision)
        stored = publication.revision.configuration.content
        if systems and (policy, aggregation) != (stored["missing_policy"], stored["aggregation"]):
            try:
                names = [system.name for system in systems]
                board = board_under(board, policy, aggregation, names, self.audience.level)
            except TooLargeError as problem:
                raise ApiError(422, str(problem)) from problem
            board = replace(board, study=None)
        column = next((column for column in board.columns if column.rule == rule), None)
        if column is None:
            known = ", ".join(column.rule for column in board.columns) or "none"
            raise Http404(f"No rule {rule!r} is on this board; there are: {known}.")
        return column, systems, board


def _csv(column: Column, systems: list[BoardSystem]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["system", "name", "rank", "score", "interval_least", "interval_greatest", "reason"])
    for row in payloads.column_rows(column, systems):
        score = "" if row["score"] is None else repr(row["score"])
        least, greatest = row["interval"] or ("", "")
        writer.writerow([row["system"], row["name"], row["rank"] or "", score, least, greatest, row["reason"] or ""])
    return out.getvalue()
