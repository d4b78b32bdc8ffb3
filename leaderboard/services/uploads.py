"""Uploads of many systems at once: checked as a whole, stored whole or not at all, previewed without being stored."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from leaderboard.models import Batch, Benchmark, System, Task, User
from leaderboard.models.benchmarks import KEY_LENGTH, is_key
from leaderboard.models.submissions import Source
from leaderboard.selectors.audience import audience
from leaderboard.services.drafts import Problems, RawRow, Standing, check_row, standing_of
from leaderboard.services.names import near_misses
from leaderboard.services.submissions import SubmissionError, accept_batch, decides_alone, store_batch
from leaderboard.services.wording import in_words
from ranking_engine.names import clean_name, fold_name, shorten

MOST_ISSUES = 100
MOST_NEIGHBOURS_SOUGHT = 20  # looking for similar names takes its time
_SEPARATORS = re.compile(r"[\s_\-\u2010-\u2015\u2212]+")


@dataclass(frozen=True)
class UploadRow:
    """One system of an upload as it came in. Scores are texts by the name or the key of a task."""

    scores: Mapping[str, str]
    name: str = ""
    key: str = ""  # of a system on the board, in place of its name; or the one that a new system is to have
    organisation: str = ""
    url: str = ""
    description: str = ""
    place: str = ""  # where it stands, in a JSON body
    line: int | None = None  # where it stands, in a table


@dataclass(frozen=True)
class Issue:
    """One thing that is wrong with an upload, and where."""

    message: str
    place: str = ""
    line: int | None = None
    column: str = ""


class UploadError(ValueError):
    """An upload that cannot be stored; nothing of it is."""

    def __init__(self, issues: Sequence[Issue]) -> None:
        super().__init__("; ".join(issue.message for issue in issues[:3]))
        self.issues = list(issues[:MOST_ISSUES])
        self.n_issues = len(issues)


class IdempotencyError(SubmissionError):
    """The idempotency key was used for another upload."""


@dataclass(frozen=True)
class Upload:
    """An upload that somebody sent."""

    rows: Sequence[UploadRow]
    columns: Sequence[str] = ()  # the columns of a table; checked once, not in every row
    header_line: int = 1
    note: str = ""
    creates_systems: bool = False
    source: str = Source.API
    payload_hash: str = ""
    idempotency_key: str | None = None


@dataclass
class _Check:
    """What is gone through, row by row."""

    standing: Standing
    upload: Upload
    task_of: dict[str, Task]  # by folded name, and by key where no name says otherwise
    taken_keys: set[str]
    twins: dict[str, str]  # the names on the board by what is left of them without spaces and hyphens
    issues: list[Issue] = field(default_factory=list)
    seen: dict[str, str] = field(default_factory=dict)  # what a system is known by -> where it stands
    resembling: dict[str, str] = field(default_factory=dict)
    n_sought: int = 0
    has_bad_columns: bool = False


def check_upload(benchmark: Benchmark, owner: User, upload: Upload) -> list[dict[str, Any]]:
    """The rows of an upload as a batch holds them.

    Raises:
        UploadError: something in it cannot be stored.
    """
    standing = standing_of(benchmark, owner)
    task_of = dict(standing.tasks) | {fold_name(task.name): task for task in standing.tasks.values()}
    taken = set(System.objects.filter(benchmark=benchmark).values_list("key", flat=True))
    twins = {_skeleton(system.name): system.name for system in standing.by_key.values()}
    check = _Check(standing, upload, task_of, taken, twins)
    if not upload.rows:
        check.issues.append(Issue("there is no system; an upload has at least one", place="systems"))
    _check_columns(check)
    rows = []
    for row in upload.rows:
        rows.append(_checked(check, row))
        if len(check.issues) >= MOST_ISSUES:
            break
    if check.issues:
        raise UploadError(check.issues)
    return [row for row in rows if row is not None]


def _check_columns(check: _Check) -> None:
    """The columns of a table: each a task, none twice."""
    for message, label in _unknown_or_twice(check, check.upload.columns):
        check.issues.append(Issue(message, line=check.upload.header_line, column=label))
        check.has_bad_columns = True


def _unknown_or_twice(check: _Check, labels: Iterable[str]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    seen: dict[str, str] = {}
    for label in labels:
        task = _task(check, label)
        if task is None:
            hint = _task_hint(check, label) if len(found) < MOST_NEIGHBOURS_SOUGHT else ""
            found.append((f"{shorten(label)!r} is not a task of {check.standing.benchmark.name}{hint}", label))
        elif task.key in seen:
            found.append((f"{shorten(label)!r} is the task that {shorten(seen[task.key])!r} names already", label))
        else:
            seen[task.key] = label
    return found


def _task_hint(check: _Check, label: str) -> str:
    known = [*(task.name for task in check.standing.tasks.values()), *check.standing.tasks]
    close = near_misses(label, known)
    return f"; did you mean {close[0]!r}?" if close else ""


def _task(check: _Check, label: str) -> Task | None:
    return check.task_of.get(fold_name(label)) or check.task_of.get(clean_name(label))


def _checked(check: _Check, row: UploadRow) -> dict[str, Any] | None:
    """One row, checked; what is wrong goes to the issues, at its place."""
    problems: list[tuple[str, str]] = []  # (field or label of a task, message)
    if not check.upload.columns:
        problems += [(f"scores.{label}", message) for message, label in _unknown_or_twice(check, row.scores)]
    labels = {task.key: label for label in row.scores if (task := _task(check, label))}
    named = _named(check, row, problems)
    checked = None
    if named is not None:
        of_row = Problems()
        scores = {key: row.scores[label] for key, label in labels.items()}
        raw = RawRow(named.name, scores, row.organisation, row.url, row.description, row.line)
        checked = check_row(check.standing, raw, of_row, with_neighbours=False)
        if problems or check.has_bad_columns:  # that no score is left is said already
            of_row.by_place.pop("scores", None)
        for place, texts in of_row.by_place.items():
            problems += [(_field(place, labels), text) for text in texts]
        if not problems:
            checked["system"]["new_key"] = named.key if checked["system"]["key"] is None else ""
            _check_presence(check, row, checked, problems)
    check.issues += [_issue(row, place, message) for place, message in problems]
    return checked


def _field(place: str, labels: Mapping[str, str]) -> str:
    if place in labels:  # a task may be called "url", so tasks go first
        return f"scores.{labels[place]}"
    return "name" if place == "system_name" else place


def _issue(row: UploadRow, place: str, message: str) -> Issue:
    if row.line is not None:
        is_score = place.startswith("scores.")
        column = place.removeprefix("scores.") if is_score else "system" if place == "name" else ""
        return Issue(message, line=row.line, column=column)
    return Issue(message, place=f"{row.place}.{place}" if row.place else place)


def _named(check: _Check, row: UploadRow, problems: list[tuple[str, str]]) -> UploadRow | None:
    """The row with the name that it has or that its key stands for; None where it cannot be told."""
    if not row.key:
        if row.name:
            return row
        problems.append(("name", "a system has a name, or the key of a system on the board"))
        return None
    on_board = check.standing.by_key.get(row.key)
    if on_board is None:
        return _with_new_key(check, row, problems)
    if row.name and fold_name(row.name) != fold_name(on_board.name):
        problems.append(("name", f"the key {row.key!r} is that of {on_board.name!r}, not of {shorten(row.name)!r}"))
        return None
    return replace(row, name=on_board.name)


def _with_new_key(check: _Check, row: UploadRow, problems: list[tuple[str, str]]) -> UploadRow | None:
    message = ""
    if not row.name:
        message = f"no system on the board has the key {shorten(row.key)!r}; a new one needs a name too"
    elif check.standing.system(row.name):
        message = f"the system {shorten(row.name)!r} is on the board under another key"
    elif row.key in check.taken_keys:
        message = f"the key {shorten(row.key)!r} is taken by a system that is not on the board"
    elif len(row.key) > KEY_LENGTH or not _is_key(row.key):
        message = f"{shorten(row.key)!r} is no key: lower-case letters and digits with single hyphens between them"
    if message:
        problems.append(("key", message))
        return None
    check.taken_keys.add(row.key)
    return row


def _is_key(text: str) -> bool:
    try:
        is_key(text)
    except ValidationError:
        return False
    return True


def _check_presence(check: _Check, row: UploadRow, checked: dict[str, Any], problems: list[tuple[str, str]]) -> None:
    """That the system stands here once, and is not a new one by accident."""
    name = checked["system"]["name"]
    here = f"line {row.line}" if row.line is not None else row.place
    folded, skeleton = fold_name(name), _skeleton(name)
    if folded in check.seen:
        problems.append(("name", f"{name!r} stands at {check.seen[folded]} already; a system has one row"))
        return
    check.seen[folded] = here
    if skeleton in check.resembling:
        problems.append(("name", f"{name!r} and {check.resembling[skeleton]!r} differ in spaces and hyphens only"))
        return
    check.resembling[skeleton] = name
    if checked["system"]["key"] is None:
        _check_new(check, name, skeleton, problems)


def _check_new(check: _Check, name: str, skeleton: str, problems: list[tuple[str, str]]) -> None:
    twin = check.twins.get(skeleton)
    if twin is not None:
        problems.append(("name", f"{name!r} differs from {twin!r}, which is on the board, in spaces and hyphens only"))
        return
    if check.upload.creates_systems:
        return
    check.n_sought += 1
    known = [system.name for system in check.standing.by_key.values()]
    close = near_misses(name, known) if check.n_sought <= MOST_NEIGHBOURS_SOUGHT else []
    hint = f"did you mean {in_words([repr(other) for other in close])}? " if close else ""
    problems.append(("name", f"{name!r} is not on the board; {hint}Say `create_systems` to add new systems"))


def _skeleton(name: str) -> str:
    """What is left of a name without case, spaces, hyphens and underscores."""
    return _SEPARATORS.sub("", unicodedata.normalize("NFKC", name).casefold())


@transaction.atomic
def submit_upload(benchmark: Benchmark, owner: User, upload: Upload) -> tuple[Batch, bool]:
    """Store an upload as a batch and, where nobody has to decide, accept it.

    Returns:
        The batch, and whether this call made it: the same key and payload give the batch of the first call.

    Raises:
        UploadError: something in it cannot be stored; nothing is.
        IdempotencyError: the key was used for another payload.
        SubmissionError: its owner may not submit here.
    """
    # The lock makes calls with the same key wait for each other, and keeps the board as it was checked.
    locked = Benchmark.objects.select_for_update().get(pk=benchmark.pk)
    if upload.idempotency_key and (first := _first_batch(locked, owner, upload)):
        return first, False
    if not audience(owner, locked).may_submit:
        raise SubmissionError(f"You may not submit to {locked.name}.")
    batch = store_batch(
        locked,
        owner,
        check_upload(locked, owner, upload),
        source=upload.source,
        note=upload.note,
        idempotency_key=upload.idempotency_key,
        payload_hash=upload.payload_hash,
    )
    if decides_alone(owner, locked):
        accept_batch(batch, actor=owner)
    return batch, True


def _first_batch(benchmark: Benchmark, owner: User, upload: Upload) -> Batch | None:
    first = Batch.objects.filter(
        benchmark=benchmark, uploader=owner, idempotency_key=upload.idempotency_key
    ).first()
    if first is not None and first.payload_hash != upload.payload_hash:
        raise IdempotencyError("This idempotency key was used for another upload; take a new one.")
    return first
