"""OpenCompass, the summary as .csv, .md or .txt: `dataset,version,metric,mode,<model>...`, a row a dataset and metric.

The CSV is written by joining cells with commas, so a quotation mark is a letter like any other. Averages are left out:
rows with the name of a mean as metric, and rows without a version, which are of groups of datasets.
"""

from collections.abc import Sequence
from dataclasses import replace

from ranking_engine.importers.documents import SourceFile
from ranking_engine.importers.formats import Format, file_by_file
from ranking_engine.importers.records import Collector, Record, is_stated

HEADER = ["dataset", "version", "metric", "mode"]
CSV_PART = "\ncsv format\n^^^"
DERIVED = frozenset(
    {"naive_average", "weighted_average", "average", "avg", "sum", "standard_deviation", "harmonic_mean"}
)


def recognise(files: list[SourceFile]) -> bool:
    """Whether every file is of this format."""
    return all(file.kind == "table" and form_of(file) for file in files)


def form_of(file: SourceFile) -> str:
    """How a summary is written: `csv`, `md` or, with all of them, `txt`; empty where it is none."""
    first, _, rest = file.text.lstrip().partition("\n")
    for form, mark in (("csv", ","), ("md", "|")):
        cells = first[:10_000].strip().removeprefix("|").split(mark)
        if [cell.strip().casefold() for cell in cells[:4]] == HEADER:
            return form
    return "txt" if rest.startswith("tabulate format\n") and CSV_PART in rest else ""


def _one_of_each(files: Sequence[SourceFile]) -> Sequence[SourceFile]:
    """The files without those that say the same: the program writes each summary as .txt, .csv and .md."""
    by_form = sorted(files, key=lambda file: form_of(replace(file)), reverse=True)
    chosen = set({file.name.rpartition(".")[0]: file for file in by_form}.values())
    return [file for file in files if file in chosen]


def _read_file(collect: Collector, file: SourceFile) -> None:
    form = form_of(file)
    part = file
    if form == "txt":
        part = SourceFile(file.name, file.text.partition(CSV_PART)[2].lstrip("^\n").partition("\n$$$")[0].encode())
    (_, header), *rows = part.rows(quoted=form == "md") or [(1, [])]
    if len(header) < len(HEADER):
        collect.refuse(f"the table does not begin with the columns {', '.join(HEADER)}")
        return
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


FORMAT = Format("opencompass", "OpenCompass summary", recognise, file_by_file(_read_file), needed=_one_of_each)
