"""Colombo et al. 2022, figures 7, 39 and 45: the first places from single instances, and their order."""

from __future__ import annotations

import math

from ranking_engine.core.comparison import agreement_rate
from ranking_engine.core.first_places import tau_on_common_first
from ranking_engine.core.instances import Aggregation, aggregate_all
from reproduction.colombo.instances import PAIRS, pair_name, scores_of
from reproduction.colombo.sources import FILES, INSTANCE_BOARDS, NO_NUMBERS
from reproduction.tables import Grid, Plot, Progress, Result, Section, number

TOPS = range(1, 11)
CORRELATED_TOPS = range(2, 21)  # of one system there is no correlation
PLOTTED = ("mean", "two_level")


def agreement(progress: Progress) -> Result:
    """Compare the first places by mean, by one level and by two (figures 7a and 45)."""
    lines, curves = [], {}
    for step, name in enumerate(FILES):
        progress(step, len(FILES))
        rankings = aggregate_all(scores_of(name))
        for a, b in PAIRS:
            rates = [agreement_rate(rankings[a], rankings[b], k) for k in TOPS]
            lines.append([name, pair_name(a, b), *map(_cell, rates)])
            if (a, b) == PLOTTED:
                curves[name] = [_or_none(rate) for rate in rates]
    picture = Plot(
        "colombo-first-places",
        "Share of the first k places that mean and two levels give to the same systems",
        "One curve a file; ties that straddle place k share the places left.",
        "k",
        "agreement",
        [str(k) for k in TOPS],
        curves,
    )
    grid = Grid("Agreement of the first k places", ["file", "rankings", *map(str, TOPS)], lines)
    return Result([], [grid], [NO_NUMBERS], [picture])


def correlations(progress: Progress) -> Result:
    """Correlate two rankings on the systems that both have in their first k places (figures 7b and 39)."""
    by_pair: dict[tuple[Aggregation, Aggregation], list[list[float]]] = {pair: [] for pair in PAIRS}
    lines = []
    for step, name in enumerate(FILES):
        progress(step, len(FILES))
        rankings = aggregate_all(scores_of(name))
        for pair in PAIRS:
            taus = [tau_on_common_first(rankings[pair[0]], rankings[pair[1]], k) for k in CORRELATED_TOPS]
            by_pair[pair].append(taus)
            lines.append([name, pair_name(*pair), *(_cell(taus[k - 2]) for k in CORRELATED_TOPS if k % 2 == 0)])
    means = {
        pair_name(*pair): [_or_none(_mean(column)) for column in zip(*of, strict=True)] for pair, of in by_pair.items()
    }
    lines += [["mean", name, *(_cell(means[name][k - 2]) for k in CORRELATED_TOPS if k % 2 == 0)] for name in means]
    picture = Plot(
        "colombo-first-correlations",
        "Kendall's tau-b on the systems that two rankings have in common in their first k places",
        "Mean over the files that rank k systems or more and have two of them in common.",
        "k",
        "tau-b",
        [str(k) for k in CORRELATED_TOPS],
        means,
    )
    header = ["file", "rankings", *(str(k) for k in CORRELATED_TOPS if k % 2 == 0)]
    title = "Kendall's tau-b on the systems that both rankings have in their first k places"
    return Result([], [Grid(title, header, lines)], [NO_NUMBERS, LOW], [picture])


LOW = (
    "Section 5.3.1 finds many systems in common and a low correlation of their order. Their notebook correlates lists "
    "of names there too, as in table 4 (`colombo-instances`), and exchanges the labels of two of the three pairs."
)


def _mean(values: tuple[float, ...]) -> float:
    present = [value for value in values if not math.isnan(value)]
    return sum(present) / len(present) if present else math.nan


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _cell(value: float | None) -> str:
    return "-" if value is None or math.isnan(value) else number(value)


SECTIONS = (
    Section(
        "colombo-first-places", "Figures 7 and 45: the first places from single instances", INSTANCE_BOARDS, agreement
    ),
    Section(
        "colombo-first-correlations",
        "Figures 7 and 39: the order of the first places from single instances",
        INSTANCE_BOARDS,
        correlations,
    ),
)
