"""What ends a job for good and what does not, and how one that was given up is tried again."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.core.management import CommandError, call_command
from django.db import DatabaseError, DataError, InterfaceError, OperationalError
from django.utils import timezone

from jobs import runner
from jobs.runner import run_job
from leaderboard.models import Benchmark, Job
from leaderboard.queue import jobs
from leaderboard.queue.retry import failed_boards, failed_jobs, retry_board, retry_job

SURROUNDINGS = [
    OperationalError("could not extend file: No space left on device"),
    DatabaseError("cannot execute INSERT in a read-only transaction"),
    InterfaceError("connection already closed"),
    OSError(28, "No space left on device"),
    ConnectionResetError("the broker went away"),
    TimeoutError("it took too long"),
]
OWN = [ValueError("`directions` has 7"), DataError("out of range"), ZeroDivisionError("division by zero")]


def board_job(benchmark: Benchmark) -> Job:
    return Job.objects.filter(kind="rankings", benchmark=benchmark).latest("sequence")


def fail_times(monkeypatch, job: Job, error: Exception, times: int) -> Job:
    """Run the job so often with a service that raises."""

    def raising(job, checkpoint):
        raise error

    with monkeypatch.context() as patch:
        patch.setitem(runner.SERVICES, "rankings", raising)
        for _ in range(times):
            Job.objects.filter(pk=job.pk).update(not_before=timezone.now())
            run_job(job.pk, worker="test")
    return Job.objects.get(pk=job.pk)


@pytest.mark.parametrize("error", SURROUNDINGS, ids=lambda error: type(error).__name__)
def test_a_board_whose_surroundings_fail_is_tried_until_it_is_published(make_committed, monkeypatch, error):
    benchmark = make_committed.benchmark()
    job = fail_times(monkeypatch, board_job(benchmark), error, times=12)
    assert (job.state, job.attempts, job.failures) == ("waiting", 12, 0)
    Job.objects.filter(pk=job.pk).update(not_before=timezone.now())
    assert run_job(job.pk, worker="test") == "done"
    assert Benchmark.objects.get(pk=benchmark.pk).published_number == 1


@pytest.mark.parametrize("error", OWN, ids=lambda error: type(error).__name__)
def test_a_board_that_fails_three_times_by_its_own_fault_is_given_up(make_committed, monkeypatch, error):
    job = fail_times(monkeypatch, board_job(make_committed.benchmark()), error, times=3)
    assert (job.state, job.attempts, job.failures) == ("failed", 3, 3)
    assert job.error.startswith(f"{type(error).__name__}: ")


def test_failures_of_the_surroundings_in_between_do_not_count(make_committed, monkeypatch):
    job = board_job(make_committed.benchmark())
    fail_times(monkeypatch, job, OWN[0], times=2)
    fail_times(monkeypatch, job, SURROUNDINGS[0], times=5)
    assert fail_times(monkeypatch, job, OWN[0], times=1).state == "failed"


def test_too_little_memory_is_forgiven_once(make_committed, monkeypatch):
    job = fail_times(monkeypatch, board_job(make_committed.benchmark()), MemoryError("3 GiB"), times=1)
    assert (job.attempts, job.failures) == (1, 0)
    assert fail_times(monkeypatch, job, MemoryError("3 GiB"), times=3).state == "failed"


def test_a_board_whose_lease_runs_out_is_not_given_up_but_a_study_is(make):
    benchmark = make.published()
    for kind in ("rankings", "bootstrap"):
        Job.objects.filter(kind=kind).update(state="waiting", attempts=0, engine_version=jobs.engine_version)
        job = Job.objects.filter(kind=kind, benchmark=benchmark).latest("pk")
        for _ in range(3):
            Job.objects.filter(pk=job.pk).update(not_before=timezone.now())
            assert jobs.claim(job.pk, worker="killed")
            Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
            jobs.sweep()
    assert dict(Job.objects.filter(kind__in=["rankings", "bootstrap"]).values_list("kind", "state")) == {
        "rankings": "waiting",
        "bootstrap": "failed",
    }


def test_a_rest_grows_to_minutes_and_no_further():
    rests = [jobs.backoff(attempts).total_seconds() for attempts in (1, 4, 8, 20, 30_000)]
    assert rests[0] <= 1.5
    assert 4 <= rests[1] <= 12
    assert all(64 <= rest <= 300 for rest in rests[2:])


def given_up(make_committed, monkeypatch, **fields) -> Benchmark:
    benchmark = make_committed.benchmark(**fields)
    assert fail_times(monkeypatch, board_job(benchmark), OWN[0], times=3).state == "failed"
    return benchmark


def test_an_owner_has_a_board_computed_that_was_given_up(make_committed, monkeypatch, client):
    benchmark = given_up(make_committed, monkeypatch)
    client.force_login(benchmark.memberships.get(role="owner").user)
    page = client.get(f"/b/{benchmark.key}/").content.decode()
    assert "Compute again now" in page
    assert client.post(f"/b/{benchmark.key}/manage/compute/").status_code == 302
    job = board_job(benchmark)
    assert (job.state, job.attempts, job.failures, job.error) == ("waiting", 0, 0, "")
    assert run_job(job.pk, worker="test") == "done"
    assert "Compute again now" not in client.get(f"/b/{benchmark.key}/").content.decode()


def test_nobody_else_is_offered_the_button(make_committed, monkeypatch, client):
    benchmark = given_up(make_committed, monkeypatch)
    assert "Compute again now" not in client.get(f"/b/{benchmark.key}/").content.decode()
    client.force_login(make_committed.member(benchmark, "moderator"))
    assert "Compute again now" not in client.get(f"/b/{benchmark.key}/").content.decode()
    assert client.post(f"/b/{benchmark.key}/manage/compute/").status_code == 403
    assert board_job(benchmark).state == "failed"


def test_staff_try_jobs_again_from_the_administration(make_committed, monkeypatch, client):
    benchmark = given_up(make_committed, monkeypatch)
    staff = make_committed.user("staff", is_staff=True)
    names = ["view_job", "change_job"]
    staff.user_permissions.set(Permission.objects.filter(codename__in=names, content_type__model="job"))
    client.force_login(staff)
    chosen = {"action": "try_again", "_selected_action": [board_job(benchmark).pk]}
    answer = client.post("/admin/leaderboard/job/", chosen, follow=True)
    assert "1 of 1 jobs are due now." in answer.content.decode()
    assert board_job(benchmark).state == "waiting"


def test_the_command_tries_everything_again_that_failed_and_is_still_wanted(make_committed, monkeypatch, capsys):
    first, second = given_up(make_committed, monkeypatch), given_up(make_committed, monkeypatch)
    overtaken = given_up(make_committed, monkeypatch)
    make_committed.accepted(overtaken, {"Newcomer": [1.0] * 5})
    assert set(failed_jobs()) == {board_job(first), board_job(second)} == set(failed_boards())
    call_command("retry")
    assert capsys.readouterr().out.splitlines()[-1] == "2 jobs due now"
    assert (board_job(first).state, board_job(second).state) == ("waiting", "waiting")


def test_the_command_tries_one_board_or_one_job_again(make_committed, monkeypatch, capsys):
    first, second = given_up(make_committed, monkeypatch), given_up(make_committed, monkeypatch)
    call_command("retry", benchmark=first.key)
    call_command("retry", job=board_job(second).pk)
    assert (board_job(first).state, board_job(second).state) == ("waiting", "waiting")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"benchmark": "nowhere"}, "there is no benchmark 'nowhere'"),
        ({"job": 10**9}, "there is no job 1000000000"),
    ],
)
def test_the_command_says_what_it_cannot_try(db, options, message):
    with pytest.raises(CommandError, match=message):
        call_command("retry", **options)


def test_the_command_tries_one_thing_at_a_time():
    with pytest.raises(CommandError, match="argument --emails: not allowed with argument --job"):
        call_command("retry", "--job", "1", "--emails")


def test_what_is_done_or_published_is_not_computed_again(make):
    benchmark = make.published()
    assert not retry_board(benchmark)
    assert not retry_job(board_job(benchmark))
    assert board_job(benchmark).state == "done"
    with pytest.raises(CommandError, match="is already published"):
        call_command("retry", benchmark=benchmark.key)


def test_a_board_that_rests_is_due_at_once(make_committed, monkeypatch):
    benchmark = make_committed.benchmark()
    job = fail_times(monkeypatch, board_job(benchmark), SURROUNDINGS[0], times=9)
    assert job.not_before > timezone.now() + timedelta(seconds=30)
    assert retry_board(benchmark)
    assert board_job(benchmark).not_before <= timezone.now()
