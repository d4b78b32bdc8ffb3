"""Studies in chunks: run in any order by any number of workers, put together once.

The study is that of `tests/jobs/small_study.py`; a naive loop says what must come out.
"""

import random
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone

from config.monitoring.logs import logged_as
from jobs import runner
from jobs.runner import run_job
from leaderboard.models import Job, Report, StudyChoice, StudyPartial
from leaderboard.operations.retention import OLD_ROWS, remove_slice
from leaderboard.queue import jobs
from leaderboard.queue.chunks import insert_missing_merges
from leaderboard.studies.chunks import study_matrix
from ranking_engine.stability import catalogue
from tests.concurrency import at_once
from tests.jobs.small_study import LEADERS, leaders
from tests.leaderboard.studies.leaders_jobs import leaders_by_hand, planned, run_all, states, stored_report

pytestmark = pytest.mark.usefixtures("one_study")


# --- Running ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order_seed", range(4))
def test_chunks_in_any_order_give_the_same_bits_as_one_process(make, order_seed):
    benchmark = make.published()
    chunks = planned(benchmark)
    random.Random(order_seed).shuffle(chunks)
    for job in chunks:
        assert run_job(job.pk, worker="test") == "done"
    merge = Job.objects.get(kind="merge:leaders")
    assert run_job(merge.pk, worker="test") == "done"
    summary, arrays = stored_report()
    parameters = {"n_trials": 50, "top": 1}
    expected = catalogue.run_study("leaders", study_matrix(benchmark.publication.revision), parameters)
    assert summary == expected.summary
    assert {name: array.tobytes() for name, array in arrays.items()} == {
        name: array.tobytes() for name, array in expected.arrays.items()
    }
    assert arrays["leaders"].tolist() == leaders_by_hand()


@pytest.mark.parametrize("n_workers", [1, 2, 5])
def test_any_number_of_workers_at_once_puts_the_study_together_once(make_committed, n_workers):
    benchmark = make_committed.published()
    chunks = planned(benchmark)

    def work(share: int) -> None:
        for job in chunks[share::n_workers]:
            run_job(job.pk, worker=f"worker {share}")
        insert_missing_merges()
        for merge in Job.objects.filter(kind="merge:leaders", state="waiting"):
            run_job(merge.pk, worker=f"worker {share}")

    assert [answer for answer in at_once([partial(work, n) for n in range(n_workers)]) if answer] == []
    insert_missing_merges()
    run_all("merge")
    assert Job.objects.filter(kind="merge:leaders").count() == 1
    assert stored_report()[1]["leaders"].tolist() == leaders_by_hand()
    assert StudyPartial.objects.count() == 0


def test_chunks_and_merge_carry_the_id_of_the_request_that_caused_the_plan(make):
    with logged_as(request="a-submission"):
        benchmark = make.benchmark()
    planned(benchmark)
    run_all("study:")
    ids = set(Job.objects.filter(kind__contains=":").values_list("kind", "request_id"))
    assert ids == {("study:leaders", "a-submission"), ("merge:leaders", "a-submission")}


def test_the_merge_comes_with_the_last_chunk_and_not_before(make):
    benchmark = make.published()
    for job in planned(benchmark):
        assert not Job.objects.filter(kind="merge:leaders").exists()
        run_job(job.pk, worker="test")
    assert Job.objects.get(kind="merge:leaders").state == "waiting"
    assert StudyPartial.objects.count() == 5
    run_all("merge")
    assert StudyPartial.objects.count() == 0


def test_the_sweep_inserts_a_merge_that_was_forgotten_once(make):
    benchmark = make.published()
    for job in planned(benchmark):
        run_job(job.pk, worker="test")
    Job.objects.filter(kind="merge:leaders").delete()
    assert [insert_missing_merges(), insert_missing_merges()] == [1, 0]
    jobs.sweep()
    assert Job.objects.filter(kind="merge:leaders").count() == 1


def test_a_merge_that_lost_its_claim_leaves_report_and_partials_alone(make):
    benchmark = make.published()
    for job in planned(benchmark):
        run_job(job.pk, worker="test")
    merge = jobs.claim(Job.objects.get(kind="merge:leaders").pk, worker="slow")
    write = runner.SERVICES["merge"](merge, lambda progress: None)
    Job.objects.filter(pk=merge.pk).update(claim_token=None, state="waiting")
    with pytest.raises(jobs.LeaseLostError):
        jobs.finish(merge, write)
    assert (Report.objects.filter(kind="study").count(), StudyPartial.objects.count()) == (0, 5)
    run_all("merge")
    assert stored_report()[1]["leaders"].tolist() == leaders_by_hand()


def test_a_merge_refuses_a_study_of_which_chunks_are_missing(make_committed):
    benchmark = make_committed.published()
    for job in planned(benchmark):
        run_job(job.pk, worker="test")
    StudyPartial.objects.get(job__chunk=3).delete()
    merge = Job.objects.get(kind="merge:leaders")
    assert run_job(merge.pk, worker="test") == "failed"
    merge.refresh_from_db()
    assert "needs the chunks 0 to 4 and there are [0, 1, 2, 4]" in merge.error


