"""Experiments by the API: what can be run, running it once, and reading the result."""

import csv
import io
import json

import pytest

from leaderboard.accounts.tokens import create_token
from leaderboard.benchmarks.create import TaskSpec
from leaderboard.models import ApiToken, Experiment, Job
from leaderboard.studies.chunks import study_matrix
from ranking_engine.stability.catalogue import EXPERIMENTS, declared_parameters, run_study
from tests.leaderboard.studies.experiments.waiting import run_experiments


@pytest.fixture(autouse=True)
def _a_forecast_has_time(settings):
    settings.ON_DEMAND_SECONDS = 60  # on a busy machine


@pytest.fixture(scope="module")
def toy(make_once):
    return make_once.published()


@pytest.fixture
def board(toy, make):
    """The toy as it is in the database."""
    return make.publish(toy)


@pytest.fixture
def post(make, board, client):
    _, secret = create_token(make.user(), name="t", scopes=list(ApiToken.Scope.values), days=30)

    def send(body, query=""):
        return client.post(
            f"/api/v1/benchmarks/{board.key}/experiments/{query}",
            body if isinstance(body, str) else json.dumps(body),
            content_type="application/json",
            headers={"Authorization": f"Token {secret}"},
        )

    return send


BODY = {
    "study": "missing_scores",
    "parameters": {"rules": ["copeland[variant=upper]", "borda"], "levels": [0, 20], "n_repeats": 3, "top": 3},
    "seed": 4,
}


def test_the_catalogue_states_what_the_engine_declares(client):
    results = client.get("/api/v1/experiments/").json()["results"]
    assert [one["study"] for one in results] == list(EXPERIMENTS)
    for one in results:
        declared = {parameter.name: parameter for parameter in declared_parameters(one["study"])}
        assert [entry["parameter"] for entry in one["parameters"]] == list(declared)
        for entry in one["parameters"]:
            assert declared[entry["parameter"]].checked(entry["default"]) == entry["default"]


def test_an_experiment_is_started_computed_and_read(board, post, client):
    answer = post(BODY)
    assert answer.status_code == 202
    address = answer["Location"]
    assert address.startswith(f"http://testserver/api/v1/benchmarks/{board.key}/experiments/")
    assert client.get(address).json()["state"] == "waiting"
    run_experiments()
    experiment = client.get(address).json()
    expected = run_study("missing_scores", study_matrix(board.publication.revision), BODY["parameters"], seed=4)
    assert (experiment["state"], experiment["seed"], experiment["revision"]) == ("done", 4, 1)
    assert experiment["parameters"]["rules"] == ["copeland[variant=upper]", "borda"]
    assert experiment["summary"] == json.loads(json.dumps(expected.summary))
    assert experiment["distribution"]["copeland[variant=upper].spearman"] == [3, 2]
    assert client.get(experiment["distribution_url"]).status_code == 200
    assert client.get(experiment["page_url"]).status_code == 200


def test_a_table_has_a_line_for_each_figure(post, client):
    address = post(BODY)["Location"]
    run_experiments()
    rows = list(csv.DictReader(io.StringIO(client.get(f"{address}?format=csv").content.decode())))
    summary = client.get(address).json()["summary"]
    figures = {(row["rule"], row["figure"]): row["value"] for row in rows}
    assert float(figures["copeland[variant=upper]", "mean.1"]) == summary["rules"]["copeland[variant=upper]"]["mean"][1]


def test_tables_tell_rankings_by_system_and_curves_by_epsilon_and_answers_have_the_names(make, client):
    scores = {"Ärger, large": [3.0, 1.0], "Bär": [2.0, 3.0], "Cleo": [1.0, 2.0]}
    board = make.published(scores, tasks=[TaskSpec("Reading, aloud", key="t1"), TaskSpec("Maths", key="t2")])
    keys = dict(board.systems.values_list("name", "key"))
    experiment = make.experiment(board, "cardinal_sensitivity", by=make.user(), least_weights=[0.01, 0.5])
    address = f"/api/v1/benchmarks/{board.key}/experiments/{experiment.pk}/"
    answer = client.get(address).json()
    assert answer["names"] == {
        "systems": {key: name for name, key in keys.items()},
        "tasks": {"t1": "Reading, aloud", "t2": "Maths"},
    }
    rows = list(csv.DictReader(io.StringIO(client.get(f"{address}?format=csv").content.decode("utf-8-sig"))))
    figures = {row["figure"]: row["value"] for row in rows}
    ranks = answer["summary"]["feasible"]["box"]["side_by_side"]
    names = answer["names"]["systems"]
    for when in ("before", "after"):
        ranks_in_file = {name: float(figures[f"feasible.box.side_by_side.{when}.{name}"]) for name in scores}
        assert ranks_in_file == {names[key]: rank for key, rank in zip(ranks["systems"], ranks[when], strict=True)}
    points = answer["summary"]["curve"]["box"]
    for point, least in zip(points, ("0.01", "0.5"), strict=True):
        lower_in_file = float(figures[f"curve.box.ε = {least}.discordant_share.lower"])
        assert lower_in_file == pytest.approx(point["discordant_share"]["lower"])
    assert "feasible.box.discordant_share.weights.Reading, aloud" in figures


