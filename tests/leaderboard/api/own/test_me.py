"""Who a token belongs to, and what its user submitted."""

from datetime import datetime, timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from leaderboard.access.audience import audience_of
from leaderboard.models import Batch, Benchmark, Draft, Job, Membership
from leaderboard.submissions.batches.status import batch_standing
from leaderboard.submissions.lifecycle import accept_batch, reject_batch, retract_batch, withdraw_submission
from tests.factories import owner_of
from tests.leaderboard.api.conftest import error_of

FIVE = [1.0] * 5


def test_me_says_who_what_and_how_often(make, api):
    user = make.user("Ada")
    answer = api.as_user(user, "submit").get("me/").json()
    token = user.api_tokens.get()
    assert datetime.fromisoformat(answer.pop("expires_at")) == token.expiry
    assert answer == {
        "id": user.pk,
        "name": "Ada",
        "token": "token 0",
        "scopes": ["submit"],
        "limits": [
            {"name": "address", "requests": 1200, "seconds": 60},
            {"name": "user", "requests": 1200, "seconds": 60},
            {"name": "token", "requests": 600, "seconds": 60},
            {"name": "on_demand", "requests": 60, "seconds": 60},
            {"name": "dry_run", "requests": 120, "seconds": 60},
            {"name": "write", "requests": 120, "seconds": 60},
        ],
    }


def test_the_beginnings_link_to_what_there_is(db, api):
    begin = api.get("/api/").json()
    assert begin == {"v1": "http://testserver/api/v1/", "docs": "http://testserver/api/docs/"}
    links = api.get(begin["v1"]).json()
    assert set(links) == {"benchmarks", "rules", "landscape", "experiments", "me", "schema", "docs"}
    assert {name: api.get(link).status_code for name, link in links.items()} == dict.fromkeys(links, 200) | {"me": 401}


@pytest.fixture(scope="module")
def moderated(make_once):
    """A moderated benchmark with a batch of one submitter in each state; the numbers of the batches by their names."""
    benchmark = make_once.benchmark(submission_policy="moderated")
    owner, ada = benchmark.memberships.get().user, make_once.user("Ada")
    batches = {name: make_once.pending(benchmark, {name: FIVE}, by=ada) for name in "PQRSTUV"}
    accept_batch(batches["S"], actor=owner)
    accept_batch(batches["V"], actor=owner)
    withdraw_submission(batches["V"].submissions.get(), actor=owner, reason="Wrong.")
    make_once.publish(benchmark)
    reject_batch(batches["Q"], actor=owner, reason="No.")
    retract_batch(batches["R"], actor=ada)
    accept_batch(batches["T"], actor=owner)
    return benchmark.pk, {name: batch.pk for name, batch in batches.items()}


@pytest.fixture
def world(moderated, make):
    """The benchmark, its owner, the submitter and the batches as they are in the database."""
    benchmark = Benchmark.objects.get(pk=moderated[0])
    batches = {name: Batch.objects.get(pk=pk) for name, pk in moderated[1].items()}
    return benchmark, owner_of(benchmark), batches["P"].uploader, batches


def test_each_of_your_submissions_says_the_state_that_it_says_itself(world, api, make):
    benchmark, _, ada, batches = world
    make.pending(benchmark, {"Other": FIVE}, by=make.user("Bob"))
    asker = api.as_user(ada, "read")
    answer = asker.get("me/submissions/").json()
    states = {row["uuid"]: row["state"] for row in answer["results"]}
    assert states == {
        str(batch.uuid): batch_standing(batch, audience_of(ada, benchmark)).state for batch in batches.values()
    }
    named = {name: states[str(batch.uuid)] for name, batch in batches.items()}
    assert named == {
        "P": "pending",
        "Q": "rejected",
        "R": "retracted",
        "S": "published",
        "T": "accepted",
        "U": "pending",
        "V": "withdrawn",
    }
    assert (answer["count"], answer["next"]) == (7, None)
    newest = answer["results"][0]
    assert newest["url"] == f"http://testserver/api/v1/submissions/{newest['uuid']}/"
    alone = asker.get(newest["url"]).json()
    assert {
        name: newest[name] for name in ("uuid", "benchmark", "state", "revision", "published_revision", "note")
    } == {name: alone[name] for name in ("uuid", "benchmark", "state", "revision", "published_revision", "note")}
    Job.objects.filter(benchmark=benchmark).exclude(state="done").update(state="failed", error="memory")
    failed = asker.get("me/submissions/", {"uuid": str(batches["T"].uuid)}).json()["results"]
    assert [row["state"] for row in failed] == ["failed"] == [batch_standing(batches["T"]).state]


