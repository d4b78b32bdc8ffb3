"""One file with the predictions for several tasks, which its column `task` names."""

from __future__ import annotations

import bisect
import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ranking_engine.evaluation.rows import MAX_BYTES, MAX_LINE, PARQUET_MARK
from ranking_engine.files.dialect import delimiter_of
from ranking_engine.files.problems import InputError, Problem, Problems
from ranking_engine.files.texts import NotTextError, decoded
from ranking_engine.text.names import shorten

MAX_TASKS = 1_000
TASK = "task"


@dataclass
class TaskPart:
    """The rows of one task as a file by themselves.

    Attributes:
        data: the file.
        lines: the lines of the whole file, one for each row.
        own_lines: the lines of `data` on which the same rows begin.
    """

    data: bytes = b""
    lines: list[int] = field(default_factory=list)
    own_lines: list[int] = field(default_factory=list)

    def line_of(self, line: int | None) -> int | None:
        """The line of the whole file that a line of this part comes from."""
        place = bisect.bisect_right(self.own_lines, line or 0) - 1
        return self.lines[place] if place >= 0 else line


def split_by_task(data: bytes, key_of: Callable[[str], str | None]) -> dict[str, TaskPart]:
    """Split a file of CSV or JSON lines by its column `task`.

    Args:
        data: of the file.
        key_of: the key of the task that a text names; None where it names none.

    Raises:
        InputError: the file cannot be read, has no such column, or names tasks that there are not: every line of it.
    """
    if len(data) > MAX_BYTES:
        raise InputError.of(f"the file has {len(data):,} bytes; at most {MAX_BYTES:,} are read")
    if data[: len(PARQUET_MARK)] == PARQUET_MARK:
        raise InputError.of("of Parquet, send one file for each task")
    try:
        text = decoded(data, guesses=False)[0]
    except NotTextError as error:
        raise InputError([Problem(str(error), line=error.line)]) from error
    problems = Problems()
    is_json = text.lstrip()[:1] == "{"
    rows = _rows_of_json(text, problems) if is_json else rows_of_csv(text)
    parts: dict[str, TaskPart] = {}
    written: dict[str, list[str]] = {}
    header = "" if is_json else next(rows)[2]
    known: dict[str, str | None] = {}
    for line, task, row in rows:
        if task not in known:
            if len(known) >= MAX_TASKS:
                raise InputError([Problem(f"more than {MAX_TASKS:,} different tasks", TASK, line, TASK)])
            known[task] = key_of(task)
        key = known[task]
        if key is None:
            message = f"no task is called {shorten(task)!r}" if task else "no task is named"
            problems.add(TASK, message, line=line, place_name=TASK, cause="rows name no task that takes predictions")
            continue
        part = parts.setdefault(key, TaskPart())
        texts = written.setdefault(key, [header] if header else [])
        part.lines.append(line)
        last = part.own_lines[-1] + texts[-1].count("\n") if part.own_lines else 1 + header.count("\n")
        part.own_lines.append(last)
        texts.append(row)
    if problems:
        raise InputError(problems)
    if not parts:
        raise InputError.of("the file is empty")
    for key, part in parts.items():
        part.data = "".join(written[key]).encode()
    return parts


def rows_of_csv(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the header, then the rows: line, task, and the row without its column `task` as it is written again."""
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text), strict=True)
    place, line = None, 1
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    try:
        for row in lines:
            began, line = line, lines.line_num + 1
            if not any(row):
                continue
            if place is None:
                names = [name.strip().casefold() for name in row]
                if names.count(TASK) != 1:
                    raise InputError([Problem("a file for several tasks needs one column called 'task'", TASK, began)])
                place = names.index(TASK)
            if len(row) <= place:
                raise InputError([Problem(f"{len(row)} cells, none of them in the column 'task'", TASK, began)])
            writer.writerow([*row[:place], *row[place + 1 :]])
            yield began, row[place].strip(), buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    except csv.Error as error:
        raise InputError([Problem(f"this is not CSV: {error}", line=lines.line_num)]) from error
    if place is None:
        raise InputError.of("the file is empty")


def _rows_of_json(text: str, problems: Problems) -> Iterator[tuple[int, str, str]]:
    """Yield line, task, and the line as it is; what cannot be read is noted."""
    for number, line in enumerate(io.StringIO(text), start=1):
        if not line.strip():
            continue
        if len(line) > MAX_LINE:
            raise InputError([Problem(f"a row of more than {MAX_LINE:,} characters", line=number)])
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            problems.add("", "this line is not JSON", line=number, cause="lines are not JSON")
            continue
        task = row.get(TASK) if isinstance(row, dict) else None
        yield number, task.strip() if isinstance(task, str) else "", line.rstrip("\n") + "\n"
