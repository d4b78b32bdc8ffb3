"""Folders in git forges: told by the shape of an address, listed in pages, their files fetched as any others."""

import json

import pytest
from django.utils import timezone

from leaderboard.models import Benchmark, Fetch, FollowedAddress
from leaderboard.notifications.posting import read_address
from leaderboard.submissions.following.addresses import follow_address
from leaderboard.submissions.following.contents import file_name
from leaderboard.submissions.following.forges import folder_listing
from leaderboard.submissions.following.rounds import fetch_due_addresses
from tests.factories import owner_of
from tests.leaderboard.notifications.served import served

PROJECT = "/api/v4/projects/lab%2Fnlp%2Fscores"
TREE = f"{PROJECT}/repository/tree?path=results%2F2026&ref=main"


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with served(tmp_path_factory.mktemp("served")) as server:
        yield server


@pytest.fixture
def server(settings, running):
    settings.WEBHOOKS_INSIDE = True
    running.forget()
    return running


@pytest.fixture(scope="module")
def made(make_once):
    return make_once.benchmark({"A": [1.0, 2.0], "B": [2.0, 1.0]}).pk


@pytest.fixture
def board(made, make):
    return Benchmark.objects.get(pk=made)


def fetched(board, address) -> Fetch:
    """What came of the first fetch of an address that lists files."""
    follow_address(board, author=owner_of(board), address=address, kind="list", every_minutes=60, creates_systems=True)
    fetch_due_addresses()
    return Fetch.objects.get()


def again() -> Fetch:
    FollowedAddress.objects.update(next_at=timezone.now())
    fetch_due_addresses()
    return Fetch.objects.latest("pk")


def blob(path: str, **fields) -> dict[str, str]:
    return {"id": "a1", "name": path.rpartition("/")[2], "type": "blob", "path": path, "mode": "100644"} | fields


def raw(path: str, ref: str = "main") -> str:
    return f"{PROJECT}/repository/files/{path.replace('/', '%2F').replace(' ', '%20')}/raw?ref={ref}"


@pytest.mark.parametrize(
    ("page", "listing"),
    [
        (
            "https://github.com/lab/scores/tree/main/results/2026",
            "https://api.github.com/repos/lab/scores/contents/results/2026?ref=main",
        ),
        ("https://github.com/lab/scores/tree/v1", "https://api.github.com/repos/lab/scores/contents/?ref=v1"),
        (
            "https://gitlab.com/lab/nlp/scores/-/tree/main/results/2026?ref_type=heads",
            f"https://gitlab.com{TREE}",
        ),
        (
            "https://git.lab.example:8443/lab/scores/-/tree/a%26b/my%20results/",
            "https://git.lab.example:8443/api/v4/projects/lab%2Fscores/repository/tree?path=my%20results&ref=a%26b",
        ),
        ("https://gitlab.com/lab/scores/-/tree/main", "https://gitlab.com/api/v4/projects/lab%2Fscores/repository/tree?path=&ref=main"),
        (
            "https://codeberg.org/lab/scores/src/branch/main/results",
            "https://codeberg.org/api/v1/repos/lab/scores/contents/results?ref=main",
        ),
        (
            "https://lab.example/git/lab/scores/src/tag/v1/results",
            "https://lab.example/git/api/v1/repos/lab/scores/contents/results?ref=v1",
        ),
    ],
)  # fmt: skip
def test_the_page_of_a_folder_leads_to_its_list_in_the_api(page, listing):
    assert folder_listing(page) == listing
    read_address(listing)  # it can be fetched


@pytest.mark.parametrize(
    "address",
    [
        "https://api.github.com/repos/lab/scores/contents/results?ref=main", f"https://gitlab.com{TREE}",
        "https://lab.example/lab/scores/tree/main/results", "https://github.com/lab/scores/blob/main/scores.csv",
        "https://gitlab.com/scores/-/tree/main", "https://lab.example/list.json", "https://lab.example",
    ],
)  # fmt: skip
def test_any_other_address_stays_as_it_is(address):
    assert folder_listing(address) == address


def test_a_file_of_gitlab_is_called_as_in_the_repository():
    assert file_name(f"https://gitlab.com{raw('results/2026/my scores.csv')}") == "my scores.csv"
    assert file_name("https://lab.example/files/a/raw") == "raw"


