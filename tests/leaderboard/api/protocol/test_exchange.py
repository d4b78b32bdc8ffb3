"""What every answer says beside its content: to whom it is open, how many requests are left, which request it was."""

import gzip

import pytest
from django.test import Client, override_settings
from django.urls import reverse

from leaderboard.accounts.tokens import create_token
from tests.leaderboard.api.conftest import error_of

ELSEWHERE = {"Origin": "https://notebook.example"}
PREFLIGHT = ELSEWHERE | {"Access-Control-Request-Method": "GET"}


# --- Scripts of other sites -------------------------------------------------------------------------------------------


def test_a_script_of_another_site_reads_what_is_public(make):
    path = f"/api/v1/benchmarks/{make.published().key}/rankings/borda/"
    preflight = Client(headers=PREFLIGHT).options(path)
    assert (preflight.status_code, preflight.content) == (204, b"")
    assert preflight["Access-Control-Allow-Origin"] == "*"
    assert preflight["Access-Control-Allow-Methods"] == "GET, HEAD"
    assert "authorization" not in preflight["Access-Control-Allow-Headers"].lower()
    assert not preflight.has_header("Access-Control-Allow-Credentials")
    answer = Client(headers=ELSEWHERE).get(path)
    assert (answer.status_code, answer["Access-Control-Allow-Origin"]) == (200, "*")
    assert "RateLimit" in answer["Access-Control-Expose-Headers"]
    again = Client(headers=ELSEWHERE | {"If-None-Match": answer["ETag"]}).get(path)
    assert (again.status_code, again["Access-Control-Allow-Origin"]) == (304, "*")


def test_a_script_of_another_site_reads_no_private_benchmark_whoever_has_signed_in(make):
    benchmark = make.published(visibility="private")
    owner = benchmark.memberships.get().user
    path = f"/api/v1/benchmarks/{benchmark.key}/scores/"
    client = Client(headers=ELSEWHERE)
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    by_session = client.get(path)
    assert by_session.status_code == 404
    assert by_session.content == Client(headers=ELSEWHERE).get("/api/v1/benchmarks/none/scores/").content
    _, secret = create_token(owner, name="notebook", scopes=["read"], days=30)
    by_token = Client(headers=ELSEWHERE | {"Authorization": f"Bearer {secret}"}).get(path)
    assert by_token.status_code == 200
    assert not by_token.has_header("Access-Control-Allow-Origin")
    there, nowhere = (
        Client(headers=PREFLIGHT).options(f"/api/v1/benchmarks/{key}/scores/") for key in (benchmark.key, "none")
    )
    assert dict(there.headers) | {"X-Request-ID": ""} == dict(nowhere.headers) | {"X-Request-ID": ""}


def test_nothing_that_knows_a_session_or_changes_something_is_open_to_other_sites(make):
    benchmark = make.published()
    pages = [reverse("home"), reverse("board", args=[benchmark.key]), reverse("api:docs")]
    assert [Client(headers=ELSEWHERE).get(page).has_header("Access-Control-Allow-Origin") for page in pages] == [
        False
    ] * 3
    writes = f"/api/v1/benchmarks/{benchmark.key}/submissions/"
    assert not Client(headers=PREFLIGHT).options(writes).has_header("Access-Control-Allow-Origin")
    answer = Client(headers=ELSEWHERE).post(writes, "{}", content_type="application/json")
    assert (answer.status_code, answer.has_header("Access-Control-Allow-Origin")) == (401, False)


# --- How often --------------------------------------------------------------------------------------------------------


def test_every_answer_says_how_many_requests_are_left(make, api):
    benchmark = make.published()
    first, second = (api.get(f"benchmarks/{benchmark.key}/") for _ in range(2))
    assert first["RateLimit-Policy"] == '"address";q=1200;w=60'
    assert first["RateLimit"] == '"address";r=1199;t=60'
    assert second["RateLimit"].startswith('"address";r=1198;t=')
    missing = api.get("benchmarks/none/")
    assert (missing.status_code, missing["RateLimit"].split(";")[1]) == (404, "r=1197")
    asker = api.as_user(make.user())
    counted = asker.get(f"benchmarks/{benchmark.key}/rankings/", {"missing": "worst"})
    assert [part.split(";")[0] for part in counted["RateLimit"].split(", ")] == [
        '"address"',
        '"user"',
        '"token"',
        '"on_demand"',
    ]


