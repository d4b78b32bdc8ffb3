"""The head-to-head page: margins between systems as a heat map in the order of a rule, and the majority relation."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import numpy as np
from django.utils.translation import gettext

from leaderboard.common.charts.heat_map import HeatMap, heat_map, signed_level
from leaderboard.common.charts.majority_graph import MAX_SYSTEMS, MajorityGraph, majority_graph
from leaderboard.common.text import in_words, percent, shortened
from leaderboard.comparisons.choice_sets import SETS, ChoiceSets, CyclesPart, choice_sets, cycles_part
from leaderboard.comparisons.pair import Pair, pair_of, signed_percent
from leaderboard.comparisons.several import SideBySide, side_by_side
from leaderboard.models import Benchmark, Publication
from leaderboard.rankings.configuration import configuration_of, own_rule
from leaderboard.rankings.margins import Margins, margins_between
from leaderboard.rankings.published import Column, PublishedBoard, UnknownChoiceError, published_board
from leaderboard.rankings.scores import BoardSystem, systems_at
from leaderboard.rankings.verdict import apart_text
from ranking_engine.text.names import fold_name

BLOCK = 30  # systems a side of the heat map
LISTED = 300  # on larger boards a system is typed, not chosen from a list
LEGEND = {
    "p5": "+80 to +100 %", "p4": "+60 %", "p3": "+40 %", "p2": "+20 %", "p1": "above 0", "z": "tied",
    "m1": "below 0", "m2": "−20 %", "m3": "−40 %", "m4": "−60 %", "m5": "−80 to −100 %",
    "none": "nothing to compare",
}  # fmt: skip


@dataclass(frozen=True)
class HeadToHeadQuery:
    """What an address asks: two systems, the rule whose order the heat map has, and which parts of a large one."""

    a: str = ""
    b: str = ""
    rule: str = ""
    rows: int = 1
    columns: int = 1
    revision: str = ""
    pin: tuple[str, ...] = ()  # the keys of three systems or more that are compared

    def address(self, **fields: Any) -> str:  # noqa: ANN401
        """The end of the address of this query with other fields; only what differs from the default."""
        parameters = {**self.__dict__, **fields}
        default = HeadToHeadQuery().__dict__
        kept = {name: value for name, value in parameters.items() if value != default[name]}
        return f"?{urlencode(kept, doseq=True)}" if kept else "?"

    def pair_among(self, systems: Sequence[BoardSystem]) -> tuple[tuple[int, int] | None, str]:
        """The places of the two systems whose keys or names the address has, or why there is no such pair."""
        if not (self.a and self.b):
            return None, ""
        by_key = {system.key: i for i, system in enumerate(systems)}
        by_name = {fold_name(system.name): i for i, system in reversed(list(enumerate(systems)))}
        first, second = (by_key.get(text, by_name.get(fold_name(text))) for text in (self.a, self.b))
        if first is None or second is None:
            missing = self.a if first is None else self.b
            return None, gettext("There is no system %(text)s on this board.") % {"text": repr(missing[:80])}
        if first == second:
            return None, gettext("%(name)s cannot be compared with itself. Choose two different systems.") % {
                "name": systems[first].name
            }
        return (first, second), ""


@dataclass(frozen=True)
class MarginRow:
    """One system in the table under the heat map."""

    system: BoardSystem
    rank: int | None
    is_tied: bool  # others share its rank
    n_beaten: int
    n_lost: int
    n_level: int
    is_in_smith_set: bool
    texts: list[str]  # its margins over the columns
    sets: list[bool | None]  # whether it is in each of `HeadToHead.set_names`
    lottery_text: str  # its share of the maximal lottery
    rating_text: str  # its copy-proof rating
    n_predicted: int  # scores that its rank rests on and no one measured


@dataclass(frozen=True)
class OrderPart:
    """A part of the order that the heat map can show."""

    number: int
    name: str
    url: str
    is_active: bool


@dataclass(frozen=True)
class HeadToHead:
    """Everything that the page shows."""

    sentence: str
    heat: HeatMap
    rows: list[MarginRow]
    columns: list[BoardSystem]
    graph: MajorityGraph | None
    row_parts: list[OrderPart]
    column_parts: list[OrderPart]
    rules: list[tuple[str, str, bool]]
    rule: Column
    n_systems: int
    smith_names: list[str]
    sets: ChoiceSets | None  # None on very large boards
    cycles: CyclesPart | None
    mixture: str  # the tasks behind the copy-proof ratings
    choices: list[str]  # names for the form, by rank; empty where there are too many
    suggested: tuple[str, str]  # names to begin with: those asked for, or the first two under the rule
    pair: Pair | None
    several: SideBySide | None  # three systems or more
    problem: str  # why the pair asked for is not shown
    margins: Margins

    @property
    def set_names(self) -> list[str]:
        """Of the choice sets that have a column; none where they are not known."""
        return [gettext(name) for name in SETS.values()] if self.sets is not None else []


def head_to_head(
    benchmark: Benchmark, publication: Publication, query: HeadToHeadQuery, *, audience_level: str, has_instances: bool
) -> HeadToHead | None:
    """The page for what is published; None where it has no system.

    Args:
        benchmark: of the publication.
        publication: with its revision.
        query: what the address asks.
        audience_level: who reads; readers from whom scores are hidden never get here.
        has_instances: whether they see what scores of single instances say.

    Raises:
        UnknownChoiceError: there is no such rule on the board.
        TooLargeError: the board is too large for an answer on demand.
    """
    board = published_board(publication)
    systems = systems_at(publication.revision)
    if not systems or not board.columns:
        return None
    rule = query.rule or own_rule(benchmark, board.rules)
    column = next((column for column in board.columns if column.rule == rule), None)
    if column is None:
        raise UnknownChoiceError(gettext("There is no rule %(rule)s on this board.") % {"rule": repr(rule[:60])})
    ranks = column.ranks
    # Those without a rank last, those of equal rank by name.
    order = sorted(range(len(systems)), key=lambda i: (ranks[i] < 1, int(ranks[i]), fold_name(systems[i].name)))
    rows, row_parts = _parts(order, query, "rows")
    columns, column_parts = _parts(order, query, "columns")
    margins = margins_between(
        publication.revision, rows, columns, n_systems=len(systems), audience_level=audience_level
    )
    sets = choice_sets(publication.revision, n_systems=len(systems), audience_level=audience_level)
    lines = []
    for k, i in enumerate(rows):
        pairs = zip(margins.margin[k].tolist(), margins.is_compared[k].tolist(), strict=True)
        lines.append(
            MarginRow(
                system=systems[i],
                rank=int(column.ranks[i]) if column.ranks[i] >= 1 else None,
                is_tied=int((column.ranks == column.ranks[i]).sum()) > 1,
                n_beaten=int(margins.n_beaten[k]),
                n_lost=int(margins.n_lost[k]),
                n_level=int(margins.n_level[k]),
                is_in_smith_set=bool(board.in_smith_set[i]),
                texts=[signed_percent(margin) if is_compared else "" for margin, is_compared in pairs],
                sets=list(sets.of(i).values()) if sets else [],
                lottery_text=sets.share_text(i) if sets else "",
                rating_text=sets.rating_text(i) if sets else "",
                n_predicted=column.predicted_of(i),
            )
        )
    by_key = {system.key: i for i, system in enumerate(systems)}
    pinned = [by_key[key] for key in query.pin if key in by_key]

    def name_of(text: str, otherwise: int) -> str:
        place = by_key.get(text)
        return systems[place].name if place is not None else text or systems[otherwise].name

    pair = None
    places, problem = query.pair_among(systems)
    if places:
        pair = pair_of(publication, board, systems, places, audience_level=audience_level, has_instances=has_instances)
    graph = None
    scored = [k for k, i in enumerate(rows) if board.n_scored[i]]  # others are no rivals to anyone
    if rows == columns and 2 <= len(scored) <= MAX_SYSTEMS:
        drawn = [rows[k] for k in scored]
        graph = majority_graph(
            gettext("Who beats whom"),
            [systems[i].name for i in drawn],
            margins.sign[np.ix_(scored, scored)].tolist(),
            [bool(board.in_smith_set[i]) for i in drawn],
            [query.address(a=systems[i].key, b="") for i in drawn],
            is_compared=margins.is_compared[np.ix_(scored, scored)].tolist(),
            marked_name=gettext("Smith set"),
        )
    return HeadToHead(
        sentence=majority_sentence(board, systems),
        heat=margin_map(systems, rows, columns, margins, query=query, column=column),
        rows=lines,
        columns=[systems[j] for j in columns],
        graph=graph,
        row_parts=row_parts,
        column_parts=column_parts,
        rules=[(c.rule, c.name, c is column) for c in board.columns if c.is_ranked or c is column],
        rule=column,
        n_systems=len(systems),
        smith_names=[systems[i].name for i in np.flatnonzero(board.in_smith_set).tolist()],
        choices=[systems[i].name for i in order] if len(systems) <= LISTED else [],
        suggested=(name_of(query.a, order[0]), name_of(query.b, order[min(1, len(order) - 1)])),
        sets=sets,
        cycles=cycles_part(sets, systems) if sets else None,
        mixture=sets.tasks_text([task.name for task in configuration_of(publication.revision).tasks]) if sets else "",
        pair=pair,
        several=side_by_side(publication, systems, pinned, column) if len(pinned) > 2 else None,
        problem=problem,
        margins=margins,
    )


def _parts(order: list[int], query: HeadToHeadQuery, side: str) -> tuple[list[int], list[OrderPart]]:
    """The systems of the part asked for, and the parts around it with the first and the last one."""
    n_parts = max(1, math.ceil(len(order) / BLOCK))
    number = min(max(1, getattr(query, side)), n_parts)
    near = {1, number - 1, number, number + 1, n_parts}
    parts = [
        OrderPart(
            k,
            f"{(k - 1) * BLOCK + 1}–{min(k * BLOCK, len(order))}",
            query.address(**{side: k, "a": "", "b": ""}),
            k == number,
        )
        for k in sorted(near)
        if 1 <= k <= n_parts
    ]
    return order[(number - 1) * BLOCK : number * BLOCK], parts if n_parts > 1 else []


def majority_sentence(board: PublishedBoard, systems: Sequence[BoardSystem]) -> str:
    """Who beats everyone head to head, or who is left; of the margins beside it where the board has no majority."""
    if not board.has_majority:
        return gettext(
            "Two-step aggregation ranks groups of tasks, so there is no Condorcet winner. The margins here count "
            "every task with its own weight."
        )
    winner = board.facts.get("condorcet_winner")
    if winner:
        return gettext("%(winner)s beats every other system head to head: the Condorcet winner.") % {
            "winner": shortened(winner)
        }
    smith = [shortened(systems[i].name) for i in np.flatnonzero(board.in_smith_set).tolist()]
    if not smith:
        return ""
    apart = f" {text}." if (text := apart_text(board.n_apart)) else ""
    if len(smith) == int((board.n_scored > 0).sum()) > 1:
        return gettext("No system beats every other, and no set of systems beats all the rest.") + apart
    named = in_words(smith)
    if len(smith) > 1:
        named = gettext("%(n)s systems, %(names)s,") % {"n": len(smith), "names": in_words(smith, most=6)}
    sentence = gettext(
        "No system beats every other. The smallest set that beats all systems outside it: %(named)s the Smith set."
    )
    return sentence % {"named": named} + apart


def margin_map(
    systems: Sequence[BoardSystem],
    rows: list[int],
    columns: list[int],
    margins: Margins,
    *,
    column: Column,
    query: HeadToHeadQuery | None = None,
) -> HeatMap:
    """The margins of rows over columns as squares; with `query`, each leads to its pair."""
    margin = margins.margin

    def said(i: int, j: int) -> str:
        first, second = systems[rows[i]].name, systems[columns[j]].name
        if rows[i] == columns[j]:
            return first
        if not margins.is_compared[i, j]:
            return gettext("%(first)s and %(second)s share no task of weight above 0") % {
                "first": first,
                "second": second,
            }
        sentence = (
            gettext("%(first)s ties with %(second)s: ahead on %(ahead)s of the weight, behind on %(behind)s"),
            gettext("%(first)s beats %(second)s: ahead on %(ahead)s of the weight, behind on %(behind)s"),
            gettext("%(first)s loses to %(second)s: ahead on %(ahead)s of the weight, behind on %(behind)s"),
        )[int(margins.sign[i, j])]
        ahead, behind = percent(margins.ahead[i, j], 2), percent(margins.behind[i, j], 2)
        return sentence % {"first": first, "second": second, "ahead": ahead, "behind": behind}

    def said_of_all(k: int, i: int) -> str:
        figures = {
            "name": systems[i].name, "beaten": margins.n_beaten[k], "lost": margins.n_lost[k],
            "level": int(margins.n_level[k]),
        }  # fmt: skip
        if figures["level"]:
            return gettext("%(name)s: beats %(beaten)s, loses to %(lost)s, ties with %(level)s") % figures
        return gettext("%(name)s: beats %(beaten)s, loses to %(lost)s") % figures

    return heat_map(
        gettext("Margins head to head, in the order of %(rule)s") % {"rule": column.name},
        gettext("A square shows how much more of the tasks’ weight prefers the row’s system to the column’s system."),
        [systems[i].name for i in rows],
        [systems[j].name for j in columns],
        [[float(margin[i, j]) if margins.is_compared[i, j] else None for j in range(len(columns))]
         for i in range(len(rows))],
        level=signed_level,
        text=lambda value: signed_percent(value).removesuffix(" %"),
        said=said,
        legend=LEGEND,
        row_urls=[query.address(a=systems[i].key, b="") for i in rows] if query else [],
        row_said=[said_of_all(k, i) for k, i in enumerate(rows)],
        url=lambda i, j: query.address(a=systems[rows[i]].key, b=systems[columns[j]].key) + "#pair" if query else "",
    )  # fmt: skip
