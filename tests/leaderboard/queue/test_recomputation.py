"""What follows an upgrade of the engine: inserted in slices, and after everything that somebody waits for."""

from django.db import connection
from django.test.utils import CaptureQueriesContext

from jobs.runner import run_most_urgent
from leaderboard.models import Benchmark, Job, Publication
from leaderboard.queue import jobs, recomputation, wake_ups
from leaderboard.queue.kinds import JOB_KINDS
from leaderboard.queue.priorities import IDLE, LARGEST, NOBODY_WAITS, RECOMPUTATION
from leaderboard.queue.recomputation import BOARDS_A_SLICE, Recomputations, insert_recomputations
from leaderboard.queue.retry import retry_board
from leaderboard.queue.rows import about_revision, insert, row_of
from ranking_engine import __version__ as engine_version
from tests.jobs.engine_versions import boards_of_older_version
from tests.leaderboard.queue.job_rows import N_JOBS, age_everything, pointer, rankings_job


def test_each_pass_inserts_a_slice_at_most_until_every_board_has_its_jobs(make):
    boards_of_older_version(make, 2 * BOARDS_A_SLICE + 30)
    inserted, n_rows = [], []
    for _ in range(4):
        with CaptureQueriesContext(connection) as queries:
            inserted.append(insert_recomputations())
        n_rows.append(Job.objects.count())
        assert len(queries) <= 30, "SQLite takes some forty rows a statement, and there are six hundred"
    assert inserted == [BOARDS_A_SLICE, BOARDS_A_SLICE, 30, 0]
    assert n_rows == [n * N_JOBS for n in (BOARDS_A_SLICE, 2 * BOARDS_A_SLICE, 230, 230)]
    assert Job.objects.filter(woken_at=None, priority__lt=NOBODY_WAITS).count() == Job.objects.count()
    assert wake_ups.count_wake_ups("rankings") == wake_ups.count_wake_ups("studies") == 0


def test_a_sweep_looks_for_more_at_once_while_there_is_more_and_then_rests(make, monkeypatch):
    boards_of_older_version(make, 5)
    monkeypatch.setattr(recomputation, "BOARDS_A_SLICE", 2)
    step, n_boards = Recomputations(), []
    for _ in range(4):
        step()
        n_boards.append(Job.objects.filter(kind="rankings").count())
    assert n_boards == [2, 4, 5, 5]
    with CaptureQueriesContext(connection) as queries:
        step()
    assert len(queries) == 0


def test_a_wake_up_for_a_recomputation_runs_the_submission_that_came_since(make):
    board = boards_of_older_version(make, 3)
    insert_recomputations()
    first = Job.objects.filter(kind="rankings").order_by("pk").first()
    make.accepted(board, {"E": [1.0] * 5})
    assert run_most_urgent(first.pk, worker="test") == "done"
    assert pointer(board) == (2, engine_version)
    moved = Publication.objects.filter(engine_version=engine_version).values_list("revision__number", flat=True)
    assert list(moved) == [2]
    for _ in range(2):
        assert run_most_urgent(first.pk, worker="test") == "done"
    assert set(Benchmark.objects.values_list("published_engine_version", flat=True)) == {engine_version}
    assert run_most_urgent(first.pk, worker="test") == "nothing to do"


def test_what_a_recomputation_brings_with_it_comes_after_what_somebody_waits_for_too(make):
    benchmark = make.published()
    make.publish(benchmark, studies=True)
    age_everything()
    insert_recomputations()
    make.publish(benchmark, studies=True)
    again = Job.objects.filter(engine_version=engine_version)
    assert again.filter(kind__startswith="study:").count() > 0
    assert list(again.filter(priority__gte=NOBODY_WAITS)) == []
    assert pointer(benchmark) == (1, engine_version)


def test_every_priority_of_a_recomputation_fits_its_column():
    field = Job._meta.get_field("priority")
    lowest = 2 * IDLE - 1 - LARGEST + RECOMPUTATION  # of a study that runs while nothing else waits
    assert lowest >= -(2**15)
    assert max(kind.priority for kind in JOB_KINDS.values()) + RECOMPUTATION < NOBODY_WAITS < -1 - LARGEST
    assert -1 - LARGEST + RECOMPUTATION > IDLE
    assert IDLE - 1 - LARGEST + RECOMPUTATION > 2 * IDLE
    assert field.get_internal_type() == "SmallIntegerField"


def test_a_recomputation_that_somebody_asks_for_is_raised(make):
    board = boards_of_older_version(make, 1)
    insert_recomputations()
    assert rankings_job(board).priority == RECOMPUTATION
    insert(row_of(JOB_KINDS["rankings"], about_revision(board.revisions.get())))
    assert rankings_job(board).priority == 0
    Job.objects.update(priority=RECOMPUTATION)
    assert retry_board(board)
    assert rankings_job(board).priority == 0


def test_the_sweep_sends_wake_ups_for_submissions_first_and_few_for_the_rest(make):
    boards_of_older_version(make, jobs.WAKE_UPS_UNHURRIED + 30)
    insert_recomputations()
    submitted = make.benchmark()
    Job.objects.update(woken_at=None)
    jobs.sweep()
    jobs.sweep()
    woken = Job.objects.filter(kind="rankings").exclude(woken_at=None)
    assert list(woken.filter(benchmark=submitted).values_list("priority", flat=True)) == [0]
    assert woken.count() == wake_ups.count_wake_ups("rankings") == jobs.WAKE_UPS_UNHURRIED
