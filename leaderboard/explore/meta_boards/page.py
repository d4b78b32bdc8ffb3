"""What a saved meta-board asks and shows."""

from dataclasses import dataclass, replace
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode

from leaderboard.access.audience import Viewer
from leaderboard.common.files import FORMAT_NAMES
from leaderboard.explore.benchmarks import Choices, CompareQuery, compare
from leaderboard.explore.page import ComparePage
from leaderboard.models import MetaBoard


def query_of(board: MetaBoard, *, reference: str = "", q: str = "") -> CompareQuery:
    """What a meta-board asks.

    Args:
        board: with its benchmarks.
        reference: the rule that orders the systems, where it is not the board's own.
        q: words in the names of the systems that are listed.
    """
    return CompareQuery(
        keys=tuple(benchmark.key for benchmark in board.benchmarks.all()),
        rule=board.rule,
        score=board.worth,
        policy=board.missing_policy,
        reference=reference or board.default_rule,
        least=board.least,
        q=q,
    )


@dataclass(frozen=True)
class MetaBoardPage(ComparePage):
    """The page of a meta-board: that of its benchmarks side by side, under an address of its own."""

    meta_board: MetaBoard | None = None
    is_own: bool = False

    @property
    def compare_url(self) -> str:
        """The same question on the page where it can be changed."""
        query = self.query
        fields: dict[str, Any] = {
            "b": list(query.keys), "rule": query.rule, "score": query.score, "policy": query.policy,
            "reference": query.reference, "least": query.least,
        }  # fmt: skip
        kept = {name: value for name, value in fields.items() if value}
        return f"{reverse('compare')}?{urlencode(kept, doseq=True)}"

    @property
    def downloads(self) -> list[tuple[str, str]]:
        """Name and address of each format in which the board is a file."""
        path = f"{reverse('meta_board', args=[self.meta_board.key if self.meta_board else ''])}?"
        path += urlencode({"reference": self.query.reference})
        return [(label, f"{path}&format={extension}") for extension, label in FORMAT_NAMES.items()]


def meta_board_page(viewer: Viewer, board: MetaBoard, *, reference: str = "", q: str = "") -> MetaBoardPage:
    """A meta-board as a reader may see it: of benchmarks that they may not list it says nothing.

    Args:
        viewer: who reads.
        board: with its benchmarks.
        reference, q: as of `query_of`.
    """
    query = query_of(board, reference=reference, q=q)
    compared = compare(viewer, query)
    seen = {one.key for one in (*compared.benchmarks, *compared.left_out)}
    query = replace(query, keys=tuple(key for key in query.keys if key in seen))
    is_own = board.author_id == viewer.pk
    return MetaBoardPage(query, Choices([], [], has_more=False), compared, meta_board=board, is_own=is_own)
