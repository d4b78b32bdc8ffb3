"""The life of a job row, on whichever database the tests run: claimed once, owned by one, swept by any number."""

import threading
from datetime import timedelta
from functools import partial

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from jobs import runner
from jobs.runner import run_job
from leaderboard.models import Benchmark, Job, Publication, Report, Revision
from leaderboard.queue import jobs, wake_ups
from leaderboard.queue.kinds import JOB_KINDS
from leaderboard.queue.rows import about_revision, insert, row_of
from leaderboard.rankings.compute import publish, ranking_reports
from ranking_engine import __version__ as engine_version
from tests.concurrency import at_once
from tests.leaderboard.queue.job_rows import N_JOBS, OLD, pointer, rankings_job


def states(benchmark: Benchmark, kind: str = "rankings") -> list[str]:
    rows = Job.objects.filter(kind=kind, benchmark=benchmark).order_by("sequence", "pk")
    return list(rows.values_list("state", flat=True))


def row(job: Job) -> dict:
    return Job.objects.filter(pk=job.pk).values().get()


# --- Claiming --------------------------------------------------------------------------------------------------------


def test_of_many_workers_that_claim_at_once_one_gets_the_job(make_committed):
    benchmark = make_committed.benchmark()
    job = rankings_job(benchmark)
    claims = at_once([partial(jobs.claim, job.pk, worker=f"worker {n}") for n in range(8)])
    (won,) = [claim for claim in claims if claim is not None]
    assert [claim for claim in claims if isinstance(claim, Exception)] == []
    now = Job.objects.get(pk=job.pk)
    assert (now.state, now.attempts, now.claim_token, now.worker) == ("running", 1, won.claim_token, won.worker)


def test_a_claim_lasts_for_its_lease_and_never_beyond_its_deadline(make, settings):
    benchmark = make.benchmark()
    before = timezone.now()
    job = jobs.claim(rankings_job(benchmark).pk, worker="test")
    assert before + timedelta(seconds=120) <= job.deadline <= timezone.now() + timedelta(seconds=120)
    assert before + timedelta(seconds=30) <= job.lease_until <= timezone.now() + timedelta(seconds=30)
    settings.JOB_LEASE_SECONDS = 1000
    assert jobs.renew(job)
    assert Job.objects.get(pk=job.pk).lease_until == job.deadline
    job.deadline = timezone.now() - timedelta(seconds=1)
    assert not jobs.renew(job)


def test_a_lease_longer_than_the_kinds_limit_ends_at_the_deadline(make, settings):
    settings.JOB_LEASE_SECONDS = 1000
    job = jobs.claim(rankings_job(make.benchmark()).pk, worker="test")
    assert job.lease_until == job.deadline


def test_a_job_that_is_not_due_is_not_claimed(make):
    job = rankings_job(make.benchmark())
    Job.objects.update(not_before=timezone.now() + timedelta(seconds=60))
    assert jobs.claim(job.pk, worker="test") is None
    assert row(job)["state"] == "waiting"


def test_a_job_that_does_not_exist_is_not_claimed(make):
    assert jobs.claim(12345, worker="test") is None


def test_an_unclaimed_older_job_gives_way_to_a_newer_one(make):
    benchmark = make.benchmark()
    make.accepted(benchmark, {"E": [1, 2, 3, 4, 5]})
    assert jobs.claim(rankings_job(benchmark, 1).pk, worker="test") is None
    assert jobs.claim(rankings_job(benchmark, 2).pk, worker="test") is not None
    assert states(benchmark) == ["superseded", "running"]


def test_a_claimed_rankings_job_publishes_although_newer_revisions_came(make):
    benchmark = make.benchmark()
    first = jobs.claim(rankings_job(benchmark, 1).pk, worker="test")
    make.accepted(benchmark, {"E": [1, 2, 3, 4, 5]})
    revision = Revision.objects.get(pk=first.subject_id)
    jobs.finish(first, lambda: publish(revision))
    assert states(benchmark) == ["done", "waiting"]
    assert pointer(benchmark) == (1, engine_version)


def test_jobs_of_two_benchmarks_do_not_supersede_each_other(make):
    one, other = make.benchmark(), make.benchmark()
    make.accepted(other, {"E": [1, 2, 3, 4, 5]})
    assert jobs.claim(rankings_job(one, 1).pk, worker="test") is not None


def test_a_running_study_stops_at_its_checkpoint_when_a_newer_revision_came(make, monkeypatch):
    monkeypatch.setattr(runner, "CHECK_SECONDS", 0.0)
    benchmark = make.benchmark()
    study = jobs.claim(Job.objects.get(kind="bootstrap").pk, worker="test")
    checkpoint = runner._checkpoint(study, threading.Event())
    checkpoint(0.25)
    assert row(study)["progress"] == 0.25
    make.accepted(benchmark, {"E": [1, 2, 3, 4, 5]})
    with pytest.raises(jobs.SupersededError):
        checkpoint(0.5)


