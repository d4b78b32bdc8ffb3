"""Studies in chunks: planned within a budget, run in any order by any number of workers, put together once.

The study is that of `tests/jobs/small_study.py`; a naive loop says what must come out.
"""

import random
from datetime import UTC, datetime, timedelta
from functools import partial

import numpy as np
import pytest
from django.utils import timezone

from config.monitoring.logs import logged_as
from jobs import runner
from jobs.runner import run_job, run_most_urgent
from leaderboard.models import Job, Report, StudyChoice, StudyPartial
from leaderboard.operations.retention import OLD_ROWS, remove_slice
from leaderboard.queue import jobs
from leaderboard.queue.chunks import insert_missing_merges
from leaderboard.rankings.reports import unpack_arrays
from leaderboard.studies import plans
from leaderboard.studies.chunks import study_matrix
from leaderboard.studies.plans import plan_nightly_studies, request_study, study_when_idle, within_budget
from leaderboard.submissions.lifecycle import withdraw_submission as withdraw
from ranking_engine import __version__ as engine_version
from ranking_engine.stability import catalogue
from ranking_engine.stability.catalogue import Study
from tests.concurrency import at_once
from tests.factories import TOY
from tests.jobs.small_study import LEADERS, leaders


@pytest.fixture(autouse=True)
def _one_study(monkeypatch, settings):
    monkeypatch.setattr(catalogue, "STUDIES", {"leaders": LEADERS})
    settings.STUDY_SECONDS = 100
    monkeypatch.setattr(plans, "BUDGET_IDLE", 100)


def run_all(kinds: str = "", worker: str = "test") -> None:
    """Run what waits, and what that brings, until nothing is left."""
    while due := Job.objects.filter(state="waiting", kind__contains=kinds).order_by("-priority", "pk").first():
        run_job(due.pk, worker=worker)
        due.refresh_from_db()
        assert due.state != "waiting", due


def planned(benchmark, number: int = 1) -> list[Job]:
    """The chunks of the study, once its plan has run."""
    run_all("study_plan")
    chunks = Job.objects.filter(kind="study:leaders", benchmark=benchmark, sequence=number)
    return list(chunks.order_by("chunk"))


def states(benchmark, number: int = 1) -> list[str]:
    chunks = Job.objects.filter(kind="study:leaders", benchmark=benchmark, sequence=number)
    return list(chunks.order_by("chunk").values_list("state", flat=True))


def leaders_by_hand(benchmark_scores=TOY, n_trials=50) -> list[int]:
    names = sorted(benchmark_scores)
    n_tasks = len(benchmark_scores[names[0]])
    found = []
    for trial in range(n_trials):
        task = int(np.random.default_rng([0, trial]).integers(n_tasks))
        found.append(max(range(len(names)), key=lambda i: benchmark_scores[names[i]][task]))
    return found


def stored() -> tuple[dict, dict]:
    (report,) = Report.objects.filter(kind="study")
    return report.summary, unpack_arrays(report.arrays)


# --- Planning --------------------------------------------------------------------------------------------------------


def test_a_plan_inserts_one_job_a_chunk_and_says_what_it_costs(make):
    benchmark = make.published()
    chunks = planned(benchmark)
    assert [job.chunk for job in chunks] == [0, 1, 2, 3, 4]
    parameters = {"study": "leaders", "seed": 0, "n_trials": 50, "top": 1}
    assert [job.parameters for job in chunks] == [parameters] * 5
    plan = Report.objects.get(kind="study_plan").summary["leaders"]
    digest = chunks[0].parameter_hash
    expected = {"reason": "", "parameters": parameters, "parameter_hash": digest, "n_chunks": 5, "estimate": 100.0}
    assert plan == expected


@pytest.mark.parametrize(("budget", "steps"), [(1000, 50), (99, 49), (40, 20), (2, 1)])
def test_a_budget_in_seconds_is_stored_as_steps(make, budget, steps):
    benchmark = make.published()
    StudyChoice.objects.create(benchmark=benchmark, study="leaders", when="every", budget_seconds=budget)
    chunks = planned(benchmark)
    assert {job.parameters["n_trials"] for job in chunks} == {steps}
    run_all()
    assert stored()[0] == {"n_trials": steps}


