"""What templates read of benchmarks side by side, and of the board of a table that has no page of its own."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext

from leaderboard.benchmarks.meta_boards import MAX_BENCHMARKS
from leaderboard.boards.board import Board
from leaderboard.boards.page import BoardPage
from leaderboard.common.files import FORMAT_NAMES
from leaderboard.common.language.engine import rule_name
from leaderboard.common.text import signed
from leaderboard.computing.rankings import site_rules
from leaderboard.explore.benchmarks import SCORES, Choices, Compared, CompareQuery
from leaderboard.rankings.text import POLICY_NAMES
from ranking_engine.catalogue.registry import MAX_VARIANTS
from ranking_engine.catalogue.variants import rule_of_variant
from ranking_engine.core.benchmark_agreement import N_SUBSETS, SUBSET_SIZE


class MatrixPage(BoardPage):
    """A board whose systems have no pages and whose views no addresses: what would be such a link is none."""

    may_pin = False

    def __init__(self, board: Board, name: str) -> None:
        self._query, self._key, self._is_restricted = board.query, "", False
        self.hidden_text, self.sees_others, self.benchmark = "", True, {"name": name}
        self.revision_number, self.is_computing = None, False
        self.has_instances, self.intervals = False, {"state": "none", "text": ""}
        self._fill_figures(board)
        self._fill_table(board)

    def _url(self, **fields: Any) -> str:  # noqa: ANN401
        return ""

    def _rule_url(self, rule: str) -> str:
        return reverse("rule_page", args=[rule_of_variant(rule)])


@dataclass(frozen=True)
class AgreementLine:
    """How far one benchmark agrees with the others, as the page shows it."""

    name: str
    n_systems: int
    texts: list[str]  # as the headers say
    subsets_text: str  # in how many of how many the correlations are defined; empty where none was drawn


@dataclass(frozen=True)
class AgreementTable:
    """How far every benchmark agrees with the others: over subsets where there are some, else over all systems."""

    has_subsets: bool
    has_z: bool
    lines: list[AgreementLine]

    @property
    def headers(self) -> list[str]:
        """Those of the texts of a line."""
        beside = ["± sd"] * self.has_subsets + ["z"] * self.has_z
        return [gettext("Kendall’s tau"), *beside, gettext("Pearson’s r"), *beside]


@dataclass(frozen=True)
class PairCell:
    """Two benchmarks: their agreement as a text, and how strong it is, from 1 to 4; 0 where it is below 0.2."""

    text: str
    n_systems: int
    level: int = 0


@dataclass(frozen=True)
class BenchmarkPairs:
    """How far each two benchmarks agree: a row for each, with its name and a cell for each of them; None for itself."""

    rows: list[tuple[str, list[PairCell | None]]]


def _agreement_order(compared: Compared) -> list[int]:
    """The places of the benchmarks, the one that agrees most with the others first."""

    def key(place: int) -> float:
        mean = compared.agreement[place].kendall.mean
        return math.inf if math.isnan(mean) else -mean

    return sorted(range(len(compared.agreement)), key=key)


@dataclass(frozen=True)
class ComparePage:
    """The page of benchmarks side by side.

    Attributes:
        query: what the address asks.
        choices: the benchmarks that the form offers.
        compared: those that were chosen; None where none is.
        address: of the page, with its parameters.
    """

    query: CompareQuery
    choices: Choices
    compared: Compared | None = None
    address: str = ""
    most, most_variants = MAX_BENCHMARKS, MAX_VARIANTS
    n_subsets, subset_size = N_SUBSETS, SUBSET_SIZE

    @property
    def benchmarks(self) -> list[tuple[str, str, bool]]:
        """Key and name of each benchmark that is offered, and whether it is chosen."""
        return [(*one, True) for one in self.choices.chosen] + [(*one, False) for one in self.choices.others]

    @property
    def can_find(self) -> bool:
        """Whether the form asks for words that find benchmarks."""
        return self.choices.has_more or bool(self.query.find)

    @property
    def rules(self) -> list[tuple[str, str]]:
        """Key and name of each rule."""
        return [(key, rule_name(key)) for key in (*site_rules(), *self.query.variants)]

    @property
    def variants_text(self) -> str:
        """The variants, one per line."""
        return "\n".join(self.query.variants)

    @property
    def scores(self) -> list[tuple[str, str]]:
        """Key and name of everything that a rank can be worth."""
        return [(key, gettext(name)) for key, (name, _) in SCORES.items()]

    @property
    def score_text(self) -> str:
        """What a rank is worth here, in words."""
        return gettext(SCORES[self.query.score][1])

    @property
    def policies(self) -> list[tuple[str, str]]:
        """Key and name of each policy for benchmarks that lack a system."""
        return [(key, str(name)) for key, name in POLICY_NAMES.items()]

    @property
    def policy_name(self) -> str:
        """The name of the policy that the board follows."""
        return str(POLICY_NAMES[self.query.policy])

    @cached_property
    def board(self) -> MatrixPage | None:
        """The board over the benchmarks, where there is one."""
        board = self.compared.board if self.compared else None
        return None if board is None else MatrixPage(board, gettext("these benchmarks"))

    @property
    def agreement(self) -> AgreementTable | None:
        """How far each benchmark agrees with the others."""
        compared = self.compared
        order = _agreement_order(compared) if compared else []
        if not compared or not order:
            return None
        # Of those that take part, the one that agrees most first.
        pairs = [(compared.benchmarks[place], compared.agreement[place]) for place in order]
        has_subsets = any(one.n_subsets for _, one in pairs)
        has_z = any(not math.isnan(measure.z) for _, one in pairs for measure in (one.kendall, one.pearson))
        fields = ["mean", "deviation", *(["z"] if has_z else [])] if has_subsets else ["whole"]
        lines = [
            AgreementLine(
                name=benchmark.name,
                n_systems=agreement.n_systems,
                texts=[
                    signed(figure)
                    for measure in (agreement.kendall, agreement.pearson)
                    for figure in (getattr(measure, field) for field in fields)
                ],
                subsets_text=gettext("%(n)s of %(total)s")
                % {"n": agreement.n_subsets - agreement.kendall.n_undefined, "total": agreement.n_subsets}
                if agreement.n_subsets
                else "",
            )
            for benchmark, agreement in pairs
        ]
        return AgreementTable(has_subsets, has_z, lines)

    @property
    def pairs(self) -> BenchmarkPairs | None:
        """How far each two benchmarks agree."""
        compared = self.compared
        if not compared or not compared.pairs:
            return None
        cells: dict[tuple[int, int], PairCell] = {}
        for pair in compared.pairs:
            level = 0 if math.isnan(pair.kendall) else max(0, min(4, int(pair.kendall * 5)))
            cell = PairCell(signed(pair.kendall), pair.n_systems, level)
            cells[pair.first, pair.second] = cells[pair.second, pair.first] = cell
        order = _agreement_order(compared)  # as in the table of agreement
        return BenchmarkPairs([(compared.benchmarks[i].name, [cells.get((i, j)) for j in order]) for i in order])

    @property
    def downloads(self) -> list[tuple[str, str]]:
        """Name and address of each format in which the board is a file."""
        return [(label, f"{self.address}&format={extension}") for extension, label in FORMAT_NAMES.items()]
