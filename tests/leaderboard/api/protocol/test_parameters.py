"""Parameters that a route does not have are refused, so that no slip of the pen is answered as if it were not there."""

import pytest
from django.utils import timezone

from ranking_engine import RULES
from tests.factories import TOY
from tests.leaderboard.api.conftest import error_of


def test_a_slip_of_the_pen_is_refused_with_the_nearest_name(make, api):
    benchmark = make.published()
    answer = error_of(api.get(f"benchmarks/{benchmark.key}/rankings/?mising=median"))
    assert answer == {
        "status": 400,
        "code": "unknown_parameter",
        "message": "`mising`: there is no such parameter; did you mean `missing`? "
        "There are: aggregation, format, group_weights, missing, revision, weights.",
        "details": [{"parameter": "mising", "message": "there is no such parameter; did you mean `missing`?"}],
    }


@pytest.mark.parametrize(
    ("path", "near"),
    [("benchmarks/?serach=x", "search"), ("rules/?pagesize=2", "page_size"), ("me/?formt=json", "format")],
)
def test_every_route_refuses_them(make, api, path, near):
    assert f"did you mean `{near}`?" in error_of(api.as_user(make.user()).get(path))["message"]


def test_the_schema_and_its_page_refuse_them_too(db, client):
    assert [client.get(path).status_code for path in ("/api/v1/schema/?formt=json", "/api/docs/?x=1")] == [400, 400]


def test_a_write_with_one_stores_nothing(make, submitter):
    benchmark = make.benchmark()
    before = benchmark.batches.count()
    body = {"systems": [{"name": "E", "scores": {"Task 1": 1}}], "create_systems": True}
    answer = error_of(submitter.post(f"benchmarks/{benchmark.key}/submissions/", body, query="dryrun=true"))
    assert (answer["status"], answer["details"][0]["message"]) == (
        400,
        "there is no such parameter; did you mean `dry_run`?",
    )
    assert benchmark.batches.count() == before


def test_of_many_long_ones_few_are_told_and_shortly(db, api):
    query = "&".join(f"{'x' * 500}{i}=1" for i in range(900))
    answer = api.get(f"rules/?{query}")
    assert (answer.status_code, len(answer.json()["error"]["details"])) == (400, 5)
    assert len(answer.content) < 1000


def test_a_private_benchmark_says_no_more_of_them_than_one_that_does_not_exist(make, api):
    benchmark = make.published(visibility="private")
    there, nowhere = (api.get(f"benchmarks/{key}/scores/?x=1") for key in (benchmark.key, "no-such-benchmark"))
    assert (there.status_code, there.content) == (nowhere.status_code, nowhere.content) == (400, there.content)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("scores/?page_size=0", "page_size"), ("scores/?cursor=x", "cursor"), ("scores/?revision=1.0", "revision"),
        ("scores/?format=md&long=true", "long"), ("revisions/?updated_since=x", "updated_since"),
        ("rankings/?weights=task-1:-1", "weights"), ("rankings/?group_weights=none:1", "group_weights"),
        ("rankings/?missing=all", "missing"), ("rankings/borda/?top=x", "top"), ("agreement/?top=0", "top"),
        ("agreement/?least=0", "least"), ("revisions/1/changes/?since=x", "since"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_refused_with_the_name_of_its_parameter(make, api, path, name):
    error = error_of(api.get(f"benchmarks/{make.published().key}/{path}"))
    assert (error["status"], error["details"]) == (400, [{"parameter": name, "message": error["message"]}])


# --- What the parameters that several lists share mean ----------------------------------------------------------------


def test_q_finds_by_name_and_by_key_and_search_is_to_go(make, api):
    make.benchmark(name="Reading")
    make.benchmark(name="Counting", key="xyz-17")
    names = {
        query: [row["name"] for row in api.get(f"benchmarks/?{query}").json()["results"]]
        for query in ("q=READ", "q=xyz", "search=read", "q=count&search=read", "q=none")
    }
    assert names == {
        "q=READ": ["Reading"],
        "q=xyz": ["Counting"],
        "search=read": ["Reading"],
        "q=count&search=read": ["Counting"],
        "q=none": [],
    }
    assert api.get("benchmarks/?search=read")["Deprecation"] == "@1795392000"
    assert not api.get("benchmarks/?q=read").has_header("Deprecation")


def test_lists_say_how_many_entries_all_pages_have(make, api):
    benchmark = make.published()
    owner = api.as_user(benchmark.memberships.get().user)
    paths = ["tasks/", "systems/", "scores/", "rankings/borda/", "board/", "prospects/", "margins/", "revisions/"]
    paths += ["releases/", "experiments/", "people/", "queue/"]
    answers = {path: owner.get(f"benchmarks/{benchmark.key}/{path}", {"page_size": 1}).json() for path in paths}
    n_systems, n_tasks = len(TOY), len(TOY["A"])
    expected = dict.fromkeys(paths, n_systems) | {"tasks/": n_tasks, "revisions/": 1, "people/": 1}
    expected |= dict.fromkeys(["releases/", "experiments/", "queue/", "prospects/"], 0)
    assert {path: answer["count"] for path, answer in answers.items()} == expected
    lists = {path: api.get(path, {"page_size": 1}).json() for path in ("benchmarks/", "rules/", "landscape/")}
    assert {path: answer["count"] for path, answer in lists.items()} == {
        "benchmarks/": 1,
        "rules/": len(RULES),
        "landscape/": 1,
    }


def test_only_benchmarks_and_revisions_that_changed_since(make, api):
    old, new = make.published(), make.published()
    since = {"updated_since": timezone.now().isoformat()}
    make.accepted(new, {"E": [9.0] * 5})
    make.publish(new)
    assert [row["key"] for row in api.get("benchmarks/", since).json()["results"]] == [new.key]
    numbers = [
        [row["revision"] for row in api.get(f"benchmarks/{one.key}/revisions/", since).json()["results"]]
        for one in (old, new)
    ]
    assert numbers == [[], [2]]