def test_fewer_steps_let_no_slower_rules_in(make):
    """The study has a budget of its own for slow rules, which cost 1 s a step and take what the budget leaves."""
    matrix = study_matrix(make.published().publication.revision)

    def estimate(matrix, parameters):
        return parameters["n_trials"] * 1.0 + min(parameters["budget"], 4.0 * parameters["n_trials"])

    greedy = Study(**vars(LEADERS) | {"parameters": {"n_trials": 50, "budget": 60.0}, "estimate": estimate})
    ample = within_budget(greedy, matrix, dict(greedy.parameters), 500)
    assert ample == {"n_trials": 50, "budget": 60.0}
    assert within_budget(greedy, matrix, dict(greedy.parameters), 75) == {"n_trials": 34, "budget": 40.8}
    short = within_budget(greedy, matrix, dict(greedy.parameters), 10)
    assert short == {"n_trials": 8, "budget": 1.6}
    assert estimate(matrix, short) <= 10


def test_a_study_that_says_nothing_of_the_scores_has_no_job_and_a_reason(make):
    benchmark = make.published({"Alone": [1.0, 2.0]})
    assert planned(benchmark) == []
    assert Report.objects.get(kind="study_plan").summary == {"leaders": {"reason": "there is one system only"}}


def test_a_study_that_not_even_one_step_of_fits_its_budget_does_not_run(make):
    benchmark = make.published()
    StudyChoice.objects.create(benchmark=benchmark, study="leaders", when="every", budget_seconds=1)
    assert planned(benchmark) == []
    reason = "it would take 2 s or more, and 1 s are allowed here; owners can allow it more"
    assert Report.objects.get(kind="study_plan").summary == {"leaders": {"reason": reason}}


def test_a_benchmark_whose_systems_have_all_left_has_an_empty_plan(make):
    benchmark = make.benchmark({"Alone": [1.0, 2.0]})
    withdraw(benchmark.submissions.get(), actor=make.user(), reason="An error.")
    assert planned(benchmark, 2) == []
    assert list(Report.objects.filter(kind="study_plan").values_list("summary", flat=True)) == [{}]


def test_the_operator_says_when_studies_run_that_nobody_chose(make, settings):
    settings.STUDIES_RUN = "demand"
    assert planned(make.benchmark()) == []


@pytest.mark.parametrize("when", ["nightly", "demand"])
def test_what_is_not_chosen_for_every_submission_is_not_planned_with_one(make, when):
    benchmark = make.benchmark()
    StudyChoice.objects.create(benchmark=benchmark, study="leaders", when=when, budget_seconds=60)
    assert planned(benchmark) == []


def test_nightly_studies_are_planned_at_night_once_a_revision(make):
    benchmark = make.published()
    StudyChoice.objects.create(benchmark=benchmark, study="leaders", when="nightly", budget_seconds=60)
    make.published(name="Another that wants none")
    Job.objects.filter(kind="study_plan").update(state="done")
    plan_nightly_studies(datetime(2026, 5, 1, 12, tzinfo=UTC))
    assert Job.objects.filter(kind="study_plan", state="waiting").count() == 0
    for minute in range(3):
        plan_nightly_studies(datetime(2026, 5, 1, 2, minute, tzinfo=UTC))
    assert [job.benchmark_id for job in Job.objects.filter(kind="study_plan", state="waiting")] == [benchmark.pk]
    assert len(planned(benchmark)) == 3  # 60 seconds buy 30 trials
    plan_nightly_studies(datetime(2026, 5, 2, 2, tzinfo=UTC))
    assert Job.objects.filter(kind="study_plan", state="waiting").count() == 0


def test_a_study_runs_when_it_is_asked_for_and_again_after_it_failed(make):
    benchmark = make.published()
    StudyChoice.objects.create(benchmark=benchmark, study="leaders", when="demand", budget_seconds=100)
    run_all()
    request_study(benchmark, "leaders")
    chunks = planned(benchmark)
    Job.objects.filter(pk=chunks[2].pk).update(state="failed", error="out of memory", attempts=3)
    Job.objects.filter(kind="study:leaders").exclude(pk=chunks[2].pk).update(state="superseded")
    request_study(benchmark, "leaders")
    run_all()
    assert stored()[1]["leaders"].tolist() == leaders_by_hand()
    request_study(benchmark, "leaders")
    run_all()
    assert Report.objects.filter(kind="study").count() == 1


