"""Errors by RFC 9457 beside the form that they have had: by `Accept: application/problem+json`."""

import pytest

from leaderboard.api.protocol.problem_json import json_pointer
from tests.leaderboard.api.conftest import error_of

PROBLEMS = "application/json, application/problem+json"


def test_a_wrong_body_says_where_by_json_pointers(make, submitter):
    path = f"benchmarks/{make.benchmark().key}/submissions/"
    body = {"systems": [{"name": "E", "scores": {"Task 1": "high"}}], "nota": "x"}
    old = error_of(submitter.post(path, body))
    answer = submitter.call_json("POST", path, body, Accept=PROBLEMS)
    assert answer["Content-Type"] == "application/problem+json"
    problem = answer.json()
    assert {name: problem[name] for name in ("type", "title", "status", "detail", "code")} == {
        "type": "about:blank",
        "title": "Bad Request",
        "status": 400,
        "detail": old["message"],
        "code": "invalid",
    }
    assert [error["detail"] for error in problem["errors"]] == [detail["message"] for detail in old["details"]]
    assert {error["pointer"] for error in problem["errors"]} == {"/nota", "/systems/0/scores/Task 1"}


def test_a_wrong_table_says_line_and_column(make, submitter):
    path = f"benchmarks/{make.benchmark().key}/submissions/?create_systems=true"
    answer = submitter.call_raw("POST", path, "system,Task 1\nE,high\n", "text/csv", Accept=PROBLEMS)
    (error,) = answer.json()["errors"]
    assert {name: error[name] for name in ("line", "column")} == {"line": 2, "column": "Task 1"}
    assert "pointer" not in error


def test_a_wrong_file_says_file_and_line(make, submitter):
    path = f"benchmarks/{make.benchmark().key}/imports/"
    body = {"files": [{"name": "scores.csv", "text": "model,task-1\nE,1\nE,2\n"}]}
    errors = submitter.call_json("POST", path, body, Accept=PROBLEMS).json()["errors"]
    assert errors
    assert all(error["pointer"] == "/files" for error in errors)


def test_what_is_good_is_answered_as_ever_and_the_old_form_is_to_go(make, api):
    benchmark = make.published()
    path = f"benchmarks/{benchmark.key}/rankings/"
    for accept in (PROBLEMS, "application/problem+json"):
        good = api.call("GET", path, Accept=accept)
        assert (good.status_code, good["Content-Type"]) == (200, "application/json")
        wrong = api.call("GET", f"{path}?mising=median", Accept=accept)
        assert (wrong.status_code, wrong["Content-Type"]) == (400, "application/problem+json")
        assert wrong.json()["errors"][0]["parameter"] == "mising"
        assert not wrong.has_header("Deprecation")
    assert api.get(f"{path}?mising=median")["Deprecation"] == "@1795392000"
    assert not api.get(path).has_header("Deprecation")


@pytest.mark.parametrize("status", [401, 404, 405, 406])
def test_every_kind_of_error_has_the_form(make, api, status):
    key = make.published().key
    asker = api if status == 401 else api.as_user(make.user())
    method, path = {
        401: ("GET", "me/"),
        404: ("GET", "benchmarks/none/"),
        405: ("PUT", f"benchmarks/{key}/scores/"),
        406: ("GET", f"benchmarks/{key}/?format=csv"),
    }[status]
    problem = asker.call(method, path, Accept=PROBLEMS).json()
    assert (problem["status"], set(problem)) == (status, {"type", "title", "status", "detail", "code", "errors"})


@pytest.mark.parametrize(
    ("sent", "place", "pointer"),
    [
        ({"a": [{"b": 1}]}, "a[0].b", "/a/0/b"),
        ({"a": {"b.c[0]": {"d/e~f": 1}}}, "a.b.c[0].d/e~f", "/a/b.c[0]/d~1e~0f"),
        ({"a": {}}, "a.missing", "/a/missing"),
        ({"a": [1]}, "a[7]", "/a/7"),
        ({"a": [1]}, "a[7].b", None),
        ({"a": 1}, "a.b", None),
        ({}, "", ""),
        (b"system,a\n", "a", None),
        (None, "a", None),
        ({"a": 1}, "[" * 5000 + "." * 5000, "/" + "[" * 5000 + "." * 5000),
    ],
)
def test_a_place_is_a_pointer_into_what_was_sent(sent, place, pointer):
    assert json_pointer(sent, place) == pointer
