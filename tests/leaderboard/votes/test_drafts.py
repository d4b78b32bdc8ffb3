"""Drafts of votes: whose they are, how many are kept, and when they count."""

import pytest
from django.core.exceptions import PermissionDenied
from django.urls import reverse
from django.utils import timezone

from leaderboard.access.audience import audience_of
from leaderboard.models import CellCount, VoteBatch
from leaderboard.submissions.problems import QuotaError, SubmissionError
from leaderboard.submissions.quotas import TOTAL
from leaderboard.votes.lifecycle import confirm_votes, discard_draft, draft_votes
from tests.factories import owner_of
from tests.leaderboard.votes.sent import check, collecting, rate, sent, vote_lines


def test_a_draft_is_confirmed_or_discarded_once(make):
    benchmark = collecting(make)
    owner = owner_of(benchmark)
    audience = audience_of(owner, benchmark)
    draft = draft_votes(audience, check(benchmark, vote_lines(30).encode()))
    confirm_votes(draft, actor=owner)
    for step in (lambda: confirm_votes(draft, actor=owner), lambda: discard_draft(draft, actor=owner)):
        with pytest.raises(SubmissionError):
            step()
    gone = draft_votes(audience, check(benchmark, vote_lines(30).encode()))
    discard_draft(gone, actor=owner)
    with pytest.raises(SubmissionError):
        confirm_votes(gone, actor=owner)
    assert VoteBatch.objects.count() == 1


def test_a_draft_of_someone_else_or_one_that_expired_is_not_confirmed(make):
    benchmark, other = collecting(make), make.user()
    owner = owner_of(benchmark)
    draft = draft_votes(audience_of(owner, benchmark), check(benchmark, vote_lines(30).encode()))
    for step in (confirm_votes, discard_draft):
        with pytest.raises(PermissionDenied, match=r"^These votes were sent by someone else\.$"):
            step(draft, actor=other)
    VoteBatch.objects.filter(pk=draft.pk).update(expires_at=timezone.now())
    draft.refresh_from_db()
    with pytest.raises(SubmissionError, match=r"^This draft has expired\. Send the votes again\.$"):
        confirm_votes(draft, actor=owner)
    draft.refresh_from_db()
    assert (draft.state, draft.events.count()) == ("draft", 0)


def test_drafts_of_votes_count_for_what_an_account_stores_once_they_are_confirmed(make, settings):
    settings.CELLS_PER_DAY = 5
    benchmark, sender = collecting(make), make.user()
    sent(benchmark, vote_lines(30))
    rate(benchmark)
    audience = audience_of(sender, benchmark)
    for _ in range(2):
        discard_draft(draft_votes(audience, check(benchmark, vote_lines(50).encode())), actor=sender)
    drafts = [draft_votes(audience, check(benchmark, vote_lines(n).encode())) for n in (60, 50, 10)]
    outcomes = []
    for draft in drafts:
        try:
            outcomes.append(confirm_votes(draft, actor=sender).state)
        except QuotaError as error:
            outcomes.append(str(error).partition(" (")[0])
    day = "An account can store 5 scores a day here. Yours has stored {}, and these are {} more"
    assert outcomes == [day.format(0, 6), "accepted", day.format(5, 1)]
    assert dict(CellCount.objects.filter(user=sender).values_list("period", "n_cells"))[TOTAL] == 5


def test_of_drafts_of_votes_the_newest_are_kept(make, monkeypatch):
    monkeypatch.setattr("leaderboard.votes.lifecycle.MAX_DRAFTS", 2)
    benchmark, other = collecting(make), make.user()
    audience = audience_of(owner_of(benchmark), benchmark)
    waiting = sent(benchmark, vote_lines(30))
    rate(benchmark)
    checked = check(benchmark, vote_lines(30).encode())
    theirs = draft_votes(audience_of(other, benchmark), checked)
    own = [draft_votes(audience, checked) for _ in range(3)]
    assert set(VoteBatch.objects.all()) == {waiting, theirs, own[1], own[2]}


def test_a_draft_of_votes_says_at_once_that_it_cannot_be_sent_now(make, client):
    benchmark, sender = collecting(make), make.user()
    draft = draft_votes(audience_of(sender, benchmark), check(benchmark, vote_lines(30).encode()))
    client.force_login(sender, backend="django.contrib.auth.backends.ModelBackend")
    pages = []
    for is_archived in (False, True):
        type(benchmark).objects.filter(pk=benchmark.pk).update(is_archived=is_archived)
        page = " ".join(client.get(reverse("vote_batch", args=[draft.uuid])).content.decode().split())
        pages.append(
            ("cannot be submitted now.</strong> The benchmark is archived." in page, "Send these votes" in page)
        )
    assert pages == [(False, True), (True, False)]
