"""Studies by API: how far they are, what they found, and the whole distribution as a file."""

import io

import numpy as np
import pytest

from leaderboard.models import Job, Report
from leaderboard.services.job_runner import run_job
from ranking_engine.stability import catalogue
from tests.jobs.small_study import LEADERS


@pytest.fixture(autouse=True)
def _one_study(monkeypatch):
    monkeypatch.setattr(catalogue, "STUDIES", {"leaders": LEADERS})


@pytest.fixture
def benchmark(make):
    return make.published()


def run(kind: str) -> None:
    for job in Job.objects.filter(kind__contains=kind, state="waiting").order_by("pk"):
        run_job(job.pk, worker="test")


def test_a_study_is_listed_from_before_its_plan_until_it_is_done(api, benchmark):
    path = f"benchmarks/{benchmark.key}/studies/"
    before = api.get(path)
    (found,) = before.json()["results"]
    assert (found["study"], found["state"]) == ("leaders", "unplanned")
    assert (found["estimate"], found["parameters"]) == (None, {})
    run("study_plan")
    planned = api.get(path, If_None_Match=before["ETag"])
    (found,) = planned.json()["results"]
    assert (found["state"], found["n_chunks"], found["estimate"], found["progress"]) == ("waiting", 3, 60.0, 0.0)
    assert found["parameters"] == {"n_trials": 30, "top": 1, "seed": 0}
    run("study:")
    run("merge:")
    (found,) = api.get(path).json()["results"]
    assert (found["state"], found["progress"]) == ("done", 1.0)
    assert found["seconds"] == Report.objects.get(kind="study").seconds


def test_what_a_study_found_is_read_with_its_distribution(api, benchmark):
    path = f"benchmarks/{benchmark.key}/studies/leaders/"
    assert (api.get(path).json()["summary"], api.get(path, {"format": "npz"}).status_code) == (None, 404)
    for kind in ("study_plan", "study:", "merge:"):
        run(kind)
    found = api.get(path).json()
    assert (found["summary"], found["arrays"]) == ({"n_trials": 30}, ["counts", "leaders"])
    response = api.get(path, {"format": "npz"})
    name = f"{benchmark.key}-leaders-r1.npz"
    assert response["Content-Type"] == "application/octet-stream"
    assert response["Content-Disposition"] == f'attachment; filename="{name}"'
    with np.load(io.BytesIO(response.content), allow_pickle=False) as stored:
        assert stored["counts"].sum() == 30
        assert stored["leaders"].shape == (30,)
    assert api.get(path, {"format": "npz"}, If_None_Match=response["ETag"]).status_code == 304


def test_a_study_that_there_is_not_is_not_found(api, benchmark):
    response = api.get(f"benchmarks/{benchmark.key}/studies/none/")
    assert response.status_code == 404
    assert response.json()["error"]["message"] == "There is no study 'none'; there are leaders."
