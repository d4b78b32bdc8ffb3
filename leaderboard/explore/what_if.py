"""The board under a reader's own weights: who wins, who moves, against the benchmark's weights."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from leaderboard.explore.weighting import Preset, Slider, conditions_of, presets_of, sliders_of
from leaderboard.models import Benchmark, Publication
from leaderboard.rankings.configuration import gamma_in_force, threshold_text
from leaderboard.rankings.published import GAP, Column, PublishedBoard, board_under, published_board
from leaderboard.rankings.score_matrix import RevisionMatrix, revision_matrix
from leaderboard.rankings.scores import BoardSystem
from leaderboard.rankings.weights import Weights, WeightsError, weight_text
from ranking_engine import RULES
from ranking_engine.core.comparison import RankMove

LIVE_SYSTEMS = 300  # more are ranked by the server alone
LIVE_PAIRS = 4_000_000  # pairs of systems x tasks that a browser compares
PAGE_ROWS = 100  # rows of a page where not all are shown
MOST_MOVERS = 6
TWO_STEP = "two_step"
STATUS_WORDS = {"no_winner": "nobody", "undefined": "no ranking", "failed": "failed", "computing": "computing"}


@dataclass(frozen=True)
class WhatIfQuery:
    """What an address asks; empty fields are the benchmark's own."""

    weights: Weights = field(default_factory=Weights)
    aggregation: str = ""
    policy: str = ""
    rule: str = ""
    page: int = 1


@dataclass(frozen=True)
class Chip:
    """Who wins under one rule, and whether that is somebody else than under the benchmark's weights."""

    rule: str
    name: str
    winners_text: str
    own_text: str
    is_live: bool
    is_changed: bool  # whether the weights made a difference


@dataclass(frozen=True)
class Cell:
    """A rank under one rule."""

    rule: str
    text: str
    direction: str  # "rise", "fall" or ""


@dataclass(frozen=True)
class Row:
    """A system; `index` is its place in the revision's order."""

    index: int
    key: str
    name: str
    text: str
    change: int
    cells: list[Cell]

    @property
    def change_text(self) -> str:
        """`+3`, `−2`, or nothing."""
        return change_text(self.change)


@dataclass(frozen=True)
class WhatIfPage:
    """Everything that the page shows."""

    found: RevisionMatrix
    query: WhatIfQuery
    aggregation: str
    policy: str
    column: Column
    columns: list[Column]
    left_out: list[str]
    sliders: list[Slider]
    presets: list[Preset]
    headline: str
    majority_text: str
    dissent_text: str
    chips: list[Chip]
    movers: list[Row]
    rows: list[Row]
    n_pages: int
    is_live: bool
    conditions: list[str]
    threshold_text: str  # of the optimality gap; empty where that is not among the columns


def change_text(change: int) -> str:
    """A number of places won or lost."""
    return f"+{change}" if change > 0 else f"\N{MINUS SIGN}{-change}" if change else ""


def is_live(n_systems: int, n_tasks: int, aggregation: str) -> bool:
    """Whether the browser ranks a board of this size by itself while sliders move."""
    return n_systems <= LIVE_SYSTEMS and n_systems**2 * n_tasks <= LIVE_PAIRS and aggregation != TWO_STEP


