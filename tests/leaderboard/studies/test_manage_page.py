"""The owner's page of studies: chosen, asked for, followed."""

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from jobs.runner import run_job
from leaderboard.models import AuditEntry, Job, Report, StudyChoice, StudyPartial
from leaderboard.studies.states import study_states
from ranking_engine import __version__ as engine_version
from ranking_engine.stability import catalogue
from tests.jobs.small_study import LEADERS
from tests.markup import compact

BACKEND = "django.contrib.auth.backends.ModelBackend"


@pytest.fixture(autouse=True)
def _one_study(monkeypatch):
    monkeypatch.setattr(catalogue, "STUDIES", {"leaders": LEADERS})


@pytest.fixture
def benchmark(make):
    return make.published()


@pytest.fixture
def owner(client, benchmark):
    client.force_login(benchmark.memberships.get(role="owner").user, backend=BACKEND)
    return client


def run(kind: str) -> None:
    for job in Job.objects.filter(kind__contains=kind, state="waiting").order_by("pk"):
        run_job(job.pk, worker="test")


def studies_text(client, benchmark) -> str:
    page = compact(client.get(reverse("manage_studies", args=[benchmark.key])))
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def state(benchmark):
    (study,) = study_states(benchmark, benchmark.publication)
    return study


def test_a_study_is_followed_from_its_plan_to_what_it_took(owner, benchmark):
    assert (state(benchmark).state, state(benchmark).choice.when) == ("unplanned", "every")
    assert "not planned" in studies_text(owner, benchmark)
    run("study_plan")
    study = state(benchmark)
    assert (study.state, study.n_chunks, study.steps, study.estimate, study.seconds) == ("waiting", 3, 30, 60.0, None)
    first = Job.objects.filter(kind="study:leaders").order_by("chunk").first()
    run_job(first.pk, worker="test")
    assert (state(benchmark).state, round(state(benchmark).progress, 3)) == ("waiting", 0.333)
    Job.objects.filter(kind="study:leaders", state="waiting").update(state="running", progress=0.5)
    assert (state(benchmark).state, round(state(benchmark).progress, 3)) == ("running", 0.667)
    assert "running 67 % 67 %" in studies_text(owner, benchmark)
    Job.objects.filter(kind="study:leaders", state="running").update(state="waiting")
    run("study:")
    run("merge:")
    study = state(benchmark)
    assert (study.state, study.progress, study.estimate) == ("done", 1.0, 60.0)
    assert study.seconds == Report.objects.get(kind="study").seconds
    assert StudyPartial.objects.count() == 0


def page_text(client, benchmark) -> str:
    page = compact(client.get(reverse("stability", args=[benchmark.key])))
    (notice,) = re.findall(r'<p class="notice[^"]*" role="status">([^<]*)', page)
    return notice.strip()


def test_the_page_of_studies_says_in_each_state_what_a_study_waits_for(client, benchmark):
    Job.objects.filter(queue="studies").exclude(kind="study_plan").update(state="done")
    plan = Job.objects.get(kind="study_plan")
    assert page_text(client, benchmark) == "Not planned yet: its plan is the next job."
    other = Job.objects.create(
        kind="axioms", queue="studies", priority=9, subject_kind="revision", subject_id=0,
        engine_version=engine_version, benchmark=benchmark, sequence=1, parameters={}, parameter_hash="x",
        not_before=timezone.now(),
    )  # fmt: skip
    assert page_text(client, benchmark) == "Not planned yet: 1 job is before its plan."
    other.delete()
    Job.objects.filter(pk=plan.pk).update(state="running")
    assert page_text(client, benchmark) == "Being planned."
    Job.objects.filter(pk=plan.pk).update(state="failed", error="MemoryError: too much\ntrace")
    assert page_text(client, benchmark) == "It could not be planned: MemoryError: too much."
    Job.objects.filter(pk=plan.pk).update(state="done")
    assert page_text(client, benchmark).startswith("Not planned for this revision: it was switched on later")
    StudyChoice.objects.update_or_create(
        benchmark=benchmark, study="leaders", defaults={"when": "demand", "budget_seconds": 60}
    )
    assert page_text(client, benchmark) == "Not planned: it runs when an owner asks for it."
    StudyChoice.objects.update(when="nightly")
    assert page_text(client, benchmark) == ("Not planned yet: it runs at night, between 1:00 and 5:00 UTC.")
    StudyChoice.objects.update(when="idle")
    Job.objects.filter(pk=plan.pk).update(state="waiting")
    run("study_plan")
    assert page_text(client, benchmark) == (
        "Queued: it is the next job; expect it in less than a minute. "
        "It runs only while no board is waiting to be ranked."
    )


def test_a_study_that_is_left_out_says_why(make):
    benchmark = make.published({"Alone": [1.0]})
    run("study_plan")
    assert (state(benchmark).state, state(benchmark).reason) == ("left_out", "there is one system only")


def test_a_study_of_which_a_chunk_failed_is_failed_and_may_run_again(owner, benchmark):
    run("study_plan")
    Job.objects.filter(kind="study:leaders", chunk=1).update(state="failed", error="MemoryError: 3 GiB\nTraceback")
    assert (state(benchmark).state, state(benchmark).reason) == ("failed", "MemoryError: 3 GiB")
    assert "Run now" in studies_text(owner, benchmark)


def test_choices_are_kept_with_a_trail_and_hold_for_the_next_revision(owner, benchmark, make):
    path = reverse("manage_studies", args=[benchmark.key])
    form = {"leaders-when": "every", "leaders-budget": "20"}
    assert owner.post(path, form).status_code == 302
    assert list(StudyChoice.objects.values_list("study", "when", "budget_seconds")) == [("leaders", "every", 20)]
    trail = AuditEntry.objects.filter(of="study leaders").values_list("field", "before", "after")
    assert list(trail) == [("budget", "60", "20")]
    owner.post(path, form)
    assert AuditEntry.objects.filter(of="study leaders").count() == 1
    make.accepted(benchmark, {"E": [1.0] * 5})
    run("study_plan")
    assert Job.objects.filter(kind="study:leaders", sequence=2).count() == 1


@pytest.mark.parametrize("form", [{"leaders-when": "never", "leaders-budget": "20"}, {"leaders-when": "every"}])
def test_what_is_no_choice_is_refused_and_changes_nothing(owner, benchmark, form):
    response = owner.post(reverse("manage_studies", args=[benchmark.key]), form)
    assert (response.status_code, StudyChoice.objects.count()) == (400, 0)


def test_a_study_runs_when_its_owner_asks(owner, benchmark):
    StudyChoice.objects.create(benchmark=benchmark, study="leaders", when="demand", budget_seconds=100)
    run("study_plan")
    assert not Job.objects.filter(kind="study:leaders").exists()
    owner.post(reverse("run_study", args=[benchmark.key]), {"study": "leaders"})
    run("study_plan")
    assert Job.objects.filter(kind="study:leaders", state="waiting").count() == 5
    assert owner.post(reverse("run_study", args=[benchmark.key]), {"study": "nothing"}).status_code == 400


@pytest.mark.parametrize("n_chunks", [1, 5])
def test_the_page_takes_seven_queries_however_many_chunks_there_are(
    owner, benchmark, n_chunks, django_assert_num_queries
):
    StudyChoice.objects.create(benchmark=benchmark, study="leaders", when="every", budget_seconds=20 * n_chunks)
    run("study_plan")
    with django_assert_num_queries(7):
        owner.get(reverse("manage_studies", args=[benchmark.key]))
