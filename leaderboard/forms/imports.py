"""The form that says which column of an import is which task, and which name is which system."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leaderboard.services.imports import SCALES, Assignment, Import

LONGEST = 400
SCALE_LABELS = {"": "not said", "as-is": "as they are", "times-100": "times 100", "by-100": "divided by 100"}


@dataclass(frozen=True)
class ColumnField:
    """One column of the import, with what is said of it."""

    number: int
    task: str
    split: str
    subset: str
    metric: str
    direction: str
    n_scores: int
    least: float | None
    greatest: float | None
    given: str
    scale: str
    errors: Sequence[str]


@dataclass(frozen=True)
class SystemField:
    """One system of the import, with its name."""

    number: int
    name: str
    revision: str
    n_scores: int
    given: str
    errors: Sequence[str]


def assignment_of(data: Mapping[str, str], found: Import) -> Assignment:
    """What was sent in."""
    columns, systems = range(len(found.columns)), range(len(found.systems))
    return Assignment(
        tasks={c: data.get(f"task-{c}", "")[:LONGEST] for c in columns},
        scales={c: scale for c in columns if (scale := data.get(f"scale-{c}", "")) in SCALES},
        names={s: data.get(f"system-{s}", "")[:LONGEST] for s in systems},
    )


def column_fields(found: Import, said: Assignment, errors: Mapping[str, Sequence[str]]) -> list[ColumnField]:
    """The columns as the page shows them."""
    values = found.values
    directions = {None: "not said", True: "higher is better", False: "lower is better"}
    return [
        ColumnField(
            number=c,
            task=column.task,
            split=column.split,
            subset=column.subset,
            metric=column.metric,
            direction=directions[column.higher_is_better],
            n_scores=len(values.get(c, [])),
            least=min(values[c]) if c in values else None,
            greatest=max(values[c]) if c in values else None,
            given=said.tasks.get(c, ""),
            scale=said.scales.get(c, ""),
            errors=[*errors.get(f"task-{c}", []), *errors.get(f"scale-{c}", [])],
        )
        for c, column in enumerate(found.columns)
    ]


def system_fields(found: Import, said: Assignment, errors: Mapping[str, Sequence[str]]) -> list[SystemField]:
    """The systems as the page shows them."""
    counts = [0] * len(found.systems)
    for s, _, value, _, _ in found.cells:
        counts[s] += value is not None
    return [
        SystemField(s, name, revision, counts[s], said.names.get(s, ""), errors.get(f"system-{s}", []))
        for s, (name, revision) in enumerate(found.systems)
    ]