def what_if_page(publication: Publication, query: WhatIfQuery, default_rule: str, level: str) -> WhatIfPage | None:
    """The page of a publication; None where there is nothing to rank.

    Args:
        publication: whose revision is ranked.
        query: what the address asks.
        default_rule: the rule that orders the board where the query names none.
        level: the audience's level.

    Raises:
        WeightsError: an unknown choice, or weights under which nothing votes.
        TooLargeError: the answer exceeds the budget.
    """
    found = revision_matrix(publication.revision)
    if found is None:
        return None
    content = publication.revision.configuration.content
    aggregation = _choice("aggregation", query.aggregation, content["aggregation"], Benchmark.Aggregation.values)
    policy = _choice("missing-score policy", query.policy, content["missing_policy"], Benchmark.MissingPolicy.values)
    sliders = sliders_of(found, query.weights, aggregation)
    own = published_board(publication)
    board = own
    if query.weights or (aggregation, policy) != (content["aggregation"], content["missing_policy"]):
        names = [system.name for system in found.systems]
        board = board_under(own, policy, aggregation, names, level, weights=query.weights)
    kept = [i for i, column in enumerate(own.columns) if column.status != "undefined"]
    columns = [board.columns[i] for i in kept]
    rule = query.rule or default_rule
    at = next((k for k, column in enumerate(columns) if column.rule == rule), 0 if columns and not query.rule else -1)
    if at < 0:
        raise WeightsError(f"There is no rule {rule[:60]!r} on this board.")
    own_columns = [own.columns[i] for i in kept]
    rows = _Rows(found.systems, columns, own_columns, at).rows()
    live = is_live(found.matrix.n_systems, found.matrix.n_tasks, aggregation)
    chips = [_chip(column, before) for column, before in zip(columns, own_columns, strict=True)]
    n_pages = 1 if len(rows) <= LIVE_SYSTEMS else math.ceil(len(rows) / PAGE_ROWS)
    page = min(max(1, query.page), n_pages)
    return WhatIfPage(
        found=found,
        query=query,
        aggregation=aggregation,
        policy=policy,
        column=columns[at],
        columns=columns,
        left_out=[column.name for column in own.columns if column.status == "undefined"],
        sliders=sliders,
        presets=presets_of(content, aggregation),
        headline=headline(chips[at]),
        majority_text=majority_text(board, found.systems),
        dissent_text=dissent_text(chips),
        chips=chips,
        movers=sorted((row for row in rows if row.change), key=lambda row: (-abs(row.change), row.index))[:MOST_MOVERS],
        rows=rows if n_pages == 1 else rows[(page - 1) * PAGE_ROWS : page * PAGE_ROWS],
        n_pages=n_pages,
        is_live=live,
        conditions=conditions_of(found, query.weights, aggregation),
        threshold_text=threshold_text(content) if any(c.rule == GAP for c in columns) else "",
    )


def _choice(what: str, asked: str, own: str, known: Sequence[str]) -> str:
    if asked and asked not in known:
        raise WeightsError(f"There is no {what} {asked[:60]!r}; there are {', '.join(known)}.")
    return asked or own


def winners_text(column: Column) -> str:
    """Who wins under a rule: one or two names, or how many win together."""
    names, n = column.winner_names, column.n_winners
    if not n:
        return STATUS_WORDS.get(column.status, "nobody")
    return f"{n} systems jointly" if n > 2 else ", ".join(names)


def _chip(column: Column, own: Column) -> Chip:
    is_live = RULES[column.rule].is_listed
    now, before = winners_text(column), winners_text(own)
    # As many joint winners need not be the same ones.
    is_changed = now != before or not np.array_equal(column.is_winner, own.is_winner)
    return Chip(column.rule, column.name, now, before, is_live, is_changed)


def headline(chip: Chip) -> str:
    """Who is first under the rule that orders the board, and who was."""
    if chip.is_changed and chip.winners_text == chip.own_text:
        return f"First under {chip.name}: {chip.winners_text}, others than with the benchmark’s weights."
    if chip.is_changed:
        return f"First under {chip.name}: {chip.winners_text}. With the benchmark’s weights: {chip.own_text}."
    return f"First under {chip.name}: {chip.winners_text}, as with the benchmark’s weights."


def majority_text(board: PublishedBoard, systems: Sequence[BoardSystem]) -> str:
    """Who beats everyone head to head, or how many are left that nobody outside beats."""
    if not board.has_majority:
        return "With two steps groups are ranked, and there is no Condorcet winner."
    winner = board.facts["condorcet_winner"]
    if winner is not None:
        return f"Condorcet winner: {winner}."
    members = np.flatnonzero(board.in_smith_set).tolist()
    names = ", ".join(systems[i].name for i in members) if len(members) <= 4 else f"{len(members)} systems"
    return f"No Condorcet winner; the Smith set is {names}." if members else "No Condorcet winner."


