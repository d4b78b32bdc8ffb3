"""How far the rules of a board agree: ranks under all of them as lines, and Kendall's tau of each pair of rules."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import numpy as np
from django.utils.translation import gettext

from leaderboard.common.charts.heat_map import HeatMap, heat_map
from leaderboard.common.charts.plane_map import PlaneMap
from leaderboard.common.charts.rank_lines import MAX_PINNED, RankedSystem, RankLines, rank_lines
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import BY_NAME, EQUALLY_NEAR, in_words, percent, shortened, signed, typeset
from leaderboard.comparisons.group_agreement import GroupsPart, groups_of_board, groups_part
from leaderboard.comparisons.places import Places
from leaderboard.comparisons.rule_figures import MAX_SYSTEMS, BoardFigures, RuleFigures, board_figures
from leaderboard.comparisons.rule_map import drawn_map, map_content, map_of_board
from leaderboard.comparisons.task_likeness import LikeTasksPart, likeness_of_board, likeness_part
from leaderboard.computing.pairs import kendall_taus_of
from leaderboard.models import Benchmark, Publication
from leaderboard.on_demand.budget import compute, single_flight
from leaderboard.rankings.published import Column, published_board
from leaderboard.rankings.score_matrix import reader_of
from leaderboard.rankings.scores import BoardSystem, systems_at
from ranking_engine import __version__ as engine_version
from ranking_engine.core.ranking import average_ranks
from ranking_engine.core.scaling import RankingMap

SHOWN = 30  # systems in the chart, beside pinned ones
LEVELS = ((0.95, "p5"), (0.85, "p4"), (0.7, "p3"), (0.4, "p2"), (0.0, "p1"), (-0.4, "m1"), (-0.7, "m2"), (-0.85, "m3"))
LEGEND = {
    "p5": "τ from 0.95", "p4": "0.85", "p3": "0.7", "p2": "0.4", "p1": "0", "m1": "−0.4", "m2": "−0.7",
    "m3": "−0.85", "m5": "below", "none": "undefined",
}  # fmt: skip


@dataclass(frozen=True)
class AgreementQuery:
    """What an address asks: the systems that are pinned, the revision, and how many first and last places."""

    pins: tuple[str, ...] = ()
    revision: str = ""
    places: Places = field(default_factory=Places)

    def address(self, pins: Sequence[str]) -> str:
        """The end of the address with these pins."""
        pairs = [("pin", pin) for pin in pins] + ([("revision", self.revision)] if self.revision else [])
        pairs += self.places.parameters
        return f"?{urlencode(pairs, safe=',')}" if pairs else "?"


@dataclass(frozen=True)
class FigureRow:
    """One rule of the table of figures, with its figures as texts."""

    figures: RuleFigures
    is_reference: bool

    @property
    def column(self) -> Column:
        """The rule's column of the board."""
        return self.figures.column

    @property
    def agreement(self) -> list[str]:
        """Tau-b, then the first k and the last k places."""
        row = self.figures
        return [signed(row.kendall_tau), *map(_share, row.top.values()), *map(_share, row.least.values())]

    @property
    def ties(self) -> str:
        """Ranked systems minus distinct ranks."""
        return str(self.figures.n_tied)

    @property
    def n_in_ties(self) -> str:
        """How many systems share their rank."""
        return str(self.figures.n_in_ties)

    @property
    def distance(self) -> str:
        """The mean distance to the rankings by one task."""
        return _pairs(self.figures.dispersion_to)

    @property
    def excess(self) -> str:
        """How far the rule's ranking is above the least weighted distance; 0 where it has that."""
        excess = self.figures.excess
        if excess is None:
            return "–"
        weight = f"+{excess.weight:,.6g}"
        text = weight if excess.share is None else f"{localise(100 * excess.share, '.1f')} % ({weight})"
        return text if excess.weight else "0"


