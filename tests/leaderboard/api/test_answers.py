"""What all answers have in common: one shape of errors, ETags, who may keep them, a schema that says what is so."""

import io
import json
from pathlib import Path

import jsonschema_rs
import pytest
from django.test import Client
from django.urls import reverse
from drf_spectacular import validation
from drf_spectacular.drainage import GENERATOR_STATS

from leaderboard.api import systems
from leaderboard.api.protocol.examples import written_schema
from leaderboard.models import Benchmark
from leaderboard.submissions.lifecycle import accept_batch
from tests.leaderboard.api.conftest import error_of

PUBLIC, PRIVATE = "public, max-age=0, must-revalidate", "private, max-age=0, must-revalidate"


# --- Errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/api/v2/", "/api/v2/rules/", "/api/v1/benchmarks/x/y/", "/api/v1/rules"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_a_route_that_there_is_not_is_a_404_in_the_shape_of_errors(db, client, path, method):
    response = getattr(client, method)(path)
    assert (response.status_code, response["Content-Type"]) == (404, "application/json")
    assert set(response.json()["error"]) == {"code", "message", "details"}
    assert ("Routes end with a slash." in response.json()["error"]["message"]) == (not path.endswith("/"))


def test_a_fault_of_ours_is_a_500_without_a_trace(benchmark, api, monkeypatch, caplog):

    def fails(*_):
        raise RuntimeError("secret detail")

    monkeypatch.setattr(systems, "systems_at", fails)
    response = api.get(f"benchmarks/{benchmark.key}/scores/")
    assert error_of(response) == {
        "status": 500,
        "code": "internal_error",
        "message": "Something went wrong here; it is logged.",
        "details": [],
    }
    assert "secret detail" in caplog.text


def test_what_goes_wrong_before_a_view_is_reached_has_the_shape_of_errors_too(db):
    response = Client(raise_request_exception=False).get("/api/v1/rules/", headers={"Host": "elsewhere.example"})
    assert (response.status_code, response.json()["error"]["code"]) == (400, "invalid")
    page = Client(raise_request_exception=False).get("/", headers={"Host": "elsewhere.example"})
    assert page["Content-Type"].startswith("text/html")


def test_a_form_that_there_is_not_is_a_406(benchmark, api):
    assert error_of(api.get(f"benchmarks/{benchmark.key}/?format=csv"))["code"] == "not_acceptable"
    assert error_of(api.get(f"benchmarks/{benchmark.key}/scores/?format=xml"))["status"] == 406
    assert error_of(api.get(f"benchmarks/{benchmark.key}/scores/", Accept="image/png"))["status"] == 406


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("application/json;q=0.1, text/csv", "text/csv"),
        ("text/csv;q=0.5, application/json;q=0.6", "application/json"),
        ("text/*;q=0.2, text/markdown, */*;q=0.1", "text/markdown"), ("application/json;q=0, */*", "text/csv"),
        ("text/csv, application/json", "application/json"), ("*/*", "application/json"),
    ],
)  # fmt: skip
def test_the_form_is_the_one_that_is_wanted_most(benchmark, api, accept, kind):
    answer = api.get(f"benchmarks/{benchmark.key}/scores/", Accept=accept)
    assert answer["Content-Type"].partition(";")[0] == kind


def test_where_there_is_no_route_no_form_is_missing(benchmark, api):
    path = f"benchmarks/{benchmark.key}/nosuch/"
    answers = [api.get(path), api.get(f"{path}?format=csv"), api.get(path, Accept="text/csv")]
    assert [error_of(answer)["code"] for answer in answers] == ["not_found"] * 3


def test_an_error_is_json_where_a_table_was_asked_for(benchmark, api):
    response = api.get(f"benchmarks/{benchmark.key}/rankings/nothing/?format=csv")
    assert response["Content-Type"] == "application/json"
    assert error_of(response)["message"].startswith("No rule 'nothing' is on this board; there are: mean, ")
    assert response["Cache-Control"] == "no-store"


# --- Kept answers ----------------------------------------------------------------------------------------------------

