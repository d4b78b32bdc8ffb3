"""What files say, as a table: systems, columns, and the cells that are stated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ranking_engine.importers.records import Instances, Recognised

Cell = tuple[int, int, float | None, float | None, int | None]  # system, column, value, standard error, instances


@dataclass(frozen=True)
class FileColumn:
    """What scores are of, as the files call it, and the direction that they state; `aside` as in Record."""

    task: str
    split: str
    subset: str
    metric: str
    higher_is_better: bool | None
    aside: str = ""

    @property
    def name(self) -> str:
        """All of it in words."""
        return ", ".join(part for part in (self.task, self.subset, self.split, self.metric) if part)


@dataclass(frozen=True)
class Import:
    """Recognised files as a table: systems (name and revision), columns, and the cells that are stated.

    `instances` has, by number of system and column, the scores of single instances whose mean a cell is; `missing` the
    word for why there is no score, where the files have one.
    """

    format_name: str
    systems: Sequence[tuple[str, str]]
    columns: Sequence[FileColumn]
    cells: Sequence[Cell]
    sources: Sequence[tuple[str, str]]  # each file's name and hash
    notes: Sequence[str]
    warnings: Sequence[str]
    metadata: Mapping[str, Mapping[str, str | float | bool]] = field(default_factory=dict)  # as of Recognised
    format_key: str = ""
    instances: Mapping[tuple[int, int], Instances] = field(default_factory=dict)
    missing: Mapping[tuple[int, int], str] = field(default_factory=dict)

    @cached_property
    def values(self) -> dict[int, list[float]]:
        """The scores of every column that has some, by its number."""
        by_column: dict[int, list[float]] = {}
        for _, c, value, _, _ in self.cells:
            if value is not None:
                by_column.setdefault(c, []).append(value)
        return by_column


def table_of(recognised: Recognised) -> Import:
    """The records as a table, in the order in which systems and columns first are in the files."""
    systems: dict[tuple[str, str], int] = {}
    columns: dict[tuple[str, str, str, str], int] = {}
    directions: dict[int, bool] = {}
    asides: dict[int, str] = {}
    cells: list[Cell] = []
    instances: dict[tuple[int, int], Instances] = {}
    missing: dict[tuple[int, int], str] = {}
    for record in recognised.records:
        s = systems.setdefault((record.system, record.revision), len(systems))
        c = columns.setdefault(record.column, len(columns))
        if record.higher_is_better is not None:
            directions[c] = record.higher_is_better
        if record.aside:
            asides[c] = record.aside
        if record.instances is not None:
            instances[s, c] = record.instances
        if record.missing:
            missing[s, c] = record.missing
        cells.append((s, c, record.value, record.standard_error, record.n))
    return Import(
        format_name=recognised.format_name,
        systems=list(systems),
        columns=[FileColumn(*column, directions.get(c), asides.get(c, "")) for column, c in columns.items()],
        cells=cells,
        sources=list(dict.fromkeys((record.source, record.raw_hash) for record in recognised.records)),
        notes=list(recognised.notes),
        warnings=list(recognised.warnings),
        metadata=recognised.metadata,
        format_key=recognised.format_key,
        instances=instances,
        missing=missing,
    )
