"""What pages show of pairs, revisions and single instances, by the API: against the toy, counted out by hand."""

import csv
import io
import zipfile
from copy import deepcopy
from itertools import combinations, permutations

import pytest
from django.test import override_settings

from jobs.runner import run_job
from leaderboard.accounts.tokens import create_token
from leaderboard.benchmarks.folders import import_folder
from leaderboard.models import Job
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.score_matrix import input_hash, revision_matrix
from leaderboard.submissions.uploads import Upload, submit_upload
from tests.factories import TOY, TOY_ORDERS
from tests.leaderboard.api.conftest import error_of
from tests.leaderboard.api.generated_client import GeneratedClient

FILES = ("csv", "tex", "md")


@pytest.fixture(scope="module")
def toy(make_once):
    return make_once.published()


@pytest.fixture
def benchmark(toy, make):
    return deepcopy(toy)


def shares(first: str, second: str) -> tuple[float, float]:
    """On how much of the toy's weight either of two systems is ahead."""
    ahead = sum(order.index(first) < order.index(second) for order in TOY_ORDERS)
    return ahead / 5, (5 - ahead) / 5


def test_margins_are_those_of_the_orders_page_by_page(benchmark, api):
    path = f"benchmarks/{benchmark.key}/margins/"
    first = api.get(path, {"page_size": 3}).json()
    second = api.get(first["next"]).json()
    rows = first["results"] + second["results"]
    assert ([row["name"] for row in rows], second["next"]) == (list("ABCD"), None)
    margins = {
        (row["name"], rival["name"]): (rival["ahead"], rival["behind"]) for row in rows for rival in row["rivals"]
    }
    assert margins == {pair: shares(*pair) for pair in permutations("ABCD", 2)}
    beaten = {row["name"]: sum(shares(row["name"], other)[0] > 0.5 for other in TOY if other != row["name"])
              for row in rows}  # fmt: skip
    assert {row["name"]: row["n_beaten"] for row in rows} == beaten
    assert [row["name"] for row in api.get(path, {"system": "b"}).json()["results"]] == ["B"]


def test_two_systems_are_held_against_each_other_task_by_task(benchmark, api):
    path = f"benchmarks/{benchmark.key}/head-to-head/"
    comparison = api.get(path, {"a": "b", "b": "d"}).json()
    ahead = ["first" if order.index("B") < order.index("D") else "second" for order in TOY_ORDERS]
    rows = [[task[name] for name in ("task", "first", "second", "ahead", "weight")] for task in comparison["tasks"]]
    assert rows == [[f"task-{t + 1}", TOY["B"][t], TOY["D"][t], ahead[t], 0.2] for t in range(5)]
    assert (comparison["ahead"], comparison["behind"]) == pytest.approx(shares("B", "D"))
    assert {rank["rule"]: (rank["first"], rank["second"]) for rank in comparison["ranks"]}["copeland"] == (1, 3)
    for wrong, status in [({}, 400), ({"a": "b"}, 400), ({"a": "b", "b": "b"}, 400), ({"a": "b", "b": "x"}, 404)]:
        assert error_of(api.get(path, wrong))["status"] == status


def test_who_can_be_told_apart_and_in_which_runs(make, api):
    """Systems 0 to 3 with 10 tasks apart by far: neighbours are separable; equal ones on five tasks never are."""
    spread = {name: [10.0 * k + 0.1 * t for t in range(10)] for k, name in enumerate("ABCD")}
    benchmark = make.published(spread | {"E": [30.1 + 0.1 * (t if t % 2 else -t) for t in range(10)]})
    with override_settings(JOB_LEASE_SECONDS=600):
        run_job(Job.objects.get(benchmark=benchmark, kind="significance").pk, worker="test")
    separability = api.get(f"benchmarks/{benchmark.key}/separability/", {"rule": "mean"}).json()
    pairs = {(test["first"], test["second"]): test["is_separable"] for test in separability["results"]}
    assert {frozenset(pair): is_separable for pair, is_separable in pairs.items()} == {
        frozenset("de"): False, frozenset("ac" if ("c", "a") in pairs else "bc"): True, frozenset("ab"): True,
        **{frozenset(pair): True for pair in pairs if set(pair) & {"d", "e"} and set(pair) & {"c"}},
    }  # fmt: skip
    assert (separability["status"], separability["n_clusters"], [set(run) for run in separability["runs"]]) == (
        "there",
        10,
        [{"d", "e"}],
    )
    assert separability["neighbours"]["n_separable"] == sum(pairs.values()) == 3


