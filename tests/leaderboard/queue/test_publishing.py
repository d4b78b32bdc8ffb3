"""Jobs that publish: the pointer to the newest revision, upgrades of the engine, rules that raise."""

import threading
from dataclasses import replace
from functools import partial

import pytest
from django.db import connection, transaction

from jobs.runner import run_job
from leaderboard.models import Benchmark, Job, Publication, Report, Revision
from leaderboard.queue import jobs
from leaderboard.queue.recomputation import insert_recomputations
from leaderboard.rankings.compute import publish
from leaderboard.rankings.reports import unpack_arrays
from ranking_engine import RULES, __version__ as engine_version
from ranking_engine.catalogue import registry
from tests.concurrency import at_once
from tests.factories import TOY
from tests.leaderboard.queue.job_rows import N_JOBS, OLD, age_everything, pointer, rankings_job

# --- Publishing ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_the_pointer_ends_at_the_newer_revision_whichever_is_published_first(make, order):
    benchmark = make.benchmark()
    make.accepted(benchmark, {"E": [1] * 5})
    for number in order:
        with transaction.atomic():
            publish(Revision.objects.get(number=number))
    assert pointer(benchmark) == (2, engine_version)
    moves = list(Publication.objects.values_list("revision__number", "is_pointer_moved"))
    assert moves == [(number, number == 2 or order == (1, 2)) for number in order]


def test_publishers_of_many_revisions_at_once_leave_the_pointer_at_the_newest(make_committed):
    benchmark = make_committed.benchmark()
    for score in range(7):
        make_committed.accepted(benchmark, {"E": [score] * 5})

    def publish_one(number: int) -> bool:
        with transaction.atomic():
            return publish(Revision.objects.get(number=number))

    outcomes = at_once([partial(publish_one, number) for number in range(8, 0, -1)])
    assert [outcome for outcome in outcomes if isinstance(outcome, Exception)] == []
    assert pointer(benchmark) == (8, engine_version)
    moved = Publication.objects.filter(is_pointer_moved=True).order_by("pk")
    numbers = list(moved.values_list("revision__number", flat=True))
    assert numbers == sorted(numbers)
    assert Publication.objects.count() == 8


@pytest.mark.parametrize("first", [1, 2])
def test_a_publisher_that_comes_while_another_has_not_committed_waits_for_it(make_committed, first):
    """Both orders of r and r+1, the second one starting inside the first one's transaction. Takes a second."""
    benchmark = make_committed.benchmark()
    make_committed.accepted(benchmark, {"E": [1] * 5})
    is_written = threading.Event()

    def one() -> bool:
        with transaction.atomic():
            moved = publish(Revision.objects.get(number=first))
            is_written.set()
            threading.Event().wait(0.5)
            return moved

    def other() -> bool:
        is_written.wait(10)
        with transaction.atomic():
            return publish(Revision.objects.get(number=3 - first))

    assert at_once([one, other]) == [True, first == 1]
    assert pointer(benchmark) == (2, engine_version)


# --- Engine versions -------------------------------------------------------------------------------------------------


def test_after_an_engine_upgrade_the_published_board_is_computed_again_at_the_same_number(make):
    benchmark = make.published()
    age_everything()
    assert pointer(benchmark) == (1, OLD)
    assert [insert_recomputations(), insert_recomputations()] == [1, 0]
    make.publish(benchmark)
    assert pointer(benchmark) == (1, engine_version)
    assert insert_recomputations() == 0
    kept = Publication.objects.values_list("revision__number", "engine_version", "is_pointer_moved")
    assert list(kept) == [(1, OLD, True), (1, engine_version, True)]


def test_what_an_older_version_left_waiting_is_taken_over(make):
    benchmark = make.benchmark()
    age_everything()
    assert run_job(rankings_job(benchmark).pk, worker="test") == "nothing to do"
    jobs.sweep()
    make.publish(benchmark, studies=True)
    assert pointer(benchmark) == (1, engine_version)
    left = Job.objects.exclude(kind__contains=":")  # the chunks of studies come with their plan
    assert list(left.values_list("state", "engine_version")) == [("done", engine_version)] * N_JOBS


def test_a_study_waiting_during_an_upgrade_is_computed_once(make):
    benchmark = make.published()
    age_everything()
    insert_recomputations()
    jobs.sweep()
    make.publish(benchmark, studies=True)
    assert sorted(Job.objects.filter(kind="bootstrap").values_list("state", "engine_version")) == [
        ("done", engine_version),
        ("superseded", OLD),
    ]
    assert Job.objects.exclude(error="").count() == 0


def test_what_a_newer_version_left_waiting_is_left_to_it(make):
    benchmark = make.benchmark()
    age_everything("99.0")
    jobs.sweep()
    assert run_job(rankings_job(benchmark).pk, worker="test") == "nothing to do"
    assert set(Job.objects.values_list("state", "engine_version")) == {("waiting", "99.0")}


def test_an_older_process_never_moves_the_pointer_back_to_its_version(make):
    benchmark = make.published()
    age_everything("99.0")
    with transaction.atomic():
        assert not publish(benchmark.revisions.get())
    assert pointer(benchmark) == (1, "99.0")
    assert insert_recomputations() == 0


def test_a_board_that_failed_under_an_older_version_is_tried_again(make):
    benchmark = make.published()
    make.accepted(benchmark, {"E": [1] * 5})
    Job.objects.filter(kind="rankings", sequence=2).update(state="failed", attempts=3, error="a bug")
    age_everything()
    insert_recomputations()
    make.publish(benchmark)
    assert pointer(benchmark) == (2, engine_version)


# --- Stalled transactions --------------------------------------------------------------------------------------------


def test_postgresql_ends_a_transaction_that_a_stalled_process_left_open(db):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite's locks end with the process, and a stopped one keeps them")
    with connection.cursor() as cursor:
        cursor.execute("SHOW idle_in_transaction_session_timeout")
        assert cursor.fetchone() == ("30s",)


# --- Rules that raise ------------------------------------------------------------------------------------------------


def test_a_rule_that_raises_costs_only_its_own_column(make, monkeypatch):
    def raises(*_, **__):
        raise ZeroDivisionError("this rule divides by nothing")

    sound = make.published()
    catalogue = dict(RULES) | {"borda": replace(RULES["borda"], function=raises)}
    monkeypatch.setattr(registry, "RULES", catalogue)
    benchmark = make.published()
    assert pointer(benchmark) == (1, engine_version)

    def columns(of: Benchmark) -> dict:
        reports = Report.objects.filter(revision__benchmark=of, kind="ranking")
        return {r.summary["rule"]: (r.summary["status"], unpack_arrays(r.arrays)["ranks"].tolist()) for r in reports}

    assert columns(benchmark) == columns(sound) | {"borda": ("failed", [-1] * len(TOY))}
    failed = Report.objects.get(revision__benchmark=benchmark, summary__rule="borda")
    assert failed.summary["reason"] == "ZeroDivisionError: this rule divides by nothing"
