"""Where a batch stands: every stage of its life, and the ranks it led to."""

import re
from functools import partial

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.access.audience import audience_of
from leaderboard.models import Batch, Benchmark, Job
from leaderboard.submissions.batches.page import batch_page
from leaderboard.submissions.lifecycle import accept_batch, reject_batch, retract_batch, withdraw_submission
from ranking_engine import RULES
from tests.factories import TOY, owner_of
from tests.markup import compact
from tests.signing_in import signed_in


def stages(batch: Batch) -> list[tuple[str, str, str]]:
    page = batch_page(Batch.objects.select_related("benchmark", "uploader").get(pk=batch.pk))
    return [(stage["name"], stage["state"], stage["text"]) for stage in page.status.stages][1:]


def accepted(make, scores=None):
    benchmark = make.published()
    batch = make.pending(benchmark, scores or {"E": [9.0] * 5}, by=make.user("sender"))
    accept_batch(batch, actor=None)
    return benchmark, batch


@pytest.fixture(scope="module")
def accepted_once(make_once):
    return accepted(make_once)[1].pk


def set_job(**fields) -> None:
    Job.objects.filter(kind="rankings", sequence=2).update(**fields)


def test_a_pending_batch_waits_for_a_moderator_and_the_page_asks_no_more(make):
    batch = make.pending(make.benchmark(), {"E": [1.0] * 5}, by=make.user())
    assert stages(batch) == [
        (
            "accepted",
            "waiting",
            "A moderator decides; it is first in the queue. You can close this page and come back.",
        ),
        ("computed", "waiting", ""),
        ("published", "waiting", ""),
    ]
    page = batch_page(batch)
    assert (page.status.is_final, page.state_text) == (True, "waiting for a moderator")


SUBMITTED = '<tbody><tr><th scope="row">E</th>' + "".join(
    f'<td class="number">{text}</td>' for text in ("9", "–", "7.25", "-5", "–")
)


@pytest.mark.parametrize(
    ("step", "word"),
    [
        (partial(reject_batch, reason="wrong split"), "rejected"), (retract_batch, "withdrawn before a decision"),
        (partial(withdraw_submission, reason="wrong split"), "withdrawn"),
    ],
    ids=["rejected", "retracted", "withdrawn"],
)  # fmt: skip
def test_a_submission_that_left_has_one_word_on_every_page_and_its_scores_for_those_concerned(make, step, word):
    benchmark = make.published(submission_policy="moderated")
    sender, owner = make.user("sender"), owner_of(benchmark)
    batch = make.pending(benchmark, {"E": [9, None, 7.25, -5, None]}, by=sender)
    if word == "withdrawn":
        accept_batch(batch, actor=owner)
        step(batch.submissions.get(), actor=owner)
    else:
        step(batch, actor=sender if word != "rejected" else owner)
    address = reverse("batch", args=[batch.uuid])
    own, owners = (compact(signed_in(user).get(address)) for user in (sender, owner))
    assert re.findall(r'class="badge[^>]*>([^<]*)<', own) == [word.capitalize()]
    *_, (tracked, behind) = re.findall(r'<span class="name">([^<]*)</span>(?:<span class="(state)[^"]*">)?', own)
    assert (tracked, behind) == (word, "")
    assert re.findall(r'<th scope="row">([^<]*)</th>', own.split('id="events"')[1])[-1].lower().startswith(word)
    assert word in compact(signed_in(sender).get(reverse("dashboard"))).split('id="submissions"')[-1]
    assert [SUBMITTED in page for page in (own, owners)] == [True, True]
    assert signed_in(make.user("stranger")).get(address).status_code == 404


def test_a_rejected_batch_says_why(make):
    batch = make.pending(make.benchmark(), {"E": [1.0] * 5}, by=make.user())
    reject_batch(batch, actor=make.member(batch.benchmark, "moderator", "judge"), reason="wrong split")
    page = batch_page(batch)
    assert stages(batch) == [("rejected", "failed", "wrong split")]
    assert [(event["text"], event["who"], event["reason"]) for event in page.status.events][1:] == [
        ("Rejected", "judge", "wrong split")
    ]
    assert (page.status.is_final, page.state_text) == (True, "rejected")