def test_the_states_of_many_cost_as_many_queries_as_that_of_one(world, api, django_assert_num_queries):
    _, _, ada, batches = world
    asker = api.as_user(ada, "read")
    asker.get("me/submissions/")  # the token was never used before
    numbers = [str(batch.uuid) for batch in batches.values()]
    for chosen in (numbers[:1], numbers):
        with django_assert_num_queries(7):
            rows = asker.get("me/submissions/", {"uuid": ",".join(chosen)}).json()["results"]
        assert {row["uuid"] for row in rows} == set(chosen)


def test_pages_of_them_are_whole_and_say_how_many_there_are(world, api):
    _, _, ada, batches = world
    asker = api.as_user(ada, "read")
    page, numbers = asker.get("me/submissions/", {"page_size": 3}), []
    for n_rows in (3, 3, 1):
        rows = page.json()["results"]
        assert (page.json()["count"], len(rows)) == (7, n_rows)
        numbers += [row["uuid"] for row in rows]
        if following := page.json()["next"]:
            assert page["Link"] == f'<{following}>; rel="next"'
            page = asker.get(following)
    assert numbers == [str(batch.uuid) for batch in reversed(batches.values())]
    assert not page.has_header("Link")


def test_an_address_that_proxies_would_refuse_as_a_header_is_in_the_body_alone(world, api):
    _, _, ada, batches = world
    uuids = ",".join([str(batch.uuid) for batch in batches.values()] + [str(uuid4()) for _ in range(40)])
    page = api.as_user(ada, "read").get("me/submissions/", {"uuid": uuids, "page_size": 3})
    assert len(page.json()["next"]) > 1_500
    assert not page.has_header("Link")


def test_only_what_changed_since_then(world, api):
    _, owner, ada, batches = world
    asker = api.as_user(ada, "read")
    later = (timezone.now() + timedelta(minutes=1)).isoformat()
    assert asker.get("me/submissions/", {"updated_since": later}).json()["results"] == []
    before = timezone.now()
    accept_batch(batches["P"], actor=owner)
    rows = asker.get("me/submissions/", {"updated_since": before.isoformat()}).json()["results"]
    assert [row["uuid"] for row in rows] == [str(batches["P"].uuid)]
    assert error_of(asker.get("me/submissions/?updated_since=yesterday"))["message"] == (
        "`updated_since`: 'yesterday' is no time with its zone; write 2026-12-31T12:00:00Z."
    )


def test_what_one_may_read_no_more_is_in_no_list(world, api):
    benchmark, _, ada, _ = world
    asker = api.as_user(ada, "read")
    Draft.objects.create(
        benchmark=benchmark, owner=ada, source="csv", rows=[], expires_at=timezone.now() + timedelta(1)
    )
    assert [asker.get(f"me/{name}/").json()["count"] for name in ("submissions", "drafts")] == [7, 1]
    type(benchmark).objects.update(visibility="private")
    assert [asker.get(f"me/{name}/").json()["count"] for name in ("submissions", "drafts")] == [0, 0]
    Membership.objects.create(benchmark=benchmark, user=ada, role="member")
    assert [asker.get(f"me/{name}/").json()["count"] for name in ("submissions", "drafts")] == [7, 1]


def test_drafts_are_those_that_can_still_be_confirmed(make, api):
    benchmark, ada = make.benchmark(), make.user("Ada")
    facts = {"benchmark": benchmark, "source": "csv", "rows": [], "note": "Mean of five."}
    draft = Draft.objects.create(owner=ada, expires_at=timezone.now() + timedelta(days=1), **facts)
    Draft.objects.create(owner=ada, expires_at=timezone.now() - timedelta(days=1), **facts)
    Draft.objects.create(owner=make.user(), expires_at=timezone.now() + timedelta(days=1), **facts)
    (row,) = api.as_user(ada, "read").get("me/drafts/", {"benchmark": benchmark.key}).json()["results"]
    assert {name: row[name] for name in ("uuid", "url", "benchmark", "benchmark_name", "source", "note")} == {
        "uuid": str(draft.uuid),
        "url": f"http://testserver/drafts/{draft.uuid}/",
        "benchmark": benchmark.key,
        "benchmark_name": benchmark.name,
        "source": "csv",
        "note": "Mean of five.",
    }


@pytest.mark.parametrize(
    "query",
    ["uuid=5c0f", f"uuid={','.join(['5c0f0000-0000-4000-8000-000000000000'] * 101)}", "benchmark=a%00b", "cursor=eA"],
)
def test_what_names_nothing_is_refused(make, api, query):
    assert api.as_user(make.user(), "read").get(f"me/submissions/?{query}").status_code == 400
