"""Which score of which system holds at a revision (`docs/design.md`, "the current score")."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from django.db.models import QuerySet

from leaderboard.models import Revision, Score, SubmissionEvent, SystemChange
from leaderboard.models.benchmarks import Benchmark
from ranking_engine.decimals import rounded, rounded_score

WITHDRAWN = Score.MissingReason.WITHDRAWN.value
# Of an event: its submission, that one's system, position and what it corrects; its kind; the revision it caused.
Happened = tuple[int, int, int, int | None, str, int]
CHUNK_ROWS = 20_000  # that are fetched at a time
MOST_NAMED = 500  # ids that one statement names; beyond them all rows are read
NOT_SUBMITTED = "not_submitted"  # no stored row at all, for example a task that was added later


@dataclass(frozen=True, slots=True)
class BoardSystem:
    """A system as it stood at a revision."""

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
    changes = (
        SystemChange.objects.filter(
            revision__benchmark_id=revision.benchmark_id, revision__number__lte=revision.number
        )
        .order_by("revision__number", "pk")
        .values_list("system_id", "system__key", "kind", "name")
    )
    present: dict[int, BoardSystem] = {}
    for system_id, key, kind, name in changes.iterator(chunk_size=5000):
        if kind == SystemChange.Kind.LEFT:
            present.pop(system_id, None)
        else:
            present[system_id] = BoardSystem(system_id, key, name)
    return sorted(present.values(), key=lambda system: system.key)


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


def submissions_in_force(revision: Revision) -> list[InForce]:
    """The submissions whose scores hold at `revision`: accepted and not withdrawn then.

    Ordered so that a later one replaces an earlier one: by the number of the revision that accepted it, then by its
    position in the batch. Reinstating a submission gives it back the place it had. A correction stands, for good, in
    the place of what it corrects; the newest of several holds. Where it is withdrawn what it corrected does not come
    back: its scores are missing until there is a new correction.
    """
    events = SubmissionEvent.objects.filter(
        submission__benchmark_id=revision.benchmark_id, revision__number__lte=revision.number
    )
    return in_force_after(in_order(events).iterator(chunk_size=5000))


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
        newest[_root(submission_id, about)] = submission_id
    return [
        InForce(held, about[held][0], held in withdrawn)
        for root, held in sorted(newest.items(), key=lambda pair: (*accepted[pair[0]], pair[0]))
        if held not in withdrawn or about[held][1] is not None
    ]


def _root(submission_id: int, about: Mapping[int, tuple[int, int | None]]) -> int:
    while (corrects := about[submission_id][1]) is not None:
        submission_id = corrects
    return submission_id


def current_scores(revision: Revision, system_ids: Iterable[int] | None = None) -> dict[tuple[int, int], CurrentScore]:
    """The current score of every (system, task) at `revision` that has a stored row.

    Values are rounded to 12 significant digits: an earlier release stored what arithmetic had left behind them.

    Args:
        revision: the state of the benchmark.
        system_ids: only these systems; all where None.
    """
    columns = ("value", "missing_reason", "standard_error", "n_instances")
    return {
        (held.system_id, task): CurrentScore(None, WITHDRAWN, held.submission_id)
        if held.is_blank
        else CurrentScore(value if value is None else rounded_score(value), reason, held.submission_id, error, n)
        for held, task, value, reason, error, n in _current_rows(revision, system_ids, columns)
    }


def current_values(revision: Revision, *, as_stored: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """System, task and value of every current score that is one: `current_scores` without what a ranking never asks.

    As arrays: a large board has hundreds of thousands.

    Args:
        revision: the state of the benchmark.
        as_stored: do not round the values to 12 significant digits.
    """
    in_force = submissions_in_force(revision)
    if revision.configuration.content["replacement"] == Benchmark.Replacement.ROW:
        system_of = {held.system_id: held for held in in_force}
        holds = {held.submission_id: system for system, held in system_of.items() if not held.is_blank}
        stored = Score.objects.filter(submission_id__among=list(holds), value__isnull=False)
        rows = stored.values_list("submission_id", "task_id", "value").iterator(chunk_size=CHUNK_ROWS)
        cells = ((holds[submission], task, value) for submission, task, value in rows)
    else:
        cells = (
            (held.system_id, task, value)
            for held, task, value in _current_rows(revision, None, ("value",))
            if value is not None and not held.is_blank
        )
    # Straight into one array: a list of so many tuples takes ten times the memory. Ids below 2^53 are exact in it.
    flat = np.fromiter(chain.from_iterable(cells), dtype=float)
    systems, tasks, values = flat.reshape(-1, 3).T
    return systems.astype(np.int64), tasks.astype(np.int64), values if as_stored else rounded(values)


def _current_rows(revision: Revision, system_ids: Iterable[int] | None, columns: Sequence[str]) -> Iterator[Any]:
    """Of every (system, task) the row that holds at `revision`: what holds it, the task, and these columns."""
    in_force = submissions_in_force(revision)
    if system_ids is not None:
        wanted = set(system_ids)
        in_force = [held for held in in_force if held.system_id in wanted]
    if is_by_row := revision.configuration.content["replacement"] == Benchmark.Replacement.ROW:
        in_force = list({held.system_id: held for held in in_force}.values())
    place = {held.submission_id: (rank, held) for rank, held in enumerate(in_force)}
    stored = Score.objects.filter(submission_id__among=list(place))
    rows = stored.values_list("submission_id", "task_id", *columns).iterator(chunk_size=CHUNK_ROWS)
    if is_by_row:  # one submission a system, so that no two scores are of the same system and task
        for submission, task, *cell in rows:
            yield place[submission][1], task, *cell
        return
    last: dict[tuple[int, int], tuple[int, Any]] = {}
    for submission, task, *cell in rows:
        rank, held = place[submission]
        before = last.get((held.system_id, task))
        if before is None or before[0] < rank:
            last[held.system_id, task] = (rank, (held, task, *cell))
    yield from (row for _, row in last.values())
