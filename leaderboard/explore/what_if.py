"""The board under a reader's weights: which system wins and which ranks change, compared with the board's weights."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from django.utils.translation import gettext

from leaderboard.common.text import typeset
from leaderboard.explore.weighting import Preset, Slider, conditions_of, kin_of, presets_of, sliders_of
from leaderboard.explore.what_if_texts import TEXTS
from leaderboard.models import Benchmark, Publication
from leaderboard.rankings import verdict
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.on_request import board_under
from leaderboard.rankings.published import GAP, Column, PublishedBoard, published_board
from leaderboard.rankings.score_matrix import RevisionMatrix, revision_matrix
from leaderboard.rankings.scores import BoardSystem
from leaderboard.rankings.weights import Weights, WeightsError, weight_text
from ranking_engine import RULES, listed_rules
from ranking_engine.core.missing import PREDICTED

LIVE_SYSTEMS = 300  # more are ranked by the server alone
LIVE_PAIRS = 4_000_000  # pairs of systems x tasks that a browser compares
PAGE_ROWS = 100  # rows of a page where not all are shown
MAX_MOVERS = 6
TWO_STEP = "two_step"
UNRANKED = {"undefined", "failed", "computing"}  # the states in which nothing can be said of the winner


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
    """Who wins under one rule, and whether that is someone else than under the benchmark's weights."""

    rule: str
    name: str
    winners_text: str
    own_text: str
    is_live: bool
    is_changed: bool  # whether the weights made a difference
    is_compared: bool  # whether there is a ranking with these weights and with the benchmark's


@dataclass(frozen=True)
class WhatIfCell:
    """A rank under one rule."""

    rule: str
    text: str
    direction: str  # "rise", "fall" or ""


@dataclass(frozen=True)
class WhatIfRow:
    """A system; `index` is its place in the revision's order."""

    index: int
    key: str
    name: str
    text: str
    change: int
    cells: list[WhatIfCell]

    @property
    def change_text(self) -> str:
        """`+3`, `−2`, or nothing."""
        return change_text(self.change)

    @property
    def direction(self) -> str:
        """`rise` or `fall`; empty where the place is the same."""
        return "rise" if self.change > 0 else "fall" if self.change else ""


@dataclass(frozen=True)
class WhatIfBoard:
    """The figures of the page."""

    table: RevisionMatrix
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
    movers: list[WhatIfRow]
    rows: list[WhatIfRow]
    own_order: list[int]  # the indices of all systems, in the order of the benchmark's own rule and weights
    n_pages: int
    is_live: bool
    is_own_ranked: bool  # whether any rule ranks with the benchmark's own weights
    conditions: list[str]
    threshold_text: str  # of the optimality gap; empty where that is not among the columns


def change_text(change: int) -> str:
    """A number of places won or lost."""
    return typeset(f"{change:+}") if change else ""


def is_live(n_systems: int, n_tasks: int, aggregation: str, policy: str = "") -> bool:
    """Whether the browser ranks a board of this size by itself while sliders move."""
    is_small = n_systems <= LIVE_SYSTEMS and n_systems**2 * n_tasks <= LIVE_PAIRS
    return is_small and aggregation != TWO_STEP and policy != PREDICTED


