"""Which score of which system holds at a revision (`docs/design.md`, "the current score")."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Case, Count, Q, QuerySet, When, Window
from django.db.models.functions import RowNumber

from leaderboard.models import Revision, Score, SubmissionEvent, SystemChange, Task
from leaderboard.models.benchmarks import Benchmark
from leaderboard.rankings.configuration import configuration_of
from ranking_engine.core.decimals import rounded, rounded_score

WITHDRAWN = Score.MissingReason.WITHDRAWN.value
# Of an event: its submission, that one's system, position and what it corrects; its kind; the revision it caused.
Happened = tuple[int, int, int, int | None, str, int]
CHUNK_ROWS = 20_000  # of scores that are read at a time
NOT_SUBMITTED = "not_submitted"  # no stored row at all, for example a task that was added later


@dataclass(frozen=True, slots=True)
class BoardSystem:
    """A system as it was at a revision."""

    id: int
    key: str
    name: str


@dataclass(frozen=True, slots=True)
class CurrentScore:
    """The value of one system on one task, or None with the reason, and the submission that it comes from."""

    value: float | None
    missing_reason: str
    submission_id: int
    standard_error: float | None = None
    n_instances: int | None = None


def systems_at(revision: Revision) -> list[BoardSystem]:
    """The systems on the board at `revision`, in the order of their keys: the order of every stored array."""
    changes = changes_until(revision).values_list("system_id", "system__key", "kind", "name")
    present: dict[int, BoardSystem] = {}
    for system_id, key, kind, name in changes.iterator(chunk_size=5000):
        if kind == SystemChange.Kind.LEFT:
            present.pop(system_id, None)
        else:
            present[system_id] = BoardSystem(system_id, key, name)
    return sorted(present.values(), key=lambda system: system.key)


def changes_until(revision: Revision) -> QuerySet[SystemChange]:
    """Which systems joined, left and got other names, in the order in which that happened."""
    changes = SystemChange.objects.filter(revision__benchmark_id=revision.benchmark_id)
    return changes.filter(revision__number__lte=revision.number).order_by("revision__number", "pk")


def present_among(revision: Revision, system_ids: Sequence[int]) -> set[int]:
    """Which of these systems are on the board at `revision`."""
    changes = SystemChange.objects.filter(system_id__among=system_ids, revision__number__lte=revision.number)
    last = dict(changes.order_by("revision__number", "pk").values_list("system_id", "kind"))
    return {system for system, kind in last.items() if kind != SystemChange.Kind.LEFT}


class InForce(NamedTuple):
    """A submission that holds its place on the board."""

    submission_id: int
    system_id: int
    is_blank: bool  # a withdrawn correction: it holds its place, and every score in it is missing


def submissions_in_force(revision: Revision, system_ids: Iterable[int] | None = None) -> list[InForce]:
    """The submissions whose scores hold at `revision`: accepted and not withdrawn then.

    Ordered so that a later one replaces an earlier one: by the number of the revision that accepted it, then by its
    position in the batch. Reinstating a submission gives it back the place it had. A correction is, for good, in
    the place of what it corrects; the newest of several holds. Where it is withdrawn what it corrected does not come
    back: its scores are missing until there is a new correction.

    Args:
        revision: the state of the benchmark.
        system_ids: only those of these systems, whose events alone are read; all where None.
    """
    return in_force_after(in_order(_events_until(revision, system_ids)).iterator(chunk_size=5000))


def last_in_force(revision: Revision, system_ids: Iterable[int] | None = None) -> list[InForce]:
    """The last submission in force of each system: where rows are replaced, what holds.

    As `submissions_in_force`, which brings an event for every submission there ever was. Here the database gives the
    newest acceptance of each system alone, but of systems with corrections or withdrawals all that happened.

    Args:
        revision: the state of the benchmark.
        system_ids: only these systems; all where None.
    """
    is_turn = ~Q(kind=SubmissionEvent.Kind.ACCEPTED) | Q(submission__corrects__isnull=False)
    events = _events_until(revision, system_ids).annotate(
        place=Window(
            RowNumber(),
            partition_by="submission__system_id",
            order_by=["-revision__number", "-submission__position", "-submission_id"],
        ),
        n_turns=Window(Count(Case(When(is_turn, then=1))), partition_by="submission__system_id"),
    )
    rows = in_order(events.filter(Q(place=1) | Q(n_turns__gt=0))).iterator(chunk_size=5000)
    return list({held.system_id: held for held in in_force_after(rows)}.values())


def _events_until(revision: Revision, system_ids: Iterable[int] | None) -> QuerySet[SubmissionEvent]:
    """What happened to submissions until a revision; a correction is of the same system as what it corrects."""
    events = SubmissionEvent.objects.filter(revision__number__lte=revision.number)
    if system_ids is None:
        return events.filter(submission__benchmark_id=revision.benchmark_id)
    return events.filter(revision__benchmark_id=revision.benchmark_id, submission__system_id__among=list(system_ids))


def in_order(events: QuerySet[SubmissionEvent]) -> QuerySet[SubmissionEvent, Happened]:
    """What `in_force_after` asks of events, as they happened."""
    return events.order_by("revision__number", "pk").values_list(
        "submission_id",
        "submission__system_id",
        "submission__position",
        "submission__corrects_id",
        "kind",
        "revision__number",
    )


def in_force_after(events: Iterable[Happened]) -> list[InForce]:
    """The submissions in force after events (submission, system, position, what it corrects, kind, revision)."""
    accepted: dict[int, tuple[int, int]] = {}  # (revision, position)
    about: dict[int, tuple[int, int | None]] = {}  # (system, what it corrects)
    withdrawn: set[int] = set()
    for submission_id, system_id, position, corrects, kind, number in events:
        if kind == SubmissionEvent.Kind.ACCEPTED:
            accepted[submission_id] = (number, position)
            about[submission_id] = (system_id, corrects)
        elif kind == SubmissionEvent.Kind.WITHDRAWN:
            withdrawn.add(submission_id)
        elif kind == SubmissionEvent.Kind.REINSTATED:
            withdrawn.discard(submission_id)
    newest: dict[int, int] = {}  # by what was corrected first
    for submission_id in sorted(accepted, key=accepted.__getitem__):
        root = submission_id
        while (corrects := about[root][1]) is not None:
            root = corrects
        newest[root] = submission_id
    return [
        InForce(held, about[held][0], held in withdrawn)
        for root, held in sorted(newest.items(), key=lambda pair: (*accepted[pair[0]], pair[0]))
        if held not in withdrawn or about[held][1] is not None
    ]


def differing_systems(older: Revision, newer: Revision) -> set[int]:
    """The systems of which a score may differ between two revisions: all others hold the same stored rows."""
    sides: list[dict[int, list[InForce]]] = []
    is_by_row = _is_by_row(older) and _is_by_row(newer)
    for revision in (older, newer):
        held_by: dict[int, list[InForce]] = {}
        for held in last_in_force(revision) if is_by_row else submissions_in_force(revision):
            held_by.setdefault(held.system_id, []).append(held)
        sides.append(held_by)
    before, after = sides
    ids = before.keys() | after.keys()
    if _is_by_row(older) != _is_by_row(newer):
        return set(ids)
    return {system for system in ids if before.get(system) != after.get(system)}


def current_scores(
    revision: Revision, system_ids: Iterable[int] | None = None, *, task_ids: set[int] | None = None
) -> dict[tuple[int, int], CurrentScore]:
    """The current score of every (system, task) at `revision` that has a stored row.

    Values are rounded to 12 significant digits: an earlier release stored what arithmetic had left behind them.

    Args:
        revision: the state of the benchmark.
        system_ids: only these systems, whose history alone is read; all where None.
        task_ids: the tasks to look for; all where None. Others may come with them.
    """
    columns = ("value", "missing_reason", "standard_error", "n_instances")
    return {
        (held.system_id, task): CurrentScore(None, WITHDRAWN, held.submission_id)
        if held.is_blank
        else CurrentScore(value if value is None else rounded_score(value), reason, held.submission_id, error, n)
        for held, task, value, reason, error, n in _current_rows(revision, columns, system_ids, task_ids)
    }


Values = tuple[np.ndarray, np.ndarray, np.ndarray]  # ids of systems, ids of tasks, scores or their errors


def current_values(revision: Revision, *, as_stored: bool = False) -> Iterator[Values]:
    """System, task and value of every current score that is one: `current_scores` without what a ranking never asks.

    As arrays, some CHUNK_ROWS of them at a time: a large board has hundreds of thousands. Only the tasks of the
    revision's configuration are sure to be there.

    Args:
        revision: the state of the benchmark.
        as_stored: do not round the values to 12 significant digits.
    """
    for systems, tasks, values in _current_figures(revision, "value"):
        yield systems, tasks, values if as_stored else rounded(values)


def current_errors(revision: Revision) -> Iterator[Values]:
    """System, task and standard error of every current score that states one, as `current_values`."""
    # Of most benchmarks no score does, and reading the scores of a large one takes longer than asking.
    if Score.objects.filter(submission__benchmark_id=revision.benchmark_id, standard_error__gt=0).exists():
        yield from _current_figures(revision, "standard_error")


def _current_figures(revision: Revision, column: str) -> Iterator[Values]:
    """System, task and one figure of every current score that has it, CHUNK_ROWS at a time."""
    cells = (
        (held.system_id, task, figure)
        for held, task, figure in _current_rows(revision, (column,), task_ids=_configured(revision))
        if figure is not None and not held.is_blank
    )
    # Straight into an array: a list of so many tuples takes ten times the memory. Ids below 2^53 are exact in it.
    while (flat := np.fromiter(chain.from_iterable(islice(cells, CHUNK_ROWS)), dtype=float)).size:
        systems, tasks, figures = flat.reshape(-1, 3).T
        yield systems.astype(np.int64), tasks.astype(np.int64), figures


def _is_by_row(revision: Revision) -> bool:
    return bool(configuration_of(revision).replacement == Benchmark.Replacement.ROW)


def _configured(revision: Revision) -> set[int]:
    return {task.id for task in configuration_of(revision).tasks}


def _current_rows(
    revision: Revision,
    columns: Sequence[str],
    system_ids: Iterable[int] | None = None,
    task_ids: set[int] | None = None,
) -> Iterator[Any]:
    """Of every (system, task) the row that holds at `revision`: what holds it, the task, and these columns.

    Args:
        revision: the state of the benchmark.
        columns: of a score.
        system_ids: only these systems; all where None.
        task_ids: the tasks to look for, all that the benchmark ever had where None; others may come with them.
    """
    if _is_by_row(revision):  # one submission a system, so that no two scores are of the same system and task
        held_as = {held.submission_id: held for held in last_in_force(revision, system_ids)}
        # Some submissions a statement, so that about CHUNK_ROWS rows are in flight: a cursor in the server, which would
        # do the same, is not to be had behind every pool of connections.
        submission_ids, n_at_once = list(held_as), max(1, CHUNK_ROWS // max(1, len(_configured(revision))))
        for start in range(0, len(submission_ids), n_at_once):
            stored = Score.objects.filter(submission_id__among=submission_ids[start : start + n_at_once])
            for submission, task, *cell in stored.values_list("submission_id", "task_id", *columns):
                yield held_as[submission], task, *cell
        return
    if task_ids is None:
        task_ids = set(Task.objects.filter(benchmark_id=revision.benchmark_id).values_list("pk", flat=True))
    yield from _newest_rows(submissions_in_force(revision, system_ids), task_ids, columns)


def _newest_rows(in_force: Sequence[InForce], task_ids: set[int], columns: Sequence[str]) -> Iterator[Any]:
    """As `_current_rows`, where a submission replaces only the tasks that it mentions.

    From the newest submission of each system back, twice as many at each turn, until every task has its score: where
    each system was submitted many times, most of its history is never read.
    """
    pending: dict[int, list[InForce]] = {}  # by system, the newest at the end
    for held in in_force:
        pending.setdefault(held.system_id, []).append(held)
    missing = {system: frozenset(task_ids) for system in pending}
    n_back = 1
    while pending:
        for part in _parts(pending, missing, n_back):
            place = {held.submission_id: (rank, held) for rank, held in enumerate(chain.from_iterable(part.values()))}
            wanted = frozenset[int]().union(*(missing[system] for system in part))
            stored = Score.objects.filter(submission_id__among=list(place), task_id__among=list(wanted))
            newest: dict[tuple[int, int], tuple[int, Any]] = {}
            known: dict[int, set[int]] = {}
            for submission, task, *cell in stored.values_list("submission_id", "task_id", *columns):
                rank, held = place[submission]
                before = newest.get((held.system_id, task))
                if task in missing[held.system_id] and (before is None or before[0] < rank):
                    newest[held.system_id, task] = (rank, (held, task, *cell))
                    known.setdefault(held.system_id, set()).add(task)
            for system, tasks in known.items():
                missing[system] -= tasks
            yield from (row for _, row in newest.values())
        pending = {
            system: rest
            for system, submissions in pending.items()
            if missing[system] and (rest := submissions[:-n_back])
        }
        n_back *= 2


def _parts(
    pending: Mapping[int, list[InForce]], missing: Mapping[int, frozenset[int]], n_back: int
) -> Iterator[dict[int, list[InForce]]]:
    """The last `n_back` submissions of each system, so many systems at a time as have about CHUNK_ROWS rows.

    Systems that lack the same tasks are together, so that few rows are read that no one looks for.
    """
    part: dict[int, list[InForce]] = {}
    wanted, n_submissions = frozenset[int](), 0
    for system in sorted(pending, key=lambda system: hash(missing[system])):
        submissions = pending[system][-n_back:]
        wanted, n_submissions = wanted | missing[system], n_submissions + len(submissions)
        if part and n_submissions * len(wanted) > CHUNK_ROWS:
            yield part
            part, wanted, n_submissions = {}, missing[system], len(submissions)
        part[system] = submissions
    if part:
        yield part