def test_a_study_goes_on_when_the_benchmark_had_none_for_longer_than_its_budget(make, monkeypatch):
    monkeypatch.setattr(runner, "CHECK_SECONDS", 0.0)
    benchmark = make.benchmark()
    study = jobs.claim(Job.objects.get(kind="bootstrap").pk, worker="test")
    budget = JOB_KINDS["bootstrap"].budget_seconds
    Job.objects.update(created_at=timezone.now() - timedelta(seconds=budget + 1))
    make.accepted(benchmark, {"E": [1, 2, 3, 4, 5]})
    checkpoint = runner._checkpoint(study, threading.Event())
    checkpoint(0.5)
    assert row(study)["progress"] == 0.5


# --- Finishing -------------------------------------------------------------------------------------------------------


def test_a_worker_that_lost_its_claim_writes_nothing(make_committed):
    benchmark = make_committed.benchmark()
    late = jobs.claim(rankings_job(benchmark).pk, worker="late")
    Job.objects.update(state="waiting", lease_until=None)
    owner = jobs.claim(late.pk, worker="owner")
    before = row(owner)
    written = []
    with pytest.raises(jobs.LeaseLostError):
        jobs.finish(late, lambda: written.append("late"))
    assert not jobs.renew(late)
    assert not jobs.record_failure(late, "late")
    jobs.supersede(late)
    jobs.give_back(late)
    assert (written, row(owner)) == ([], before)
    jobs.finish(owner, lambda: written.append("owner"))
    assert (written, row(owner)["state"]) == (["owner"], "done")


def test_of_two_workers_that_finish_the_same_job_at_once_one_writes(make_committed):
    benchmark = make_committed.benchmark()
    job = jobs.claim(rankings_job(benchmark).pk, worker="test")
    revision = Revision.objects.get(pk=job.subject_id)
    outcomes = at_once([lambda: jobs.finish(job, lambda: publish(revision)) for _ in range(4)])
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["LeaseLostError"] * 3 + ["NoneType"]
    assert Publication.objects.count() == 1


def test_what_cannot_be_written_leaves_no_trace_and_the_job_running(make_committed):
    benchmark = make_committed.benchmark()
    job = jobs.claim(rankings_job(benchmark).pk, worker="test")
    before = row(job)
    revision = Revision.objects.get(pk=job.subject_id)
    reports, _ = ranking_reports(revision)

    def write() -> None:
        Report.objects.bulk_create(reports)
        publish(revision)
        raise MemoryError

    with pytest.raises(MemoryError):
        jobs.finish(job, write)
    assert (Report.objects.count(), Publication.objects.count(), pointer(benchmark)) == (0, 0, (0, ""))
    assert row(job) == before


def test_a_job_is_given_back_when_its_worker_is_told_to_stop(make, monkeypatch):
    benchmark = make.benchmark()
    job = rankings_job(benchmark)

    def stop(*_):
        raise SystemExit

    monkeypatch.setitem(runner.SERVICES, "rankings", stop)
    with pytest.raises(SystemExit):
        run_job(job.pk, worker="test")
    now = Job.objects.get(pk=job.pk)
    assert (now.state, now.attempts, now.woken_at, now.lease_until) == ("waiting", 0, None, None)


# --- Failing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("attempts", "seconds"), [(1, 1), (2, 2), (3, 4), (6, 32), (8, 128), (30, 200)])
def test_the_rest_after_a_failure_doubles_up_to_minutes_give_or_take_a_half(attempts, seconds):
    rests = [jobs.backoff(attempts).total_seconds() for _ in range(200)]
    assert seconds * 0.5 <= min(rests) < max(rests) <= seconds * 1.5
    assert len(set(rests)) > 100


def test_a_job_fails_for_good_at_its_last_attempt_with_its_error_on_the_row(make):
    job = rankings_job(make.benchmark())
    seen = []
    for attempt in (1, 2, 3):
        Job.objects.filter(pk=job.pk).update(not_before=timezone.now())
        assert jobs.record_failure(jobs.claim(job.pk, worker="test"), f"error {attempt}")
        now = Job.objects.get(pk=job.pk)
        seen.append((now.state, now.attempts, now.error, now.lease_until, now.not_before > timezone.now()))
    assert seen == [
        ("waiting", 1, "error 1", None, True),
        ("waiting", 2, "error 2", None, True),
        ("failed", 3, "error 3", None, False),
    ]
    assert jobs.claim(job.pk, worker="test") is None


def test_a_board_that_fails_for_good_revives_the_newest_that_it_superseded(make):
    benchmark = make.benchmark()
    for score in (1, 2, 3):
        make.accepted(benchmark, {"E": [score] * 5})
    for number in (1, 2, 3):
        assert jobs.claim(rankings_job(benchmark, number).pk, worker="test") is None
    poison = rankings_job(benchmark, 4)
    Job.objects.filter(pk=poison.pk).update(failures=2)
    jobs.record_failure(jobs.claim(poison.pk, worker="test"), "always")
    assert states(benchmark) == ["superseded", "superseded", "waiting", "failed"]
    run_job(rankings_job(benchmark, 3).pk, worker="test")
    assert pointer(benchmark) == (3, engine_version)


