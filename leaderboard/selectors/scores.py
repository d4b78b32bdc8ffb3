"""Which score of which system holds at a revision (`docs/design.md`, "the current score")."""

from collections.abc import Iterable
from dataclasses import dataclass

from leaderboard.models import Revision, Score, SubmissionEvent, SystemChange
from leaderboard.models.benchmarks import Benchmark

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


def submissions_in_force(revision: Revision) -> list[tuple[int, int]]:
    """(submission, system) of all that are accepted and not withdrawn at `revision`.

    Ordered so that a later one replaces an earlier one: by the number of the revision that accepted it, then by its
    position in the batch. Reinstating a submission gives it back the place it had.
    """
    events = (
        SubmissionEvent.objects.filter(
            submission__benchmark_id=revision.benchmark_id, revision__number__lte=revision.number
        )
        .order_by("revision__number", "pk")
        .values_list("submission_id", "submission__system_id", "submission__position", "kind", "revision__number")
    )
    accepted: dict[int, tuple[int, int, int]] = {}
    withdrawn: set[int] = set()
    for submission_id, system_id, position, kind, number in events.iterator(chunk_size=5000):
        if kind == SubmissionEvent.Kind.ACCEPTED:
            accepted[submission_id] = (number, position, system_id)
        elif kind == SubmissionEvent.Kind.WITHDRAWN:
            withdrawn.add(submission_id)
        else:
            withdrawn.discard(submission_id)
    in_order = sorted((place, submission_id) for submission_id, place in accepted.items())
    return [(submission, system) for (_, _, system), submission in in_order if submission not in withdrawn]


def current_scores(revision: Revision, system_ids: Iterable[int] | None = None) -> dict[tuple[int, int], CurrentScore]:
    """The current score of every (system, task) at `revision` that has a stored row.

    Args:
        revision: the state of the benchmark.
        system_ids: only these systems; all where None.
    """
    in_force = submissions_in_force(revision)
    if system_ids is not None:
        wanted = set(system_ids)
        in_force = [(submission, system) for submission, system in in_force if system in wanted]
    if revision.configuration.content["replacement"] == Benchmark.Replacement.ROW:
        in_force = list({system: (submission, system) for submission, system in in_force}.values())
    place = {submission: (rank, system) for rank, (submission, system) in enumerate(in_force)}
    rows = Score.objects.filter(submission__benchmark_id=revision.benchmark_id)
    if len(place) <= 500:
        rows = rows.filter(submission_id__in=place)
    found: dict[tuple[int, int], tuple[int, CurrentScore]] = {}
    for submission, task, value, reason in rows.values_list(
        "submission_id", "task_id", "value", "missing_reason"
    ).iterator(chunk_size=20_000):
        if submission not in place:
            continue
        rank, system = place[submission]
        held = found.get((system, task))
        if held is None or held[0] < rank:
            found[system, task] = (rank, CurrentScore(value, reason, submission))
    return {cell: score for cell, (_, score) in found.items()}
