"""Summaries of studies for readers: systems and tasks by name, rankings by system, curves by the share ε."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

COMPARED = ("before", "after")  # two rankings side by side, of the `systems` beside them
LEAST_WEIGHT = "least_weight"  # of a point of a curve over ε
OF_SYSTEMS = frozenset({"added", "moved_down", "moved_up", "most_disruptive", "systems", "top"})
OF_TASKS = frozenset({"dropped_tasks", "smallest_tasks", "tasks", "weights"})

Names = Mapping[str, str]


def is_comparison(content: object) -> bool:
    """Whether part of a summary is two rankings side by side: `systems`, and their ranks `before` and `after`."""
    if not isinstance(content, Mapping) or not isinstance(content.get("systems"), list):
        return False
    n = len(content["systems"])
    return all(isinstance(content.get(name), list) and len(content[name]) == n for name in COMPARED)


def is_curve(content: object) -> bool:
    """Whether part of a summary is a curve over ε: points that each state their `least_weight`."""
    return (
        isinstance(content, list)
        and bool(content)
        and all(isinstance(point, Mapping) and LEAST_WEIGHT in point for point in content)
    )


def named_summary(summary: Mapping[str, Any], systems: Names, tasks: Names) -> dict[str, Any]:
    """Return a summary in which nothing is known by its place in a list alone.

    Ranks side by side are by system, points of a curve by ε, and systems and tasks have their names.

    Args:
        summary: of a study.
        systems, tasks: names by the keys that the study knew them by; a key that has none stays.
    """
    compared, named = is_comparison(summary), {}
    of_chosen = {"systems": systems, "weights": tasks}.get(str(summary.get("change", "")), {})
    for name, value in summary.items():
        if compared and name == "systems":
            continue
        if compared and name in COMPARED:
            named[name] = dict(zip(_renamed(summary["systems"], systems), value, strict=True))
        elif name in OF_SYSTEMS:
            named[name] = _renamed(value, systems)
        elif name in OF_TASKS:
            named[name] = _renamed(value, tasks)
        elif name == "chosen":
            named[name] = _renamed(value, of_chosen)
        elif is_curve(value):
            named[name] = {
                f"ε = {point[LEAST_WEIGHT]:g}": {key: figure for key, figure in point.items() if key != LEAST_WEIGHT}
                for point in value
            }
        else:
            named[name] = _named(value, systems, tasks)
    return named


def _named(value: Any, systems: Names, tasks: Names) -> Any:  # noqa: ANN401 -- JSON
    if isinstance(value, Mapping):
        return named_summary(value, systems, tasks)
    return [_named(item, systems, tasks) for item in value] if isinstance(value, list) else value


def mentioned(content: object, names: Names) -> dict[str, str]:
    """Return those of `names`, by key, whose keys are somewhere in a summary."""
    if isinstance(content, str):
        return {content: names[content]} if content in names else {}
    if isinstance(content, Mapping):
        content = [*content, *content.values()]
    if not isinstance(content, list):
        return {}
    return {key: name for item in content for key, name in mentioned(item, names).items()}


def _renamed(value: Any, names: Names) -> Any:  # noqa: ANN401 -- a list, or figures by key
    if isinstance(value, Mapping):
        return {names.get(key, key): figure for key, figure in value.items()}
    if isinstance(value, list):
        return [names.get(item, item) if isinstance(item, str) else item for item in value]
    return value
