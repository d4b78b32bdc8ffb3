"""Votes by the API: every published shape, what comes back, what is refused, and the ratings."""

import io
import json

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.accounts.tokens import create_token
from leaderboard.common.form_fields import NOTE_LENGTH
from leaderboard.models import ApiToken, Benchmark, VoteBatch
from tests.factories import owner_of
from tests.leaderboard.votes.sent import collecting, rate, sent, vote_lines

ROW = {"model_a": "Ash", "model_b": "Birch", "winner": "model_a", "judge": "u1", "language": "English", "tstamp": 1.5}


def api(user, *scopes: str) -> Client:
    _, secret = create_token(
        user, name=f"t{ApiToken.objects.count()}", scopes=list(scopes) or ["read", "submit", "manage"], days=30
    )
    return Client(headers={"Authorization": f"Token {secret}"})


def parquet_of(rows: list[dict]) -> bytes:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows), file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/json", lambda: json.dumps([ROW, ROW])),
        ("application/x-ndjson", lambda: f"{json.dumps(ROW)}\n{json.dumps(ROW)}\n"),
        ("text/csv", lambda: "model_a,model_b,winner,language,judge\n" + "Ash,Birch,model_a,English,u1\n" * 2),
        ("application/vnd.apache.parquet", lambda: parquet_of([ROW, ROW])),
    ],
    ids=["json", "lines", "csv", "parquet"],
)
def test_every_shape_becomes_a_batch(make, content_type, body):
    benchmark = collecting(make)
    client, path = api(owner_of(benchmark)), reverse("api:votes", args=[benchmark.key])
    answer = client.post(path, body(), content_type=content_type)
    content = answer.json()
    batch = VoteBatch.objects.get()
    assert (answer.status_code, answer["Location"]) == (201, content["url"])
    expected = {
        "batch": str(batch.uuid), "benchmark": benchmark.key, "state": "accepted", "n_votes": 2, "n_people": 1,
        "systems": {"Ash": 2, "Birch": 2}, "categories": {"English": 2}, "note": "",
    }  # fmt: skip
    assert {name: content[name] for name in expected} == expected
    assert client.get(content["url"]).json() == content


def test_a_dry_run_stores_nothing_and_the_same_key_stores_once(make):
    benchmark = collecting(make)
    client, path = api(owner_of(benchmark)), reverse("api:votes", args=[benchmark.key])
    sent_as = {"data": vote_lines(30), "content_type": "text/csv"}
    assert client.post(f"{path}?dry_run=true", **sent_as).json() == {
        "dry_run": True, "would_be_accepted": True, "n_votes": 30, "n_people": 8,
        "systems": {"Ash": 15, "Birch": 15, "Cedar": 15, "Dogwood": 15}, "categories": {"code": 18, "text": 12},
    }  # fmt: skip
    assert not VoteBatch.objects.exists()
    keyed = {"headers": {"Idempotency-Key": "run-1"}}
    first, second = (client.post(path, **sent_as, **keyed) for _ in range(2))
    assert (first.status_code, second.status_code, first.json() == second.json()) == (201, 200, True)
    other = client.post(path, vote_lines(31), content_type="text/csv", **keyed)
    assert (other.status_code, other.json()["error"]["code"]) == (409, "idempotency_key_reused")


def test_votes_that_are_sent_again_with_their_key_answer_the_same_after_the_deadline(make):
    benchmark, sender = collecting(make), make.user()
    sent(benchmark, vote_lines(30))
    rate(benchmark)
    client, path = api(sender), reverse("api:votes", args=[benchmark.key])

    def post(key: str, n_votes: int = 30):
        body, headers = vote_lines(n_votes), {"Idempotency-Key": key}
        return client.post(path, body, content_type="text/csv", headers=headers)

    first = post("run-1")
    Benchmark.objects.filter(pk=benchmark.pk).update(deadline=timezone.now())
    again = post("run-1")
    assert (first.status_code, again.status_code, again.json() == first.json()) == (201, 200, True)
    assert (post("run-1", 31).status_code, post("run-2").status_code) == (409, 403)
    assert VoteBatch.objects.filter(uploader=sender).count() == 1
    assert client.post(f"{path}?dry_run=true", vote_lines(30), content_type="text/csv").status_code == 403


def test_all_problems_come_at_once_with_line_and_column(make):
    benchmark = collecting(make)
    answer = api(owner_of(benchmark)).post(
        reverse("api:votes", args=[benchmark.key]),
        "model_a,model_b,winner\nAsh,Ash,a\nAsh,Birch,perhaps\n",
        content_type="text/csv",
    )
    details = answer.json()["error"]["details"]
    assert (answer.status_code, [(part["line"], part["column"]) for part in details]) == (
        400, [(2, "model_b"), (3, "winner")],
    )  # fmt: skip


