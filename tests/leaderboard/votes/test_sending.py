"""What may be sent, what is refused before the work, and what becomes of people who voted."""

import io
import json
import re
from datetime import timedelta

import numpy as np
import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.access.audience import audience_of
from leaderboard.models import VoteBatch, VoteReport
from leaderboard.submissions.problems import QuotaError, SubmissionError
from leaderboard.submissions.uploads import IdempotencyError
from leaderboard.votes.content import SentVotes
from leaderboard.votes.lifecycle import (
    reject_votes,
    retract_votes,
    send_votes,
    withdraw_votes,
)
from leaderboard.votes.overdue import reject_overdue_votes
from leaderboard.votes.queries import open_batches, ratings_for
from leaderboard.votes.settings import change_vote_settings, forget_voter
from ranking_engine.files.problems import InputError
from ranking_engine.votes.packing import unpacked_votes
from ranking_engine.votes.reading import read_votes
from tests.factories import owner_of
from tests.leaderboard.votes.sent import check, collecting, rate, sent, vote_lines
from tests.markup import compact

DEFAULTS = {"tie_model": "half_wins", "cluster": "vote", "covariates": [], "n_resamples": 0, "shows_elo": False,
            "exports_voters": False}  # fmt: skip
ARENA = {
    "question_id": "q1", "model_a": "Ash", "model_b": "Birch", "winner": "tie (bothbad)", "judge": "u1",
    "language": "English", "tstamp": 1682351591.1,
    "conv_metadata": {"sum_assistant_a_tokens": 30, "sum_assistant_b_tokens": 10},
}  # fmt: skip


def parquet_of(rows: list[dict]) -> bytes:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows), file)
    return file.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        json.dumps([ARENA, ARENA]).encode(),
        (json.dumps(ARENA) + "\n" + json.dumps(ARENA)).encode(),
        b"model_a,model_b,winner,language,judge,question_id\n" + b"Ash,Birch,tie (bothbad),English,u1,q1\n" * 2,
        b"model_a;model_b;winner;language;judge;question_id\n" + b"Ash;Birch;tie (bothbad);English;u1;q1\n" * 2,
    ],
    ids=["list", "lines", "csv", "semicolons"],
)
def test_published_shapes_are_read(make, data):
    checked = check(collecting(make), data)
    assert (checked.n_votes, checked.n_voters) == (2, 1)
    assert (checked.systems, checked.categories) == ({"Ash": 2, "Birch": 2}, {"English": 2})


def test_a_parquet_file_is_read(make):
    rows = [{"model_a": "Ash", "model_b": "Birch", "winner": "model_a"}] * 3
    assert check(collecting(make), parquet_of(rows)).n_votes == 3


def test_columns_may_be_named(make):
    checked = check(collecting(make), b"x,y,best,rater\nAsh,Birch,a,1\n", x="a", y="b", best="winner", rater="voter")
    assert (checked.n_votes, checked.n_voters) == (1, 1)


def test_all_problems_come_at_once_with_their_lines(make):
    data = b"model_a,model_b,winner\nAsh,Ash,a\nAsh,Birch,perhaps\nAsh,,a\n"
    with pytest.raises(InputError) as caught:
        check(collecting(make), data)
    lines = caught.value.problems.lines
    assert [f"line {n}" in line for n, line in zip((2, 3, 4), lines, strict=True)] == [True] * 3


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "there are no votes"),
        (b"\x00\xff\xfe", "the file"),
        (b"PAR1nonsense", "Parquet"),
        (b"[" * 100_000, "not valid JSON"),
        (b'[{"model_a": ' + b"9" * 5_000 + b"}]", "no column|JSON"),
        (b"model_a,model_b,winner\n" + b"a,b,a\n" * 30, "more than 20 votes"),
        (b"model_a,model_b,winner,category\n" + b"".join(b"a,b,a,c%d\n" % k for k in range(19)), "19 tasks"),
    ],
    ids=["nothing", "bytes", "no parquet", "deep", "digits", "many", "categories"],
)  # fmt: skip
def test_the_worst_is_refused_before_anything_is_stored(make, settings, monkeypatch, data, message):
    settings.VOTES_PER_UPLOAD = 20
    monkeypatch.setattr("leaderboard.votes.content.MAX_TASKS", 10)
    with pytest.raises(InputError, match=message):
        check(collecting(make), data)
    assert not VoteBatch.objects.exists()