def test_nothing_is_asked_for_before_anything_is_published(make):
    assert request_study(make.benchmark(), "leaders") is None


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
    summary, arrays = stored()
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

    assert [found for found in at_once([partial(work, n) for n in range(n_workers)]) if found] == []
    insert_missing_merges()
    run_all("merge")
    assert Job.objects.filter(kind="merge:leaders").count() == 1
    assert stored()[1]["leaders"].tolist() == leaders_by_hand()
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
    assert stored()[1]["leaders"].tolist() == leaders_by_hand()


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

    monkeypatch.setattr(catalogue, "STUDIES", {"leaders": Study(**{**vars(LEADERS), "run_chunk": overtaken})})
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

    monkeypatch.setattr(catalogue, "STUDIES", {"leaders": Study(**{**vars(LEADERS), "run_chunk": broken})})
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


# --- What goes first -------------------------------------------------------------------------------------------------


def test_a_wake_up_in_the_queue_of_studies_runs_what_is_most_urgent(make):
    benchmark = make.published()
    Job.objects.filter(kind="bootstrap").update(parameters={"n_resamples": 5, "level": 0.95, "seed": 0})
    chunks = planned(benchmark)
    for _ in range(20):
        run_most_urgent(chunks[0].pk, worker="test")
    finished = Job.objects.filter(queue="studies", state="done").order_by("finished_at")
    kinds = [job.kind for job in finished]
    assert kinds.index("bootstrap") < kinds.index("study:leaders")
    assert kinds[-6:] == ["study:leaders"] * 5 + ["merge:leaders"]
    assert run_most_urgent(chunks[0].pk, worker="test") == "nothing to do"


def test_smaller_studies_go_before_larger_ones(make):
    small, large = make.published(), make.published()
    for benchmark, budget in ((large, 90), (small, 10)):
        StudyChoice.objects.create(benchmark=benchmark, study="leaders", when="every", budget_seconds=budget)
    run_all("study_plan")
    chunks = Job.objects.filter(kind="study:leaders").order_by("-priority", "pk")
    assert list(chunks.values_list("benchmark", flat=True)) == [small.pk] + [large.pk] * 5


def test_what_runs_while_nothing_else_waits_waits_for_rankings(make):
    benchmark = make.published()
    study_when_idle(benchmark)
    run_all("study_plan")
    Job.objects.filter(kind="bootstrap").update(state="done")
    (first, *_) = chunks = list(Job.objects.filter(kind="study:leaders").order_by("chunk"))
    assert len(chunks) == 5
    assert {job.priority < jobs.IDLE for job in chunks} == {True}
    other = make.benchmark(name="Another")
    Job.objects.filter(benchmark=other, queue="studies").delete()
    urgent = Job.objects.filter(queue="studies", state="waiting", priority__gte=jobs.IDLE)
    urgent.update(state="done")
    assert run_most_urgent(first.pk, worker="test") == "nothing to do"
    make.publish(other)
    assert run_most_urgent(first.pk, worker="test") == "done"


def test_what_runs_while_nothing_else_waits_runs_again_after_a_later_submission(make):
    benchmark = make.published()
    study_when_idle(benchmark)
    assert len(planned(benchmark)) == 5
    make.accepted(benchmark, {"E": [1.0] * 5})
    (first, *others) = planned(benchmark, 2)
    assert len(others) == 4
    older = Job.objects.filter(kind="study:leaders", sequence=1)
    assert {job.priority < first.priority < jobs.IDLE for job in older} == {True}
    make.publish(benchmark)
    run_all()
    (report,) = Report.objects.filter(kind="study", revision__number=2)
    assert report.parameters["study"] == "leaders"
    assert set(states(benchmark)) == {"superseded"}


def test_an_older_engine_versions_reports_do_not_count_as_done(make):
    benchmark = make.published()
    planned(benchmark)
    run_all()
    assert Report.objects.get(kind="study").engine_version == engine_version