FIGURES = ["systems/", "systems/a/", "scores/", "rankings/", "rankings/borda/"]
PATHS = ["", "tasks/", *FIGURES, "revisions/", "revisions/1/"]


@pytest.fixture(scope="module")
def keys(make_once):
    """Those of a published benchmark of each visibility."""
    return {visibility: make_once.published(visibility=visibility).key for visibility in ("public", "private")}


@pytest.fixture
def benchmark(keys, make):
    """The public one, as it is in the database."""
    return Benchmark.objects.get(key=keys["public"])


@pytest.mark.parametrize("path", PATHS)
def test_whoever_has_an_answer_gets_a_304(benchmark, api, path):
    url = f"benchmarks/{benchmark.key}/{path}"
    first = api.get(url)
    assert (first["Cache-Control"], first["Vary"]) == (PUBLIC, "Accept, Accept-Encoding")
    assert "Set-Cookie" not in first
    again = api.get(url, If_None_Match=first["ETag"])
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    assert (again["Cache-Control"], again["Vary"]) == (PUBLIC, "Accept, Accept-Encoding")
    assert api.get(url, If_None_Match=f'"other", W/{first["ETag"]}').status_code == 304
    assert api.get(url, If_None_Match='"other"').status_code == 200


@pytest.mark.parametrize("path", PATHS)
def test_a_new_publication_has_a_new_etag(benchmark, make, api, path):
    url = f"benchmarks/{benchmark.key}/{path}"
    before = api.get(url)["ETag"]
    make.accepted(benchmark, {"A": [0.0] * 5, "E": [9.0] * 5})
    make.publish(benchmark)
    assert (api.get(url)["ETag"] == before) == (path == "revisions/1/")


def test_an_etag_is_that_of_one_form_and_one_question(benchmark, api):
    url = f"benchmarks/{benchmark.key}/rankings/borda/"
    addresses = [url, *(f"{url}?{query}" for query in ("format=csv", "missing=worst", "revision=1"))]
    addresses.append(f"benchmarks/{benchmark.key}/rankings/mean/")
    assert len({api.get(one)["ETag"] for one in addresses}) == len(addresses)
    assert api.get(url, Accept="text/csv")["ETag"] != api.get(url)["ETag"]


def test_an_etag_changes_when_a_job_of_the_revision_ends(benchmark, make, api):
    url = f"benchmarks/{benchmark.key}/rankings/borda/"
    before = api.get(url)["ETag"]
    make.publish(benchmark, studies=True)
    assert api.get(url)["ETag"] != before


def test_an_etag_follows_what_the_benchmark_says_of_itself(benchmark, api):
    before = api.get(f"benchmarks/{benchmark.key}/")["ETag"]
    Benchmark.objects.filter(pk=benchmark.pk).update(description="New.")
    assert api.get(f"benchmarks/{benchmark.key}/")["ETag"] != before


@pytest.mark.parametrize("path", PATHS)
def test_an_etag_opens_nothing_to_whoever_may_not_read(keys, make, api, path):
    benchmark = Benchmark.objects.get(key=keys["private"])
    owner = api.as_user(benchmark.memberships.get().user)
    url = f"benchmarks/{benchmark.key}/{path}"
    first = owner.get(url)
    assert (first["Cache-Control"], first["Vary"]) == (PRIVATE, "Accept, Authorization, Accept-Encoding")
    assert owner.get(url, If_None_Match=first["ETag"]).status_code == 304
    for asker in (api, api.as_user(make.user())):
        assert asker.get(url, If_None_Match=first["ETag"]).status_code == 404
        assert asker.get(url, If_None_Match="*").status_code == 404


