"""What the schema states of bodies, bounds and names is what the server does."""

import re

import pytest

from leaderboard.api.protocol.examples import written_schema
from tests.leaderboard.api.conftest import error_of


def components():
    return written_schema()["components"]["schemas"]


def operations():
    return {
        operation["operationId"]: operation
        for methods in written_schema()["paths"].values()
        for operation in methods.values()
    }


def test_bodies_have_no_further_fields_and_answers_may_get_some(make, submitter):
    schemas = components()
    closed = {name for name, shape in schemas.items() if shape.get("additionalProperties") is False}
    assert {"SubmissionBody", "SubmittedSystem", "WeightsBody", "WebhookBody", "TaskBody"} <= closed
    assert not closed & {"RankingDetail", "Me", "SubmissionStatus", "Error"}
    body = {"systems": [{"name": "E", "scores": {"Task 1": 1}}], "nota": "x"}
    answer = error_of(submitter.post(f"benchmarks/{make.benchmark().key}/submissions/", body))
    assert answer["details"][0]["place"] == "nota"


def test_bounds_of_lists_and_pages_are_those_of_the_server(make, api, submitter):
    schemas = components()
    assert schemas["ImportBody"]["properties"]["files"]["minItems"] == 1
    assert schemas["WebhookBody"]["properties"]["events"]["maxItems"] == 2
    path = f"benchmarks/{make.benchmark().key}/imports/"
    assert submitter.post(path, {"files": []}).status_code == 400
    size = next(one["schema"] for one in operations()["rules"]["parameters"] if one["name"] == "page_size")
    assert size == {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}
    statuses = [api.get(f"rules/?page_size={n}").status_code for n in (0, 1, 1000, 1001)]
    assert statuses == [400, 200, 200, 400]


def test_names_are_called_names_and_what_is_to_go_is_marked(make, api):
    benchmark = make.published(name="Toy board")
    board = api.get(f"benchmarks/{benchmark.key}/board/").json()
    assert (board["benchmark_key"], board["benchmark_name"], board["benchmark"]) == (
        benchmark.key,
        "Toy board",
        "Toy board",
    )
    head = api.get(f"benchmarks/{benchmark.key}/").json()
    names = {answer[field] for answer in (board, head) for field in ("condorcet_winner", "condorcet_winner_name")}
    assert len(names) == 1
    schemas = components()
    marked = {
        (shape, field)
        for shape, about in schemas.items()
        for field, of_field in about.get("properties", {}).items()
        if of_field.get("deprecated")
    }
    assert marked == {
        ("BoardDetail", "benchmark"),
        ("BoardDetail", "condorcet_winner"),
        ("BenchmarkDetail", "condorcet_winner"),
        ("HostedBenchmark", "condorcet_winner"),
        ("ImportSystem", "system"),
        ("MetaBoard", "winners"),
        ("PreviewedRule", "winners_after"),
        ("PreviewedRule", "winners_before"),
    }


def test_every_operation_answers_with_one_type():
    kinds = {
        name: {
            "json" if kind == "application/json" else "file"
            for status, answer in operation["responses"].items()
            if status.startswith("2")
            for kind in answer.get("content", {})
        }
        for name, operation in operations().items()
    }
    of_files = {name for name, kind in kinds.items() if kind == {"file"}}
    assert {name for name, kind in kinds.items() if len(kind) != 1} == set()
    as_they_are = {"folder", "evaluated_predictions"}
    assert of_files == as_they_are | {name for name in kinds if name.endswith("_file")}
    assert len(of_files) == 21
    assert {one["name"] for one in operations()["scores"]["parameters"]} == {"key", "revision", "cursor", "page_size"}
    assert {one["name"] for one in operations()["scores_file"]["parameters"]} == {"key", "revision", "format", "long"}


@pytest.fixture(scope="module")
def key(make_once):
    """That of a published board, which is on no list."""
    return make_once.published(visibility="unlisted").key


@pytest.mark.parametrize("path", ["scores/", "rankings/borda/", "board/", "tasks/", "head-to-head/?a=a&b=b"])
def test_an_address_of_files_has_the_same_file_and_no_json(key, make, api, path):
    mark = "&" if "?" in path else "?"
    same = api.get(f"benchmarks/{key}/{path}{mark}format=csv")
    answer = api.get(f"files/benchmarks/{key}/{path}")
    assert (answer.status_code, answer["Content-Type"]) == (200, "text/csv; charset=utf-8")
    assert answer.getvalue() == same.getvalue()
    markdown = api.get(f"files/benchmarks/{key}/{path}{mark}format=md")
    assert markdown["Content-Type"] == "text/markdown; charset=utf-8"
    assert api.get(f"files/benchmarks/{key}/{path}{mark}format=json").status_code == 406
    assert api.get(f"files/benchmarks/{key}/{path}", Accept="application/json").status_code == 406


def test_addresses_of_files_are_only_read_and_other_routes_have_none(key, make, api):
    assert api.call("OPTIONS", f"files/benchmarks/{key}/rankings/borda/")["Allow"] == "GET, HEAD"
    assert api.post(f"files/benchmarks/{key}/rankings/borda/", {"weights": {}}).status_code >= 400
    assert api.get(f"files/benchmarks/{key}/revisions/").status_code == 404


def test_examples_are_of_one_benchmark_that_everyone_can_read_or_there_are_none(make, client):
    def examples():
        paths = client.get("/api/v1/schema/?format=json").json()["paths"]
        operations = [one for methods in paths.values() for one in methods.values()]
        given = [one for operation in operations for one in operation.get("parameters", ()) if "example" in one]
        return {one["name"]: one["example"] for one in given}

    make.published(visibility="unlisted")
    make.published(score_view="own")
    make.benchmark(name="Nothing is published here")
    assert examples() == {"study": "missing_scores"}
    benchmark = make.published()
    here = {"key": benchmark.key, "number": 1, "rule": benchmark.default_rule, "system_key": "a", "task": "task-1"}
    assert examples() == here | {"study": "missing_scores"}
    schema = client.get("/api/v1/schema/?format=json").json()
    assert schema["servers"] == [{"url": "http://testserver"}]
    statuses = {}
    for template, methods in schema["paths"].items():
        parameters = methods.get("get", {}).get("parameters", ())
        places = {one["name"]: one["example"] for one in parameters if "example" in one}
        if set(places) == set(re.findall(r"{(\w+)}", template)) and not {"task", "number"} & set(places):
            query = {one["name"]: "a" for one in parameters if one.get("required") and one["in"] == "query"}
            statuses[template] = client.get(template.format(**places), query).status_code if places else 200
    assert len(statuses) > 40
    assert {template for template, status in statuses.items() if status not in (200, 400, 401)} == set()
