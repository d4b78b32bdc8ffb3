"""Which studies are planned in chunks, how many steps a budget buys, and which chunk goes first.

The study is that of `tests/jobs/small_study.py`.
"""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from jobs.runner import run_most_urgent
from leaderboard.models import Job, Report, StudyChoice
from leaderboard.queue import jobs
from leaderboard.studies.chunks import study_matrix
from leaderboard.studies.plans import plan_nightly_studies, request_study, study_when_idle, within_budget
from leaderboard.submissions.lifecycle import withdraw_submission as withdraw
from ranking_engine import __version__ as engine_version
from ranking_engine.stability import parameters
from tests.factories import owner_of
from tests.jobs.small_study import LEADERS
from tests.leaderboard.studies.leaders_jobs import leaders_by_hand, planned, run_all, states, stored_report

pytestmark = pytest.mark.usefixtures("one_study")


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
    assert stored_report()[0] == {"n_trials": steps}


@pytest.mark.parametrize(
    ("seconds", "n_trials", "n_rounds", "budget"),
    [
        (500, 50, 10, 60.0),  # all of both
        (105, 50, 10, 55.0),  # what the others leave
        (40, 20, 4, 20.0),  # half at least
        (4, 2, 2, 2.0),  # never fewer than two rounds
    ],
)
def test_slow_rules_get_what_the_others_leave_and_half_at_least(make, seconds, n_trials, n_rounds, budget):
    """The study has a budget of its own for slow rules, which take all of it; the others take 1 s a trial."""
    matrix = study_matrix(make.published().publication.revision)

    def estimate(matrix, own):
        return own["n_trials"] * 1.0 + own["budget"]

    declared = (LEADERS.parameter("n_trials"), parameters.repeats("n_rounds", 10), *parameters.budget())
    greedy = replace(LEADERS, declared=declared, estimate=estimate, cut_along=("n_rounds",))
    own = within_budget(greedy, matrix, dict(greedy.parameters), seconds)
    assert own == {"n_trials": n_trials, "n_rounds": n_rounds, "budget": budget, "more_repeats": 0.04}
    assert estimate(matrix, own) <= seconds


def test_what_slow_rules_add_to_the_time_of_others_is_taken_from_them(make):
    matrix = study_matrix(make.published().publication.revision)

    def estimate(matrix, own):
        return own["n_trials"] * (1.1 if own["budget"] else 1.0) + own["budget"]

    greedy = replace(LEADERS, declared=(LEADERS.parameter("n_trials"), *parameters.budget()), estimate=estimate)
    own = within_budget(greedy, matrix, dict(greedy.parameters), 75)
    assert (own["n_trials"], own["budget"]) == (37, 33.559)


def test_steps_are_cut_where_the_least_of_slow_rules_is_more_than_the_others_leave(make):
    matrix = study_matrix(make.published().publication.revision)

    def estimate(matrix, own):
        return own["n_trials"] * 1.0 + (max(45.0, own["budget"]) if own["budget"] else 0.0)

    greedy = replace(LEADERS, declared=(LEADERS.parameter("n_trials"), *parameters.budget()), estimate=estimate)
    own = within_budget(greedy, matrix, dict(greedy.parameters), 80)
    assert own["n_trials"] == 32
    assert estimate(matrix, own) <= 80


def test_a_study_that_says_nothing_of_the_scores_has_no_job_and_a_reason(make):
    benchmark = make.published({"Alone": [1.0, 2.0]})
    assert planned(benchmark) == []
    assert Report.objects.get(kind="study_plan").summary == {"leaders": {"reason": "there is one system only"}}


def test_a_study_that_not_even_one_step_of_fits_its_budget_does_not_run(make):
    benchmark = make.published()
    StudyChoice.objects.create(benchmark=benchmark, study="leaders", when="every", budget_seconds=1)
    assert planned(benchmark) == []
    reason = "it needs at least 2 s, and the limit is 1 s; owners can raise it"
    assert Report.objects.get(kind="study_plan").summary == {"leaders": {"reason": reason}}


def test_a_benchmark_whose_systems_have_all_left_has_an_empty_plan(make):
    benchmark = make.benchmark({"Alone": [1.0, 2.0]})
    withdraw(benchmark.submissions.get(), actor=owner_of(benchmark), reason="An error.")
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
    assert stored_report()[1]["leaders"].tolist() == leaders_by_hand()
    request_study(benchmark, "leaders")
    run_all()
    assert Report.objects.filter(kind="study").count() == 1


def test_nothing_is_asked_for_before_anything_is_published(make):
    assert request_study(make.benchmark(), "leaders") is None


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
    assert kinds[-7:] == ["study:leaders"] * 5 + ["merge:leaders", "axioms"]
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
