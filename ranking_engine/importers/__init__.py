"""Result files of other programs, read into records of one shape: one module per format.

Reading stores nothing and needs no benchmark: `leaderboard.submissions.imports` compares the records with one, and
`plurank.read` makes a board from them.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from ranking_engine.files.problems import InputError
from ranking_engine.files.roles import ColumnChoices
from ranking_engine.files.workbooks import table_kind
from ranking_engine.importers import (
    benchmark_folder,
    bigbench,
    eval_results,
    every_eval_ever,
    helm_run,
    helm_table,
    inspect_ai,
    lighteval,
    lm_eval,
    model_card,
    mteb,
    opencompass,
    samples,
    swe_bench,
    table,
    votes,
)
from ranking_engine.importers.documents import SourceFile, pieces, unpacked_files
from ranking_engine.importers.formats import Format
from ranking_engine.importers.records import (
    MAX_PROBLEMS,
    Recognised,
    Record,
    problem_in,
)
from ranking_engine.importers.table import UnclearColumnsError
from ranking_engine.text.characters import UNSHOWABLE

__all__ = ["FORMATS", "Recognised", "Record", "SourceFile", "UnclearColumnsError", "read_results"]


MAX_BINARY_TABLES = 20  # workbooks and Parquet files of one import
# In the order in which they are tried: what says most of itself first, the plainest table last.
FORMATS: Sequence[Format] = (
    benchmark_folder.FORMAT,
    inspect_ai.FORMAT,
    every_eval_ever.FORMAT,
    swe_bench.FORMAT,
    lighteval.FORMAT,
    lm_eval.FORMAT,
    helm_run.FORMAT,
    helm_table.FORMAT,
    mteb.FORMAT,
    bigbench.FORMAT,
    model_card.FORMAT,
    eval_results.FORMAT,
    opencompass.FORMAT,
    votes.FORMAT,
    table.FORMAT,
)


def read_results(files: Sequence[SourceFile], key: str = "", *, columns: ColumnChoices | None = None) -> Recognised:
    """What the files say, whatever the format; all have to be of the same one.

    Archives are unpacked. What is more than fits into memory is read in pieces. In a folder, files of no format are
    left out.

    Args:
        files: with their names.
        key: of the one format that they are to be read as; the first that they are of where empty.
        columns: what someone said of the columns of tables.

    Raises:
        UnclearColumnsError: they are tables, and it is not clear what their columns are.
        InputError: they are of none, of several, not of the one that is asked for, or broken; it says where.
    """
    if key and _format_called(key) is None:
        raise InputError.of(f"there is no importer {key[:40]!r}; the importers are {', '.join(f.key for f in FORMATS)}")
    named = [replace(file, name=UNSHOWABLE.sub("_", file.name)[-255:] or "file") for file in files]
    chosen = unpacked_files(named)
    whole, of_instances = samples.split_files(chosen, key)
    if not whole:
        recognised = samples.read_samples(of_instances, None)
        _check_twice(recognised)
        return recognised.with_rounding
    if sum(bool(table_kind(file.data)) for file in whole) > MAX_BINARY_TABLES:  # each is read by a process of its own
        raise InputError.of(f"more than {MAX_BINARY_TABLES} workbooks and Parquet files; import them in parts")
    parts = list(pieces(whole))
    every = list(dict.fromkeys(chain.from_iterable(parts)))  # what describes a folder is in several pieces
    forgets = len(parts) > 1  # what is read of a file is dropped with the copy of it that is read
    one, left_out = _format_of(every, key, forgets=forgets)
    needed = set(one.needed([file for file in every if file not in left_out]))
    read_now = ([replace(file) if forgets else file for file in part if file in needed] for part in parts)
    recognised = one.read(filter(None, read_now), columns)
    if left_out:
        names = [file.name for file in left_out]
        listed = f"{', '.join(names[:5])}{f' and {len(names) - 5} more' if len(names) > 5 else ''}"
        recognised = replace(recognised, notes=[*recognised.notes, f"left out: {listed}: not {one.name}"])
    if of_instances:
        recognised = samples.read_samples(of_instances, recognised)
    # Runs of a task with other numbers of examples are other columns.
    numbers: dict[str, set[int]] = {}
    for record in recognised.records:
        if record.shots is not None:
            numbers.setdefault(record.task, set()).add(record.shots)
    records = [
        replace(record, split=f"{record.shots}-shot")
        if record.shots is not None and len(numbers[record.task]) > 1
        else record
        for record in recognised.records
    ]
    recognised = replace(recognised, records=records)
    _check_twice(recognised)
    return recognised.with_rounding


def _format_of(files: Sequence[SourceFile], key: str, *, forgets: bool) -> tuple[Format, dict[SourceFile, None]]:
    """The one format of files, and those of them that are not of it.

    Args:
        files: all of an import, however many are read at a time.
        key: of the format that all have to be of; empty for any.
        forgets: keep nothing of what is read of a file to judge it.

    Raises:
        InputError: they are of none, of several, or not of the one that is asked for.
    """
    named = _format_called(key)
    formats = FORMATS if named is None else (named,)
    if benchmark_folder.FORMAT in formats and benchmark_folder.recognise(list(files)):
        return benchmark_folder.FORMAT, {}
    first: dict[SourceFile, Format | None] = {}
    describes: dict[SourceFile, list[Format]] = {}
    for file in files:
        read = replace(file) if forgets else file
        first[file] = next((one for one in formats if one.recognise([read])), None)
        describes[file] = [one for one in formats if one.describes(read)]

    def is_of(file: SourceFile, one: Format) -> bool:
        return first[file] is one or one in describes[file]

    recognised_as = list(dict.fromkeys(one for one in first.values() if one is not None))
    # A file may be of later formats than its first one, too: votes and summaries are tables as well.
    for one in formats[max(map(formats.index, recognised_as)) :] if recognised_as else ():
        if (len(files) == 1 or not one.takes_one_file) and all(
            is_of(file, one) or (first[file] is not None and one.recognise([replace(file)])) for file in files
        ):
            return one, {}
    if named is not None:
        raise InputError.of(f"these files are not in the format {named.name}")
    if not recognised_as:
        raise files[0].refused(files[0].unknown_format)
    # Programs put samples and settings beside their scores, as JSON lines or Parquet: these are no table of scores.
    has_tables = any(one is not None and one.takes_columns and file.kind == "table" for file, one in first.items())
    programs = recognised_as if has_tables else [one for one in recognised_as if not one.takes_columns] or recognised_as
    if len(programs) > 1:
        names = {one.name: next(file.name for file in files if first[file] is one) for one in programs}
        listed = ", ".join(f"{name} reads as {kind}" for kind, name in names.items())
        raise InputError.of(f"these files are of several formats: {listed}; import them one after another")
    return programs[0], {file: None for file in files if not is_of(file, programs[0])}


def _format_called(key: str) -> Format | None:
    """The format of a key, or of one that older releases had; None where there is none."""
    return next((one for one in FORMATS if key in (one.key, *one.old_keys)), None)


def _check_twice(recognised: Recognised) -> None:
    """Refuse two scores of one system on the same task, split, subset and metric, and directions at odds."""
    first: dict[tuple[str, ...], Record] = {}
    directions: dict[tuple[str, ...], bool] = {}
    problems = []
    for record in recognised.records:
        what = ", ".join(part for part in record.column if part)
        key = (record.system, record.revision, *record.column)
        if key in first:
            place = problem_in("", first[key].source, first[key].place).source
            message = f"a second score of {record.system or 'the model'} on {what}; the first is in {place}"
            problems.append(problem_in(message, record.source, record.place))
        first.setdefault(key, record)
        better = record.higher_is_better
        if better is not None and directions.setdefault(record.column, better) != better:
            problems.append(problem_in(f"{what}: two files disagree whether higher is better", record.source))
    if problems:
        raise InputError(problems[:MAX_PROBLEMS])
