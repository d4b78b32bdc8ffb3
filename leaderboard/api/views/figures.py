"""Scores and rankings: JSON for programs, CSV for tables."""

from dataclasses import replace
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api import payloads, shapes
from leaderboard.api.asked import Asked, asked_by_address, asked_by_body
from leaderboard.api.negotiation import TABLES, PreflibRenderer
from leaderboard.api.openapi import (
    AGGREGATION,
    FILTERS,
    GROUP_WEIGHTS,
    LONG,
    MISSING,
    PAGING,
    READING,
    REVISION,
    SCORES_FORMAT,
    TABLE_FORMAT,
    WEIGHTS,
    WEIGHTS_EXAMPLE,
    error,
    reading,
)
from leaderboard.api.pagination import cut_counted, cut_sorted, next_url, window
from leaderboard.api.problems import ApiError
from leaderboard.api.views.base import BenchmarkView
from leaderboard.models import Publication
from leaderboard.selectors.scores import BoardSystem, systems_at
from leaderboard.services.columns import Column, PublishedBoard, board_under, published_board, separability_of
from leaderboard.services.filters import Filters, kept
from leaderboard.services.masks import masked
from leaderboard.services.on_demand import TooLargeError
from leaderboard.services.rank_rows import rank_rows
from leaderboard.services.score_table import score_rows, scores_csv, scores_long_csv
from leaderboard.services.sheets import Origin, SheetError, orders_text, ranks_sheet, scores_sheet
from leaderboard.services.significance import Separability
from leaderboard.services.verdict import camps_of, headline
from leaderboard.services.weights import WeightsError

TOO_LARGE = {422: error("The board is too large to be ranked on demand; the message says the limit.")}
ASKING = {
    400: error("There is no such choice, or the weights cannot be read, or leave nothing to rank."),
    **TOO_LARGE,
    **{status: answer for status, answer in READING.items() if status != 304},
}


class FigureView(BenchmarkView):
    """Figures of a published revision, which never change."""

    def seen_board(self, board: PublishedBoard, publication: Publication) -> tuple[PublishedBoard, list[BoardSystem]]:
        """A board and its systems, in its order, as whoever asks may see them."""
        return masked(board, systems_at(publication.revision), self.audience, self.own)

    def is_seen(self, system: BoardSystem) -> bool:
        """Whether whoever asks may know of this system."""
        return self.audience.sees_others or system.id in self.own

    def figures(self, publication: Publication | None, build: Any, jobs: Any = ()) -> Response:  # noqa: ANN401
        """An answer that depends on nothing but the publication and, where it shows them, the state of its jobs."""
        return self.answer_here(build, state=[publication.pk if publication else None, list(jobs)])

    def table(self, publication: Publication | None, name: str, text: Any, jobs: Any = ()) -> Response:  # noqa: ANN401
        """As `figures`, as a file."""
        number = publication.revision.number if publication else 0
        return self.named_file(self.figures(publication, text, jobs), f"{self.benchmark.key}-{name}-r{number}")


