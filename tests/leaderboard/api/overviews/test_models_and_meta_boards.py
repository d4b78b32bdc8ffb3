"""Models and meta-boards by the API: the figures of their pages, and writes that are whole."""

import pytest
from django.contrib.auth.models import AnonymousUser

from leaderboard.accounts.tokens import create_token
from leaderboard.benchmarks.identities.links import MAX_LINKS
from leaderboard.explore.identities.page import model_page
from leaderboard.models import AuditEntry, MetaBoard, ModelIdentity
from ranking_engine import ScoreMatrix, rank
from ranking_engine.core.benchmark_agreement import benchmark_agreement
from ranking_engine.core.decimals import finite_or_none
from tests.factories import owner_of

TABLES = {
    "first": {"Ada": [9.0], "Bob": [8.0], "Cleo": [7.0]},
    "second": {"Ada": [1.0], "Bob": [3.0], "Cleo": [2.0]},
    "third": {"Ada": [4.0], "Bob": [5.0], "Cleo": [6.0]},
}
SHARES = [[1.0, 0.0, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]  # of Ada, Bob and Cleo on each


@pytest.fixture(scope="module")
def owner(make_once):
    """Who has the three boards."""
    owner = make_once.user("owner")
    for key, table in TABLES.items():
        make_once.published(table, name=key.capitalize(), key=key, n_tasks=1, owner=owner)
    return owner


@pytest.fixture
def owned(owner, make):
    """A token of theirs."""
    _, secret = create_token(owner, name="t", scopes=["read", "manage"], days=30)
    return {"headers": {"Authorization": f"Token {secret}"}, "content_type": "application/json"}


def test_systems_are_linked_told_and_read_over_all_boards(owned, client, django_assert_num_queries):
    path = "/api/v1/benchmarks/first/models/"
    proposals = client.get(path, headers=owned["headers"]).json()["proposals"]
    others = [{"benchmark": key, "system": "ada", "name": "Ada"} for key in ("second", "third")]
    assert proposals[0] == {
        "system": "ada", "model": "new", "others": others, "reasons": ["the same name"], "differing": [],
    }  # fmt: skip
    body = {"links": {"ada": "new"}, "reason": "It is Ada."}
    dry = client.patch(f"{path}?dry_run=true", body, **owned)
    assert dry.json() == {"changes": [{"system": "ada", "before": "", "after": "new"}]}
    assert not ModelIdentity.objects.exists()
    assert client.patch(path, body, **owned).json()["changes"][0]["after"] == "ada"
    client.patch("/api/v1/benchmarks/second/models/", {"links": {"ada": "ada"}}, **owned)
    assert AuditEntry.objects.filter(field="model").count() == 2
    content = client.get(path, headers=owned["headers"]).json()
    assert (content["links"], content["n_links"]) == ([{"system": "ada", "model": "ada"}], 1)
    model = client.get("/api/v1/models/ada/?rule=borda").json()
    page = model_page(AnonymousUser(), "ada", rule="borda")
    assert [(one["benchmark"], one["rank"]) for one in model["boards"]] == [("first", 1), ("second", 3)]
    assert [(kind["kind"], kind["below"]) for kind in model["strengths"]] == [
        (one.name, one.below) for one in page.kinds
    ]
    with django_assert_num_queries(2 + 2):
        client.get("/api/v1/models/ada/")
    client.patch(path, {"links": {"ada": None}}, **owned)
    assert [one["benchmark"] for one in client.get("/api/v1/models/ada/").json()["boards"]] == ["second"]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"links": {f"s{k}": "new" for k in range(MAX_LINKS + 1)}}, "links"),
        ({"links": {"ada": 1}}, "links.ada"),
        ({"links": {"ada": "x" * 81}}, "links.ada"),
        ({"links": ["ada"]}, "links"),
        ({"links": {"nothing": "new"}}, "links"),
        ({"links": {"ada": "nothing"}}, "links"),
        ({}, "links"),
    ],
)
def test_links_that_cannot_be_are_refused_with_their_place(owned, client, body, place):
    answer = client.patch("/api/v1/benchmarks/first/models/", body, **owned)
    assert answer.status_code == 400
    assert answer.json()["error"]["details"][0]["place"] == place
    assert not ModelIdentity.objects.exists()


