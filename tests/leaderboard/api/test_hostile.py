"""What somebody with an ordinary account and bad intentions tries by API, and what they get."""

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from leaderboard.access.audience import audience_of
from leaderboard.accounts.tokens import create_token
from leaderboard.models import Batch, Benchmark, Submission, System
from leaderboard.models.submissions import Source
from leaderboard.submissions.checks import SECRET_REFUSALS
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.rows import SubmittedRow
from ranking_engine.files.problems import InputError
from tests.factories import owner_of
from tests.leaderboard.api.conftest import error_of

READS = [
    ("tasks", []), ("systems", []), ("system", ["e"]), ("scores", []), ("rankings", []), ("ranking", ["borda"]),
    ("rule_properties", ["borda"]),
    ("prospects", []), ("prospect", ["e"]), ("studies", []), ("study", ["missing_scores"]), ("instances", []),
    ("revisions", []), ("revision", [1]), ("releases", []), ("benchmark", []), ("queue", []), ("people", []),
    ("audit", []),
]  # fmt: skip


@pytest.fixture(scope="module")
def two_systems(make_once):
    """What is published of two systems and two tasks, as it was made."""
    return make_once.published({"E": [1.0, 2.0], "F": [2.0, 1.0]}, n_tasks=2)


@pytest.fixture
def benchmark(two_systems, make):
    """The same as it is in the database."""
    return Benchmark.objects.get(pk=two_systems.pk)


def test_asking_for_the_head_answers_as_reading_does_and_other_methods_have_one_shape(benchmark):
    _, secret = create_token(owner_of(benchmark), name="t", scopes=["read", "manage"], days=30)
    client = Client(headers={"Authorization": f"Token {secret}"}, raise_request_exception=False)
    for name, more in READS:
        path = reverse(f"api:{name}", args=[benchmark.key, *more])
        head, whole = client.head(path), client.get(path)
        assert (head.status_code, head.content, head.get("ETag")) == (whole.status_code, b"", whole.get("ETag")), name
        for method in ("PUT", "DELETE", "TRACE"):
            other = client.generic(method, path)
            assert (other.status_code, set(other.json()["error"])) == (405, {"code", "message", "details"}), name


def test_an_idempotency_key_of_another_user_leads_to_nothing_of_theirs(make, api):
    benchmark = make.benchmark()
    body = {"systems": [{"name": "First", "scores": {"task-1": 1}}], "create_systems": True}
    path, key = f"benchmarks/{benchmark.key}/submissions/", {"Idempotency_Key": "run-1"}
    first = api.as_user(make.user()).post(path, body, **key)
    other = dict(body, systems=[{"name": "Second", "scores": {"task-1": 2}}])
    second = api.as_user(make.user()).post(path, other, **key)
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json()["uuid"] != second.json()["uuid"]


@pytest.fixture(scope="module")
def named(make_once):
    return make_once.benchmark({"GPT-4o": [1.0], "Llama I": [2.0], "Gemini": [3.0], "Turbo": [4.0]})


@pytest.mark.parametrize(
    "name",
    [
        "\u13c0PT-4o", "\ua4d6\ua4d1\ua4d4-4o", "GPT-4\u0585", "GPT-4\u0323o", "GPT-4\u0326o", "GPT-4o.",
        "Llama 1", "Llama l", "Llama \u0196", "Llama \u04c0", "Gernini", "T\u03c5rbo",
    ],
)  # fmt: skip
def test_a_name_that_looks_like_one_on_the_board_is_refused_at_every_door(named, make, api, name):
    benchmark, user = Benchmark.objects.get(pk=named.pk), make.user()
    sent = {"systems": [{"name": name, "scores": {"task-1": 1}}], "create_systems": True}
    assert api.as_user(user).post(f"benchmarks/{benchmark.key}/submissions/", sent).status_code == 400
    with pytest.raises(InputError, match=r"look-alike characters|mixes alphabets"):
        make_draft(audience_of(user, benchmark), [SubmittedRow(name, {"task-1": "1"})], source=Source.FORM)
    assert System.objects.filter(benchmark=benchmark).count() == 4