class Scores(FigureView):
    """The score matrix."""

    renderer_classes = [*TABLES, PreflibRenderer]
    is_open_to_restricted = True

    @extend_schema(
        operation_id="scores",
        summary="Read the scores",
        tags=["systems"],
        parameters=[REVISION, SCORES_FORMAT, LONG, *PAGING],
        responses=reading(
            shapes.ScorePage,
            table="All rows; as CSV a scores.csv, which imports again.",
            files=[("text/x-preflib", "The order of every voting task, as often as its weight says.")],
        )
        | {422: error("The weights cannot be told as numbers of voters, or nothing is ordered.")},
    )
    def get(self, request: Request, key: str) -> Response:
        """Every score of the revision, or why there is none, with the submission that it comes from.

        Where owners hide scores, others than moderators get those of their own systems.
        """
        publication = self.publication()
        if self.file_format:
            return self._file(self.published())
        wanted = window(request.query_params)
        return self.figures(publication, lambda: self._page(publication, wanted))

    def _file(self, publication: Publication) -> Response:
        revision = publication.revision
        origin = Origin.of(self.benchmark, revision)
        if self.file_format == PreflibRenderer.format:
            if self.audience.is_restricted:
                raise ApiError(403, "Where scores are hidden, the orders of the tasks are hidden, too.")
            try:
                return self.table(publication, "orders", lambda: orders_text(origin)[0])
            except SheetError as problem:
                raise ApiError(422, str(problem)) from problem
        if self.is_csv:
            write = scores_long_csv if self.truth("long") else scores_csv
            return self.table(publication, "scores", lambda: write(revision, self._only()))
        return self.table(publication, "scores", lambda: self.written(scores_sheet(origin, self._only())))

    def _only(self) -> frozenset[int] | None:
        """The systems whose scores are shown; None for all."""
        return self.own if self.audience.is_restricted else None

    def _page(self, publication: Publication | None, wanted: Any) -> dict[str, Any]:  # noqa: ANN401
        if publication is None:
            return {**payloads.published(None), "tasks": [], "next": None, "results": []}
        revision = publication.revision
        only = self._only()
        systems = [system for system in systems_at(revision) if only is None or system.id in only]
        page = cut_sorted(systems, wanted, lambda system: system.key)
        rows = score_rows(revision, page.items)
        return {
            **self.stamp(publication),
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


class RankedView(FigureView):
    """A view of what the rules say, under the revision's own weights or those that somebody asks for."""

    is_open_to_restricted = True
    reads_by_post = True

    def board(self, publication: Publication, asked: Asked) -> PublishedBoard:
        """What is published, or what was asked for in its place; nothing of it is hidden yet.

        Raises:
            ApiError: the board is too large for an answer on demand, nothing votes, or the owners hide scores, which
                other weights or policies would tell.
        """
        if not asked.is_stored and self.audience.is_restricted:
            raise ApiError(403, "Where scores are hidden, rankings are told as the owners set them, in no other way.")
        board = published_board(publication)
        names = [] if asked.is_stored else [system.name for system in systems_at(publication.revision)]
        if not names:
            return board
        try:
            found = board_under(
                board, asked.policy, asked.aggregation, names, self.audience.level, weights=asked.weights
            )
        except TooLargeError as problem:
            raise ApiError(422, str(problem)) from problem
        except WeightsError as problem:
            raise ApiError(400, str(problem)) from problem
        return replace(found, study=None)


class Rankings(RankedView):
    """Every rule's verdict."""

    @extend_schema(
        operation_id="rankings",
        summary="Compare the rules",
        tags=["rankings"],
        parameters=[REVISION, MISSING, AGGREGATION, WEIGHTS, GROUP_WEIGHTS],
        responses=reading(shapes.Rankings) | TOO_LARGE,
    )
    def get(self, request: Request, key: str) -> Response:
        """All rules of the revision in the catalogue's order: status, reason, winners."""
        publication = self.published()
        asked = asked_by_address(request.query_params, publication.revision.configuration.content)
        jobs = self.job_states(publication)
        return self.figures(publication, lambda: self._verdicts(publication, asked, jobs), jobs)

    @extend_schema(
        operation_id="rankings_under_weights",
        summary="Compare the rules under other weights",
        tags=["rankings"],
        parameters=[REVISION],
        request=shapes.WeightsBody,
        examples=[WEIGHTS_EXAMPLE],
        responses={(200, "application/json"): shapes.Rankings} | ASKING,
    )
    def post(self, request: Request, key: str) -> Response:
        """As GET with weights, which may be too many for an address. Stored nowhere."""
        publication = self.published()
        asked = asked_by_body(request.data, publication.revision.configuration.content)
        return Response(self._verdicts(publication, asked, self.job_states(publication)))

    def _verdicts(self, publication: Publication, asked: Asked, jobs: list[dict[str, Any]]) -> dict[str, Any]:
        board, systems = self.seen_board(self.board(publication, asked), publication)
        return {
            **self.stamp(publication),
            **asked.told,
            "verdict": self._verdict(board),
            "jobs": jobs,
            "results": [payloads.column_head(column, systems) for column in board.columns],
        }


    def _verdict(self, board: PublishedBoard) -> str:
        """The sentence above the board; empty where not all of those that it names may be seen."""
        elects = [column for column in board.columns if column.elects]
        camps = camps_of([(column.name, column.winner_names, column.n_winners) for column in elects])
        return headline(camps, board.facts.get("condorcet_winner")) if self.audience.sees_others else ""


class Ranking(RankedView):
    """One rule's ranking."""

    renderer_classes = TABLES

    @extend_schema(
        operation_id="ranking",
        summary="Read a ranking",
        tags=["rankings"],
        parameters=[REVISION, MISSING, AGGREGATION, WEIGHTS, GROUP_WEIGHTS, *FILTERS, TABLE_FORMAT, *PAGING],
        responses=reading(shapes.RankingDetail, table="system, name, rank, score, intervals, reason.") | TOO_LARGE,
    )
    def get(self, request: Request, key: str, rule: str) -> Response:
        """Ranks, rule scores, reasons and rank intervals of every system, best first; a file has all on one page.

        An interval has the least and the greatest rank if the same tasks were drawn anew with replacement: of each
        system by itself, and of all systems at once. `possibly_best` are the systems that no other is clearly ahead of.

        Where owners hide scores or names, others than moderators get what they see on the board's page.
        """
        publication = self.published()
        asked = asked_by_address(request.query_params, publication.revision.configuration.content)
        jobs, wanted, chosen = self.job_states(publication), window(self.request.query_params), self._filters()
        if self.file_format:

            def text() -> str:
                column, systems, board = self._column(publication, rule, asked)
                rows = self._rows(column, systems, board, chosen)
                origin = Origin.of(self.benchmark, publication.revision)
                return self.written(
                    ranks_sheet(origin, column, rows, policy=asked.policy, aggregation=asked.aggregation)
                )

            return self.table(publication, rule, text, jobs)

        def build() -> dict[str, Any]:
            head, rows = self._ranking(publication, rule, asked, chosen, jobs)
            page = cut_counted(rows, wanted)
            return head | {
                "next": next_url(request, page, revision=publication.revision.number),
                "results": page.items,
            }

        return self.figures(publication, build, jobs)

    @extend_schema(
        operation_id="ranking_under_weights",
        summary="Rank under other weights",
        tags=["rankings"],
        parameters=[REVISION, *FILTERS],
        request=shapes.WeightsBody,
        examples=[WEIGHTS_EXAMPLE],
        responses={(200, "application/json"): shapes.RankingDetail} | ASKING,
    )
    def post(self, request: Request, key: str, rule: str) -> Response:
        """As GET with weights, which may be too many for an address; all on one page. Stored nowhere."""
        publication = self.published()
        asked = asked_by_body(request.data, publication.revision.configuration.content)
        head, rows = self._ranking(publication, rule, asked, self._filters(), self.job_states(publication))
        return Response(head | {"next": None, "results": rows})

    def _ranking(
        self, publication: Publication, rule: str, asked: Asked, chosen: Filters, jobs: list[dict[str, Any]]
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        column, systems, board = self._column(publication, rule, asked)
        told_apart = separability_of(board, column)
        head = {
            **self.stamp(publication),
            **payloads.column_head(column, systems),
            **asked.told,
            "jobs": jobs,
            "intervals": payloads.intervals(board, column),
            "separability": told_apart.text or None,
        }
        return head, self._rows(column, systems, board, chosen, told_apart)

    def _filters(self) -> Filters:
        top = self.request.query_params.get("top", "")
        if top and not (top.isascii() and top.isdigit() and len(top) < 7):
            raise ApiError(400, f"`top` is {top[:40]!r}; expected a whole number.")
        query = self.request.query_params
        return Filters(
            query=query.get("q", "").strip()[:200],
            organisation=query.get("organisation", "").strip()[:200],
            tag=query.get("tag", "").strip()[:80],
            is_complete=self.truth("complete"),
            top=int(top) if top else None,
        )

    def _rows(
        self,
        column: Column,
        systems: list[BoardSystem],
        board: PublishedBoard,
        chosen: Filters,
        told_apart: Separability | None = None,
    ) -> list[dict[str, Any]]:
        """The rows that are asked for, of the systems that whoever asks may know of, under the names they may see."""
        keep = kept(systems, board, column, chosen, knows_about=self.audience.sees_names)
        places = {system.key: i for i, system in enumerate(systems)}
        rows = rank_rows(column, systems, told_apart)
        return [row for row in rows if self.is_seen(systems[places[row["system"]]]) and places[row["system"]] in keep]

    def _column(
        self, publication: Publication, rule: str, asked: Asked
    ) -> tuple[Column, list[BoardSystem], PublishedBoard]:
        board = self.board(publication, asked)
        board, systems = masked(board, systems_at(publication.revision), self.audience, self.own)
        column = next((column for column in board.columns if column.rule == rule), None)
        if column is None:
            known = ", ".join(column.rule for column in board.columns) or "none"
            raise Http404(f"No rule {rule!r} is on this board; there are: {known}.")
        return column, systems, board
