"""The figures of a study's summary as rows and tables: curves by their places, rankings by their systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ranking_engine.stability.catalogue import get_study
from ranking_engine.stability.named_summary import COMPARED, LEAST_WEIGHT, is_comparison, is_curve
from ranking_engine.text.grids import Grid, cell
from ranking_engine.text.names import listed

SETS = {"scaled": "the code's set (scaled)", "box": "the paper's set (box)"}
NAMED_LISTS = ("added", "chosen", "dropped_tasks", "moved_down", "moved_up", "top")
MAX_NAMES = 10  # of such a list
BY_TASK = {
    "missing": "missing",
    "task_error": "held-out error",
    "task_explained": "explained",
    "task_half_width": "half width",
    "task_coverage": "coverage",
}
OF_CELLS = ("systems", "tasks", "predicted", "low", "high")


def summary_rows(study: str, summary: Mapping[str, Any]) -> list[list[object]]:
    """Return the figures of a summary: rule (empty where the study is not about rules), figure, place, value."""
    axes = get_study(study).axes
    return [[rule, *figure] for rule, entry in entries(summary).items() for figure in figures(entry, summary, axes)]


def entries(summary: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """Return the figures by rule; of a study that is not about rules, under an empty key."""
    if "rules" in summary and isinstance(summary["rules"], dict):
        return summary["rules"]
    return {"": summary}


def figures(
    entry: Mapping[str, Any], summary: Mapping[str, Any], axes: Sequence[str]
) -> Iterator[tuple[str, str, Any]]:
    """Yield name, place on the curve and value of all figures of an entry.

    Two rankings side by side have a place for each system, a curve over ε one for each ε. Other places are called as
    the axis of the summary, or of the entry, that has as many; else 1, 2, 3, ...
    """
    compared = is_comparison(entry)
    for name, value in entry.items():
        if name in axes or (compared and name == "systems"):
            continue
        if compared and name in COMPARED:
            yield from ((name, system, rank) for system, rank in zip(entry["systems"], value, strict=True))
        elif is_curve(value):
            for point in value:
                rest = {key: figure for key, figure in point.items() if key != LEAST_WEIGHT}
                for inner, _, figure in figures(rest, summary, axes):
                    yield f"{name}.{inner}", f"{point[LEAST_WEIGHT]:g}", figure
        elif isinstance(value, Mapping):
            for inner, place, figure in figures(value, summary, axes):
                yield f"{name}.{inner}", place, figure
        elif isinstance(value, list):
            known = {**summary, **entry}
            places = [known[axis] for axis in axes if axis in known and len(known[axis]) == len(value)]
            for place, figure in zip([*places, range(1, len(value) + 1)][0], value, strict=True):
                text = listed([str(item) for item in figure], limit=len(figure)) if isinstance(figure, list) else figure
                yield name, str(place), text
        else:
            yield name, "", value


def is_in_own_table(figure: str) -> bool:
    """Whether a figure of a study that is not about rules is in one of `own_tables` or `completion_tables`."""
    parts = figure.split(".")
    return parts[0] in ("curve", "cells") or parts[-1] in COMPARED or figure in BY_TASK


def own_tables(summary: Mapping[str, Any]) -> list[tuple[str, Grid]]:
    """Return title and table of each curve over ε, of every two rankings side by side."""
    tables: list[tuple[str, Grid]] = []
    curves = {name: points for name, points in summary.get("curve", {}).items() if is_curve(points)}
    known = {name: [point for point in points if "discordant_share" in point] for name, points in curves.items()}
    if any(known.values()):
        header = ["ε", *(f"{SETS.get(name, name)}, {bound}" for name in known for bound in ("at least", "at most"))]
        rows: dict[float, list[str]] = {}
        for points in known.values():
            for point in points:
                share = point["discordant_share"]
                rows.setdefault(point[LEAST_WEIGHT], []).extend(cell(share[bound]) for bound in ("lower", "upper"))
        lines = [[f"{least:g}", *cells] for least, cells in rows.items() if len(cells) + 1 == len(header)]
        tables.append(
            ("Share of pairs that weights reverse, by the smallest share that noise preserves (ε)", [header, *lines])
        )
    for path, comparison in _comparisons(summary, ()):
        sets = [SETS[name] for name in path if name in SETS]
        title = f"Ranks before and after{f', {sets[0]}' if sets else ''}"
        ranks = zip(comparison["systems"], *(comparison[name] for name in COMPARED), strict=True)
        tables.append((title, [["system", *COMPARED], *([system, *(f"{r:g}" for r in two)] for system, *two in ranks)]))
    return tables


def completion_tables(summary: Mapping[str, Any]) -> list[tuple[str, Grid]]:
    """Return the tables of tasks and of predicted scores of score completion; of other studies none."""
    if not BY_TASK.keys() <= summary.keys():
        return []
    figures_of_tasks = zip(*(summary[name] for name in BY_TASK), strict=True)
    rows = [[task, *map(cell, row)] for task, row in zip(summary["tasks"], figures_of_tasks, strict=True)]
    beyond = summary["n_tasks"] - len(rows)
    title = f"Tasks, the first {len(rows):,} of {summary['n_tasks']:,}" if beyond else "Tasks"
    tables = [(title, [["task", *BY_TASK.values()], *rows])]
    predicted = [
        [system, task, *map(cell, numbers)]
        for system, task, *numbers in zip(*(summary["cells"][name] for name in OF_CELLS), strict=True)
    ]
    if predicted:
        tables.append(("Predicted scores", [["system", "task", "predicted", "low", "high"], *predicted]))
    return tables


def named_lists(summary: Mapping[str, Any]) -> list[str]:
    """Return a line for each list of systems or tasks of a study that is not about rules: who joins, say."""
    return [
        f"{' '.join(path).replace('_', ' ').capitalize()}: {listed(names, limit=MAX_NAMES)}"
        for path, names in _name_lists(summary, ())
    ]


def _comparisons(content: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    if isinstance(content, Mapping):
        if is_comparison(content):
            yield path, content
        for name, value in content.items():
            yield from _comparisons(value, (*path, name))


def _name_lists(content: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    for name, value in content.items():
        if isinstance(value, Mapping):
            yield from _name_lists(value, (*path, name))
        elif name in NAMED_LISTS and isinstance(value, list) and value:
            yield (*path, name), value
