"""Workers that are killed or stopped around scoring: every submission of predictions is scored, and enters once."""

import os
import signal
from contextlib import suppress

import pytest

from leaderboard.evaluation.encryption import new_key
from leaderboard.evaluation.receiving import submit_predictions
from leaderboard.models import Batch, InstanceScores, Job, PredictionSubmission, Revision
from tests.leaderboard.evaluation.made import hidden_benchmark, upload

pytestmark = pytest.mark.services


@pytest.fixture
def keyed(site, settings):
    """The site's processes, with the key that this process encrypts references with."""
    settings.REFERENCES_KEYS = [new_key()]
    site.environment["PLURANK_REFERENCES_KEYS"] = settings.REFERENCES_KEYS[0]
    return site


def running() -> Job | None:
    return Job.objects.filter(kind="scoring", state="running").first()


def is_scored(row: PredictionSubmission) -> bool:
    return PredictionSubmission.objects.filter(pk=row.pk, state="scored").exclude(submission=None).exists()


def state_of(row: PredictionSubmission) -> tuple:
    """Everything that must be there once: batches, revisions, scores of instances, and the submission's own row."""
    return (
        list(Batch.objects.values_list("idempotency_key", flat=True)),
        list(Revision.objects.values_list("number", flat=True)),
        InstanceScores.objects.count(),
        PredictionSubmission.objects.filter(pk=row.pk).values().get(),
    )


def kill_all_but_the_child(site, job: Job) -> None:
    """Kill the worker that has the job, and its parent."""
    site.kill_parent_alone("scoring")
    with suppress(ProcessLookupError):
        os.kill(int(job.worker.rpartition(":")[2]), signal.SIGKILL)


def is_gone(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return True
    return False


def test_predictions_are_scored_once_when_workers_are_killed_before_in_the_middle_and_after(make_committed, keyed):
    """Takes about 20 seconds: four workers start, of which three are killed.

    The one in the middle dies without the child that scores, which ends all the same: what is hidden is in no process
    that is left over.
    """
    benchmark, user = hidden_benchmark(make_committed), make_committed.user()
    keyed.start("scoring", "sweep")
    keyed.kill("scoring")
    row, _ = submit_predictions(benchmark, user, upload())
    assert (row.state, Job.objects.get(kind="scoring").state) == ("waiting", "waiting")
    keyed.start("scoring")
    job = keyed.wait_until(running, 60, "a worker has the job")
    child = keyed.wait_until(lambda: keyed.children("scoring"), 30, "a child scores")[0]
    kill_all_but_the_child(keyed, Job.objects.get(pk=job.pk))
    keyed.wait_until(lambda: is_gone(child), 20, "the child has ended")
    assert PredictionSubmission.objects.get(pk=row.pk).submission is None
    assert Batch.objects.count() == 0
    keyed.start("scoring")
    keyed.wait_until(lambda: is_scored(row), 90, "the predictions are scored")
    before = state_of(row)
    assert before[:3] == ([f"predictions {row.uuid}"], [1], 1)
    keyed.kill("scoring")
    keyed.start("scoring")
    keyed.send("jobs.run_job", job.pk, queue="scoring")
    log = keyed.folder / "scoring.log"
    keyed.wait_until(
        lambda: f"the wake-up for job {job.pk}: nothing to do" in log.read_text(), 60, "it has nothing to do"
    )
    assert state_of(row) == before
    done = Job.objects.get(pk=job.pk)
    assert (done.state, done.attempts, done.failures) == ("done", 2, 0)


def test_what_a_worker_scores_after_its_lease_ran_out_is_dropped(make_committed, keyed):
    """Takes about 20 seconds: a lease runs out while its worker is stopped, with the child that scores."""
    benchmark, user = hidden_benchmark(make_committed), make_committed.user()
    keyed.start("scoring", "sweep")
    row, _ = submit_predictions(benchmark, user, upload())
    first = keyed.wait_until(running, 60, "a worker has the job")
    keyed.pause_all("scoring")
    assert running() == first, "the worker was through before it was stopped"
    keyed.start("scoring2")
    keyed.wait_until(lambda: is_scored(row), 90, "another worker scores")
    before = state_of(row)
    keyed.resume("scoring")
    log = keyed.folder / "scoring.log"
    keyed.wait_until(lambda: "lease lost" in log.read_text(), 30, "the first worker finds its lease lost")
    assert state_of(row) == before