def test_a_meta_board_is_saved_read_changed_and_deleted(owned, client, django_assert_num_queries):
    body = {"name": "All", "benchmarks": list(TABLES), "default_rule": "mean"}
    dry = client.post("/api/v1/meta-boards/?dry_run=true", body, **owned)
    assert (dry.status_code, MetaBoard.objects.count()) == (200, 0)
    assert client.post("/api/v1/meta-boards/", body, **owned).status_code == 201
    assert [one["key"] for one in client.get("/api/v1/meta-boards/").json()["results"]] == ["all"]
    content = client.get("/api/v1/meta-boards/all/").json()
    expected = rank(ScoreMatrix(SHARES, system_names=["Ada", "Bob", "Cleo"]), "mean").ranks.tolist()
    assert {one["name"]: one["rank"] for one in content["systems"]} == dict(
        zip(("Ada", "Bob", "Cleo"), expected, strict=True)
    )
    assert content["systems"][0]["ranks"] == {"first": 2, "second": 1, "third": 2}
    agreement = benchmark_agreement(SHARES)
    assert [(one["benchmark"], one["kendall"]["mean"], one["pearson"]["z"]) for one in content["benchmarks"]] == [
        (key, finite_or_none(one.kendall.mean), finite_or_none(one.pearson.z))
        for key, one in zip(TABLES, agreement, strict=True)
    ]
    assert [(one["n_subsets"], one["kendall"]["n_undefined"]) for one in content["benchmarks"]] == [
        (one.n_subsets, one.kendall.n_undefined) for one in agreement
    ]
    with django_assert_num_queries(2 + 2 + 2 * 3):  # the board; the benchmarks and what they linked; each one
        client.get("/api/v1/meta-boards/all/")
    assert client.patch("/api/v1/meta-boards/all/", {"benchmarks": ["first", "third"]}, **owned).status_code == 200
    assert [one["benchmark"] for one in client.get("/api/v1/meta-boards/all/").json()["benchmarks"]] == [
        "first",
        "third",
    ]
    wrong = client.patch("/api/v1/meta-boards/all/", {"benchmarks": ["first"] * 13}, **owned)
    assert (wrong.status_code, wrong.json()["error"]["details"][0]["place"]) == (400, "benchmarks")
    assert client.get("/api/v1/meta-boards/all/?reference=nothing").status_code == 400
    assert client.post("/api/v1/meta-boards/all/delete/", {}, **owned).json() == {"deleted": "all"}
    assert not MetaBoard.objects.exists()


def test_deletion_by_a_person_who_did_not_save_it_changes_nothing(owned, make, client):
    client.post("/api/v1/meta-boards/", {"name": "All", "benchmarks": list(TABLES)}, **owned)
    _, secret = create_token(make.user(), name="t", scopes=["read", "manage"], days=30)
    answer = client.post("/api/v1/meta-boards/all/delete/", headers={"Authorization": f"Token {secret}"})
    assert (answer.status_code, MetaBoard.objects.count()) == (403, 1)
    assert owner_of(MetaBoard.objects.get().benchmarks.first()) == MetaBoard.objects.get().author


def test_the_list_of_meta_boards_comes_in_pages(owned, client):
    for name in ("Beta", "Alpha", "Gamma"):
        client.post("/api/v1/meta-boards/", {"name": name, "benchmarks": list(TABLES)}, **owned)
    first = client.get("/api/v1/meta-boards/?page_size=2").json()
    assert ([one["key"] for one in first["results"]], first["count"]) == (["alpha", "beta"], 3)
    last = client.get(first["next"]).json()
    assert ([one["key"] for one in last["results"]], last["next"]) == (["gamma"], None)
    assert client.get("/api/v1/meta-boards/?page_size=1001").status_code == 400


def test_staff_delete_the_public_meta_board_of_another_person(owned, make, client):
    client.post("/api/v1/meta-boards/", {"name": "All", "benchmarks": list(TABLES)}, **owned)
    _, secret = create_token(make.user(is_staff=True), name="t", scopes=["read", "manage"], days=30)
    answer = client.post("/api/v1/meta-boards/all/delete/", headers={"Authorization": f"Token {secret}"})
    assert (answer.json(), MetaBoard.objects.count()) == ({"deleted": "all"}, 0)
