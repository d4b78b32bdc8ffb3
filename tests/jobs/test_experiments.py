"""An experiment on a running site: started through its API, computed by a worker process, read from its page."""

import json
import urllib.request

import pytest
from django.core.cache import cache

from leaderboard.accounts.tokens import create_token
from leaderboard.models import Benchmark, Job, Report
from leaderboard.studies.chunks import study_matrix
from ranking_engine.stability.catalogue import run_study

pytestmark = pytest.mark.services

BODY = {
    "study": "system_additions",
    "parameters": {"rules": ["borda", "copeland[variant=lower]"], "n_orders": 5},
    "seed": 2,
}


def answer_of(url: str, body: dict | None = None, token: str = "") -> tuple[int, bytes]:
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Token {token}"} if token else {})
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=30) as answer:
        return answer.status, answer.read()


def test_an_experiment_is_computed_by_a_worker_process(site, make_committed):
    cache.clear()
    board = make_committed.published(visibility="public")
    Job.objects.filter(state="waiting").update(state="superseded")  # what this test is not about
    _, token = create_token(make_committed.user(), name="t", scopes=["read", "submit"], days=30)
    site.start("web", "studies", "sweep")
    site.wait_for_web()
    address = f"{site.url}/api/v1/benchmarks/{board.key}/experiments/"
    status, answer = answer_of(address, BODY, token)
    number = json.loads(answer)["experiment"]
    assert status == 202
    site.wait_until(lambda: Report.objects.filter(kind="experiment").exists(), 60, "the experiment is computed")
    experiment = json.loads(answer_of(f"{address}{number}/")[1])
    matrix = study_matrix(Benchmark.objects.get(pk=board.pk).publication.revision)
    expected = run_study(BODY["study"], matrix, BODY["parameters"], seed=2)
    assert experiment["state"] == "done"
    assert experiment["summary"] == json.loads(json.dumps(expected.summary))
    page = answer_of(f"{site.url}/b/{board.key}/experiments/{number}/")[1].decode()
    assert "Copeland (lower)" in page
    assert answer_of(address, BODY, token)[0] == 200  # the same again
