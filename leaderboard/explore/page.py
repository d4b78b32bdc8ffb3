"""The board of a table that has no page of its own, for the templates of boards."""

from typing import Any

from django.urls import reverse

from leaderboard.boards.board import Board, reference_first
from leaderboard.boards.page import BoardPage
from leaderboard.boards.rows import Row


class MatrixPage(BoardPage):
    """A board whose systems have no pages and whose views no addresses: what would be such a link is none."""

    may_pin = False

    def __init__(self, board: Board, name: str) -> None:
        self._query, self._key, self._is_restricted = board.query, "", False
        self.hidden_text, self.sees_others, self.benchmark = "", True, {"name": name}
        self.revision_number, self.is_computing = None, False
        self.has_instances, self.intervals = False, {"state": "none", "text": ""}
        board = reference_first(board)
        self._fill_facts(board)
        self._fill_columns(board)
        self._fill_rows(board)
        self._fill_choices(board)

    def _url(self, **fields: Any) -> str:  # noqa: ANN401
        return ""

    def _system_url(self, row: Row) -> str:
        return ""

    def _rule_url(self, rule: str) -> str:
        return reverse("rule_page", args=[rule])