def what_if_board(publication: Publication, query: WhatIfQuery, default_rule: str, level: str) -> WhatIfBoard | None:
    """The board of a publication; None where there is nothing to rank.

    Args:
        publication: whose revision is ranked.
        query: what the address asks.
        default_rule: the rule that orders the board where the query names none.
        level: the audience's level.

    Raises:
        WeightsError: an unknown choice, or weights under which nothing votes.
        TooLargeError: the answer exceeds the budget.
    """
    table = revision_matrix(publication.revision)
    if table is None:
        return None
    configuration = configuration_of(publication.revision)
    aggregation = _choice("aggregation", query.aggregation, configuration.aggregation, Benchmark.Aggregation.values)
    policy = _choice("missing-score policy", query.policy, configuration.missing_policy, configuration.policies)
    sliders = sliders_of(table, query.weights, aggregation)
    own = published_board(publication)
    board = own
    if query.weights or (aggregation, policy) != (configuration.aggregation, configuration.missing_policy):
        names = [system.name for system in table.systems]
        board = board_under(own, policy, aggregation, names, level, weights=query.weights)
    rule, places = query.rule or default_rule, range(len(own.columns))
    # Where the own weights rank no one, what these rank; where they rank no one, too, the rule that is asked for.
    kept = [i for i in places if not own.columns[i].is_undefined]
    kept = kept or [i for i in places if not board.columns[i].is_undefined]
    kept = kept or [i for i in places if own.columns[i].rule == rule]
    columns = [board.columns[i] for i in kept]
    at = next((k for k, column in enumerate(columns) if column.rule == rule), 0 if columns and not query.rule else -1)
    if at < 0:
        raise WeightsError(gettext("There is no rule %(rule)s on this board.") % {"rule": repr(rule[:60])})
    own_columns = [own.columns[i] for i in kept]
    rows = _WhatIfRows(table.systems, columns, own_columns, at)
    is_ranked = not own.why_nothing_ranked
    live = is_ranked and is_live(table.matrix.n_systems, table.matrix.n_tasks, aggregation, policy)
    chips, live_rules = [], listed_rules()
    for column, own_column in zip(columns, own_columns, strict=True):
        now, before = winners_text(column), winners_text(own_column)
        # As many joint winners need not be the same ones.
        is_compared = not {column.status, own_column.status} & UNRANKED
        is_changed = is_compared and (now != before or not np.array_equal(column.is_winner, own_column.is_winner))
        chips.append(Chip(column.rule, column.name, now, before, column.rule in live_rules, is_changed, is_compared))
    own_ranks = next((c for c in own_columns if c.rule == default_rule), own_columns[at]).ranks.tolist()
    n_systems = len(rows.order)
    n_pages = 1 if n_systems <= LIVE_SYSTEMS else math.ceil(n_systems / PAGE_ROWS)
    page = min(max(1, query.page), n_pages)
    return WhatIfBoard(
        table=table,
        query=query,
        aggregation=aggregation,
        policy=policy,
        column=columns[at],
        columns=columns,
        left_out=[column.name for i, column in enumerate(own.columns) if i not in kept],
        sliders=sliders,
        presets=presets_of(configuration, aggregation),
        headline=headline(board, chips[at], is_own_ranked=is_ranked),
        majority_text=majority_text(board, table.systems),
        dissent_text=dissent_text(chips),
        chips=chips,
        movers=[rows.row(i) for i in rows.movers],
        rows=[rows.row(i) for i in (rows.order if n_pages == 1 else rows.order[(page - 1) * PAGE_ROWS :][:PAGE_ROWS])],
        own_order=sorted(range(len(own_ranks)), key=lambda i: (own_ranks[i] < 1, own_ranks[i], i)),
        n_pages=n_pages,
        is_live=live,
        is_own_ranked=is_ranked,
        conditions=conditions_of(table, query.weights, aggregation),
        threshold_text=configuration.threshold_text if any(c.rule == GAP for c in columns) else "",
    )


def _choice(what: str, choice: str, own: str, known: Sequence[str]) -> str:
    if choice and choice not in known:
        raise WeightsError(
            gettext("There is no %(what)s %(choice)s; there are %(known)s.")
            % {"what": what, "choice": repr(choice[:60]), "known": ", ".join(known)}
        )
    return choice or own


def winners_text(column: Column) -> str:
    """Who wins under a rule: one or two names, or how many win together."""
    names, n = column.winner_names, column.n_winners
    if not n:
        return str(TEXTS.get(column.status, TEXTS["no_winner"]))
    return str(TEXTS["jointly"]) % {"n": n} if n > 2 else ", ".join(names)


def headline(board: PublishedBoard, chip: Chip, *, is_own_ranked: bool) -> str:
    """Who is first under the rule that orders the board, and who was; or why no rule ranks anyone."""
    if board.why_nothing_ranked:
        return verdict.headline([], None, reason=board.why_nothing_ranked)
    text = "as_own"
    if not is_own_ranked:
        text = "changed"
    elif chip.is_changed:
        text = "not_the_same" if chip.winners_text == chip.own_text else "changed"
    values = {"chip": chip.name, "winners_text": chip.winners_text, "own_text": chip.own_text}
    return str(TEXTS[text]) % values