def test_a_file_beyond_the_limit_of_bytes_is_not_read(make, settings):
    settings.IMPORT_BYTES = 100
    with pytest.raises(InputError, match="at most 100 are read"):
        check(collecting(make), vote_lines(50).encode())


def test_all_batches_together_have_a_limit_of_votes_and_systems(make, settings, monkeypatch):
    benchmark = collecting(make)
    sent(benchmark, vote_lines(60))
    settings.VOTES_PER_BENCHMARK = 100
    monkeypatch.setattr("leaderboard.votes.content.MAX_SYSTEMS", 5)
    more = vote_lines(60).replace("Ash", "Alder").replace("Birch", "Beech")
    with pytest.raises(InputError) as caught:
        check(benchmark, more.encode())
    assert len(caught.value.problems.lines) == 2


def test_only_owners_add_categories_and_others_learn_which_exist(make, client):
    benchmark = collecting(make)
    stranger = make.user()

    def problems(text):
        with pytest.raises(InputError) as caught:
            check(benchmark, text.encode(), by=stranger)
        return caught.value.problems.lines

    def hint(user):
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        text = compact(client.get(reverse("send_votes", args=[benchmark.key])))
        return re.sub("<[^>]*>", "", text.partition("<code>weight</code>.")[2].partition("<a ")[0]).strip()

    bare = "model_a,model_b,winner\nAsh,Birch,model_a\n"
    first = "This benchmark has no categories yet; one of its owners has to send votes first"
    without = "votes without a category: each row needs one in the column 'category'."
    assert problems(bare) == [f"{without} {first}"]
    assert hint(stranger) == f"{first}."
    sent(benchmark, vote_lines(60))
    rate(benchmark)
    assert check(benchmark, vote_lines(30, categories=["CODE"]).encode(), by=stranger).n_votes == 30
    rest = "The categories of this benchmark are {}; only its owners add others"
    quoted = rest.format("'code' and 'text'")
    new = "'poetry': no task of this benchmark."
    assert problems(vote_lines(30, categories=["code", "poetry"])) == [f"{new} {quoted}"]
    assert problems(bare) == [f"{without} {quoted}"]
    assert problems(vote_lines(30, categories=["", "poetry"])) == [f"{without} {quoted}", f"{new} {quoted}"]
    assert hint(owner_of(benchmark)) == ""
    assert hint(stranger) == f"{rest.format('code and text')}. So the column category is needed here, too."
    sent(benchmark, vote_lines(60, categories=[""]))
    rate(benchmark)
    assert check(benchmark, bare.encode(), by=stranger).n_votes == 1
    assert hint(stranger) == f"{rest.format('code, text and no category')}."


def test_the_same_key_and_votes_are_stored_once(make):
    benchmark = collecting(make)
    owner, votes = owner_of(benchmark), SentVotes(vote_lines(30).encode(), {})
    first = send_votes(benchmark, owner, votes, idempotency_key="k")
    second = send_votes(benchmark, owner, votes, idempotency_key="k")
    assert (first[1], second[1], first[0].pk == second[0].pk) == (True, False, True)
    with pytest.raises(IdempotencyError):
        send_votes(benchmark, owner, SentVotes(vote_lines(31).encode(), {}), idempotency_key="k")


def test_caps_are_counted(make):
    benchmark = collecting(make, daily_cap=1)
    stranger = make.user()
    owner_check = vote_lines(30)
    sent(benchmark, owner_check)
    rate(benchmark)
    sent(benchmark, vote_lines(30), by=stranger)
    with pytest.raises(QuotaError, match="1 system a day"):
        sent(benchmark, vote_lines(30), by=stranger)


def test_decisions_are_told_and_taken_once(make):
    benchmark = collecting(make, submission_policy="moderated")
    sent(benchmark, vote_lines(30))
    rate(benchmark)
    sender, moderator = make.user(), make.member(benchmark, "moderator")
    batch = sent(benchmark, vote_lines(30), by=sender)
    assert [notice.text for notice in moderator.notices.all()] == [
        f"A batch of 30 votes for {benchmark.name} needs a decision."
    ]
    reject_votes(batch, actor=moderator, reason="Not asked at random.")
    assert [(notice.text, notice.words) for notice in sender.notices.all()] == [
        (f"Your batch of 30 votes for {benchmark.name} was rejected.", "Not asked at random.")
    ]
    with pytest.raises(SubmissionError, match="is rejected now"):
        retract_votes(batch, actor=sender)