@dataclass(frozen=True)
class AgreementPage:
    """Everything that the page shows."""

    sentence: str
    ranks_sentence: str
    bump: RankLines
    heat: HeatMap | None
    columns: list[Column]  # in the order of likeness
    rows: list[tuple[BoardSystem, list[str]]]  # of the chart
    tau: list[tuple[Column, list[str], str]]  # of every rule with every rule, and its mean with the others
    figures: BoardFigures | None
    figure_rows: list[FigureRow]
    map: dict[str, Any]  # of the rules and the tasks, as `map_content` has it
    map_share: str  # how much of it the plane shows
    map_chart: PlaneMap | None
    likeness: LikeTasksPart | None  # of the tasks; None on boards of more than MAX_SYSTEMS
    groups: GroupsPart | None  # of tasks; None without two of them, too
    dispersion: str
    pinned: list[tuple[str, str]]  # names, and the addresses without them
    n_shown: int
    n_systems: int


def agreement_page(
    benchmark: Benchmark, publication: Publication, query: AgreementQuery, *, audience_level: str
) -> AgreementPage | None:
    """The page for what is published; None where no rule ranks.

    Args:
        benchmark: of the publication.
        publication: with its revision.
        query: what the address asks.
        audience_level: who the answer is for.

    Raises:
        TooLargeError: it takes longer than there is for an answer on demand.
    """
    board, systems = published_board(publication), systems_at(publication.revision)
    ranking = [column for column in board.columns if column.is_ranked]
    if not ranking:
        return None
    reference = next((column for column in ranking if column.rule == benchmark.default_rule), ranking[0])
    tau = kendall_taus(publication, ranking) if len(systems) <= MAX_SYSTEMS else None
    figures, read = None, reader_of(publication.revision)
    if tau is not None:
        taus = taus_with(reference, ranking, tau)
        figures = board_figures(
            publication, board, reference, taus, query.places, audience_level=audience_level, read=read
        )
    mapped: RankingMap | str = gettext("The board has more than %(max_systems)s systems.") % {
        "max_systems": MAX_SYSTEMS
    }
    if tau is not None:
        mapped = map_of_board(publication, ranking, audience_level=audience_level, read=read)
    content = map_content(mapped, ranking, publication)
    likeness = groups = None
    if tau is not None:
        alike = likeness_of_board(publication, n_systems=len(systems), audience_level=audience_level, read=read)
        likeness = likeness_part(alike, publication)
        compared = groups_of_board(publication, n_systems=len(systems), audience_level=audience_level, read=read)
        groups = groups_part(compared, publication)
    order = likeness_order(tau, ranking.index(reference)) if tau is not None else list(range(len(ranking)))
    columns = [ranking[k] for k in order]
    tau = None if tau is None else tau[np.ix_(order, order)]
    # The first systems under the reference rule, and those that are pinned.
    ranked = [i for i in range(len(systems)) if reference.ranks[i] >= 1]
    ranked.sort(key=lambda i: (int(reference.ranks[i]), systems[i].name))
    visible, first = ranked[:SHOWN], set(ranked[:SHOWN])
    visible += [i for i in range(len(systems)) if systems[i].key in query.pins and i not in first]
    pins = [systems[i].key for i in visible if systems[i].key in query.pins][:MAX_PINNED]
    names = {system.key: system.name for system in systems}
    # As lines across the rules, those of equal rank are in the middle of the places that they share.
    middles, heads = [average_ranks(column.ranks) for column in columns], [gettext(column.name) for column in columns]
    rows, lines, unranked = [], [], gettext("unranked")
    for i in visible:
        system = systems[i]
        texts = [str(int(column.ranks[i])) if column.ranks[i] >= 1 else "" for column in columns]
        ranks_text = ", ".join(f"{head} {text or unranked}" for head, text in zip(heads, texts, strict=True))
        others = [pin for pin in pins if pin != system.key]
        is_pinned = system.key in pins
        rows.append((system, texts))
        lines.append(
            RankedSystem(
                key=system.key,
                name=system.name,
                ranks=[None if np.isnan(row[i]) else float(row[i]) for row in middles],
                said=f"{system.name}: {ranks_text}",
                url=query.address(others if is_pinned else [*others, system.key][-MAX_PINNED:]) + "#ranks",
                pinned=pins.index(system.key) + 1 if is_pinned else 0,
            )
        )
    return AgreementPage(
        sentence="" if tau is None else tau_sentence(columns, tau),
        ranks_sentence=_ranks_sentence(columns, systems),
        bump=rank_lines(
            gettext("Ranks under every rule"),
            gettext(
                "One line per system, one column per rule, rank 1 at the top; similar rules are next to each other. "
                "Tied systems are drawn at the middle of the places that they share; below the dashed line ranks are "
                "closer together."
            ),
            heads,
            lines,
        ),
        heat=None if tau is None else tau_map(columns, tau),
        columns=columns,
        rows=rows,
        tau=[]
        if tau is None
        else [(column, [*map(signed, tau[k])], signed(_mean(tau, k))) for k, column in enumerate(columns)],
        figures=figures,
        figure_rows=[FigureRow(row, row.column is figures.reference) for row in figures.rows] if figures else [],
        map=content,
        map_share="" if content["share"] is None else percent(content["share"]),
        map_chart=drawn_map(content),
        likeness=likeness,
        groups=groups,
        dispersion="" if figures is None or np.isnan(figures.dispersion) else _pairs(figures.dispersion),
        pinned=[(names[pin], query.address([other for other in pins if other != pin])) for pin in pins],
        n_shown=len(visible),
        n_systems=len(systems),
    )


