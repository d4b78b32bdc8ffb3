"""How many systems each submitter entered: the counts, and who is told of them."""

from collections import Counter
from copy import deepcopy
from datetime import timedelta
from itertools import product

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.access.audience import audience_of
from leaderboard.benchmarks.settings import change_settings
from leaderboard.boards.submitters.page import submitters_page
from leaderboard.models import AuditEntry, Benchmark, Submission
from leaderboard.models.submissions import Source
from leaderboard.submissions.disclosure import KINDS, counts_of, disclosure
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.lifecycle import (
    accept_batch,
    confirm_draft,
    reject_batch,
    retract_batch,
    withdraw_submission,
)
from leaderboard.submissions.rows import SubmittedRow
from tests.factories import owner_of
from tests.markup import compact
from tests.signing_in import signed_in

SCORES = [1.0, 2.0]


@pytest.fixture(scope="module")
def entered_once(make_once):
    """Ada has systems of every kind; Bob was rejected and waits; Cyd only waits. Both of the owner are on the board."""
    benchmark = make_once.benchmark({"A": [5.0, 5.0], "B": [3.0, 3.0]}, submission_policy="moderated")
    owner = owner_of(benchmark)
    people = {name: make_once.user(name) for name in ("ada", "bob", "cyd")}

    def entered(name, by):
        return make_once.pending(benchmark, {name: SCORES}, by=people[by])

    for name in ("On 1", "On 2"):
        accept_batch(entered(name, "ada"), actor=owner)
    gone = entered("Gone", "ada")
    accept_batch(gone, actor=owner)
    withdraw_submission(gone.submissions.get(), actor=owner, reason="An error.")
    for name, by in (("No", "ada"), ("Not this", "bob")):
        reject_batch(entered(name, by), actor=owner, reason="Not this one.")
    retract_batch(entered("Never mind", "ada"), actor=people["ada"])
    for by in ("ada", "bob", "cyd"):
        entered(f"Waits of {by}", by)
    # A second try of a system that is on the board is no further system.
    entered("On 1", "ada")
    benchmark = make_once.publish(benchmark)
    people |= {role: make_once.member(benchmark, role) for role in ("moderator", "member")}
    return benchmark, {"owner": owner, "nobody": AnonymousUser(), "stranger": make_once.user(), **people}


@pytest.fixture
def world(entered_once, make):
    """The benchmark and its people, as they were before any test changed them."""
    return deepcopy(entered_once)


def counts_seen(benchmark, viewer):
    """(on the board, replaced, withdrawn, waiting, rejected, retracted) by name, and of all others together."""
    seen = disclosure(audience_of(viewer, Benchmark.objects.get(pk=benchmark.pk)))
    in_order = [name for name, _ in KINDS]
    counts = {one.name: tuple(getattr(one.counts, name) for name in in_order) for one in seen.submitters}
    return counts, (seen.n_others, *(getattr(seen.others, name) for name in in_order))


NO_OTHERS = (0, 0, 0, 0, 0, 0, 0)
WHOLE = {"ada": (2, 0, 1, 1, 1, 1), "bob": (0, 0, 0, 1, 1, 0), "cyd": (0, 0, 0, 1, 0, 0), "owner": (2, 0, 0, 0, 0, 0)}
OPEN = {"ada": (2, 0, 1, 0, 1, 1), "owner": (2, 0, 0, 0, 0, 0)}


@pytest.mark.parametrize(
    ("viewer", "counts", "others"),
    [
        ("owner", WHOLE, NO_OTHERS),
        ("moderator", WHOLE, NO_OTHERS),
        # What waits is no one's business but the submitter's, and who was only turned down is not named.
        ("nobody", OPEN, (1, 0, 0, 0, 0, 1, 0)),
        ("stranger", OPEN, (1, 0, 0, 0, 0, 1, 0)),
        ("member", OPEN, (1, 0, 0, 0, 0, 1, 0)),
        ("ada", OPEN | {"ada": WHOLE["ada"]}, (1, 0, 0, 0, 0, 1, 0)),
        ("bob", OPEN | {"bob": WHOLE["bob"]}, NO_OTHERS),
        ("cyd", OPEN | {"cyd": WHOLE["cyd"]}, (1, 0, 0, 0, 0, 1, 0)),
    ],
)
def test_each_reader_is_told_what_they_may_know(world, viewer, counts, others):
    benchmark, people = world
    assert counts_seen(benchmark, people[viewer]) == (counts, others)