def test_votes_that_their_sender_withdrew_say_that_no_one_decided_about_them(make, client):
    benchmark = collecting(make, submission_policy="moderated")
    sent(benchmark, vote_lines(30))
    rate(benchmark)
    sender = make.user("Ada")
    batch = sent(benchmark, vote_lines(30), by=sender)
    retract_votes(batch, actor=sender)
    client.force_login(sender, backend="django.contrib.auth.backends.ModelBackend")
    page = " ".join(client.get(reverse("vote_batch", args=[batch.uuid])).content.decode().split())
    assert '<span class="badge">withdrawn before a decision</span>' in page
    assert "withdrawn before a decision by Ada" in page


def test_a_person_is_the_same_in_every_batch_and_on_no_other_benchmark(make):
    benchmark, other = collecting(make), collecting(make)
    line = "model_a,model_b,winner,voter\nAsh,Birch,a,ada@example.org\n"
    ids = [
        unpacked_votes(bytes(sent(where, line).votes)).voter_ids.tolist()
        for where in (benchmark, benchmark, other)
    ]  # fmt: skip
    assert ids[0] == ids[1] != ids[2]


def test_a_forgotten_person_is_in_no_stored_vote_and_the_ratings_follow(make):
    benchmark = collecting(make)
    owner = owner_of(benchmark)
    change_vote_settings(benchmark, DEFAULTS | {"cluster": "voter"}, author=owner)
    batch = sent(benchmark, vote_lines(120))
    assert forget_voter(benchmark, "person1@example.org", author=owner, reason="They asked for it.") == 1
    assert forget_voter(benchmark, "nobody@example.org", author=owner, reason="They asked for it.") == 0
    batch.refresh_from_db()
    assert (batch.n_voters, batch.n_votes) == (8, 120)
    assert [event.kind for event in batch.events.all()] == ["sent", "accepted", "forgotten"]
    rate(benchmark)
    assert VoteReport.objects.count() == 1


def test_the_download_is_read_as_the_same_votes_and_says_who_voted_only_if_owners_choose(make, client):
    benchmark = collecting(make)
    text = vote_lines(60)
    sent(benchmark, text)
    rate(benchmark)
    path = reverse("votes_file", args=[benchmark.key, "csv"])
    lines = client.get(path).content
    back, whole = read_votes(lines), read_votes(text.encode())
    for name in ("system_names", "category_names"):
        assert getattr(back, name) == getattr(whole, name)
    for name in ("first", "second", "outcomes", "categories", "weights", "prompts"):
        assert np.array_equal(getattr(back, name), getattr(whole, name))
    assert back.voters is None
    change_vote_settings(benchmark, DEFAULTS | {"exports_voters": True}, author=owner_of(benchmark))
    lines = client.get(path).content
    assert np.array_equal(read_votes(lines).voters, whole.voters)
    assert b"person" not in lines


def test_what_is_accepted_under_an_embargo_is_in_no_download(make, client):
    benchmark = collecting(make)
    sent(benchmark, vote_lines(60))
    rate(benchmark)
    benchmark.embargo_until = timezone.now() + timedelta(days=1)
    benchmark.save(update_fields=["embargo_until"])
    sent(benchmark, vote_lines(90, seed=2))
    rate(benchmark)
    everyone = audience_of(make.user(), benchmark)
    assert [batch.n_votes for batch in open_batches(everyone)] == [60]
    text = client.get(reverse("votes_file", args=[benchmark.key, "csv"])).content.decode()
    assert len(text.splitlines()) == 61


