"""A whole session with the running site, as one has it with curl: look up, try, submit, wait, read."""

import json
import urllib.error
import urllib.request

import pytest

from leaderboard.accounts.tokens import create_token
from tests.factories import TOY
from tests.leaderboard.api.engine_figures import figures

pytestmark = pytest.mark.services


class Curl:
    """Asks a server over HTTP."""

    def __init__(self, url: str, secret: str) -> None:
        self.url, self.secret = url, secret

    def __call__(self, path: str, body: object = None, **headers: str) -> tuple[int, object]:
        url = path if path.startswith("http") else f"{self.url}/api/v1/{path}"
        data = None if body is None else json.dumps(body).encode()
        sent = {"Authorization": f"Token {self.secret}", "Content-Type": "application/json"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            with urllib.request.urlopen(urllib.request.Request(url, data, sent), timeout=20) as response:
                return response.status, json.loads(response.read())
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.loads(error.read())


def test_from_a_token_to_a_published_ranking(site, make_committed):
    benchmark = make_committed.benchmark(visibility="private")
    member = make_committed.member(benchmark, "member")
    _, secret = create_token(member, name="laptop", scopes=["read", "submit"], days=30)
    site.start("web", "rankings")
    site.wait_for_web()
    curl = Curl(site.url, secret)

    status, page = curl("benchmarks/")
    assert (status, [line["key"] for line in page["results"]]) == (200, [benchmark.key])
    _, tasks = curl(f"benchmarks/{benchmark.key}/tasks/")
    scores = {task["name"]: 9 for task in tasks["results"]}
    sent = {"systems": [{"name": "Deep Thought", "scores": scores}]}
    path = f"benchmarks/{benchmark.key}/submissions/"

    status, refused = curl(path, sent)
    assert (status, refused["error"]["details"][0]["place"]) == (400, "systems[0].name")
    status, preview = curl(f"{path}?dry_run=true", sent | {"create_systems": True})
    assert (status, {rule["rule"]: rule["winners_after"] for rule in preview["rules"]}["borda"]) == (
        200,
        ["Deep Thought"],
    )
    status, made = curl(path, sent | {"create_systems": True}, Idempotency_Key="run-42")
    assert (status, made["state"]) == (201, "accepted")
    assert curl(path, sent | {"create_systems": True}, Idempotency_Key="run-42")[0] == 200

    site.wait_until(lambda: curl(made["url"])[1]["state"] == "published", 30, "the board is published")
    status, ranking = curl(f"benchmarks/{benchmark.key}/rankings/borda/")
    expected = {
        ("deep-thought" if name == "deep thought" else name): figure
        for name, figure in figures(TOY | {"Deep Thought": [9] * 5}, "borda").items()
    }
    assert {row["system"]: (row["rank"], row["score"]) for row in ranking["results"]} == expected
    assert (status, ranking["revision"]) == (200, 2)
    assert curl("nothing/")[0] == 404
