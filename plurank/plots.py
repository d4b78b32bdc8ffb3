"""Plots of results with matplotlib; each takes axes or makes some, and returns them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.files.extras import extra

if TYPE_CHECKING:
    from plurank.findings import RankIntervalTable, SeparablePairs, SystemProspects
    from plurank.landscapes import BoardLandscape
    from plurank.rankings import Leaderboard

MAX_NAMED = 60  # systems whose names fit beside a plot
_GREY, _BLUE = "#8a8f98", "#2457a6"


def _axes(ax: Any, width: float, height: float) -> Any:  # noqa: ANN401 -- of matplotlib
    if ax is not None:
        return ax
    pyplot = extra("matplotlib.pyplot", "plots")
    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def rank_lines(leaderboard: Leaderboard, ax: Any = None) -> Any:  # noqa: ANN401 -- of matplotlib
    """Draw a line of ranks for each system across the rules that rank, the best rank at the top; return the axes.

    Winners under some rule are coloured and named at the left.
    """
    rules = [one for one in leaderboard.by_rule.values() if one.status == "ranked"]
    if not rules:
        raise ValueError("no rule gives a ranking; `notes` says why")
    ax = _axes(ax, 2 + 0.45 * len(rules), 1.5 + 0.14 * min(len(leaderboard), MAX_NAMED))
    ranks = {name: [np.nan if one.ranks[name] is None else one.ranks[name] for one in rules] for name in rules[0].ranks}
    winners = {name for one in rules for name in one.winners}
    for name, line in ranks.items():
        is_winner = name in winners
        ax.plot(
            range(len(rules)), line, color=None if is_winner else _GREY, linewidth=2 if is_winner else 0.8,
            alpha=1 if is_winner else 0.5, label=name if is_winner else None, marker="o", markersize=3,
        )  # fmt: skip
    ax.set_xticks(range(len(rules)), [one.title for one in rules], rotation=90)
    ax.invert_yaxis()
    ax.set_ylabel("rank")
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, title="winners")
    return ax


def heat_map(names: Sequence[str], values: FloatArray, title: str, ax: Any = None) -> Any:  # noqa: ANN401
    """Draw correlations of everything with everything, shape (n, n), from -1 to 1; return the axes."""
    size = 2.5 + 0.28 * len(names)
    ax = _axes(ax, size + 1, size)
    image = ax.imshow(values, vmin=-1, vmax=1, cmap="RdBu")
    ax.set_xticks(range(len(names)), names, rotation=90)
    ax.set_yticks(range(len(names)), names)
    ax.set_title(title)
    ax.figure.colorbar(image, ax=ax, label="tau-b")
    return ax


def shares(prospects: SystemProspects, ax: Any = None) -> Any:  # noqa: ANN401 -- of matplotlib
    """Draw the share of all weightings under which each system that can win does, largest first; return the axes."""
    entries = [(share, name) for name, share in zip(prospects["system"], prospects["share"], strict=True) if share]
    entries.sort(key=lambda entry: (entry[0], entry[1]))
    ax = _axes(ax, 7, 1 + 0.25 * max(1, len(entries)))
    ax.barh([name for _, name in entries], [share for share, _ in entries], color=_BLUE)
    ax.set_xlabel("share of all weightings under which it wins")
    ax.set_title(prospects.title)
    return ax


def rank_intervals(table: RankIntervalTable, ax: Any = None) -> Any:  # noqa: ANN401 -- of matplotlib
    """Draw each system's rank and its interval, the best at the top; return the axes.

    Raises:
        ValueError: there are no intervals; the message says why.
    """
    rows = [row for row in table.rows() if row["lower"] is not None and row["rank"] is not None]
    if not rows:
        raise ValueError(f"no intervals: {'; '.join(table.notes)}")
    ax = _axes(ax, 7, 1 + 0.2 * len(rows))
    places = range(len(rows))
    ax.hlines(places, [row["lower"] for row in rows], [row["upper"] for row in rows], color=_GREY, linewidth=3)
    ax.plot([row["rank"] for row in rows], places, "o", color=_BLUE, markersize=4)
    ax.set_yticks(places, [row["system"] for row in rows])
    ax.invert_yaxis()
    ax.set_xlabel("rank")
    ax.set_title(table.title)
    return ax


def plane(table: BoardLandscape, ax: Any = None) -> Any:  # noqa: ANN401 -- of matplotlib
    """Draw boards by diversity and sensitivity, each with its bounds and its name; return the axes.

    Raises:
        ValueError: no board has figures; the message says why.
    """
    if not len(table):
        raise ValueError(f"no board is on the plane: {'; '.join(table.notes)}")
    ax = _axes(ax, 7, 5)
    ax.vlines(table["diversity"], table["lower"], table["upper"], color=_GREY, linewidth=2)
    ax.plot(table["diversity"], table["lower"], "o", color=_BLUE, markersize=5)
    for row in table.rows()[:MAX_NAMED]:
        ax.annotate(row["board"], (row["diversity"], row["lower"]), xytext=(6, 3), textcoords="offset points")
    ax.set_xlabel("diversity of the tasks: 1 - Kendall's W")
    ax.set_ylabel("share of pairs reversed")
    ax.set_xlim(0, 1)
    ax.set_ylim(-0.02, max(0.1, 1.1 * max(table["upper"])))
    ax.set_title(table.title, fontsize="medium")
    return ax


def critical_difference(pairs: SeparablePairs, ax: Any = None) -> Any:  # noqa: ANN401 -- of matplotlib
    """Draw the critical-difference diagram (Demšar 2006, figure 1): average ranks, and bars over what does not differ.

    Raises:
        ValueError: Friedman's test says nothing about this board; the message says why.
    """
    friedman = pairs.significance.friedman
    if friedman.reason:
        raise ValueError(f"no critical-difference diagram: {friedman.reason}")
    names, ranks = friedman.systems, friedman.average_ranks
    ax = _axes(ax, 8, 1.5 + 0.2 * len(names))
    half = (len(names) + 1) // 2
    right = len(names) + 0.5
    ax.set_xlim(0.5, right)
    ax.set_ylim(-(len(friedman.runs) + half) * 0.5 - 0.5, 0.6)
    for k, (name, rank) in enumerate(zip(names, ranks.tolist(), strict=True)):
        is_left = k < half
        depth = -0.5 * (len(friedman.runs) + 1 + (k if is_left else len(names) - 1 - k))
        end = 0.5 if is_left else right
        ax.plot([rank, rank, end], [0, depth, depth], color=_GREY, linewidth=0.8)
        ax.annotate(f"{name} ({rank:.2f})", (end, depth), ha="right" if is_left else "left", va="center")
    for k, (first, last) in enumerate(friedman.runs):
        height = -0.5 * (k + 0.5)
        ax.plot([ranks[first] - 0.05, ranks[last] + 0.05], [height, height], color=_BLUE, linewidth=4)
    ax.plot([1, 1 + friedman.critical_difference], [0.4, 0.4], color="black", linewidth=2)
    ax.annotate(f"CD = {friedman.critical_difference:.2f}", (1, 0.45))
    ax.spines[["left", "right", "bottom"]].set_visible(False)
    ax.xaxis.tick_top()
    ax.set_yticks([])
    ax.set_title("average rank over tasks", fontsize="medium")
    return ax