def test_settings_have_the_votes_rated_again_and_are_in_the_trail(make):
    benchmark = collecting(make)
    owner = owner_of(benchmark)
    sent(benchmark, vote_lines(240, n_voters=30))
    rate(benchmark)
    assert change_vote_settings(benchmark, DEFAULTS, author=owner) == 0
    values = DEFAULTS | {"tie_model": "davidson", "cluster": "voter", "shows_elo": True, "n_resamples": 100}
    assert change_vote_settings(benchmark, values, author=owner, reason="Ties matter.") == 4
    rate(benchmark)
    report = ratings_for(audience_of(owner, benchmark)).report
    expected = ("davidson", "voter", "bootstrap", 30)
    assert (report["model"], report["cluster"], report["intervals"], report["n_clusters"]) == expected
    assert len(report["elo"]["systems"]) == 4
    trail = benchmark.audit_entries.filter(reason="Ties matter.").values_list("of", flat=True)
    assert set(trail) == {"votes: tie_model", "votes: cluster", "votes: shows_elo", "votes: n_resamples"}


def test_covariates_are_fitted_where_every_batch_has_them(make):
    benchmark = collecting(make)
    owner = owner_of(benchmark)
    sent(benchmark, vote_lines(120))
    change_vote_settings(benchmark, DEFAULTS | {"covariates": ["length"]}, author=owner)
    head, *rows = vote_lines(120, seed=4).splitlines()
    longer = "\n".join([f"{head},length_a,length_b", *(f"{row},{k % 7 + 1},{k % 5 + 1}" for k, row in enumerate(rows))])
    with pytest.raises(InputError, match="no column has the covariate"):
        check(benchmark, vote_lines(30).encode())
    sent(benchmark, longer)
    rate(benchmark)
    report = ratings_for(audience_of(owner, benchmark)).report
    assert (report["coefficients"], report["problems"][0]) == (
        [], "the covariate 'length' is left out: not all batches have it"
    )  # fmt: skip
    withdraw_votes(VoteBatch.objects.earliest("pk"), actor=owner, reason="Without lengths.")
    rate(benchmark)
    report = ratings_for(audience_of(owner, benchmark)).report
    assert [part["covariate"] for part in report["coefficients"]] == ["length"]


def test_what_waits_is_in_the_queue_and_counted(make, client):
    benchmark = collecting(make, submission_policy="moderated")
    sent(benchmark, vote_lines(30))
    rate(benchmark)
    moderator = make.member(benchmark, "moderator")
    client.force_login(moderator, backend="django.contrib.auth.backends.ModelBackend")
    path = reverse("manage_queue", args=[benchmark.key])
    assert "The queue is empty" in client.get(path).content.decode()
    batch = sent(benchmark, vote_lines(1), by=make.user("Sender"))
    page, address = compact(client.get(path)), reverse("vote_batch", args=[batch.uuid])
    assert f'<a href="{address}">1 vote</a> from Sender' in page
    assert 'class="unread">1<' in page
    assert "The queue is empty" not in page
    title = compact(client.get(address)).partition("<title>")[2].partition("</title>")[0]
    assert title.strip() == f"1 vote for {benchmark.name}, {batch.created_at:%-d %b %Y, %H:%M} UTC · Plurank"


@pytest.mark.parametrize("rejects", [False, True])
def test_what_is_overdue_is_rejected_once_where_owners_chose_so(make, rejects):
    benchmark = collecting(make, submission_policy="moderated", rejects_overdue=rejects)
    sent(benchmark, vote_lines(30))
    rate(benchmark)
    batch = sent(benchmark, vote_lines(30), by=make.user())
    assert reject_overdue_votes() == 0
    VoteBatch.objects.filter(pk=batch.pk).update(decide_by=timezone.now() - timedelta(minutes=1))
    assert (reject_overdue_votes(), reject_overdue_votes()) == (int(rejects), 0)
    batch.refresh_from_db()
    assert batch.state == ("rejected" if rejects else "pending")


def test_votes_were_sent_when_they_were_confirmed_and_not_when_they_were_uploaded(make, client):
    benchmark = collecting(make)
    owner = owner_of(benchmark)
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    client.post(reverse("send_votes", args=[benchmark.key]), {"text": vote_lines(60)})
    batch = VoteBatch.objects.get()
    VoteBatch.objects.filter(pk=batch.pk).update(created_at=timezone.now() - timedelta(days=2))
    before = timezone.now()
    client.post(reverse("vote_batch", args=[batch.uuid]), {"action": "confirm"})
    batch.refresh_from_db()
    (at,) = batch.events.filter(kind="sent").values_list("at", flat=True)
    assert (batch.state, before <= batch.created_at <= at) == ("accepted", True)
    assert (at - batch.created_at).total_seconds() < 60