def test_an_etag_of_one_audience_opens_nothing_to_another(benchmark, make, api):
    Benchmark.objects.filter(pk=benchmark.pk).update(score_view="ranks")
    path = f"benchmarks/{benchmark.key}/rankings/borda/"
    full = api.as_user(owner_of(benchmark)).get(path)
    for other in (api, api.as_user(make.user())):
        answer = other.get(path, If_None_Match=full["ETag"])
        assert answer.status_code == 200
        assert [row["score"] for row in answer.json()["results"]] == [None, None]
        assert "public" not in full["Cache-Control"]


def test_a_moderator_decides_nothing_of_another_benchmark(make, api):
    mine, theirs = make.benchmark(), make.benchmark(submission_policy="moderated")
    waiting = make.pending(theirs, {"New": [1.0] * 5}, by=make.user())
    asking = api.as_user(owner_of(mine))
    body = {"submissions": [str(waiting.uuid)], "decision": "accept"}
    assert asking.post(f"benchmarks/{mine.key}/decisions/", body).json()["n_decided"] == 0
    assert asking.post(f"submissions/{waiting.uuid}/accept/").status_code == 404
    assert waiting.submissions.get().state == Submission.State.PENDING


@pytest.mark.parametrize(
    "field", ["key", "id", "publication", "last_revision_number", "people", "is_archived", "created_at"]
)
def test_settings_take_no_field_that_is_none(benchmark, api, field):
    before = Benchmark.objects.values().get(pk=benchmark.pk)
    answer = error_of(api.as_user(owner_of(benchmark)).patch(f"benchmarks/{benchmark.key}/", {field: 1}))
    assert (answer["status"], answer["details"][0]["place"]) == (400, field)
    assert Benchmark.objects.values().get(pk=benchmark.pk) == before


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"name":' * 5000,
        b"null",
        b"[]",
        b'"x"',
        b"1",
        b"\xff\xfe",
        b'{"name": "\\ud800"}',
        b'{"tasks": {}}',
    ],
)
def test_a_body_that_is_no_benchmark_is_a_bad_request(make, api, body):
    asking = api.as_user(make.user())
    answer = asking.post("benchmarks/", body)
    assert answer.status_code == 400
    assert not Benchmark.objects.filter(memberships__user=asking_user(asking)).exists()


@pytest.mark.parametrize(
    ("query", "status"),
    [("format=xml", 406), ("format=html", 406), ("cursor=%00", 400), ("cursor=Li4v", 400), ("page_size=0", 400),
     ("revision=-1", 404), ("revision=99999999999999999999", 404), ("revision=1.0", 400),
     ("top=x", 400), ("complete=maybe", 400), ("dry_run=true", 400), ("q=%00", 200), ("tag='--", 200),
     ("missing=../../etc", 400)],
)  # fmt: skip
def test_an_odd_query_is_answered_in_the_one_shape(benchmark, api, query, status):
    answer = api.get(f"/api/v1/benchmarks/{benchmark.key}/rankings/borda/?{query}")
    assert answer.status_code == status


@pytest.fixture(scope="module")
def of_ranks_alone(make_once):
    return make_once.published({"E": [1.0, None], "F": [2.0, 1.0], "G": [3.0, 0.5]}, n_tasks=2, score_view="ranks")


@pytest.mark.parametrize("rank", ["rankings/", "rankings/borda/"])
@pytest.mark.parametrize("query", [{"missing": "worst"}, {"aggregation": "balanced"}, {"weights": "task-1:2"}])
def test_where_scores_are_hidden_rankings_are_not_turned_about_until_they_tell_them(
    of_ranks_alone, make, api, rank, query
):
    path = f"benchmarks/{of_ranks_alone.key}/{rank}"
    stranger, owner = api.as_user(make.user()), api.as_user(owner_of(of_ranks_alone))
    assert stranger.get(path).status_code == 200
    assert stranger.get(path, query).status_code == 403
    assert owner.get(path, query).status_code == 200