IN_A_DAY = timezone.now() + timedelta(days=1)
CLOSED = {
    "off": {"shows_submitters": False},
    "embargo": {"embargo_until": IN_A_DAY},
    "ranks": {"score_view": "ranks"},
    "own": {"score_view": "own"},
    "anonymous": {"anonymous_until": IN_A_DAY},
}


@pytest.mark.parametrize("closing", CLOSED)
def test_where_something_is_hidden_each_reader_is_told_of_their_own_alone(world, closing):
    benchmark, people = world
    Benchmark.objects.filter(pk=benchmark.pk).update(**CLOSED[closing])
    expected = {"owner": WHOLE, "moderator": WHOLE, "ada": {"ada": WHOLE["ada"]}, "bob": {"bob": WHOLE["bob"]},
                "stranger": {}, "nobody": {}, "member": {}}  # fmt: skip
    assert {viewer: counts_seen(benchmark, people[viewer]) for viewer in expected} == {
        viewer: (counts, NO_OTHERS) for viewer, counts in expected.items()
    }


@pytest.mark.parametrize("closing", ["", *CLOSED])
@pytest.mark.parametrize("viewer", ["nobody", "stranger", "member", "ada"])
def test_no_page_and_no_answer_says_more(world, closing, viewer):
    benchmark, people = world
    Benchmark.objects.filter(pk=benchmark.pk).update(**CLOSED.get(closing, {}))
    client = Client()
    if viewer != "nobody":
        client.force_login(people[viewer], backend="django.contrib.auth.backends.ModelBackend")
    for path in (reverse("submitters", args=[benchmark.key]), f"/api/v1/benchmarks/{benchmark.key}/submitters/"):
        body = client.get(path).content.decode().lower()
        assert not any(name in body for name in ("bob", "cyd", "waits of", "not this", "never mind"))
        if closing:
            assert ("ada" in body) == (viewer == "ada" and not path.startswith("/api"))


def test_a_system_counts_once_by_the_first_kind_that_one_of_its_submissions_is_of():
    states = [state.value for state in Submission.State] + ["replaced"]
    order = ["accepted", "replaced", "withdrawn", "pending", "rejected", "retracted"]
    names = dict(zip(order, (name for name, _ in KINDS), strict=True))
    systems = list(product(states, repeat=2))
    expected = Counter(
        names[min(("pending" if state == "approved" else state for state in pair), key=order.index)] for pair in systems
    )
    counts = counts_of(systems)
    assert {name: getattr(counts, name) for name in names.values()} == dict(expected)
    assert counts.n_entered == len(systems)


def test_the_page_has_the_best_of_each_on_the_board(world, client):
    benchmark, _ = world
    page = client.get(reverse("submitters", args=[benchmark.key]))
    rows = {row.submitter.name: (row.best.name, row.rank) for row in page.context["page"].rows}
    assert rows == {"ada": ("On 1", 3), "owner": ("A", 1)}
    assert "not shown" in page.content.decode()
    answer = client.get(f"/api/v1/benchmarks/{benchmark.key}/submitters/").json()
    assert answer["results"][0] == {
        "name": "ada", "is_you": False, "n_entered": 5, "n_on_board": 2, "n_replaced": 0, "n_withdrawn": 1,
        "n_rejected": 1, "n_retracted": 1, "n_waiting": 0, "best": "on-1", "rank": 3,
    }  # fmt: skip
    assert (answer["n_others"], answer["others"]["n_rejected"], answer["only_own"]) == (1, 1, "")


def test_someone_whose_every_system_was_withdrawn_is_not_named(world, make):
    benchmark, people = world
    gone = make.pending(benchmark, {"Gone, too": SCORES}, by=make.user("dan"))
    accept_batch(gone, actor=people["owner"])
    withdraw_submission(gone.submissions.get(), actor=people["owner"], reason="An error.")
    assert counts_seen(benchmark, people["stranger"]) == (OPEN, (2, 0, 0, 1, 0, 1, 0))


def test_owners_switch_it_off_and_the_trail_says_so(world):
    benchmark, people = world
    assert change_settings(benchmark, {"shows_submitters": False}, author=people["owner"]) == 1
    assert counts_seen(benchmark, people["stranger"]) == ({}, NO_OTHERS)
    assert AuditEntry.objects.filter(benchmark=benchmark, subject="setting", of="shows_submitters").count() == 1


