"""Result files of other programs, read into records of one shape: one module per format.

Reading stores nothing and needs no benchmark: `leaderboard.submissions.imports` compares the records with one, and
`plurank.read` makes a board from them.
"""

from collections.abc import Sequence
from dataclasses import replace

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
    MAX_RECORDS,
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
    parts = [_read_piece(piece, key, columns) for piece in pieces(whole)]
    first = parts[0]
    if other := next((part for part in parts if part.format_key != first.format_key), None):
        raise InputError.of(
            f"these files are of several formats: {first.format_name} and {other.format_name}; import them one after "
            "another"
        )
    recognised = Recognised.joined(parts)
    if len(recognised.records) > MAX_RECORDS:
        raise InputError.of(f"more than {MAX_RECORDS:,} scores; import them in parts")
    if of_instances:
        recognised = samples.read_samples(of_instances, recognised)
    recognised = replace(recognised, records=_with_shots(recognised.records))
    _check_twice(recognised)
    return recognised.with_rounding


def _read_piece(files: list[SourceFile], key: str, columns: ColumnChoices | None) -> Recognised:
    named = _format_called(key)
    if named is not None and not named.recognise(files):
        raise InputError.of(f"these files are not in the format {named.name}")
    whole = named or _format_of(files)
    if whole is not None:
        return whole.read(files, columns)
    alone = {file: _format_of([file]) for file in files}
    formats = list(dict.fromkeys(one for one in alone.values() if one is not None))
    if not formats:
        raise files[0].refused(files[0].unknown_format)
    # Programs put samples and settings beside their scores, as JSON lines or Parquet: these are no table of scores.
    has_tables = any(one is not None and one.takes_columns and file.kind == "table" for file, one in alone.items())
    programs = formats if has_tables else [one for one in formats if not one.takes_columns] or formats
    if len(programs) > 1:
        names = {one.name: next(file.name for file, of in alone.items() if of is one) for one in programs}
        listed = ", ".join(f"{name} reads as {kind}" for kind, name in names.items())
        raise InputError.of(f"these files are of several formats: {listed}; import them one after another")
    one = programs[0]
    sound = [file for file in files if alone[file] is one]
    others = [file for file in files if alone[file] is not one and one.recognise([sound[0], file])]
    left_out = [file.name for file in files if file not in sound and file not in others]
    recognised = one.read([file for file in files if file in sound or file in others], columns)
    listed = f"left out: {', '.join(left_out[:5])}{f' and {len(left_out) - 5} more' if len(left_out) > 5 else ''}"
    return replace(recognised, notes=[*recognised.notes, f"{listed}: not {one.name}"])


def _with_shots(records: Sequence[Record]) -> list[Record]:
    """The records, of which runs of a task with other numbers of examples are other columns."""
    numbers: dict[str, set[int]] = {}
    for record in records:
        if record.shots is not None:
            numbers.setdefault(record.task, set()).add(record.shots)
    return [
        replace(record, split=f"{record.shots}-shot")
        if record.shots is not None and len(numbers[record.task]) > 1
        else record
        for record in records
    ]


def _format_called(key: str) -> Format | None:
    """The format of a key, or of one that older releases had; None where there is none."""
    return next((one for one in FORMATS if key in (one.key, *one.old_keys)), None)


def _format_of(files: list[SourceFile]) -> Format | None:
    return next((one for one in FORMATS if one.recognise(files)), None)


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