def test_an_answer_says_that_none_is_left(db, api):
    with override_settings(API_RATES={"address": "1/min"}):
        api.get("rules/")
        answer = api.get("rules/")
    assert (answer.status_code, answer["RateLimit"].split(";")[1]) == (429, "r=0")
    assert answer["RateLimit-Policy"] == '"address";q=1;w=60'


def test_a_dry_run_is_counted_by_itself(make, submitter):
    benchmark = make.benchmark()
    path, body = (
        f"benchmarks/{benchmark.key}/submissions/",
        {
            "systems": [{"name": "E", "scores": {"Task 1": 1}}],
            "create_systems": True,
        },
    )
    kinds = {
        query: [
            part.split(";")[0].strip('"') for part in submitter.post(path, body, query=query)["RateLimit"].split(", ")
        ]
        for query in ("dry_run=true", "dry_run=false", "")
    }
    assert kinds == {
        "dry_run=true": ["address", "user", "token", "dry_run"],
        "dry_run=false": ["address", "user", "token", "write"],
        "": ["address", "user", "token", "write"],
    }


def test_dry_runs_beyond_their_limit_are_refused_and_writes_go_on(make, submitter, settings):
    settings.API_RATES = settings.API_RATES | {"dry_run": "1/min"}
    path, body = (
        f"benchmarks/{make.benchmark().key}/submissions/",
        {
            "systems": [{"name": "E", "scores": {"Task 1": 1}}],
            "create_systems": True,
        },
    )
    assert submitter.post(path, body, query="dry_run=true").status_code == 200
    refused = submitter.post(path, body, query="dry_run=true")
    assert error_of(refused)["message"].startswith("Too many requests: 1/min are allowed by dry run; ")
    assert submitter.post(path, body).status_code == 201


# --- Which request, by whom -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["rules/", "benchmarks/none/", "/api/nothing/", "schema/"])
def test_every_answer_says_which_request_it_was(db, api, path):
    first, second = (api.get(path)["X-Request-ID"] for _ in range(2))
    assert len(first) == 32
    assert first != second
    assert api.get(path, X_Request_ID="mine-12345678")["X-Request-ID"] == "mine-12345678"


@pytest.mark.parametrize("kind", ["Token", "token", "Bearer", "bearer", "BEARER"])
def test_a_token_is_sent_as_bearer_or_as_token(make, kind):
    _, secret = create_token(make.user("Ada"), name="laptop", scopes=["submit"], days=30)
    answer = Client(headers={"Authorization": f"{kind} {secret}"}).get("/api/v1/me/")
    assert (answer.status_code, answer.json()["name"]) == (200, "Ada")


def test_a_header_of_another_kind_is_refused(db, api):
    answer = error_of(api.get("me/", Authorization="Basic YTpi"))
    assert (answer["code"], answer["message"]) == (
        "invalid_header",
        "Write the header as `Authorization: Bearer <secret>`.",
    )


# --- Compressed without a proxy ---------------------------------------------------------------------------------------


def test_what_everyone_may_read_is_compressed_and_nothing_else(make):
    benchmark = make.published()
    path = f"/api/v1/benchmarks/{benchmark.key}/rankings/"
    plain = Client().get(path)
    packed = Client(headers={"Accept-Encoding": "br, gzip"}).get(path)
    assert packed["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.content) == plain.content
    assert len(packed.content) < len(plain.content) / 2
    assert (plain["Vary"], packed["Vary"]) == ("Accept, Accept-Encoding",) * 2
    known = Client(headers={"Accept-Encoding": "gzip", "If-None-Match": packed["ETag"]}).get(path)
    assert (known.status_code, known.content) == (304, b"")
    _, secret = create_token(benchmark.memberships.get().user, name="t", scopes=["read"], days=30)
    by_token = Client(headers={"Accept-Encoding": "gzip", "Authorization": f"Token {secret}"}).get(path)
    pages = [Client(headers={"Accept-Encoding": "gzip"}).get(page) for page in ("/api/docs/", "/accounts/login/")]
    assert not any(answer.has_header("Content-Encoding") for answer in [plain, by_token, *pages])
