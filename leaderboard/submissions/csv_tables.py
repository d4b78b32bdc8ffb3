"""A CSV of scores as the rows of an upload: first column the system, every other column a task, by name or by key.

A column whose name begins with `meta:` is a field of the systems' metadata."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from django.conf import settings

from leaderboard.models import Benchmark, Task
from leaderboard.submissions.checks import stated_reason
from leaderboard.submissions.problems import PartlyReadError
from leaderboard.submissions.rows import SubmittedRow
from ranking_engine.files.grids import GridError, rows_of_text
from ranking_engine.files.problems import InputError, Problem, Problems
from ranking_engine.files.tables import SYSTEM_COLUMNS, TableError, read_table
from ranking_engine.files.texts import NotTextError, decoded
from ranking_engine.text.close_names import CloseNames
from ranking_engine.text.names import fold_name, shorten

HEADER_LENGTH, HEADER_LINES = 400_000, 50  # of the text in which the header of a plain table is
ABOUT_ENDS = ("_stderr", "_n")  # of columns with what is said of the scores in another
BINARY = (b"PK", b"PAR1", b"\x1f\x8b", b"\xd0\xcf")  # workbooks, Parquet, archives
MAX_HELPED = 3  # unknown names of one upload that are told what they may have meant: each costs a search


def is_plain(data: bytes) -> bool:
    """Whether a table has its systems in the first column and a task in every other one, as `rows_of_csv` reads them.

    Every other table goes to the importer of tables, which asks what its columns are where that is not clear.
    """
    if data.startswith(BINARY):
        return False
    try:
        beginning = decoded(data)[0][:HEADER_LENGTH].splitlines()[:HEADER_LINES]
        kind, rows = rows_of_text("\n".join(beginning))
    except (NotTextError, GridError):
        return True  # its reader says what is wrong
    if kind != "CSV" or not rows:
        return kind == "CSV"
    names = [fold_name(cell) for cell in rows[0][1]]
    is_about = any(name.endswith(end) and name.removesuffix(end) in names for name in names for end in ABOUT_ENDS)
    is_long = "task" in names and bool({"score", "value"} & set(names))
    is_indexed = not names[0] and bool({"system", "model"} & set(names))
    return (names[0] in SYSTEM_COLUMNS or len(names) == 1) and not (is_about or is_long or is_indexed)


def rows_of_csv(benchmark: Benchmark, data: bytes, notes: list[str] | None = None) -> list[SubmittedRow]:
    """The rows of a file, one per system; an empty cell is a score that is not reported, a word may say another reason.

    Args:
        benchmark: whose tasks the columns are.
        data: the file.
        notes: gets what its owner is to be told of how it was read.

    Raises:
        PartlyReadError: cells are no numbers, or a column is no task of the benchmark; it names line and column.
        InputError: the file cannot be read at all.
    """
    problems = Problems()
    try:
        with reading(data):
            table = read_table(
                data,
                name="file",
                max_systems=settings.UPLOAD_SYSTEMS,
                max_cells=settings.UPLOAD_CELLS,
                missing_words=stated_reason,
            )
    except InputError as error:
        unread = error.__cause__
        if not isinstance(unread, TableError) or unread.readable is None:
            raise
        problems, table = error.problems, unread.readable
    keys = keys_of_tasks(benchmark, [(name, 1) for name in table.task_names], problems, are_columns=True)
    if notes is not None:
        notes += table.remarks
    rows = []
    for i, values in enumerate(table.values.tolist()):
        cells = [table.missing_words.get((i, t)) if v != v else v for t, v in enumerate(values)]  # noqa: PLR0124
        scores = {key: cell for key, cell in zip(keys, cells, strict=True) if key}
        metadata = {label: cells[i] for label, cells in table.metadata.items()}
        name, line = table.system_names[i], table.line_numbers[i]
        rows.append(SubmittedRow(system_name=name, line=line, scores=scores, metadata=metadata))
    if problems:
        raise PartlyReadError(problems, rows)
    return rows


@contextmanager
def reading(data: bytes) -> Iterator[None]:
    """Around the reading of an uploaded table: it is not too large, and what is wrong with it is said of the file.

    Raises:
        InputError: the file is too large, or no table.
    """
    if len(data) > settings.UPLOAD_BYTES:
        limit = settings.UPLOAD_BYTES // 2**20
        raise InputError.of(f"the file has {len(data) / 2**20:.0f} MB; the limit is {limit} MB", "file")
    try:
        yield
    except TableError as error:
        raise InputError(
            Problem(issue.message, "file", issue.line, issue.column_name or "") for issue in error.errors
        ) from error


def keys_of_tasks(
    benchmark: Benchmark, names: Iterable[tuple[str, int]], problems: Problems, *, are_columns: bool
) -> list[str]:
    """The task of every name in a file, by name, then by key; empty where there is a problem.

    Args:
        benchmark: whose tasks are meant.
        names: each with its line.
        problems: gets what is wrong: no such task, or one that another name meant already.
        are_columns: whether the names are those of columns, and the problems theirs.
    """
    tasks = list(Task.objects.filter(benchmark=benchmark, is_archived=False))
    known = {task.key: task.key for task in tasks} | {task.name_folded: task.key for task in tasks}
    unknown = UnknownTasks(task.name for task in tasks)
    keys: list[str] = []
    taken: set[str] = set()
    for name, line in names:
        key = known.get(fold_name(name), "")
        column = name if are_columns else ""
        if not key:
            problems.add("file", unknown.message(name), line=line, place_name=column)
        elif key in taken and are_columns:
            problems.add("file", "this is the second column of its task", line=line, place_name=column)
        elif key in taken:
            problems.add("file", f"{shorten(name)!r} is a task that already has a column under another name", line=line)
        taken.add(key)
        keys.append(key)
    return keys


class UnknownTasks:
    """What to say of names that are none of the tasks' names: of the first few also which tasks there are.

    Args:
        names: of the tasks.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(names)
        self._close = CloseNames(self._names)
        self._n_helped = 0

    def message(self, name: str) -> str:
        """What to say of `name`."""
        help_text = ""
        if self._n_helped < MAX_HELPED:
            self._n_helped += 1
            help_text = self._close.suggestion(name) or f"; the tasks are {', '.join(self._names[:20])}"
        return f"{shorten(name)!r} is not a task of this benchmark{help_text}"