def majority_text(board: PublishedBoard, systems: Sequence[BoardSystem]) -> str:
    """Who beats everyone head to head, or how many are left that no one outside beats."""
    if not board.has_majority:
        return gettext("Two-step aggregation ranks groups, so there is no Condorcet winner.")
    winner = board.facts["condorcet_winner"]
    if winner is not None:
        return str(TEXTS["condorcet_winner"]) % {"winner": winner}
    members = np.flatnonzero(board.in_smith_set).tolist()
    names = ", ".join(systems[i].name for i in members)
    if len(members) > 4:
        names = str(TEXTS["systems"]) % {"n": len(members)}
    text = str(TEXTS["smith_set"]) % {"names": names} if members else str(TEXTS["no_condorcet_winner"])
    return f"{text} {TEXTS['apart'] % {'n': f'{board.n_apart:,}'}}" if board.n_apart else text


def dissent_text(chips: Sequence[Chip]) -> str:
    """How many rules elect someone else than with the benchmark's weights."""
    n = sum(chip.is_changed for chip in chips)
    return str(TEXTS["dissent"]) % {"n": n, "sum": sum(chip.is_compared for chip in chips)}


class _WhatIfRows:
    """Makes rows, each when it is asked for: of a large board a page shows few.

    Attributes:
        order: the indices of all systems, as one of the columns ranks them; equal and unranked ones by their keys.
        movers: the indices of those that move most places in that column, the first of many.
    """

    def __init__(
        self, systems: Sequence[BoardSystem], columns: Sequence[Column], own: Sequence[Column], at: int
    ) -> None:
        self._systems, self._columns, self._at = systems, columns, at
        self._changes = [
            np.where((before.ranks >= 1) & (now.ranks >= 1), before.ranks - now.ranks, 0)
            for before, now in zip(own, columns, strict=True)
        ]
        self._n_sharing = [np.bincount(column.ranks.clip(0)) for column in columns]
        ranks, changes = columns[at].ranks, self._changes[at]
        self.order: list[int] = np.lexsort((ranks, ranks < 1)).tolist()
        most_places = np.lexsort((-abs(changes),))[:MAX_MOVERS]
        self.movers: list[int] = most_places[changes[most_places] != 0].tolist()

    def row(self, i: int) -> WhatIfRow:
        """That of system `i` of the revision's order."""
        cells = []
        for column, n_sharing, places in zip(self._columns, self._n_sharing, self._changes, strict=True):
            rank, change = int(column.ranks[i]), int(places[i])
            # A rank for readers: `=2` where shared, a dash where there is none.
            mark = ("≈" if column.predicted_of(i) else "") + ("=" if n_sharing[max(rank, 0)] > 1 else "")
            text = "–" if rank < 1 else f"{mark}{rank}"
            cells.append(WhatIfCell(column.rule, text, "rise" if change > 0 else "fall" if change else ""))
        system = self._systems[i]
        return WhatIfRow(i, system.key, system.name, cells[self._at].text, int(self._changes[self._at][i]), cells)


def what_if_data(publication: Publication) -> dict[str, Any]:
    """What the page's module needs to rank by itself: scores, tasks, groups, and the ranks under the own weights.

    Scores are left out where the board is too large for a browser.
    """
    table = revision_matrix(publication.revision)
    if table is None:
        return {"systems": [], "tasks": [], "groups": [], "rules": [], "values": None, "own": {}}
    configuration = configuration_of(publication.revision)
    groups = [group.key for group in configuration.groups]
    live = is_live(table.matrix.n_systems, table.matrix.n_tasks, "")
    return {
        "systems": [system.name for system in table.systems],
        "tasks": [
            {
                "key": task.key,
                "direction": task.direction,
                "minimum": task.minimum,
                "maximum": task.maximum,
                "chance": task.chance,
                "precision": task.precision,
                "group": groups.index(task.group) if task.group in groups else -1,
                "kin": kin_of(configuration, task),
                "weight": weight_text(Fraction(task.weight)),
            }
            for task in configuration.tasks
        ],
        "groups": [{"key": group.key, "weight": weight_text(Fraction(group.weight))} for group in configuration.groups],
        "rules": [
            {"key": rule.key, "needs_complete": rule.needs_complete, "elects_only": rule.elects_only}
            for rule in RULES.values()
            if rule.is_listed
        ],
        "gamma": configuration.gamma_in_force,
        "aggregation": configuration.aggregation,
        "policy": configuration.missing_policy,
        "values": [[None if math.isnan(value) else value for value in row] for row in table.matrix.values.tolist()]
        if live
        else None,
        "own": {
            column.rule: column.ranks.tolist() if column.elects or column.is_ranked else None
            for column in published_board(publication).columns
            if not column.is_undefined
        },
    }