def test_the_same_again_is_the_first_one(post):
    first, again = post(BODY), post(BODY | {"parameters": {**BODY["parameters"], "correlation": "spearman"}})
    assert (first.status_code, again.status_code) == (202, 200)
    assert again.json()["experiment"] == first.json()["experiment"]
    assert post(BODY | {"seed": 5}).status_code == 202


def test_a_dry_run_says_what_it_would_take_and_stores_nothing(post):
    answer = post(BODY, "?dry_run=true")
    assert (answer.status_code, answer["Dry-Run"]) == (200, "true")
    assert answer.json()["estimated_seconds"] > 0
    assert answer.json()["experiment"] is None
    assert Experiment.objects.count() == Job.objects.filter(kind="experiment").count() == 0


def test_the_list_is_paged_by_number(post, client, board):
    numbers = [post({"study": "diversity", "seed": seed}).json()["experiment"] for seed in range(3)]
    page = client.get(f"/api/v1/benchmarks/{board.key}/experiments/?page_size=2").json()
    assert [one["experiment"] for one in page["results"]] == numbers[:0:-1]
    last = client.get(page["next"]).json()
    assert ([one["experiment"] for one in last["results"]], last["next"]) == (numbers[:1], None)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"study": "nothing"}, "`study` is 'nothing'; expected one of"),
        ({"parameters": {}}, "it is missing"),
        ({"study": "diversity", "parameters": []}, "expected an object of parameters by key, found a list"),
        ({"study": "diversity", "parameters": {f"p{n}": 1 for n in range(41)}}, "41 parameters; at most 40 are taken"),
        ({"study": "diversity", "parameters": {"x" * 10_000: 1}}, "is no parameter of the study diversity"),
        ({"study": "missing_scores", "parameters": {"levels": [0] * 51}}, "at most 50 are taken"),
        ({"study": "missing_scores", "parameters": {"levels": {"a": 1}}}, "expected numbers, such as"),
        ({"study": "missing_scores", "parameters": {"n_repeats": 10**8}}, "expected a whole number from 1 to 10,000"),
        ({"study": "missing_scores", "parameters": {"rules": ["positional"]}}, "which needs vector"),
        ({"study": "missing_scores", "parameters": {"rules": [["borda"]]}}, "expected a value like"),
        ({"study": "missing_scores", "parameters": {"rules": ["mean[unit=\ud800]"]}}, "leave it out"),
        ({"study": "missing_scores", "parameters": {"first_by": "mean[unit=a\x00b]"}}, "leave it out"),
        ({"study": "diversity", "seed": 2**31}, "seed"),
        ({"study": "diversity", "seed": -1}, "seed"),
        ({"study": "diversity", "more": 1}, "there is no such field"),
        ({"study": "diversity", "parameters": {"first": 2, "first_by": "kemeny"}}, "a rule that ranks fast"),
    ],
)
def test_a_wrong_body_is_refused_with_what_is_wrong(post, body, message):
    answer = post(body)
    assert answer.status_code == 400
    assert message in answer.content.decode().replace("\\u2019", "’")
    assert Experiment.objects.count() == 0


def test_what_would_take_too_long_is_a_422(post, settings):
    settings.EXPERIMENT_SECONDS = 1
    answer = post({"study": "judge_bootstrap", "parameters": {"n_trials": 200_000}})
    assert answer.status_code == 422
    assert "one experiment may take up to 1 s" in answer.json()["error"]["message"]


def test_more_than_may_be_open_are_a_422(post, settings):
    settings.EXPERIMENTS_OPEN = 2
    assert [post({"study": "diversity", "seed": seed}).status_code for seed in range(3)] == [202, 202, 422]
