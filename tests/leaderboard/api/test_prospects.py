"""Prospects by API: exact, revalidated, solved under conditions, refused where that is too much."""

import csv
import io
from copy import deepcopy
from fractions import Fraction

import pytest

from jobs.runner import run_job
from leaderboard.models import Job
from leaderboard.studies.prospects import stored as service
from tests.leaderboard.api.conftest import error_of

SPECIALISTS = {"First": [3.0, 0.0], "Second": [0.0, 3.0], "Rounder": [2.0, 2.0], "Last": [1.0, 1.0]}


def run(benchmark) -> None:
    for job in Job.objects.filter(kind="prospects", benchmark=benchmark, state="waiting"):
        run_job(job.pk, worker="test")


@pytest.fixture(scope="module")
def made_once(make_once):
    board = make_once.published(SPECIALISTS)
    run(board)
    return board


@pytest.fixture
def benchmark(made_once, make):
    return deepcopy(made_once)


def test_verdicts_come_with_exact_weights_and_certificates(api, benchmark):
    answer = api.get(f"benchmarks/{benchmark.key}/prospects/").json()
    assert (answer["revision"], answer["status"], answer["tasks"]) == (1, "computed", ["task-1", "task-2"])
    assert (answer["n_prospective"], answer["n_draws"], answer["is_complete"]) == (3, 10_000, True)
    verdicts = {entry["system"]: entry["verdict"] for entry in answer["results"]}
    assert verdicts == {"first": "strict", "second": "strict", "rounder": "tie_only", "last": "none"}
    last = answer["results"][-1]
    assert (last["name"], last["certificate"], last["weights"], last["nearest"]) == ("Last", {"rounder": "1"}, {}, {})
    for entry in answer["results"][:3]:
        assert sum(Fraction(weight) for weight in entry["weights"].values()) == 1
    rounder = answer["results"][2]
    assert rounder["certificate"] == {"first": "1/2", "second": "1/2"}
    assert rounder["nearest"]["own"]["total_change"] == {"weights": {"task-1": "1/2", "task-2": "1/2"}, "change": 0.0}


def test_one_system_is_read_alone(api, benchmark):
    answer = api.get(f"benchmarks/{benchmark.key}/prospects/last/").json()
    assert answer["result"]["verdict"] == "none"
    assert api.get(f"benchmarks/{benchmark.key}/prospects/nobody/").status_code == 404


def test_what_is_computing_says_so_and_changes_its_etag_when_it_is_there(api, make):
    benchmark = make.published(SPECIALISTS)
    path = f"benchmarks/{benchmark.key}/prospects/"
    before = api.get(path)
    assert (before.json()["status"], before.json()["results"]) == ("computing", [])
    assert api.get(f"{path}first/").json()["result"] is None
    assert api.get(path, If_None_Match=before["ETag"]).status_code == 304
    run(benchmark)
    after = api.get(path, If_None_Match=before["ETag"])
    assert (after.status_code, after.json()["status"]) == (200, "computed")
    assert api.get(path, If_None_Match=after["ETag"]).status_code == 304
    assert (after["Cache-Control"], after["Vary"]) == (
        "public, max-age=0, must-revalidate",
        "Accept, Accept-Encoding",
    )


def test_what_failed_says_why(api, make):
    benchmark = make.published(SPECIALISTS)
    Job.objects.filter(kind="prospects").update(state="failed", error="MemoryError: 3 GiB\nTraceback")
    answer = api.get(f"benchmarks/{benchmark.key}/prospects/").json()
    assert (answer["status"], answer["reason"]) == ("failed", "MemoryError: 3 GiB")


def test_the_table_holds_the_same_as_the_list(api, benchmark):
    path = f"benchmarks/{benchmark.key}/prospects/"
    response = api.get(path, {"format": "csv"})
    rows = list(csv.DictReader(io.StringIO(response.content.decode())))
    listed = api.get(path).json()["results"]
    assert [(row["system"], row["verdict"]) for row in rows] == [(e["system"], e["verdict"]) for e in listed]
    assert rows[2]["certificate"] == "first=1/2 second=1/2"
    name = f"{benchmark.key}-prospects-r1.csv"
    assert response["Content-Disposition"] == f'attachment; filename="{name}"'


def test_an_earlier_revision_is_read_by_its_number(api, make, benchmark):
    make.accepted(benchmark, {"New": [9.0, 9.0]})
    run(make.publish(benchmark))
    path = f"benchmarks/{benchmark.key}/prospects/"
    assert [api.get(path, {"revision": n}).json()["n_prospective"] for n in (1, 2)] == [3, 1]