@pytest.mark.parametrize("name", ["note", "columns"])
def test_what_is_too_long_is_refused_and_not_cut(make, name):
    benchmark = collecting(make)
    path, sent_as = reverse("api:votes", args=[benchmark.key]), {"data": vote_lines(30), "content_type": "text/csv"}
    answer = api(owner_of(benchmark)).post(f"{path}?{name}={'x' * (NOTE_LENGTH + 1)}", **sent_as)
    assert (answer.status_code, VoteBatch.objects.count()) == (400, 0)
    (detail,) = answer.json()["error"]["details"]
    assert detail["place"] == name
    assert detail["message"].endswith("are kept")


def test_a_note_of_the_greatest_length_is_stored_whole(make):
    benchmark = collecting(make)
    path = reverse("api:votes", args=[benchmark.key])
    answer = api(owner_of(benchmark)).post(f"{path}?note={'x' * NOTE_LENGTH}", vote_lines(30), content_type="text/csv")
    assert (answer.status_code, answer.json()["note"]) == (201, "x" * NOTE_LENGTH)


@pytest.mark.parametrize("body", [b"", b"null", b"[]", b"[[", b'{"a": 1}', b"\xff\xfe", b"PAR1"])
def test_what_is_no_list_of_votes_is_refused(make, body):
    benchmark = collecting(make)
    answer = api(owner_of(benchmark)).post(
        reverse("api:votes", args=[benchmark.key]), body, content_type="application/json"
    )
    assert (answer.status_code, VoteBatch.objects.count()) == (400, 0)


def test_a_body_beyond_the_limit_is_not_read(make, settings):
    settings.IMPORT_BYTES = 100
    benchmark = collecting(make)
    path = reverse("api:votes", args=[benchmark.key])
    answer = api(owner_of(benchmark)).post(path, vote_lines(30), content_type="text/csv")
    assert answer.status_code == 413


def test_ratings_are_those_of_the_command_line(make):
    benchmark = collecting(make)
    path = reverse("api:votes", args=[benchmark.key])
    empty = Client().get(path).json()
    assert (empty["computed_at"], empty["ratings"], empty["is_computing"]) == (None, {}, False)
    sent(benchmark, vote_lines(120))
    assert Client().get(path).json()["is_computing"]
    rate(benchmark)
    content = Client().get(path).json()
    assert [row["rank"] for row in content["ratings"]["systems"]] == [1, 2, 3, 4]
    assert content["ratings"]["n_votes"] == 120


def test_steps_are_taken_by_those_who_may_with_the_scope_that_it_needs(make):
    benchmark = collecting(make, submission_policy="moderated")
    sent(benchmark, vote_lines(60))
    rate(benchmark)
    sender, moderator = make.user(), make.member(benchmark, "moderator")
    batch = sent(benchmark, vote_lines(60), by=sender)
    path = reverse("api:vote_step", args=[batch.uuid])

    def step(client: Client, name: str, reason: str = "", query: str = "") -> tuple[int, str]:
        body = json.dumps({"step": name, "reason": reason})
        answer = client.post(path + query, body, content_type="application/json")
        return answer.status_code, VoteBatch.objects.get(pk=batch.pk).state

    assert step(api(sender, "submit"), "accept") == (403, "pending")
    assert step(api(moderator, "submit"), "accept") == (403, "pending")
    assert step(api(moderator, "manage"), "accept", query="?dry_run=true") == (200, "pending")
    assert step(api(moderator, "manage"), "accept") == (200, "accepted")
    assert step(api(moderator, "manage"), "accept") == (409, "accepted")
    assert step(api(sender, "submit"), "withdraw") == (409, "accepted")  # without a reason
    assert step(api(sender, "submit"), "withdraw", "A broken log.") == (200, "withdrawn")
    assert step(api(moderator, "manage"), "reinstate", "It was right.") == (200, "accepted")


def test_a_benchmark_of_scores_has_no_votes(make):
    benchmark = make.benchmark()
    path = reverse("api:votes", args=[benchmark.key])
    content = Client().get(path).json()
    assert (content["collects_votes"], content["ratings"]) == (False, {})
    answer = api(owner_of(benchmark)).post(path, "[]", content_type="application/json")
    assert (answer.status_code, "collects scores, not votes" in answer.json()["error"]["message"]) == (403, True)