@pytest.mark.parametrize(
    ("job", "state", "text", "is_final"),
    [
        ({}, "waiting", "queued", False),
        ({"attempts": 1, "error": "E: x\n\ntrace"}, "waiting", "for another attempt after: E: x", False),
        ({"attempts": 1, "error": ""}, "waiting", "queued", False),
        ({"state": "running", "attempts": 1}, "running", "", False),
        ({"state": "running", "attempts": 2}, "running", "attempt 2", False),
        ({"state": "failed", "attempts": 3, "error": "E: x\n\ntrace"}, "failed", "E: x. No scores are lost.", True),
        ({"state": "failed", "attempts": 3}, "failed", "it failed. No scores are lost.", True),
        # The job ended between the moment at which the benchmark was read and that at which the job was.
        ({"state": "done", "attempts": 1}, "running", "", False),
    ],
)
def test_an_accepted_batch_follows_its_job(accepted_once, make, job, state, text, is_final):
    batch = Batch.objects.get(pk=accepted_once)
    set_job(**job)
    accepted_, *rest = stages(batch)
    assert accepted_ == ("accepted", "done", "as revision 2")
    assert rest == [("computed", state, text), ("published", "waiting", "")]
    assert batch_page(batch).status.is_final is is_final


def test_it_follows_its_own_job_while_a_newer_one_waits(make):
    benchmark, batch = accepted(make)
    set_job(state="running", attempts=1)
    make.accepted(benchmark, {"F": [1.0] * 5})
    states = Job.objects.filter(kind="rankings", benchmark=benchmark, sequence__gte=2).order_by("sequence")
    assert list(states.values_list("state", flat=True)) == ["running", "waiting"]
    assert stages(batch)[1:] == [("computed", "running", ""), ("published", "waiting", "")]


def test_where_its_own_job_was_overtaken_it_follows_the_newer_one(make):
    benchmark, batch = accepted(make)
    make.accepted(benchmark, {"F": [1.0] * 5})
    set_job(state="superseded", finished_at=timezone.now())
    Job.objects.filter(kind="rankings", sequence=3).update(state="running", attempts=1)
    assert stages(batch)[1] == ("computed", "running", "")


def test_a_published_batch_shows_ranks_from_before_to_now(make):
    benchmark, batch = accepted(make, {"A": [9.0] * 5})
    make.publish(benchmark)
    page = batch_page(batch)
    assert stages(batch)[1:] == [("computed", "done", ""), ("published", "done", "revision 2")]
    before = {"mean": 4, "plurality": 1, "borda": 4, "condorcet": None, "copeland": 4, "minimax": 2}
    ranks = {rank.rule_name: (rank.before, rank.rank) for rank in page.ranks}
    assert {rule: ranks[RULES[rule].name] for rule in before} == {rule: (rank, 1) for rule, rank in before.items()}


def test_a_published_batch_of_several_systems_lists_the_ranks_of_each(make, client, monkeypatch):
    monkeypatch.setattr("leaderboard.submissions.batches.page.SHOWN_RANKS", 2)
    benchmark, batch = accepted(make, {"E": [9.0] * 5, "F": [-9.0] * 5, "G": [8.0] * 5})
    make.publish(benchmark)
    page = batch_page(batch)
    assert page.ranks == []
    first, last = page.lines
    assert (first.name, first.rank, first.best) == ("E", 1, 1)
    assert (last.name, last.rank, last.worst) == ("F", 7, 7)
    client.force_login(batch.uploader)
    body = compact(client.get(f"/submissions/{batch.uuid}/"))
    assert "The first 2 systems; 1 more are on the board." in body