def test_conditions_are_solved_when_asked(api, benchmark):
    response = api.post(f"benchmarks/{benchmark.key}/prospects/", {"conditions": ["Task 1 >= 0.75", "minimise Task 1"]})
    answer = response.json()
    assert (response.status_code, response["Cache-Control"]) == (200, "no-store")
    assert (answer["feasible"], answer["conditions"]) == (True, ["task-1 >= 3/4", "minimise task-1"])
    (winner,) = [entry for entry in answer["results"] if entry["prospective"]]
    assert (winner["system"], winner["weights"], winner["objective"]) == (
        "first", {"task-1": "3/4", "task-2": "1/4"}, "3/4",
    )  # fmt: skip
    proofs = {entry["system"]: entry["condition_shares"] for entry in answer["results"]}
    assert list(proofs["second"]) == ["task-1 >= 3/4"]


def test_a_rule_on_points_may_be_what_is_to_be_won(api, benchmark):
    path = f"benchmarks/{benchmark.key}/prospects/"
    verdicts = {}
    for rule in ("majority", "mean", "borda"):
        answer = api.post(path, {"conditions": [], "rule": rule}).json()
        assert (answer["rule"], answer["feasible"]) == (rule, True)
        verdicts[rule] = {entry["system"]: entry["verdict"] for entry in answer["results"]}
    # First 3, 0; Second 0, 3; Rounder 2, 2; Last 1, 1: half and half makes the means 1.5, 1.5, 2, 1.
    assert verdicts["mean"] == {"first": "strict", "second": "strict", "rounder": "strict", "last": "none"}
    assert verdicts["borda"] == verdicts["mean"]
    assert verdicts["majority"]["rounder"] == "tie_only"


def test_conditions_that_no_weights_satisfy_are_told_apart(api, benchmark):
    body = {"conditions": ["Task 1 >= 0.75", "Task 2 >= 0.75"]}
    answer = api.post(f"benchmarks/{benchmark.key}/prospects/", body).json()
    assert (answer["feasible"], answer["reason"]) == (False, "no weights satisfy the conditions")
    assert {entry["verdict"] for entry in answer["results"]} == {"undecided"}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"conditions": ["Task 9 >= 0.5"]}, "The conditions cannot be read: unknown task 'Task 9'"),
        ({"conditions": ["Task 1 >= 30"]}, "The conditions cannot be read: '30' is no share of the weight; write"),
        ({"conditions": ["Task 1 >= NaN"]}, "The conditions cannot be read: 'NaN' is no share of the weight; write"),
        (
            {"conditions": "x", "all_tasks": 1},
            "The question cannot be read: 2 problems. conditions: expected a list of texts, found the text 'x'",
        ),
        ({"conditions": ["Task 1 >="]}, "The conditions cannot be read: 'Task 1 >=' is no condition"),
        ({"conditions": "Task 1 >= 0.5"}, "conditions: expected a list of texts, found the text 'Task 1 >= 0.5'"),
        ({"conditions": [1]}, "conditions[0]: expected a text, found the number 1"),
        ({}, "conditions: it is missing"),
        ({"conditions": [], "all_tasks": 1}, "all_tasks: expected true or false"),
        ({"conditions": [], "rules": []}, "rules: there is no such field; the fields are conditions, all_tasks, rule"),
        ({"conditions": [], "rule": "veto"}, "rule: 'veto'; expected one of majority, mean, borda"),
        ({"conditions": ["Task 1 >= 0"] * 101}, "conditions: 101 conditions; at most 100 are taken"),
    ],
)
def test_conditions_that_cannot_be_read_are_refused(api, benchmark, body, message):
    error = error_of(api.post(f"benchmarks/{benchmark.key}/prospects/", body))
    assert error["status"] == 400
    assert message in error["message"]


def test_a_board_too_large_for_conditions_is_refused(api, benchmark, monkeypatch):
    monkeypatch.setattr(service, "ON_DEMAND_CELLS", 1)
    error = error_of(api.post(f"benchmarks/{benchmark.key}/prospects/", {"conditions": ["Task 1 >= 0.5"]}))
    assert (error["status"], error["code"]) == (422, "too_expensive")


def test_conditions_are_counted_as_what_is_computed_on_demand(api, benchmark, settings):
    settings.API_RATES = settings.API_RATES | {"on_demand": "2/min", "write": "1/min"}
    path = f"benchmarks/{benchmark.key}/prospects/"
    answers = [api.post(path, {"conditions": [f"Task 1 >= 0.{n}"]}).status_code for n in (1, 2, 3)]
    assert (answers, api.get(path).status_code) == ([200, 200, 429], 200)


def test_a_choice_that_is_neither_true_nor_false_is_refused(api, benchmark):
    error = error_of(api.get(f"benchmarks/{benchmark.key}/prospects/", {"all_tasks": "yes"}))
    assert (error["status"], error["message"]) == (400, "`all_tasks` is 'yes'; expected true or false.")
