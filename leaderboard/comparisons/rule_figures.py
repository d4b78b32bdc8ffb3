"""Every rule of a board in figures: agreement with the reference rule, ties, and how far the tasks are from it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext, gettext_noop

from leaderboard.common.hashing import content_hash
from leaderboard.common.language.engine import in_page_language
from leaderboard.common.text import PROVEN, as_sentence
from leaderboard.comparisons.places import Places
from leaderboard.computing.rankings import TWO_STEP
from leaderboard.computing.task_distances import distances_of, published_ranking
from leaderboard.models import Publication
from leaderboard.on_demand.budget import TooLargeError, compute, n_comparisons, refuse_beyond_budget, single_flight
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.margins import inputs_of, weighed
from leaderboard.rankings.published import Column, PublishedBoard
from leaderboard.rankings.score_matrix import MatrixReader
from ranking_engine.core.comparison import agreement_rates
from ranking_engine.core.decimals import finite_or_none
from ranking_engine.core.task_distances import Excess

KEMENY = "kemeny"
MAX_SYSTEMS = 2000  # with more, comparing every pair of systems would hold the page up
STEPS_A_RULE = 2  # comparisons of two ranks for each pair of systems
MOST_SHOWN = 100.0  # spreads beyond have odds that say nothing
ELECTS_ONLY = gettext_noop("it names a winner and does not rank")


@dataclass(frozen=True)
class KemenyOptimum:
    """Whether the order that contradicts the tasks least is known, which is Kemeny's.

    Attributes:
        status: `proven`, `not_proven`, `computing`, `undefined`, or `two_step` where groups and not tasks are ordered.
        text: the same for people, in a sentence.
        distance: the weight of the tasks that contradict it, where it is proven.
        spread: of the tasks around it by Mallows' model, 0 = as random orders, the greater, the closer; None where none
            is fitted.
        spread_error: its standard error.
        no_spread: why there is no spread, where the order is proven.
    """

    status: str
    text: str
    distance: float | None = None
    spread: float | None = None
    spread_error: float | None = None
    no_spread: str = ""

    @property
    def odds(self) -> float | None:
        """How much likelier an order becomes if two neighbours are put as in the nearest order."""
        return None if self.spread is None or self.spread > MOST_SHOWN else math.exp(self.spread)


@dataclass(frozen=True)
class RuleFigures:
    """One rule that ranks; a figure that does not exist is NaN.

    Attributes:
        column: the rule.
        kendall_tau: tau-b with the reference rule.
        top: by k, the share of the first k places that the reference rule gives to the same systems.
        least: by k, that of the last k places.
        n_tied: ranked systems minus distinct ranks.
        n_in_ties: systems that share their rank.
        dispersion_to: the mean Kendall distance of the tasks to the ranking.
        weighted_distance: the weight of the tasks that contradict the ranking, summed over pairs of systems.
        excess: how much more that is than for Kemeny's proven order, where both rank the same systems.
    """

    column: Column
    kendall_tau: float
    top: dict[int, float]
    least: dict[int, float]
    n_tied: int
    n_in_ties: int
    dispersion_to: float
    weighted_distance: float
    excess: Excess | None

    @property
    def values(self) -> dict[str, float | None]:
        """The figures by the names that files and the API give them, except tau; None where one does not exist."""
        excess = self.excess
        return {
            **{f"agreement_top_{k}": finite_or_none(rate) for k, rate in self.top.items()},
            **{f"agreement_least_{k}": finite_or_none(rate) for k, rate in self.least.items()},
            "n_ranked": self.column.n_ranked,
            "n_tied": self.n_tied,
            "n_in_ties": self.n_in_ties,
            "dispersion_to": finite_or_none(self.dispersion_to),
            "weighted_distance": finite_or_none(self.weighted_distance),
            "kemeny_excess": excess.weight if excess else None,
            "kemeny_excess_share": excess.share if excess else None,
        }


@dataclass(frozen=True)
class BoardFigures:
    """All rules that rank, in the order of the board.

    Attributes:
        reference: the rule that the others are compared with.
        top, least: the k of the first k and the last k places.
        rows: the rules.
        dispersion: the mean Kendall distance of two tasks; NaN where there is none.
        optimum: what is known of Kemeny's order.
        not_compared: the rules that do not rank, each with the reason.
        problem: why there are no distances to the tasks, as a sentence; empty where there are.
    """

    reference: Column
    top: tuple[int, ...]
    least: tuple[int, ...]
    rows: list[RuleFigures]
    dispersion: float
    optimum: KemenyOptimum
    not_compared: list[tuple[Column, str]]
    problem: str = ""


def board_figures(
    publication: Publication,
    board: PublishedBoard,
    reference: Column,
    taus: Mapping[str, float],
    places: Places,
    *,
    audience_level: str,
    read: MatrixReader,
) -> BoardFigures:
    """The rules of a published board of up to MAX_SYSTEMS systems in figures.

    Args:
        publication: with its revision.
        board: what is published, as anyone who asks may see it.
        reference: a column that ranks.
        taus: by rule, Kendall's tau-b with the reference.
        places: how many first and last places are compared.
        audience_level: who the answer is for; part of the cache's key.
        read: reads the scores, where no answer is kept.

    Raises:
        TooOftenError, BusyError: this reader asked too often of late, or too much is computed for others.
    """
    columns = [column for column in board.columns if column.is_ranked]
    optimum, problem = optimum_of(board), ""
    distances: dict[str, Any] = {"dispersion": math.nan, "rules": {}, "spread": None}
    n_systems, n_tasks = len(reference.ranks), len(configuration_of(publication.revision).tasks)
    digest = content_hash([column.rule for column in columns])
    key = f"task-distances-and-spread:{inputs_of(publication.revision)}:{publication.pk}:{digest}:{audience_level}"

    def make() -> dict[str, Any]:
        stored = read()
        if stored is None:  # a board whose rules rank has systems and tasks
            return distances
        matrix = weighed(stored.matrix, publication.revision)
        ranks = {column.rule: column.ranks for column in columns}
        n_steps = 2 * n_comparisons(matrix, n_systems) + STEPS_A_RULE * len(ranks) * n_systems**2
        return compute(distances_of, matrix, ranks, KEMENY if optimum.status == "proven" else "", n_steps=n_steps)

    try:
        refuse_beyond_budget(n_systems, n_tasks)
        distances = single_flight(key, make)
    except TooLargeError as error:
        problem = str(error)
    top, least = places.of_board(len(reference.ranks))
    own = published_ranking(reference.rule, reference.ranks)
    if KEMENY in distances["rules"] and optimum.status == "proven":
        spread = distances["spread"] or {}
        optimum = replace(
            optimum,
            distance=distances["rules"][KEMENY]["weighted_distance"],
            spread=spread.get("theta"),
            spread_error=spread.get("standard_error"),
            no_spread=spread.get("reason", ""),
        )
    rows = []
    for column in columns:
        ranking = published_ranking(column.rule, column.ranks)
        of_rule = distances["rules"].get(column.rule)
        rows.append(
            RuleFigures(
                column=column,
                kendall_tau=taus[column.rule],
                top=dict(zip(top, agreement_rates(own, ranking, top), strict=True)),
                least=dict(zip(least, agreement_rates(own, ranking, least, least=True), strict=True)),
                n_tied=ranking.n_tied,
                n_in_ties=ranking.n_in_ties,
                dispersion_to=of_rule["dispersion_to"] if of_rule else math.nan,
                weighted_distance=of_rule["weighted_distance"] if of_rule else math.nan,
                excess=of_rule["excess"] if of_rule else None,
            )
        )
    return BoardFigures(
        reference=reference,
        top=top,
        least=least,
        rows=rows,
        dispersion=distances["dispersion"],
        optimum=optimum,
        not_compared=not_compared(board),
        problem=problem,
    )


def not_compared(board: PublishedBoard) -> list[tuple[Column, str]]:
    """The rules of a board that rank no one, each with the reason."""
    return [
        (column, in_page_language(column.reason) or gettext(ELECTS_ONLY))
        for column in board.columns
        if not column.is_ranked
    ]


def optimum_of(board: PublishedBoard) -> KemenyOptimum:
    """What a published board knows of the order that contradicts the tasks least; nothing is searched."""
    column = next((column for column in board.columns if column.rule == KEMENY), None)
    if column is None:
        return KemenyOptimum("undefined", gettext("Kemeny’s order is not on this board."))
    if column.is_computing:
        return KemenyOptimum("computing", gettext("Kemeny’s order is being computed."))
    if not column.is_ranked:
        text = gettext("Kemeny’s rule gives no order here.")
        return KemenyOptimum("undefined", f"{text} {as_sentence(in_page_language(column.reason))}".strip())
    if board.aggregation == TWO_STEP:
        return KemenyOptimum(
            "two_step", gettext("With two-step aggregation Kemeny’s rule orders by groups, not by tasks.")
        )
    if not column.remark.startswith(PROVEN):
        return KemenyOptimum(
            "not_proven", gettext("Kemeny’s order is the best one found; it is not proven to be optimal.")
        )
    return KemenyOptimum(
        "proven", gettext("Kemeny’s order is proven to be optimal: no other order disagrees less with the tasks.")
    )
