"""A whole benchmark as a folder: `scores.csv` with `benchmark.toml`, which states the direction of every task."""

from ranking_engine.files.benchmark_file import read_benchmark
from ranking_engine.files.problems import InputError
from ranking_engine.files.tables import TableError
from ranking_engine.importers.documents import SourceFile
from ranking_engine.importers.formats import Format
from ranking_engine.importers.records import MAX_PROBLEMS, Collector, problem_in
from ranking_engine.importers.table import UnclearColumnsError, read_rows, table_in
from ranking_engine.text.names import clean_name


def recognise(files: list[SourceFile]) -> bool:
    """Whether the files are of this format."""
    return sorted(file.base for file in files) == ["benchmark.toml", "scores.csv"]


def _read_files(collect: Collector, files: list[SourceFile]) -> None:
    about, table = sorted(files, key=lambda file: file.base)
    try:
        described = read_benchmark(about.data, name=about.name)
    except TableError as error:
        places = [f"line {issue.line}" if issue.line else "" for issue in error.errors]
        problems = [problem_in(issue.message, about.name, at) for issue, at in zip(error.errors, places, strict=True)]
        raise InputError(problems[:MAX_PROBLEMS]) from error
    unordered = [entry.name for entry in described.tasks if entry.direction == 0]
    collect.of(table.name, table.raw_hash)
    directions = {clean_name(entry.name): entry.direction > 0 for entry in described.tasks if entry.direction}
    scores = table_in(table)
    if scores.columns.doubts:
        raise UnclearColumnsError(scores)
    read_rows(collect, scores, directions)
    for system, facts in described.system_metadata.items():
        collect.describe(clean_name(system), facts)
    known = {record.task for record in collect.records}
    for entry in described.tasks:
        if collect.records and clean_name(entry.name) not in known:
            collect.refuse(f"task {entry.name!r} of {about.base} has no column")
    if unordered:
        collect.note(f"{about.base} states no better direction for {', '.join(unordered[:5])}")
    collect.note("weights, groups and settings of the folder are left out: this board has its own")


FORMAT = Format("folder", "Benchmark folder (scores.csv with benchmark.toml)", recognise, _read_files)