def kendall_taus(publication: Publication, columns: Sequence[Column]) -> np.ndarray:
    """Kendall's tau-b between all pairs of columns, on the systems that both rank; NaN where there is none."""
    digest = ":".join([*sorted(column.rule for column in columns)])
    key = f"taus:{publication.revision_id}:{engine_version}:{publication.pk}:{digest}"

    ranks = [column.ranks for column in columns]
    n_steps = len(ranks) * sum(row.size**2 for row in ranks[:1])
    return single_flight(key, lambda: {"tau": compute(kendall_taus_of, ranks, n_steps=n_steps)})["tau"]


def taus_with(reference: Column, columns: Sequence[Column], tau: np.ndarray) -> dict[str, float]:
    """By rule, the tau-b with the reference, one of the columns; `tau` is that of all pairs of them."""
    row = next(k for k, column in enumerate(columns) if column is reference)
    return {column.rule: float(value) for column, value in zip(columns, tau[row], strict=True)}


def _pairs(value: float) -> str:
    """A mean number of pairs of systems."""
    return "–" if np.isnan(value) else f"{value:,.1f}"


def _share(rate: float) -> str:
    return "–" if np.isnan(rate) else f"{localise(100 * rate, '.0f')} %"


def likeness_order(tau: np.ndarray, first: int) -> list[int]:
    """The rules in a chain from `first`, each the one most like the one before it among those that are left."""
    near = np.where(np.isnan(tau), -2.0, tau)
    order, left = [first], [k for k in range(len(tau)) if k != first]
    while left:
        following = max(left, key=lambda k: (near[order[-1], k], -k))
        order.append(following)
        left.remove(following)
    return order


def tau_map(columns: Sequence[Column], tau: np.ndarray) -> HeatMap | None:
    """The agreement of every two rules as squares, without rules that have a figure with no other; None without any."""
    kept = _compared(tau)
    if not kept:
        return None
    columns, tau = [columns[k] for k in kept], tau[np.ix_(kept, kept)]
    together = gettext("%(rule)s and %(other)s: τ %(tau)s")  # looked up once for hundreds of squares
    with_all = gettext("%(rule)s: τ %(tau)s with the others on average")
    names = [gettext(column.name) for column in columns]

    def said(i: int, j: int) -> str:
        pair = {"rule": names[i], "other": names[j], "tau": signed(tau[i, j])}
        return names[i] if i == j else together % pair

    return heat_map(
        gettext("Kendall’s tau between the rules"),
        gettext(
            "A square shows how far two rules agree on the order of the systems that both rank: 1 if they agree on "
            "every "
            "pair, −1 if on none."
        ),
        names,
        names,
        [[None if np.isnan(value) else float(value) for value in row] for row in tau],
        level=lambda value: next((name for least, name in LEVELS if value > least - 1e-12), "m5"),
        text=lambda value: typeset(f"{value:z.2f}".replace("0.", ".")),
        said=said,
        legend=LEGEND,
        row_said=[with_all % {"rule": name, "tau": signed(_mean(tau, k))} for k, name in enumerate(names)],
    )