def test_the_agreement_of_rules_is_symmetric_and_one_with_itself(benchmark, api):
    agreement = api.get(f"benchmarks/{benchmark.key}/agreement/").json()
    taus = {row["rule"]: row["kendall_tau"] for row in agreement["results"]}
    assert agreement["reference"] == benchmark.default_rule == agreement["results"][0]["rule"]
    assert all(taus[first][second] == taus[second][first] for first, second in combinations(taus, 2))
    rankings = [api.get(f"benchmarks/{benchmark.key}/rankings/{rule}/").json() for rule in ("mean", "copeland")]
    mean, copeland = ({row["name"]: row["rank"] for row in ranking["results"]} for ranking in rankings)
    signs = [(mean[i] - mean[j]) * (copeland[i] - copeland[j]) for i, j in combinations("ABCD", 2)]
    assert taus["mean"]["copeland"] == pytest.approx(sum((s > 0) - (s < 0) for s in signs) / len(signs))


def test_two_revisions_and_the_way_of_a_rank(benchmark, make, api):
    make.accepted(benchmark, {"E": [9.0] * 5, "A": [0.5, 4.0, 1.0, 1.0, None]})
    benchmark = make.publish(benchmark)
    changes = api.get(f"benchmarks/{benchmark.key}/revisions/2/changes/", {"rule": "copeland"}).json()
    assert (changes["since"], changes["revision"], changes["joined"], changes["left"]) == (1, 2, ["E"], [])
    assert [(c["task"], c["before"], c["after"], c["after_missing"]) for c in changes["scores"]] == [
        ("task-1", 4.0, 0.5, None), ("task-5", 1.0, None, "not_reported"),
    ]  # fmt: skip
    history = api.get(f"benchmarks/{benchmark.key}/systems/b/history/", {"rule": "copeland"}).json()["results"]
    assert [then["rank"] for then in history] == [1, 2]
    moved = {row["name"]: (row["before"], row["after"]) for row in changes["ranks"]}
    assert (moved["B"], moved["E"]) == ((1, 2), (None, 1))
    assert changes == api.get(f"benchmarks/{benchmark.key}/revisions/1/changes/?since=2&rule=copeland").json()
    for wrong, status in [("2/changes/?since=9", 404), ("2/changes/?since=x", 400), ("2/changes/?rule=x", 404)]:
        assert error_of(api.get(f"benchmarks/{benchmark.key}/revisions/{wrong}"))["status"] == status


def test_the_board_is_that_of_the_page_with_its_verdict(benchmark, api, client):
    query = "rule=mean&rule=plurality&reference=copeland&sort=-mean"
    board = api.get(f"benchmarks/{benchmark.key}/board/?{query}&page_size=3").json()
    rest = api.get(board["next"]).json()
    page = client.get(f"/b/{benchmark.key}/board.json?{query}").json()
    assert board["systems"] + rest["systems"] == page["systems"]
    assert (board["rules"], rest["next"]) == (page["rules"], None)
    body = client.get(f"/b/{benchmark.key}/").content.decode()
    assert board["verdict"] in body
    assert board["verdict"] == api.get(f"benchmarks/{benchmark.key}/rankings/").json()["verdict"]
    for kind in FILES:
        file = api.get(f"benchmarks/{benchmark.key}/board/?{query}&format={kind}")
        assert file.content == client.get(f"/b/{benchmark.key}/board.{kind}?{query}").content


def test_scores_of_single_instances_come_back_as_they_were_sent(make, api):
    benchmark = make.benchmark({}, n_tasks=2)
    table = "system,task,instance,score\nAda,Task 1,a,1.0\nAda,Task 1,b,0.25\nBob,Task 1,a,\nBob,Task 1,b,0.5\n"
    owner = benchmark.memberships.get(role="owner").user
    submit_upload(benchmark, owner, Upload(table=table.encode(), is_of_instances=True, creates_systems=True))
    benchmark = make.publish(benchmark)
    path = f"benchmarks/{benchmark.key}/instances/task-1/"
    answer = api.get(path, {"page_size": 1}).json()
    rest = api.get(answer["next"]).json()
    assert (answer["instances"], rest["next"]) == (["a", "b"], None)
    assert [row["scores"] for row in answer["results"] + rest["results"]] == [[1.0, 0.25], [None, 0.5]]
    assert api.get(f"{path}?format=csv").content.decode() == table
    assert api.get(f"benchmarks/{benchmark.key}/instances/task-2/").json()["results"] == []
    assert error_of(api.get(f"benchmarks/{benchmark.key}/instances/task-9/"))["status"] == 404


