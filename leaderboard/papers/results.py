"""The recomputed papers, as the page shows them: read from the file that `make papers` wrote."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from leaderboard import papers
from leaderboard.common.charts.lines import LineChart
from leaderboard.common.charts.papers import N_SERIES, plane_chart, plot_chart
from leaderboard.common.charts.scatter import Scatter

RESULTS = Path(papers.__file__).with_name("results.json")
AGREES, DIFFERS, OURS_ALONE = VERDICTS = ("agrees", "differs", "ours alone")


@dataclass(frozen=True)
class Figure:
    """A figure of a section: a chart of curves with their names by series, or a plane of points."""

    key: str
    title: str
    description: str
    chart: LineChart | Scatter
    series: list[tuple[int, str]]

    @property
    def is_plane(self) -> bool:
        """Whether it is a plane of points."""
        return isinstance(self.chart, Scatter)


@dataclass(frozen=True)
class Section:
    """A table of a paper: its rows that were asked for, and all else where no verdict was asked for."""

    key: str
    title: str
    sources: list[str]
    rows: list[Mapping[str, str]]
    grids: list[Mapping[str, Any]]
    notes: list[str]
    figures: list[Figure]


@dataclass(frozen=True)
class PaperSummary:
    """A paper in the overview: how many of its rows agree, differ, and are ours alone; what it prints where."""

    key: str
    title: str
    citation: str
    n_sections: int
    n_agree: int
    n_differ: int
    n_ours: int
    places: list[Mapping[str, Any]]


@dataclass(frozen=True)
class PapersPage:
    """All that the page shows.

    Attributes:
        engine_version: of the engine that computed it.
        totals: how many rows agree, differ, and are ours alone.
        printed_numbers: how many numbers the papers print, and how many of them are equal to ours, different, without
            a known cause (`unexplained`), and not compared.
        essay: claims by part, in order.
        overview: every paper.
        paper, verdict: what was asked for; empty for all.
        chosen: the papers that are shown, each with its sections.
    """

    engine_version: str
    totals: Mapping[str, int]
    printed_numbers: Mapping[str, int]
    essay: list[tuple[str, list[Mapping[str, Any]]]]
    overview: list[PaperSummary]
    paper: str
    verdict: str
    chosen: list[tuple[PaperSummary, list[Section], list[str]]]

    @property
    def ours_alone(self) -> int:
        """How many rows have no published figure."""
        return self.totals[OURS_ALONE]


@cache
def stored() -> Mapping[str, Any]:
    """Return what `make papers` wrote."""
    results: Mapping[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return results


def claim_on(section: str) -> str:
    """What the claim that rests on a section alone says, in words."""
    return next(claim["text"] for claim in stored()["essay"] if claim["sections"] == [section])


def papers_page(*, paper: str = "", verdict: str = "") -> PapersPage:
    """Return the page for one paper or all, and for one verdict or all; unknown words ask for all.

    Without either, the essay and the overview are alone.
    """
    content = stored()
    overview = []
    for of in content["papers"]:
        counts = Counter(row["verdict"] for section in of["sections"] for row in section["rows"])
        n_agree, n_differ, n_ours = (counts[each] for each in VERDICTS)
        overview.append(
            PaperSummary(
                of["key"], of["title"], of["citation"], len(of["sections"]), n_agree, n_differ, n_ours, of["places"]
            )
        )
    paper = paper if paper in {of.key for of in overview} else ""
    verdict = verdict if verdict in VERDICTS else ""
    chosen = []
    for summary, of in zip(overview, content["papers"], strict=True):
        if (paper or verdict) and paper in ("", summary.key):
            kept = []
            for each in of["sections"]:
                rows = [row for row in each["rows"] if verdict in ("", row["verdict"])]
                head = (each["key"], each["title"], each["sources"], rows)
                if not verdict:
                    figures = [_figure(plot, plot_chart(plot)) for plot in each["plots"]]
                    figures += [_figure(plane, plane_chart(plane)) for plane in each["planes"]]
                    kept.append(Section(*head, each["grids"], each["notes"], figures))
                elif rows:
                    kept.append(Section(*head, [], [], []))
            if kept:
                chosen.append((summary, kept, [] if verdict else list(of["left_out"])))
    parts: dict[str, list[Mapping[str, Any]]] = {}
    titles = {section["key"]: section["title"] for of in content["papers"] for section in of["sections"]}
    for claim in content["essay"]:
        links = [{"paper": key.partition("-")[0], "section": key, "title": titles[key]} for key in claim["sections"]]
        parts.setdefault(claim["part"], []).append({**claim, "links": links})
    return PapersPage(
        content["engine_version"],
        content["totals"],
        content["printed_numbers"],
        list(parts.items()),
        overview,
        paper,
        verdict,
        chosen,
    )


def _figure(of: Mapping[str, Any], chart: LineChart | Scatter) -> Figure:
    series = [(number % N_SERIES + 1, name) for number, name in enumerate(of.get("curves", {}))]
    return Figure(of["key"], of["title"], of["description"], chart, series)