def _compared(tau: np.ndarray) -> list[int]:
    """The rules that have a figure with another one: where a rule ties all systems, no correlation is defined."""
    return [k for k in range(len(tau)) if not np.isnan(_mean(tau, k))]


def _mean(tau: np.ndarray, k: int) -> float:
    others = np.delete(tau[k], k)
    known = others[~np.isnan(others)]
    return float(known.mean()) if known.size else float("nan")


def tau_sentence(columns: Sequence[Column], tau: np.ndarray) -> str:
    """Which two rules agree most and least."""
    pairs = [(float(tau[i, j]), i, j) for i in range(len(columns)) for j in range(i) if not np.isnan(tau[i, j])]
    if not pairs:
        return ""
    low, i, j = min(pairs)
    mean = sum(value for value, _, _ in pairs) / len(pairs)
    compared = set(_compared(tau))
    left_out = [gettext(column.name) for k, column in enumerate(columns) if k not in compared]
    sentence = gettext(
        "%(name)s and %(name2)s agree least (τ %(figure)s); two rules agree at τ %(figure2)s on average."
    )
    if low > 1 - 1e-12:
        sentence = gettext("All rules order the systems in the same way.")
        if left_out:
            sentence = gettext("The rules shown order the systems in the same way.")
    if left_out:
        sentence += " " + gettext("Not shown, because no figure with another rule is defined: %(left_out)s.")
    return sentence % {
        "name": gettext(columns[j].name),
        "name2": gettext(columns[i].name),
        "figure": signed(low),
        "figure2": signed(mean),
        "left_out": in_words(left_out),
    }


def _ranks_sentence(columns: Sequence[Column], systems: Sequence[BoardSystem]) -> str:
    """The system whose rank depends most on the rule."""
    ranks = np.array([column.ranks for column in columns], dtype=float)
    ranks[ranks < 1] = np.nan
    is_known = (~np.isnan(ranks)).sum(axis=0) > 1
    if not is_known.any():
        return ""
    spread = np.full(len(systems), -1.0)
    spread[is_known] = np.nanmax(ranks[:, is_known], axis=0) - np.nanmin(ranks[:, is_known], axis=0)
    most = int(spread.max())
    if not most:
        return gettext("Every system has the same rank under every rule.")
    i = min(np.flatnonzero(spread == most).tolist(), key=lambda place: systems[place].name)
    low, high = int(np.nanmin(ranks[:, i])), int(np.nanmax(ranks[:, i]))
    sentence = gettext("%(name)s depends most on the rule: ranks %(low)s to %(high)s.") % {
        "name": shortened(systems[i].name),
        "low": low,
        "high": high,
    }
    # Some rules show one of several orders that are equally good: it may be that alone what sets ranks apart.
    is_one_of_several = np.array([EQUALLY_NEAR in column.remark or BY_NAME in column.remark for column in columns])
    others = ranks[~is_one_of_several, i]
    others = others[~np.isnan(others)]
    if others.size and int(others.max() - others.min()) < most:
        names = [gettext(column.name) for column in np.array(columns, dtype=object)[is_one_of_several]]
        again = gettext("Without %(rules)s, where other orders are equally good: ranks %(low)s to %(high)s.")
        if others.min() == others.max():
            again = gettext("Without %(rules)s, where other orders are equally good: rank %(low)s.")
        values = {"rules": in_words(names), "low": int(others.min()), "high": int(others.max())}
        sentence = f"{sentence} {again % values}"
    return sentence