def test_the_folder_of_the_api_imports_again_to_the_hash_that_it_names(make, api, tmp_path):
    benchmark = make.published({"A": [0.1 + 0.2, None], "B": [1e-17, 3.0]})
    response = api.get(f"benchmarks/{benchmark.key}/folder/")
    with zipfile.ZipFile(io.BytesIO(response.content)) as packed:
        packed.extractall(tmp_path)
    copy = import_folder(tmp_path / benchmark.key, owner=make.user(), key="copy")
    revision = copy.revisions.select_related("configuration").get()
    again = input_hash(revision_matrix(revision), configuration_of(revision))
    assert again == api.get(f"benchmarks/{benchmark.key}/").json()["input_hash"]
    assert api.get(f"benchmarks/{benchmark.key}/folder/", If_None_Match=response["ETag"]).status_code == 304


def test_every_list_is_a_table_in_three_formats_and_json_is_the_only_answer_to_a_write(benchmark, api):
    here = f"benchmarks/{benchmark.key}/"
    paths = ["tasks/", "systems/", "margins/", "separability/", "agreement/", "prospects/", "studies/",
             "head-to-head/?a=a&b=b", "revisions/1/changes/", "systems/a/history/"]  # fmt: skip
    for path in [*(f"{here}{path}" for path in paths), "rules/"]:
        for kind, media_type in zip(FILES, ("text/csv", "application/x-tex", "text/markdown"), strict=True):
            address = f"{path}{'&' if '?' in path else '?'}format={kind}"
            response = api.get(address)
            assert (response.status_code, response["Content-Type"]) == (200, f"{media_type}; charset=utf-8"), address
            assert response.content == api.get(path, Accept=media_type).content
            assert api.get(address, If_None_Match=response["ETag"]).status_code == 304
    rows = list(csv.DictReader(io.StringIO(api.get(f"{here}tasks/?format=csv").content.decode())))
    assert [(row["key"], row["weight"]) for row in rows] == [(f"task-{t}", "1") for t in range(1, 6)]
    refused = api.post(f"{here}rankings/borda/", {"weights": {"task-1": 3}}, query="format=csv")
    assert error_of(refused)["code"] == "not_acceptable"


def test_every_route_that_writes_has_an_example_in_the_schema(schema):
    bare = {
        f"{method} {path}"
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
        for kind, body in operation.get("requestBody", {}).get("content", {}).items()
        if kind == "application/json" and not body.get("examples") and "example" not in body
    }
    assert bare == set()


def test_a_client_made_from_the_schema_asks_for_all_of_it(benchmark, schema):
    _, secret = create_token(benchmark.memberships.get().user, name="t", scopes=["read", "submit"], days=30)
    client, key = GeneratedClient(schema, secret), benchmark.key
    board = client.board(key=key, reference="copeland", sort="-mean", ties="average")
    assert [row["name"] for row in board["systems"]] == list("ADCB")
    assert client.margins(key=key, system="b")["results"][0]["n_beaten"] == 3
    assert client.head_to_head(key=key, a="b", b="d")["first"] == {"system": "b", "name": "B"}
    assert client.separability(key=key, rule="mean")["rule"] == "mean"
    assert client.agreement(key=key)["reference"] == benchmark.default_rule
    assert client.changes(key=key, number=1)["ranks"] == []
    assert client.system_history(key=key, system_key="b")["results"] == [{"revision": 1, "rank": 1}]
    assert client.instance_scores(key=key, task="task-1")["instances"] == []
    table = {"name": "more.csv", "text": "system,Task 1,Task 2\nNew,2,3\n"}
    answer = client.import_results({"files": [table], "create_systems": True}, key=key, dry_run=True)
    assert [column["assigned"] for column in answer["columns"]] == ["Task 1", "Task 2"]
    assert answer["preview"]["systems"] == [{"system": None, "name": "New", "is_new": True}]


def test_the_schema_is_not_sent_to_whoever_has_it(db, client):
    first = client.get("/api/v1/schema/")
    again = client.get("/api/v1/schema/", headers={"If-None-Match": first["ETag"]})
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
    assert client.get("/api/v1/schema/?format=json")["ETag"] != first["ETag"]