def test_only_anonymous_answers_on_public_benchmarks_are_shared(benchmark, make, api):
    public, unlisted = benchmark, make.published(visibility="unlisted")
    stranger = api.as_user(make.user())
    cache_controls = {
        "public, anonymous": api.get(f"benchmarks/{public.key}/scores/")["Cache-Control"],
        "public, token": stranger.get(f"benchmarks/{public.key}/scores/")["Cache-Control"],
        "unlisted, anonymous": api.get(f"benchmarks/{unlisted.key}/scores/")["Cache-Control"],
        "list, anonymous": api.get("benchmarks/")["Cache-Control"],
        "list, token": stranger.get("benchmarks/")["Cache-Control"],
    }
    assert cache_controls == {
        "public, anonymous": PUBLIC,
        "public, token": PRIVATE,
        "unlisted, anonymous": PRIVATE,
        "list, anonymous": PUBLIC,
        "list, token": PRIVATE,
    }


def test_the_state_of_a_submission_is_never_an_old_one(make, api):
    benchmark = make.benchmark(submission_policy="moderated")
    owner = benchmark.memberships.get().user
    batch = make.pending(benchmark, {"E": [1.0] * 5}, by=owner)
    asker = api.as_user(owner)
    first = asker.get(f"submissions/{batch.uuid}/")
    accept_batch(batch, actor=owner)
    again = asker.get(f"submissions/{batch.uuid}/", If_None_Match=first["ETag"])
    assert (first.json()["state"], again.status_code, again.json()["state"]) == ("pending", 200, "accepted")


def test_head_says_what_get_says_without_the_content(benchmark, api):
    url = f"benchmarks/{benchmark.key}/scores/"
    head = api.call("HEAD", url)
    assert (head.status_code, head.content, head["ETag"]) == (200, b"", api.get(url)["ETag"])


# --- The schema ------------------------------------------------------------------------------------------------------


def test_the_schema_is_valid_and_complete():
    document = json.loads(json.dumps(written_schema()))
    assert not GENERATOR_STATS  # what it warned of as the schema was written
    specification = Path(validation.__file__).with_name("openapi_3_1_schema.json")
    jsonschema_rs.validator_for(json.loads(specification.read_text())).validate(document)


def test_the_schema_is_served_with_examples(db, client):
    response = client.get(reverse("api:schema"), headers={"Accept": "application/json"})
    document = json.loads(response.content)
    assert document["openapi"].startswith("3.")
    body = document["paths"]["/api/v1/benchmarks/{key}/submissions/"]["post"]["requestBody"]["content"]
    assert set(body) == {"application/json", "text/csv"}
    assert all(kind["examples"] for kind in body.values())
    assert response["Cache-Control"] == PUBLIC
    assert not response.cookies


def test_the_documentation_needs_no_inline_script_and_only_data_images_beyond_the_sites_policy(db, client):
    response = client.get(reverse("api:docs"))
    page = response.content.decode()
    policy = response["Content-Security-Policy"]
    assert "img-src 'self' data:" in policy
    assert "data:" not in client.get(reverse("home"))["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "<script>" not in page
    assert "<style" not in page
    assert 'src="/static/drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js"' in page
    script = client.get(f"{reverse('api:docs')}?script")
    assert script["Content-Type"].startswith("application/javascript")
    assert 'url: "/api/v1/schema/"' in script.content.decode().replace("\\u002D", "-")
    assert not script.cookies
    assert f'<a href="{reverse("api:docs")}">API</a>' in client.get(reverse("home")).content.decode()


def test_the_parts_of_the_api_stand_in_order_benchmarks_first_and_none_is_forgotten(schema):
    used = {tag for path in schema["paths"].values() for route in path.values() for tag in route["tags"]}
    named = [tag["name"] for tag in schema["tags"]]
    assert (named[0], len(named), set(named)) == ("benchmarks", 20, used)


def test_every_route_of_the_schema_stands_in_the_documentation(schema):
    manual = (Path(__file__).resolve().parents[3] / "docs" / "api.md").read_text()
    missing = [path for path in schema["paths"] if path.removeprefix("/api/v1").removeprefix("/files") not in manual]
    assert missing == []


def test_nothing_is_written_to_the_log_of_a_good_request(benchmark, api, capsys):
    api.get(f"benchmarks/{benchmark.key}/scores/")
    assert io.StringIO(capsys.readouterr().err).getvalue() == ""