def dissent_text(chips: Sequence[Chip]) -> str:
    """How many rules elect somebody else than with the benchmark's weights."""
    n = sum(chip.is_changed for chip in chips)
    return f"{n} of {len(chips)} rules elect somebody else than with the benchmark’s weights."


class _Rows:
    """Makes the rows, in the order of one of the columns; equal ones and unranked ones by the systems' keys."""

    def __init__(
        self, systems: Sequence[BoardSystem], columns: Sequence[Column], own: Sequence[Column], at: int
    ) -> None:
        self.systems, self.columns, self.at = systems, columns, at
        self.ranks = [column.ranks.tolist() for column in columns]
        self.own = [column.ranks.tolist() for column in own]
        self.texts = [_texts(ranks) for ranks in self.ranks]

    def rows(self) -> list[Row]:
        """All of them."""
        ranks = self.ranks[self.at]
        order = sorted(range(len(self.systems)), key=lambda i: (ranks[i] < 1, ranks[i], i))
        return [self._row(i) for i in order]

    def _row(self, i: int) -> Row:
        system = self.systems[i]
        cells = [
            Cell(column.rule, self.texts[c][i], _direction(self._change(c, i))) for c, column in enumerate(self.columns)
        ]
        return Row(i, system.key, system.name, self.texts[self.at][i], self._change(self.at, i), cells)

    def _change(self, c: int, i: int) -> int:
        before, after = self.own[c][i], self.ranks[c][i]
        return RankMove(i, before if before >= 1 else None, after if after >= 1 else None).places


def _texts(ranks: Sequence[int]) -> list[str]:
    """Ranks for readers: `=2` where shared, a dash where there is none."""
    holders: dict[int, int] = {}
    for rank in ranks:
        holders[rank] = holders.get(rank, 0) + 1
    return ["–" if rank < 1 else f"={rank}" if holders[rank] > 1 else str(rank) for rank in ranks]


def _direction(change: int) -> str:
    return "rise" if change > 0 else "fall" if change else ""


def what_if_data(publication: Publication) -> dict[str, Any]:
    """What the page's module needs to rank by itself: scores, tasks, groups, and the ranks under the own weights.

    Scores are left out where the board is too large for a browser.
    """
    found = revision_matrix(publication.revision)
    if found is None:
        return {"systems": [], "tasks": [], "groups": [], "values": None, "own": {}}
    content = publication.revision.configuration.content
    groups = [group["key"] for group in content["groups"]]
    live = is_live(found.matrix.n_systems, found.matrix.n_tasks, "")
    return {
        "systems": [system.name for system in found.systems],
        "tasks": [
            {name: task[name] for name in ("key", "direction", "minimum", "maximum", "chance")}
            | {
                "precision": task.get("precision"),
                "group": groups.index(task["group"]) if task["group"] in groups else -1,
                "weight": weight_text(_own(task)),
            }
            for task in content["tasks"]
        ],
        "groups": [{"key": group["key"], "weight": weight_text(_own(group))} for group in content["groups"]],
        "gamma": gamma_in_force(content),
        "aggregation": content["aggregation"],
        "policy": content["missing_policy"],
        "values": _values(found) if live else None,
        "own": {
            column.rule: column.ranks.tolist() if column.elects or column.status == "ranked" else None
            for column in published_board(publication).columns
            if column.status != "undefined"
        },
    }


def _own(entry: dict[str, Any]) -> Fraction:
    return Fraction(entry["weight"])


def _values(found: RevisionMatrix) -> list[list[float | None]]:
    return [[None if math.isnan(value) else value for value in row] for row in found.matrix.values.tolist()]
