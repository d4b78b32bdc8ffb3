"""HELM, tables of a group: systems in rows, scenarios in columns; columns of means over others are left out.

With `model_metadata.yaml`, in whatever folder, the systems have their metadata.
"""

from collections.abc import Mapping
from typing import Any

from ranking_engine.importers.documents import SourceFile
from ranking_engine.importers.formats import Format, file_by_file
from ranking_engine.importers.helm_models import describe_models, is_models
from ranking_engine.importers.records import (
    Collector,
    Record,
    a_list,
    a_mapping,
    is_stated,
    showable,
)

DERIVED = frozenset({"mean win rate", "mean score"})


def recognise(files: list[SourceFile]) -> bool:
    """Whether every file is of this format."""
    are_tables = [bool(_tables(file.document)) for file in files]
    return any(are_tables) and all(
        is_table or is_models(file.document) for file, is_table in zip(files, are_tables, strict=True)
    )


def _tables(document: object) -> list[Mapping[str, Any]]:
    """The tables of a file, which is one or a list of them; none where it is something else."""
    tables: list[Any] = document if isinstance(document, list) else [document]
    are_tables = all(
        isinstance(one, Mapping) and isinstance(one.get("header"), list) and isinstance(one.get("rows"), list)
        for one in tables
    )
    return tables if are_tables else []


def _read_file(collect: Collector, file: SourceFile) -> None:
    if is_models(file.document):
        describe_models(collect, file)
        return
    for table in _tables(file.document):
        title = collect.label(table.get("title"), "title", "title")
        header = [a_mapping(cell) for cell in table["header"]]
        kept = {}
        for c, cell in enumerate(header[1:], start=1):
            name = collect.label(cell.get("value"), "column's name", f"header, column {c + 1}")
            if name.casefold().split(" - ")[0] in DERIVED:
                collect.note(f"left out: {name}, derived from the other columns")
                continue
            kept[c] = name
        for r, row in enumerate(table["rows"], start=1):
            cells = [a_mapping(cell) for cell in a_list(row)]
            if len(cells) != len(header):
                collect.refuse(f"the row has {len(cells)} cells, the header has {len(header)}", f"{title}, row {r}")
                continue
            system = collect.label(cells[0].get("value") if cells else None, "model", f"{title}, row {r}")
            for c, name in kept.items():
                task, _, metric = name.rpartition(" - ")
                lower, given = header[c].get("lower_is_better"), cells[c].get("value")
                place = f"{title}, row {r}, column {showable(name)}"
                collect.add(
                    Record(
                        system=system,
                        task=task or name,
                        subset=title,
                        metric=metric if task else "",
                        value=collect.number(given, place) if is_stated(given) else None,
                        higher_is_better=not lower if isinstance(lower, bool) else None,
                        source=collect.source,
                        raw_hash=collect.raw_hash,
                    )
                )


FORMAT = Format(
    "helm-table",
    "HELM group table",
    recognise,
    file_by_file(_read_file),
    describes=lambda file: is_models(file.document),
)