def test_the_report_says_how_long_all_chunks_took_together(make):
    benchmark = make.published()
    for job in planned(benchmark):
        run_job(job.pk, worker="test")
    StudyPartial.objects.update(seconds=7.0)
    run_all("merge")
    assert 35.0 <= Report.objects.get(kind="study").seconds < 36.0


# --- Newer revisions, failures, upgrades ------------------------------------------------------------------------------


def test_a_newer_revision_gives_up_an_older_study_with_all_it_found(make):
    benchmark = make.published()
    chunks = planned(benchmark)
    run_job(chunks[0].pk, worker="test")
    make.accepted(benchmark, {"E": [1.0] * 5})
    assert len(planned(benchmark, 2)) == 5
    assert run_job(chunks[1].pk, worker="test") == "nothing to do"
    assert states(benchmark, 1) == ["superseded"] * 5
    assert StudyPartial.objects.count() == 0
    run_all()
    assert states(benchmark, 2) == ["done"] * 5
    assert Report.objects.get(kind="study").revision.number == 2


def test_a_newer_revision_gives_up_a_study_whose_budget_bought_other_steps(make):
    benchmark = make.published()
    chunks = planned(benchmark)
    make.accepted(benchmark, {"E": [1.0] * 5})
    StudyChoice.objects.create(benchmark=benchmark, study="leaders", when="every", budget_seconds=20)
    assert len(planned(benchmark, 2)) == 1
    assert run_job(chunks[1].pk, worker="test") == "nothing to do"
    assert states(benchmark, 1) == ["superseded"] * 5


def test_a_study_that_has_begun_finishes_where_the_benchmark_had_none_for_longer_than_the_budget(make):
    benchmark = make.published()
    first = planned(benchmark)
    run_job(first[0].pk, worker="test")
    make.accepted(benchmark, {"E": [1.0] * 5})
    second = planned(benchmark, 2)
    make.accepted(benchmark, {"F": [1.0] * 5})
    planned(benchmark, 3)
    Job.objects.update(created_at=timezone.now() - timedelta(seconds=601))
    for job in second:
        assert run_job(job.pk, worker="test") == "nothing to do"  # it has not begun
    for job in first[1:]:
        assert run_job(job.pk, worker="test") == "done"
    run_all()
    numbers = Report.objects.filter(kind="study").values_list("revision__number", flat=True)
    assert sorted(numbers) == [1, 3]


def test_a_running_chunk_stops_at_its_checkpoint_when_a_newer_revision_came(make, monkeypatch):
    monkeypatch.setattr(runner, "CHECK_SECONDS", 0.0)
    benchmark = make.published()
    chunks = planned(benchmark)
    run_job(chunks[0].pk, worker="test")

    def overtaken(*arguments):
        if not Job.objects.filter(kind="study:leaders", sequence=2).exists():
            make.accepted(benchmark, {"E": [1.0] * 5})
            run_all("study_plan")
        return leaders(*arguments)

    monkeypatch.setattr(catalogue, "STUDIES", {"leaders": replace(LEADERS, run_chunk=overtaken)})
    assert run_job(chunks[1].pk, worker="test") == "superseded"
    assert states(benchmark, 1) == ["superseded"] * 5
    assert StudyPartial.objects.count() == 0


def test_a_chunk_that_fails_for_good_gives_up_the_rest(make_committed, monkeypatch, settings):
    settings.JOB_ATTEMPTS = 1
    benchmark = make_committed.published()
    chunks = planned(benchmark)
    run_job(chunks[0].pk, worker="test")

    def broken(*arguments):
        raise ValueError("a study that cannot be computed")

    monkeypatch.setattr(catalogue, "STUDIES", {"leaders": replace(LEADERS, run_chunk=broken)})
    assert run_job(chunks[1].pk, worker="test") == "failed"
    assert states(benchmark) == ["superseded", "failed", "superseded", "superseded", "superseded"]
    assert StudyPartial.objects.count() == 0
    assert not Job.objects.filter(kind="merge:leaders").exists()


def test_chunks_of_two_engine_versions_are_never_put_together(make):
    benchmark = make.published()
    chunks = planned(benchmark)
    run_job(chunks[0].pk, worker="test")
    Job.objects.filter(kind="study:leaders").update(engine_version="0.0.9")
    jobs.sweep()
    assert states(benchmark) == ["superseded"] * 5
    assert not Job.objects.filter(kind="merge:leaders").exists()
    assert StudyPartial.objects.count() == 0


def test_what_chunks_of_a_study_that_was_given_up_found_is_forgotten(make):
    benchmark = make.published()
    chunks = planned(benchmark)
    for job in chunks[:2]:
        run_job(job.pk, worker="test")
    partials = next(kind for kind in OLD_ROWS if kind.name == "partials")
    assert remove_slice(partials) == 0
    Job.objects.filter(pk=chunks[4].pk).update(state="superseded")
    assert remove_slice(partials) == 2