def test_the_page_of_a_system_says_how_many_its_submitter_entered(world, client):
    benchmark, _ = world
    page = " ".join(client.get(reverse("system", args=[benchmark.key, "on-1"])).content.decode().split())
    assert "ada entered 5 systems here that were decided on: 2 on the board, 1 withdrawn, 2 never on the board." in page
    Benchmark.objects.filter(pk=benchmark.pk).update(shows_submitters=False)
    page = client.get(reverse("system", args=[benchmark.key, "on-1"])).content.decode()
    assert "entered 5 systems" not in page


def test_it_takes_as_many_queries_for_many_submitters_as_for_few(world, make, django_assert_num_queries):
    benchmark, people = world
    audience = audience_of(people["stranger"], benchmark)
    with django_assert_num_queries(4):
        disclosure(audience)
    for number in range(5):
        accept_batch(make.pending(benchmark, {f"More {number}": SCORES}, by=make.user()), actor=people["owner"])
    with django_assert_num_queries(4):
        assert len(disclosure(audience).submitters) == 7


def test_scores_that_someone_else_replaced_are_not_on_the_board_for_their_first_submitter(make):
    ann, bob = make.user("Ann"), make.user("Bob")
    benchmark = make.benchmark({"A": [5.0, 5.0], "B": [3.0, 3.0], "C": [1.0, 1.0]}, owner=ann)
    first = ann.batches.get()
    again = make.pending(benchmark, {"A": [9.0, 9.0], "New": [2.0, 2.0]}, by=bob)
    accept_batch(again, actor=ann)
    make.accepted(benchmark, {"C": [1.5, 1.0]}, by=ann)  # her own replaces her own
    benchmark = make.publish(benchmark)
    page = submitters_page(audience_of(ann, benchmark))
    counts = {
        row.submitter.name: (row.submitter.counts.n_on_board, row.submitter.counts.n_replaced) for row in page.rows
    }
    assert counts == {"Ann": (2, 1), "Bob": (2, 0)}
    assert {row.submitter.name: (row.best.name, row.rank) for row in page.rows} == {"Ann": ("B", 2), "Bob": ("A", 1)}
    assert page.rows[0].submitter.sentence == (
        "Ann entered 3 systems here: 2 on the board, 1 replaced by later submissions."
    )
    before = compact(signed_in(ann).get(reverse("batch", args=[first.uuid])))
    assert f'Its scores of A were replaced by a later submission. <a href="/submissions/{again.uuid}/">' in before
    assert '<th scope="row">A</th><td class="soft" colspan="4">replaced by a later submission</td>' in before
    own = compact(signed_in(ann).get(reverse("dashboard")))
    assert "2 replaced by a later submission" in own
    assert "Replaced by a later submission" in compact(signed_in(ann).get(reverse("system", args=[benchmark.key, "a"])))
    # Once it is withdrawn, the first scores are on the board again.
    withdraw_submission(again.submissions.get(system__key="a"), actor=ann, reason="An error.")
    ours = disclosure(audience_of(ann, Benchmark.objects.get(pk=benchmark.pk))).submitters
    assert [(one.name, one.counts.n_on_board, one.counts.n_replaced) for one in ours] == [("Ann", 3, 0), ("Bob", 1, 0)]


def test_where_submissions_replace_single_tasks_each_stays_on_the_board(make):
    ann, bob = make.user("Ann"), make.user("Bob")
    benchmark = make.benchmark({"A": [5.0, None]}, owner=ann, replacement=Benchmark.Replacement.TASK)
    make.accepted(benchmark, {"A": [5.0, 9.0]}, by=bob)
    seen = disclosure(audience_of(ann, benchmark)).submitters
    assert [(one.name, one.counts.n_on_board, one.counts.n_replaced) for one in seen] == [("Ann", 1, 0), ("Bob", 1, 0)]


def test_a_correction_of_anothers_scores_leaves_them_to_their_submitter(make):
    owner, bob = make.user("Ann"), make.user("Bob")
    benchmark = make.benchmark({"A": [5.0, 5.0]}, owner=owner)
    entered = make.pending(benchmark, {"B": [5.0, 4.0]}, by=bob)
    accept_batch(entered, actor=owner)
    draft = make_draft(
        audience_of(owner, benchmark),
        [SubmittedRow(system_name="B", scores={"task-1": "6"}, corrects=str(entered.submissions.get().uuid))],
        source=Source.CORRECTION,
        note="A slip.",
    )
    benchmark.refresh_from_db()
    confirm_draft(draft, actor=owner, previewed_number=benchmark.last_revision_number, creates_systems=False)
    seen = disclosure(audience_of(owner, benchmark)).submitters
    assert [(one.name, one.counts.n_on_board, one.counts.n_replaced) for one in seen] == [("Ann", 1, 0), ("Bob", 1, 0)]
