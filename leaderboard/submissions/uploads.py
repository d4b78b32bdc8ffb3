"""Uploads by a program: checked and stored in one step, whole or not at all, once for one idempotency key."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext

from leaderboard.access.audience import Audience, audience_of
from leaderboard.access.locks import lock_benchmark
from leaderboard.common.names import LOOK_ALIKE, NameForms, NearMisses
from leaderboard.common.text import in_words
from leaderboard.models import Batch, Benchmark, System, Task, User
from leaderboard.models.benchmarks import KEY_LENGTH, is_key
from leaderboard.models.submissions import Source
from leaderboard.submissions.checks import OnBoard, check_rows, with_row_problems
from leaderboard.submissions.corrections import correctable
from leaderboard.submissions.csv_tables import UnknownTasks, rows_of_csv
from leaderboard.submissions.imports import in_row_named
from leaderboard.submissions.instances.rows import InstanceRows
from leaderboard.submissions.instances.uploads import rows_of_instances
from leaderboard.submissions.lifecycle import require_may_submit, submit_rows
from leaderboard.submissions.problems import PartlyReadError, SubmissionError
from leaderboard.submissions.rows import CheckedRow, SubmittedRow
from ranking_engine.files.metadata import COLUMN_PREFIX
from ranking_engine.files.problems import InputError, Problem
from ranking_engine.text.names import clean_name, fold_name, shorten

MAX_GATHERED = 1000  # that are counted; then the rest of an upload is not looked at


@dataclass(frozen=True)
class Upload:
    """What someone sent: rows, or a table that is not read yet."""

    rows: Sequence[SubmittedRow] = ()
    table: bytes | None = None
    is_imported: bool = False  # whether an importer read the rows; `line` is their number from 1
    is_of_instances: bool = False  # whether the table holds scores of single instances
    system_column: str = ""  # of such a table
    note: str = ""
    creates_systems: bool = False
    payload_hash: str = ""
    idempotency_key: str | None = None

    @property
    def source(self) -> str:
        """The door by which it came."""
        if self.is_imported:
            return str(Source.IMPORTER)
        return str(Source.API if self.table is None else Source.CSV)


class IdempotencyError(SubmissionError):
    """The idempotency key was used for another upload."""


def submit_upload(benchmark: Benchmark, owner: User, upload: Upload) -> tuple[Batch, bool]:
    """Store an upload as a batch and, where no one has to decide, accept it.

    Returns:
        The batch, and whether this call made it: the same key and payload give the batch of the first call.

    Raises:
        InputError: something in it cannot be stored; nothing is.
        IdempotencyError: the key was used for another payload.
        SubmissionError: its owner may not submit here.
    """
    if (first := _first_batch(benchmark, owner, upload)) is not None:
        return first, False
    # Reading and checking takes a moment, and no one else should wait for it.
    check = UploadCheck(upload)
    audience = audience_of(owner, benchmark)
    require_may_submit(audience)
    try:
        check.rows(audience)
    except InputError:
        # A call with the same key may have stored what cannot be stored a second time.
        if (first := _first_batch(benchmark, owner, upload)) is not None:
            return first, False
        raise
    with transaction.atomic():
        # The lock makes calls with the same key wait for each other, and keeps the board as it is checked once more.
        locked = lock_benchmark(benchmark.pk)
        if (first := _first_batch(locked, owner, upload)) is not None:
            return first, False
        audience = audience_of(owner, locked)
        require_may_submit(audience)
        batch = submit_rows(
            audience,
            check.rows(audience),
            source=upload.source,
            note=upload.note,
            idempotency_key=upload.idempotency_key,
            payload_hash=upload.payload_hash,
        )
        return batch, True


def _first_batch(benchmark: Benchmark, owner: User, upload: Upload) -> Batch | None:
    """The batch of an earlier call with the same key.

    Raises:
        IdempotencyError: that had another payload.
    """
    if not upload.idempotency_key:
        return None
    batches = Batch.objects.filter(benchmark=benchmark, uploader=owner, idempotency_key=upload.idempotency_key)
    first = batches.first()
    if first is not None and first.payload_hash != upload.payload_hash:
        raise IdempotencyError(gettext("This idempotency key was already used for another upload; use a new one."))
    return first


def check_upload(audience: Audience, upload: Upload) -> list[CheckedRow]:
    """The rows of an upload as a batch holds them.

    Raises:
        InputError: something in it cannot be stored.
    """
    return UploadCheck(upload).rows(audience)


class UploadCheck:
    """Reads an upload and checks it, as often as it is asked to: once more costs only what depends on the benchmark.

    Args:
        upload: what someone sent.
    """

    def __init__(self, upload: Upload) -> None:
        self.upload = upload
        self._forms = NameForms()
        self._table: list[SubmittedRow] | None = None  # its rows, which name tasks by their keys
        self._on_board: tuple[int, OnBoard] | None = None  # with the number of the latest revision

    def rows(self, audience: Audience) -> list[CheckedRow]:
        """The rows as a batch holds them, for the benchmark as it is now.

        Raises:
            InputError: something in them cannot be stored.
        """
        upload, benchmark = self.upload, audience.benchmark
        number = benchmark.last_revision_number
        if self._on_board is None or self._on_board[0] != number:
            self._on_board = (number, OnBoard(benchmark))
        on_board = self._on_board[1]
        reading: _TableReading | _RowReading | _ImportReading
        if upload.is_imported:
            reading = _ImportReading([row.system_name for row in upload.rows])
        else:
            reading = _TableReading() if upload.table is not None else _RowReading(audience, on_board)
        try:
            raw = self._table if self._table is not None else reading.raw_rows(benchmark, upload)
        except PartlyReadError as error:
            raise with_row_problems(audience, error).at(reading.placed) from error
        if isinstance(reading, _TableReading):
            self._table = raw
        suggests = not upload.creates_systems
        try:
            checked = check_rows(audience, raw, on_board=on_board, forms=self._forms, suggests=suggests)
        except InputError as error:
            raise error.at(reading.placed) from error
        has_new = any(row["system"]["key"] is None for row in checked)
        there = [system.name for system in on_board.systems] if audience.sees_board and has_new else []
        known = NearMisses(there, self._forms)
        problems = []
        for row in checked:
            name, message = row["system"]["name"], ""
            is_new = row["system"]["key"] is None
            # Whether the system may be taken for a new one; `known` has the names on the board and in earlier rows.
            if is_new and (twin := known.twin(name)) is not None:
                message = f"{name!r} and {twin!r} {LOOK_ALIKE}"
            elif is_new and not upload.creates_systems:
                close = [repr(other) for other in row["system"]["near_misses"]]
                hint = f"did you mean {in_words(close)}? Set" if close else "set"
                message = f"{name!r} is not on the board; {hint} `create_systems` to add new systems"
            if message:
                problems.append(reading.placed(Problem(message, "system_name", row["line"])))
            if has_new:
                known.add(name)
            row["system"]["new_key"] = reading.new_keys.get(row["line"], "")
        if problems:
            raise InputError(problems)
        return checked


class _TableReading:
    """A table: its problems have a line and a column."""

    new_keys: Mapping[int | None, str] = {}

    def raw_rows(self, benchmark: Benchmark, upload: Upload) -> list[SubmittedRow]:
        table = upload.table or b""
        try:
            if upload.is_of_instances:
                return rows_of_instances(benchmark, table, system_column=upload.system_column)
            return rows_of_csv(benchmark, table)
        except PartlyReadError:
            raise
        except InputError as error:
            raise error.at(self.placed) from error

    def placed(self, problem: Problem) -> Problem:
        column = problem.place_name or ("system" if problem.place == "system_name" else "")
        return Problem(problem.message, line=problem.line, place_name=column)


@dataclass
class _ImportReading:
    """Rows of an importer: their problems name the system and the task."""

    names: Sequence[str]
    new_keys: Mapping[int | None, str] = field(default_factory=dict)

    def raw_rows(self, benchmark: Benchmark, upload: Upload) -> list[SubmittedRow]:
        return list(upload.rows)

    def placed(self, problem: Problem) -> Problem:
        named = in_row_named(problem, self.names)
        return Problem(problem.message, named.source)


@dataclass
class _RowReading:
    """Rows: their problems have a place. The checks know a row by its number from 1, as if it were a line."""

    audience: Audience
    on_board: OnBoard
    labels: dict[int, dict[str, str]] = field(default_factory=dict)  # of each row, how it calls each task
    new_keys: dict[int | None, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def raw_rows(self, benchmark: Benchmark, upload: Upload) -> list[SubmittedRow]:
        """The rows with their systems' names and their tasks' keys.

        Raises:
            InputError: a task or a system cannot be told.
        """
        tasks = list(Task.objects.filter(benchmark=benchmark, is_archived=False))
        key_of = {task.key: task.key for task in tasks} | {task.name_folded: task.key for task in tasks}
        keys = _Keys(self.audience, self.on_board, [row.key for row in upload.rows])
        unknown = UnknownTasks(task.name for task in tasks)
        raw = []
        for number, row in enumerate(upload.rows, start=1):
            labels: dict[str, str] = {}
            for label in row.scores:
                key = key_of.get(fold_name(label)) or key_of.get(clean_name(label))
                if key is None:
                    self._add(number, f"scores.{label}", unknown.message(label))
                elif key in labels:
                    message = f"{shorten(label)!r} is the task that {shorten(labels[key])!r} names already"
                    self._add(number, f"scores.{label}", message)
                else:
                    labels[key] = label
            self.labels[number] = labels
            name, place, message = keys.corrected_name(row) if row.corrects else keys.name_of(row)
            if message:
                self._add(number, place, message)
            elif row.key and row.key not in keys.on_board:
                self.new_keys[number] = row.key
            scores = {key: row.scores[label] for key, label in labels.items()}
            details = {key: row.details[label] for key, label in labels.items() if label in row.details}
            raw.append(replace(row, system_name=name, scores=scores, details=details, line=number))
        of_instances = InstanceRows(key_of, self._add)
        raw = of_instances.added(raw, upload.rows)
        if self.problems:
            raise InputError(self.problems)
        return raw

    def _add(self, number: int, place: str, message: str) -> None:
        self.problems.append(Problem(message, f"systems[{number - 1}].{place}"))
        if len(self.problems) >= MAX_GATHERED:
            raise InputError(self.problems)

    def placed(self, problem: Problem) -> Problem:
        """The problem at its place."""
        if problem.line is None:
            return Problem(problem.message, "systems")
        label = self.labels.get(problem.line, {}).get(problem.place)
        place = "name" if problem.place == "system_name" else problem.place
        if place.startswith(COLUMN_PREFIX):
            place = f"metadata.{place.removeprefix(COLUMN_PREFIX)}"
        # A task may be called "url", so tasks go first.
        return Problem(problem.message, f"systems[{problem.line - 1}].{place if label is None else f'scores.{label}'}")


class _Keys:
    """Which system a row means that names it by its key."""

    def __init__(self, audience: Audience, on_board: OnBoard, named: Sequence[str]) -> None:
        self.audience = audience
        self.on_board, self.names = on_board.by_key, on_board.by_name
        self.named = [key for key in named if key and _is_key(key)]
        if not audience.sees_board:  # a key would tell the name that belongs to it
            own = audience.proven_system_ids
            self.on_board = {key: system for key, system in on_board.by_key.items() if system.id in own}
            self.names = {folded: system for folded, system in on_board.by_name.items() if system.id in own}

    @cached_property
    def taken(self) -> set[str]:
        """The keys that no new system of the upload can have.

        A key that is taken is no error where it would tell who is there: the new system gets another one.
        """
        # Those that wait have none that could be named.
        there = System.objects.filter(benchmark=self.audience.benchmark, key__among=self.named)
        return set(there.values_list("key", flat=True)) if self.audience.sees_board else set()

    def name_of(self, row: SubmittedRow) -> tuple[str, str, str]:
        """The name of the row's system; or where it cannot be told, the place and the problem."""
        if not row.key:
            return (
                row.system_name,
                "name",
                "" if row.system_name else "a system needs a name, or the key of a system on the board",
            )
        system = self.on_board.get(row.key)
        if system is None:
            return row.system_name, "key", self.new_key_problem(row)
        if row.system_name and fold_name(row.system_name) != fold_name(system.name):
            return "", "name", f"the key {row.key!r} is that of {system.name!r}, not of {shorten(row.system_name)!r}"
        return system.name, "", ""

    def corrected_name(self, row: SubmittedRow) -> tuple[str, str, str]:
        """As `name_of`, of a row that corrects a submission: that says which system is meant."""
        try:
            system = correctable(self.audience, row.corrects).submission.system
        except ValueError as error:
            return row.system_name, "corrects", str(error)
        if row.key and row.key != system.key:
            return row.system_name, "key", f"the submission that it corrects is of {system.key!r}"
        return row.system_name or system.name, "", ""

    def new_key_problem(self, row: SubmittedRow) -> str:
        """Why a row cannot add a system under its key; empty where it can, and the key is taken from then on."""
        if not row.system_name:
            return f"no system on the board has the key {shorten(row.key)!r}; a new one needs a name too"
        if fold_name(row.system_name) in self.names or row.system_name in self.on_board:
            return f"the system {shorten(row.system_name)!r} is on the board under another key"
        if row.key in self.taken:
            return f"the key {shorten(row.key)!r} is taken"
        if len(row.key) > KEY_LENGTH or not _is_key(row.key):
            return (
                f"{shorten(row.key)!r} is not a key: use lower-case letters and digits with single hyphens between them"
            )
        self.taken.add(row.key)
        return ""


def _is_key(text: str) -> bool:
    try:
        is_key(text)
    except ValidationError:
        return False
    return True
