"""Plain CSV in the long form: one row a score.

Columns `system` (or `model`), `task` and `score` (or `value`); and where there are some `revision`, `split`, `subset`,
`metric`, `stderr` (or `standard_error`), `n` (or `n_instances`) and `higher_is_better` (true or false).
"""

from ranking_engine.importers.documents import SourceFile, read_each
from ranking_engine.importers.records import Collector, Recognised, Record, is_stated, showable

KEY, NAME = "csv-long", "CSV with one row per score"
ALIASES = {"model": "system", "value": "score", "standard_error": "stderr", "n_instances": "n"}
NEEDED = frozenset({"system", "task", "score"})
NUMBERS = frozenset({"score", "stderr", "n"})
KNOWN = NEEDED | {"revision", "split", "subset", "metric", "stderr", "n", "higher_is_better"}
DIRECTIONS = {"true": True, "1": True, "higher": True, "false": False, "0": False, "lower": False, "": None}


def columns_of(file: SourceFile) -> list[str]:
    """The names of the columns, in lower case, an alias under its name."""
    rows = file.rows()
    header = [cell.strip().casefold() for cell in rows[0][1]] if rows else []
    return [ALIASES.get(name, name) for name in header]


def recognise(files: list[SourceFile]) -> bool:
    """Whether every file is of this format."""
    return all(file.document is None and set(columns_of(file)) >= NEEDED for file in files)


def read(files: list[SourceFile]) -> Recognised:
    """The scores of the files.

    Raises:
        InputError: something in them cannot be read.
    """
    return read_each(files, KEY, NAME, _read_file)


def _read_file(collect: Collector, file: SourceFile) -> None:
    columns = columns_of(file)
    for name in sorted(set(columns)):
        if columns.count(name) > 1:
            collect.refuse(f"two columns are called {showable(name)!r}", "line 1")
        elif name not in KNOWN:
            collect.note(f"left out: the column {showable(name)!r}, which has no meaning here")
    for line, row in file.rows_with_points([c for c, name in enumerate(columns) if name in NUMBERS])[1:]:
        if len(row) != len(columns):
            collect.refuse(f"the row has {len(row)} cells, but the header has {len(columns)}", f"line {line}")
            continue
        cells, place = dict(zip(columns, row, strict=True)), f"line {line}"
        texts = {name: collect.label(cells.get(name, ""), name, f"{place}, column {name}") for name in KNOWN}
        for name in ("system", "task"):
            if not texts[name]:
                collect.refuse("the cell is empty", f"{place}, column {name}")
        direction = texts["higher_is_better"].casefold()
        if direction not in DIRECTIONS:
            collect.refuse("write true or false, or leave it empty", f"{place}, column higher_is_better")
        collect.add(
            Record(
                system=texts["system"],
                revision=texts["revision"],
                task=texts["task"],
                split=texts["split"],
                subset=texts["subset"],
                metric=texts["metric"],
                value=collect.number(texts["score"], f"{place}, column score") if is_stated(texts["score"]) else None,
                standard_error=collect.error_of(texts["stderr"], f"{place}, column stderr"),
                n=collect.count_of(texts["n"], f"{place}, column n"),
                higher_is_better=DIRECTIONS.get(direction),
                source=collect.source,
                raw_hash=collect.raw_hash,
            )
        )