@pytest.mark.parametrize("hiding", [{"score_view": "own"}])
def test_names_that_are_hidden_are_not_found_by_guessing(make, api, hiding):
    cache.clear()
    benchmark = make.benchmark({"Zebrafish": [1.0], "Axolotl": [2.0]}, n_tasks=1, submission_policy="open")
    Benchmark.objects.filter(pk=benchmark.pk).update(**hiding)
    asking, path = api.as_user(make.user()), f"benchmarks/{benchmark.key}/submissions/"

    def guess(*names: str) -> tuple[int, str]:
        systems = [{"name": name, "scores": {"task-1": 5}} for name in names]
        answer = asking.post(path, {"systems": systems, "create_systems": True}, query="dry_run=true")
        return answer.status_code, answer.content.decode()

    for _ in range(SECRET_REFUSALS):
        status, message = guess("Zebrafish", "Quokka", "Narwhal")
        assert status == 400
        assert not [name for name in ("Zebrafish", "Quokka", "Narwhal", "line", "systems[") if name in message]
    assert guess("Axolotl") == guess("Quokka")
    assert "too many names" in guess("Quokka")[1]
    assert Batch.objects.filter(uploader=asking_user(asking)).count() == 0


def asking_user(asking):
    from leaderboard.accounts.tokens import find_token

    return find_token(asking._secret).user


def test_a_hidden_key_is_not_told_by_being_taken(make, api):
    benchmark = make.benchmark({"Zebrafish": [1.0]}, n_tasks=1, submission_policy="open")
    Benchmark.objects.filter(pk=benchmark.pk).update(score_view="own")
    body = {"systems": [{"name": "Mine", "key": "zebrafish", "scores": {"task-1": 5}}], "create_systems": True}
    assert api.as_user(make.user()).post(f"benchmarks/{benchmark.key}/submissions/", body).status_code == 201
    assert set(benchmark.systems.values_list("key", flat=True)) == {"zebrafish", "mine"}


@pytest.mark.parametrize("fields", [{"name": "privx"}, {"name": "Other", "key": "privx"}])
def test_a_dry_run_does_not_tell_that_a_private_benchmark_is_there(make, api, fields):
    body = fields | {"tasks": [{"name": "T"}]}
    asking = api.as_user(make.user())
    dates = ("created_at",)

    def status_and_body() -> tuple[int, dict[str, object]]:
        answer = asking.post("benchmarks/", body, query="dry_run=true")
        return answer.status_code, {name: value for name, value in answer.json().items() if name not in dates}

    free = status_and_body()
    assert (free[0], free[1]["key"]) == (200, "privx")
    hidden = make.benchmark(name="privx", visibility="private")
    assert hidden.key == "privx"
    assert status_and_body() == free
    Benchmark.objects.filter(pk=hidden.pk).update(visibility="public")
    assert status_and_body() != free


def test_asking_for_real_gives_another_key_and_costs_one_of_the_benchmarks_of_an_account(make, api, settings):
    settings.BENCHMARKS_PER_ACCOUNT = 1
    make.benchmark(name="privx", visibility="private")
    asking = api.as_user(make.user())
    body = {"name": "Other", "key": "privx", "tasks": [{"name": "T"}]}
    first, second = (asking.post("benchmarks/", body) for _ in range(2))
    assert (first.status_code, first.json()["key"], second.status_code) == (201, "privx-2", 400)
    assert "can create 1 benchmarks" in second.content.decode()


def test_a_system_that_a_board_hides_is_said_to_be_hidden_whether_it_exists_or_not(make, api):
    benchmark = make.published({"E": [1.0], "F": [2.0]}, score_view="ranks")
    answers = {name: error_of(api.get(f"benchmarks/{benchmark.key}/systems/{name}/")) for name in ("e", "x")}
    assert {name: (answer["status"], answer["message"]) for name, answer in answers.items()} == {
        name: (404, f"No system {name!r} is open to you: this board hides scores of other people's systems.")
        for name in "ex"
    }
