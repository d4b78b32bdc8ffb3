"""A request's id goes with the jobs that it causes, so that one word finds both in the logs of two processes."""

import json
import urllib.request

import pytest
from django.utils import timezone

from config.monitoring.logs import logged_as
from leaderboard.accounts.tokens import create_token
from leaderboard.models import Benchmark, Job
from leaderboard.queue.recomputation import insert_recomputations
from leaderboard.queue.retry import retry_job
from leaderboard.studies.plans import request_study
from ranking_engine import __version__ as engine_version
from tests.leaderboard.queue.job_rows import age_everything


def submit(site, benchmark, secret: str, name: str, **headers: str) -> str:
    """Submit scores through the API; the id that the answer says."""
    body = {"systems": [{"name": name, "scores": {"task-1": 3.5}}], "create_systems": True}
    request = urllib.request.Request(
        f"{site.url}/api/v1/benchmarks/{benchmark.key}/submissions/",
        data=json.dumps(body).encode(),
        headers={"Authorization": f"Token {secret}", "Content-Type": "application/json", **headers},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.headers["X-Request-ID"]


def lines(site, name: str) -> list[dict]:
    """What a process logged as JSON so far."""
    text = (site.folder / f"{name}.log").read_text()
    return [json.loads(line) for line in text.splitlines() if line.startswith("{") and line.endswith("}")]


@pytest.mark.services
def test_one_id_is_in_the_answer_the_web_servers_log_the_job_and_every_line_of_the_worker(make_committed, site):
    """Takes some seconds: two processes start."""
    benchmark = make_committed.benchmark({}, n_tasks=1)
    _, secret = create_token(benchmark.memberships.get(role="owner").user, name="t", scopes=["submit"], days=30)
    site.environment |= {"PLURANK_LOG_FORMAT": "json"}
    site.start("web", "rankings")
    site.wait_for_web()
    given = submit(site, benchmark, secret, "First", **{"X-Request-ID": "of-the-proxy-0001"})
    made = submit(site, benchmark, secret, "Second")
    site.wait_until(lambda: Benchmark.objects.get(pk=benchmark.pk).published_number == 2, 30, "revision 2 is published")
    newest = Job.objects.get(kind="rankings", sequence=2)
    of_newest = site.wait_until(
        lambda: [line for line in lines(site, "rankings") if line.get("job") == newest.pk], 10, "the worker logs it"
    )
    assert (given, newest.request_id) == ("of-the-proxy-0001", made)
    assert set(Job.objects.filter(sequence=1).values_list("request_id", flat=True)) == {given}
    submissions = [line for line in lines(site, "web") if line.get("method") == "POST"]
    assert [line["request"] for line in submissions] == [given, made]
    assert {line["request"] for line in of_newest} == {made}


def test_a_job_tried_again_and_a_study_asked_for_belong_to_the_newest_request(make):
    with logged_as(request="the-first-one"):
        benchmark = make.published()
    job = Job.objects.filter(kind="prospects").get()
    Job.objects.filter(pk=job.pk).update(state="failed", finished_at=timezone.now())
    with logged_as(request="tried-again"):
        assert retry_job(job)
        plan = request_study(benchmark, "missing_scores")
        assert request_study(benchmark, "missing_scores") == plan
    ids = dict(Job.objects.filter(pk__in=[job.pk, plan.pk]).values_list("kind", "request_id"))
    assert ids == {"prospects": "tried-again", "study_plan": "tried-again"}


def test_a_recomputation_belongs_to_what_had_it_inserted(make):
    make.published()
    age_everything()
    with logged_as(request="after-the-upgrade"):
        insert_recomputations()
    again = Job.objects.filter(engine_version=engine_version)
    assert set(again.values_list("request_id", flat=True)) == {"after-the-upgrade"}


def test_work_that_no_request_caused_names_none(make):
    make.benchmark()
    assert set(Job.objects.values_list("request_id", flat=True)) == {""}
