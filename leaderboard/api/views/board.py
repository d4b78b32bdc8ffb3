"""The board as its page shows it: systems by rules, filtered and sorted by the same parameters."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.negotiation import TABLES
from leaderboard.api.openapi import AGGREGATION, NAME_QUERY, PAGING, REVISION, TABLE_FORMAT, error, reading
from leaderboard.api.pagination import cut_counted, next_url, window
from leaderboard.api.problems import ApiError
from leaderboard.api.shapes import changes as shapes
from leaderboard.api.views.figures import FigureView
from leaderboard.models import Benchmark
from leaderboard.services.board import Board as BoardView
from leaderboard.services.board import build_board
from leaderboard.services.board_exports import FORMATS, board_content
from leaderboard.services.board_filters import UnknownChoiceError
from leaderboard.services.board_query import read_query
from leaderboard.services.on_demand import TooLargeError
from ranking_engine import TIES

VIEW = [
    OpenApiParameter("sort", str, description="A rule, `name`, `median_rank` or `tasks`; with a minus the other way."),
    OpenApiParameter("reference", str, description="The rule that changes are told against."),
    OpenApiParameter("policy", enum=Benchmark.MissingPolicy.values, description="Another missing-score policy."),
    AGGREGATION,
    OpenApiParameter("ties", enum=list(TIES), description="Another tie convention within a task."),
    OpenApiParameter("rule", str, many=True, description="Only these rules."),
    OpenApiParameter("family", str, many=True, description="Only rules of these families."),
    NAME_QUERY,
    OpenApiParameter("tag", str, many=True, description="Only systems with all of these tags."),
]


class Board(FigureView):
    """The board."""

    renderer_classes = TABLES
    is_open_to_restricted = True

    @extend_schema(
        operation_id="board",
        summary="Read the board",
        tags=["rankings"],
        parameters=[REVISION, *VIEW, TABLE_FORMAT, *PAGING],
        responses=reading(shapes.BoardDetail, table="system, its rank and score under every rule.")
        | {422: error("The board is too large for an answer on demand; the message says the limit.")},
    )
    def get(self, request: Request, key: str) -> Response:
        """Every system under every rule, with the verdict that stands above the board; parameters as on its page.

        Where owners hide scores or names, others than moderators get what they see there.
        """
        publication = self.published()
        self.benchmark.publication = publication
        wanted = window(request.query_params)
        try:
            board = build_board(
                self.benchmark, self.audience, read_query(request.query_params), self.own, is_whole=True
            )
        except UnknownChoiceError as problem:
            raise ApiError(400, str(problem)) from problem
        except TooLargeError as problem:
            raise ApiError(422, str(problem)) from problem
        if board is None:
            raise ApiError(404, "No rule ranks here yet.")
        if self.file_format:
            response = self.answer_here(lambda: FORMATS[self.file_format][1](board, self.benchmark.name))
            return self.named_file(response, f"{self.benchmark.key}-board-r{publication.revision.number}")
        return self.answer_here(lambda: self._content(board, wanted))

    def _content(self, board: BoardView, wanted: Any) -> dict[str, Any]:  # noqa: ANN401 -- a Window
        content = board_content(board, self.benchmark.name)
        page = cut_counted(content["systems"], wanted)
        return {
            **content,
            **self.stamp(self.benchmark.publication),
            "verdict": board.sentence,
            "next": next_url(self.request, page, revision=content["revision"]),
            "systems": page.items,
        }