def test_where_one_of_several_systems_was_withdrawn_the_page_says_so_first_and_in_its_row(make, client):
    benchmark, batch = accepted(make, {"E": [9.0] * 5, "F": [8.0] * 5})
    make.publish(benchmark)
    withdraw_submission(
        batch.submissions.get(system__name="E"), actor=batch.uploader, reason="Wrong checkpoint.", is_own=True
    )
    make.publish(benchmark)
    page = batch_page(Batch.objects.get(pk=batch.pk))
    assert [(row.name, row.is_withdrawn) for row in page.lines] == [("E", True), ("F", False)]
    client.force_login(batch.uploader)
    body = compact(client.get(f"/submissions/{batch.uuid}/"))
    assert body.index("Withdrawn: E</span>") < body.index(">published<")
    assert '<th scope="row">E</th><td class="soft" colspan="4">withdrawn</td>' in body


def test_a_withdrawn_batch_names_a_published_revision_only_while_that_includes_it(make):
    benchmark, batch = accepted(make)
    accept_batch(make.pending(benchmark, {"F": [8.0] * 5}, by=make.user()), actor=None)
    make.publish(benchmark)
    withdraw_submission(batch.submissions.get(), actor=batch.uploader, reason="Wrong checkpoint.", is_own=True)
    before = stages(batch)
    make.publish(benchmark)
    after = stages(batch)
    assert [way[2] for way in (before, after)] == [
        ("published", "done", "revision 3, which includes revision 2"), ("published", "done", ""),
    ]  # fmt: skip
    assert [way[3][0] for way in (before, after)] == ["withdrawn", "withdrawn"]


def test_a_rank_that_others_share_is_marked_as_such(make, client):
    benchmark, batch = accepted(make, {"E": TOY["A"]})
    make.publish(benchmark)
    tied = {rank.rule_name: (rank.rank, rank.n_tied_with) for rank in batch_page(batch).ranks}
    by_hand = {name: sum(scores) for name, scores in {**TOY, "E": TOY["A"]}.items()}
    place = 1 + sum(total > by_hand["E"] for total in by_hand.values())
    assert tied["Mean"] == (place, list(by_hand.values()).count(by_hand["E"]) - 1)
    client.force_login(batch.uploader)
    row = re.search(r'<th scope="row">Mean</th>.*?</tr>', compact(client.get(f"/submissions/{batch.uuid}/")))[0]
    assert f">=</span>{place}</span>" in row


def test_where_scores_of_others_are_hidden_a_tie_is_too(make):
    benchmark, batch = accepted(make, {"E": TOY["A"]})
    make.publish(benchmark)
    Benchmark.objects.filter(pk=benchmark.pk).update(score_view="own")
    audience = audience_of(batch.uploader, Benchmark.objects.get(pk=benchmark.pk))
    assert {rank.n_tied_with for rank in batch_page(batch, audience).ranks} == {0}
    assert {rank.n_tied_with for rank in batch_page(batch).ranks} != {0}


def test_a_newcomer_has_no_rank_before(make):
    benchmark, batch = accepted(make)
    make.publish(benchmark)
    assert {rank.before for rank in batch_page(batch).ranks} == {None}


def test_a_newer_publication_says_that_it_includes_the_batch(make):
    benchmark, batch = accepted(make)
    make.accepted(benchmark, {"F": [1.0] * 5})
    make.publish(benchmark)
    assert stages(batch)[2] == ("published", "done", "revision 3, which includes revision 2")


def test_what_happened_to_the_whole_batch_is_told_once(make):
    _, batch = accepted(make, {name: [9.0] * 5 for name in ("E", "F", "G", "H")})
    withdraw_submission(
        batch.submissions.get(system__key="f"), actor=make.member(batch.benchmark, "moderator"), reason="oops"
    )
    events = [(event["text"], event["reason"]) for event in batch_page(batch).status.events]
    assert events == [
        ("submitted E, F, G and 1 more", ""),
        ("Accepted, revision 2", ""),
        ("Withdrawn, revision 3", "oops"),
    ]
    assert batch_page(batch).ranks == []
