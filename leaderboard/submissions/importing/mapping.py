"""What a program says of result files, by what the files call their columns and systems."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from leaderboard.submissions.imports import SCALES, Assignment
from ranking_engine.files.roles import ColumnChoices
from ranking_engine.importers.results_table import Import

LABEL_LENGTH = 1000


def column_choices_of(mapping: Mapping[str, Any]) -> ColumnChoices | None:
    """What the mapping says of a table's columns; None where it says nothing."""
    choices = ColumnChoices(
        roles=mapping.get("columns", {}),
        decimal=mapping.get("decimal", ""),
        spread=mapping.get("spread", ""),
        sheet=mapping.get("sheet", ""),
    )
    return choices if choices != ColumnChoices() else None


def column_labels(results: Import) -> list[str]:
    """What each column of an import is called in a mapping."""
    return _numbered([column.name for column in results.columns])


def system_labels(results: Import) -> list[str]:
    """What each system of an import is called in a mapping."""
    n_called = Counter(name for name, _ in results.systems)
    return _numbered(
        [f"{name} ({revision})" if revision and n_called[name] > 1 else name for name, revision in results.systems]
    )


def _numbered(labels: Sequence[str]) -> list[str]:
    """The labels, a second of the same text with its number behind it."""
    seen: set[str] = set()
    numbered = []
    for k, label in enumerate(labels):
        numbered.append(f"{label} #{k}" if label in seen else label)
        seen.add(label)
    return numbered


def assignment_of(
    mapping: Mapping[str, Mapping[str, str]], results: Import, suggested: Assignment
) -> tuple[Assignment, list[dict[str, str]]]:
    """What the mapping says over what can be said without doubt, and what of it fits nothing in the files."""
    problems: list[dict[str, str]] = []

    def said(kind: str, labels: Sequence[str], check: Callable[[str], str] = lambda value: "") -> dict[int, str]:
        places = {label: k for k, label in enumerate(labels)}
        chosen = {}
        for label, value in mapping.get(kind, {}).items():
            place = f"mapping.{kind}.{label[:60]}"
            if label not in places:
                listed = ", ".join(repr(known) for known in labels[:5])
                message = f"the files have no such one; they have {listed}"
                problems.append({"place": place, "message": message[:LABEL_LENGTH]})
            elif message := check(value):
                problems.append({"place": place, "message": message})
            else:
                chosen[places[label]] = value
        return chosen

    def scale_problem(value: str) -> str:
        return "" if value in SCALES else f"{value[:40]!r}; expected one of {', '.join(SCALES)}"

    columns, systems = column_labels(results), system_labels(results)
    assignment = Assignment(
        tasks={**suggested.tasks, **said("tasks", columns)},
        scales={**suggested.scales, **said("scales", columns, scale_problem)},
        names={**suggested.names, **said("systems", systems)},
    )
    return assignment, problems


def places_in_mapping(places: Iterable[str], results: Import) -> list[str]:
    """Where in a mapping problems are that the form knows as `task-3`, `scale-3` or `system-1`."""
    columns, systems = column_labels(results), system_labels(results)
    labels = {"task": columns, "scale": columns, "system": systems}
    named = []
    for place in places:
        kind, _, number = place.partition("-")
        is_known = kind in labels and number.isdecimal()
        named.append(f"mapping.{kind}s.{labels[kind][int(number)]}" if is_known else "files")
    return named
