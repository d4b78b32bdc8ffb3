"""What must be true after a schedule: everything stored and read, held against what clients remember."""

import json
import time

import numpy as np

from leaderboard.models import Benchmark, Job, Publication, Report, Revision, Submission, SubmissionCount
from leaderboard.queue.jobs import LONGEST_BACKOFF, REWAKE_SECONDS
from leaderboard.rankings.reports import unpack_arrays
from ranking_engine import ScoreMatrix, __version__ as engine_version, rank
from tests.faults.clients import TRIED_AGAIN, call
from tests.faults.machine import LEASE_SECONDS, Machine
from tests.faults.schedules import N_SUBMISSIONS, N_TASKS, Schedule
from tests.jobs.test_kills import assert_board_is, hash_of

# Sweeps, one a second, after the last fault: a lease runs out, a job rests the longest, and is woken twice. What an
# older engine version left is looked for once a minute.
MOST_SWEEPS = LEASE_SECONDS + LONGEST_BACKOFF + 2 * REWAKE_SECONDS + 60


def is_published(schedule: Schedule) -> bool:
    """Whether the newest revision is on the board, by this engine, and no board is being computed any more."""
    benchmark = Benchmark.objects.get(pk=schedule.benchmark.pk)
    open_jobs = Job.objects.filter(benchmark=benchmark, kind="rankings", state__in=["waiting", "running"])
    is_newest = benchmark.published_number == benchmark.last_revision_number
    return is_newest and benchmark.published_engine_version == engine_version and not open_jobs.exists()


def check(schedule: Schedule, machine: Machine) -> None:
    """Compare everything that is stored and was seen with what was accepted, computed from scratch.

    Raises:
        AssertionError: a promise is broken.
    """
    accepted = sorted(schedule.accepted, key=lambda answer: answer.revision)
    last = 1 + N_SUBMISSIONS
    # Each accepted once, each number once, none missing.
    assert [answer.revision for answer in accepted] == list(range(2, last + 1)), schedule.title
    revisions = Revision.objects.filter(benchmark=schedule.benchmark).order_by("number")
    assert list(revisions.values_list("number", flat=True)) == list(range(1, last + 1)), schedule.title
    submitted = Submission.objects.filter(batch__benchmark=schedule.benchmark).count()
    assert submitted == len(schedule.start) + N_SUBMISSIONS, f"{schedule.title}: {submitted} submissions"
    counts = SubmissionCount.objects.filter(benchmark=schedule.benchmark, period="total")
    count = counts.get(user__email__startswith="submitter")
    assert count.n_submitted == N_SUBMISSIONS, f"{schedule.title}: {count.n_submitted} count against the cap"
    body = {"systems": [{"name": "One more", "scores": {"task-1": 1}}], "create_systems": True}
    path = f"benchmarks/{schedule.benchmark.key}/submissions/"
    for _ in range(100):  # with few connections to the database others may still have them all
        status, reply = call(machine, "POST", path, schedule.token, body)
        if status not in TRIED_AGAIN:
            break
        time.sleep(1)
    assert (status, reply and reply["error"]["code"]) == (429, "quota_exceeded"), f"{schedule.title}: {status} {reply}"
    state = dict(schedule.start)
    boards = {1: dict(state)}
    for answer in accepted:
        state[answer.name] = answer.scores
        boards[answer.revision] = dict(state)
    assert_board_is(schedule.benchmark, state)
    check_history(schedule, boards)
    check_reader(schedule, boards)
    check_jobs(schedule)


def check_history(schedule: Schedule, boards: dict[int, dict[str, list[float | None]]]) -> None:
    """Every board that was ever published is that of the scores which clients sent up to its revision."""
    for publication in Publication.objects.filter(benchmark=schedule.benchmark).select_related("revision"):
        revision = publication.revision
        keys, values = matrix_of(boards[revision.number])
        tasks = [f"task-{t}" for t in range(1, N_TASKS + 1)]
        assert revision.input_hash == hash_of(values, keys, tasks), f"{schedule.title}: revision {revision.number}"
        reports = Report.objects.filter(revision=revision, kind="ranking", engine_version=publication.engine_version)
        borda = next(report for report in reports if report.summary["rule"] == "borda")
        ranks = [int(place) if place >= 1 else None for place in unpack_arrays(borda.arrays)["ranks"]]
        expected = borda_ranks(boards[revision.number])
        assert ranks == [expected[key] for key in keys], f"{schedule.title}: revision {revision.number}"


def check_reader(schedule: Schedule, boards: dict[int, dict[str, list[float | None]]]) -> None:
    """No reader saw a revision other than it is, or after a newer one."""
    for number, ranks in schedule.seen:
        assert ranks == json.dumps(borda_ranks(boards[number]), sort_keys=True), f"{schedule.title}: {number}"
    numbers = [number for number, _ in schedule.seen]
    assert numbers == sorted(numbers), f"{schedule.title}: a reader saw {numbers}"


def matrix_of(scores: dict[str, list[float | None]]) -> tuple[list[str], np.ndarray]:
    """The systems' keys in order, and their scores in the same order."""
    by_key = {name.lower().replace(" ", "-"): row for name, row in scores.items()}
    keys = sorted(by_key)
    return keys, np.array([[np.nan if score is None else score for score in by_key[key]] for key in keys])


def borda_ranks(scores: dict[str, list[float | None]]) -> dict[str, int | None]:
    """The ranks of a board from scratch, by the systems' keys."""
    keys, values = matrix_of(scores)
    places = rank(ScoreMatrix(values, system_names=keys), "borda", missing="drop_systems").ranks
    return {key: int(place) if place >= 1 else None for key, place in zip(keys, places, strict=True)}


def check_jobs(schedule: Schedule) -> None:
    """Each published once by a version, the pointer moved forwards, no job failed; poison keeps its board to itself."""
    publications = Publication.objects.filter(benchmark=schedule.benchmark).order_by("pk")
    published = list(publications.values_list("revision__number", "engine_version"))
    moves = list(publications.filter(is_pointer_moved=True).values_list("revision__number", flat=True))
    assert (len(set(published)), moves) == (len(published), sorted(moves)), schedule.title
    jobs = Job.objects.filter(benchmark=schedule.benchmark, kind="rankings")
    assert set(jobs.values_list("state", flat=True)) <= {"done", "superseded"}, schedule.title
    if schedule.poison:
        run = schedule.benchmark.name.partition(" ")[2]
        poisoned = Job.objects.filter(benchmark__name=f"{schedule.poison} {run}", kind="rankings", sequence=2)
        assert "done" not in set(poisoned.values_list("state", flat=True)), schedule.title