def test_a_board_that_fails_for_good_revives_nothing_where_a_newer_one_is_coming(make):
    benchmark = make.benchmark()
    make.accepted(benchmark, {"E": [1] * 5})
    assert jobs.claim(rankings_job(benchmark, 1).pk, worker="test") is None
    Job.objects.filter(pk=rankings_job(benchmark, 2).pk).update(failures=2)
    poison = jobs.claim(rankings_job(benchmark, 2).pk, worker="test")
    make.accepted(benchmark, {"E": [2] * 5})
    jobs.record_failure(poison, "always")
    assert states(benchmark) == ["superseded", "failed", "waiting"]


# --- The sweep -------------------------------------------------------------------------------------------------------


def test_a_lease_that_ran_out_counts_as_an_attempt_and_the_job_is_due_again(make):
    benchmark = make.benchmark()
    job = jobs.claim(rankings_job(benchmark).pk, worker="killed")
    Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    jobs.sweep()
    now = Job.objects.get(pk=job.pk)
    assert (now.state, now.attempts, now.error.split(":")[0]) == ("waiting", 1, "attempt 1 ended without a result")


@pytest.mark.parametrize(("seconds_left", "state"), [(60, "waiting"), (0, "failed")])
def test_a_lease_that_runs_out_ends_a_board_only_where_its_time_ran_out_three_times(make, seconds_left, state):
    job = rankings_job(make.benchmark())
    Job.objects.filter(pk=job.pk).update(attempts=2, failures=2)
    jobs.claim(job.pk, worker="killed")
    ended = timezone.now() - timedelta(seconds=1)
    Job.objects.filter(pk=job.pk).update(lease_until=ended, deadline=ended + timedelta(seconds=seconds_left))
    jobs.sweep()
    assert row(job)["state"] == state


def test_a_lease_that_still_runs_is_left_alone(make):
    job = jobs.claim(rankings_job(make.benchmark()).pk, worker="test")
    before = row(job)
    jobs.sweep()
    assert row(job) == before


def test_of_many_sweepers_at_once_one_wakes_each_job(make_committed):
    make_committed.benchmark()
    Job.objects.update(woken_at=timezone.now() - timedelta(seconds=60))
    sent = at_once([jobs.sweep] * 6)
    assert sum(sent) == Job.objects.count() == N_JOBS
    assert jobs.sweep() == 0


def test_a_due_job_is_woken_again_after_some_seconds_and_not_before(make):
    make.benchmark()
    assert jobs.sweep() == 0  # accepting has just woken all
    Job.objects.update(woken_at=timezone.now() - timedelta(seconds=jobs.REWAKE_SECONDS + 1))
    assert jobs.sweep() == N_JOBS


def test_a_queue_full_of_wake_ups_gets_no_more(make, monkeypatch):
    make.benchmark()
    Job.objects.update(woken_at=None)
    monkeypatch.setattr(jobs, "WAKE_UPS_A_QUEUE", wake_ups.count_wake_ups("rankings") + 3)
    for _ in range(6):
        Job.objects.update(woken_at=None)
        jobs.sweep()
    assert wake_ups.count_wake_ups("rankings") == jobs.WAKE_UPS_A_QUEUE


# --- Inserting -------------------------------------------------------------------------------------------------------


def test_jobs_that_nobody_woke_in_time_are_found_the_most_urgent_first(make, settings):
    settings.UNWOKEN_SECONDS = 20
    make.benchmark()
    all_jobs = Job.objects.all()
    all_jobs.update(not_before=timezone.now() - timedelta(seconds=15))
    assert (jobs.unwoken_jobs("rankings"), jobs.unwoken_jobs("studies")) == ([], [])
    all_jobs.update(not_before=timezone.now() - timedelta(seconds=25))
    all_jobs.filter(kind="axioms").update(priority=jobs.IDLE - 1)  # only while no ranking waits
    all_jobs.filter(kind="bootstrap").update(kind="of another release")
    all_jobs.filter(kind="significance").update(engine_version=OLD)
    assert [job.kind for job in jobs.unwoken_jobs("rankings")] == ["rankings"]
    assert [job.kind for job in jobs.unwoken_jobs("studies")] == ["prospects", "study_plan"]
    all_jobs.filter(kind="rankings").update(state="done")
    assert [job.kind for job in jobs.unwoken_jobs("studies")] == ["prospects", "study_plan", "axioms"]


def test_inserting_a_job_many_times_at_once_makes_one_row(make_committed):
    benchmark = make_committed.benchmark()
    revision = benchmark.revisions.get()
    Job.objects.all().delete()
    inserted = at_once([partial(insert, row_of(JOB_KINDS["rankings"], about_revision(revision))) for _ in range(8)])
    assert {job.pk for job in inserted} == {rankings_job(benchmark).pk}


def test_a_second_job_row_of_the_same_subject_is_refused(make):
    job = rankings_job(make.benchmark())
    job.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        job.save(force_insert=True)
