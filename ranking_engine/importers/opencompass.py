"""OpenCompass, the summary as CSV: `dataset,version,metric,mode,<model>...`, one row a dataset and metric.

It is written by joining cells with commas, so a quotation mark is a letter like any other. Averages are left out: rows
with the name of a mean as metric, and rows without a version, which are of groups of datasets.
"""

from ranking_engine.importers.documents import SourceFile, read_each
from ranking_engine.importers.records import Collector, Recognised, Record, is_stated

KEY, NAME = "opencompass", "OpenCompass summary"
HEADER = ["dataset", "version", "metric", "mode"]
DERIVED = frozenset(
    {"naive_average", "weighted_average", "average", "avg", "sum", "standard_deviation", "harmonic_mean"}
)


def recognise(files: list[SourceFile]) -> bool:
    """Whether every file is of this format."""
    for file in files:
        if file.kind != "table":
            return False
        line = file.text.lstrip().split("\n", 1)[0]
        if [cell.strip().casefold() for cell in line.split(",")[:4]] != HEADER:
            return False
    return True


def read(files: list[SourceFile]) -> Recognised:
    """The scores of the files.

    Raises:
        InputError: something in them cannot be read.
    """
    return read_each(files, KEY, NAME, _read_file)


def _read_file(collect: Collector, file: SourceFile) -> None:
    (_, header), *rows = file.rows(quoted=False)
    systems = [collect.label(cell, "model", "line 1") for cell in header[4:]]
    for line, row in rows:
        if len(row) != len(header):
            collect.refuse(f"the row has {len(row)} cells, the header has {len(header)}", f"line {line}")
            continue
        dataset, version, metric, mode = (cell.strip() for cell in row[:4])
        is_group = version == "-" and any(map(is_stated, row[4:]))
        if is_group or metric.casefold() in DERIVED:
            collect.note(
                f"left out: {collect.label(dataset, 'dataset', f'line {line}')}, {metric}: derived from others"
            )
            continue
        if not any(map(is_stated, row[4:])):
            continue  # a headline between sections, or a dataset that no one was run on
        for system, cell in zip(systems, row[4:], strict=True):
            place = f"line {line}, column {system}"
            collect.add(
                Record(
                    system=system,
                    task=collect.label(dataset, "dataset", place),
                    split=collect.label(mode if is_stated(mode) else "", "mode", place),
                    subset=collect.label(version if is_stated(version) else "", "version", place),
                    metric=collect.label(metric if is_stated(metric) else "", "metric", place),
                    value=collect.number(cell, place) if is_stated(cell) else None,
                    source=collect.source,
                    raw_hash=collect.raw_hash,
                )
            )
    collect.note("this format keeps two decimals, so that some ties are of its making; it states no direction")