def test_a_folder_of_gitlab_is_read_in_all_its_pages(board, server):
    others = [blob(f"results/2026/old/{n}", type="tree", mode="040000") for n in range(98)]
    first = [*others, blob("results/2026/one.csv"), blob("results/2026/link.csv", mode="120000")]
    server.put(f"{TREE}&per_page=100&page=1", json.dumps(first))
    server.put(f"{TREE}&per_page=100&page=2", json.dumps([blob("results/2026/my two.csv")]))
    server.put(raw("results/2026/one.csv"), "system,Task 1\nC,3\n", etag='"1"')
    server.put(raw("results/2026/my two.csv"), "system,Task 2\nC,4\n", etag='"2"')
    fetch = fetched(board, f"{server.url}/lab/nlp/scores/-/tree/main/results/2026")
    assert (fetch.outcome, fetch.error, fetch.n_new) == ("draft", "", 1)
    assert [request["path"] for request in server.requests] == [
        f"{TREE}&per_page=100&page=1", f"{TREE}&per_page=100&page=2",
        raw("results/2026/one.csv"), raw("results/2026/my two.csv"),
    ]  # fmt: skip
    fetch = again()
    assert (fetch.outcome, fetch.status_code) == ("unchanged", 304)  # the files are asked for with their ETags
    assert [request["headers"].get("If-None-Match") for request in server.requests[-2:]] == ['"1"', '"2"']


def test_the_list_in_gitlabs_own_api_is_followed_too(board, server):
    listing = f"{PROJECT}/repository/tree?recursive=true"
    server.put(f"{listing}&per_page=100&page=1", json.dumps([blob("one.csv")]))
    server.put(raw("one.csv", "HEAD"), "system,Task 1\nC,3\n")
    assert fetched(board, f"{server.url}{listing}&per_page=5&page=7").outcome == "draft"


def test_a_folder_of_forgejo_is_followed_by_its_page(board, server):
    file = server.put("/lab/scores/raw/branch/main/results/one.csv", "system,Task 1\nC,3\n")
    entries = [{"type": "file", "name": "one.csv", "path": "results/one.csv", "download_url": file}]
    entries += [{"type": "dir", "path": "results/old", "download_url": None}]
    server.put("/api/v1/repos/lab/scores/contents/results?ref=main", json.dumps(entries))
    assert fetched(board, f"{server.url}/lab/scores/src/branch/main/results").outcome == "draft"


@pytest.mark.parametrize(
    ("entries", "error"),
    [
        ([blob("")] * 100, "The folder has more than 1,000 entries."),
        ([blob(f"{n}.csv") for n in range(99)] + [blob("x" * 600)],
         "The folder has more than 1,000 entries."),
        ([blob("x" * 600)], "The URL can have at most 500 characters, and only ASCII after the host name."),
        ([blob("\ud800")], "Entry 1 of the list is no URL."),
        ([{"type": "blob", "path": 7}], "Entry 1 of the list is neither a URL nor an object with a download_url."),
        ([None], "Entry 1 of the list is neither a URL nor an object with a download_url."),
        ([blob("old", type="tree")], "The list has no files."),
        ({"message": "404 Project Not Found"}, "The content is not a JSON list of files."),
    ],
)  # fmt: skip
def test_a_folder_that_is_none_or_too_large_fails_with_the_reason(board, server, entries, error):
    for number in range(1, 12):
        server.put(f"{TREE}&per_page=100&page={number}", json.dumps(entries))
    fetch = fetched(board, f"{server.url}/lab/nlp/scores/-/tree/main/results/2026")
    assert (fetch.outcome, fetch.error) == ("failed", error)
    assert len(server.requests) <= 10


def test_a_listed_path_leads_to_no_other_host_or_project(board, server):
    paths = ["../../../../v4/projects/1/secret.csv", "//evil.example/x.csv", "http://evil.example/x.csv", "a?b#c"]
    server.put(f"{TREE}&per_page=100&page=1", json.dumps([blob(path) for path in paths]))
    assert fetched(board, f"{server.url}/lab/nlp/scores/-/tree/main/results/2026").status_code == 404
    assert server.requests[-1]["path"] == (
        f"{PROJECT}/repository/files/..%2F..%2F..%2F..%2Fv4%2Fprojects%2F1%2Fsecret.csv/raw?ref=main"
    )
