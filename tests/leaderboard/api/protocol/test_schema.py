"""What the schema states of bodies, bounds and names is what the server does."""

from drf_spectacular.generators import SchemaGenerator

from tests.leaderboard.api.conftest import error_of


def components():
    return SchemaGenerator().get_schema(request=None, public=True)["components"]["schemas"]


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
    parameters = SchemaGenerator().get_schema(request=None, public=True)["paths"]["/api/v1/rules/"]["get"]["parameters"]
    size = next(one["schema"] for one in parameters if one["name"] == "page_size")
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
        for shape in ("BoardDetail", "BenchmarkDetail")
        for field, about in schemas[shape]["properties"].items()
        if about.get("deprecated")
    }
    assert marked == {
        ("BoardDetail", "benchmark"),
        ("BoardDetail", "condorcet_winner"),
        ("BenchmarkDetail", "condorcet_winner"),
    }
