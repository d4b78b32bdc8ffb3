"""Steps of a batch of votes: who may take them and when, and what is said to those who may not."""

import json
from datetime import timedelta

import pytest
from django.core.exceptions import PermissionDenied
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.accounts.tokens import create_token
from leaderboard.models import Benchmark, Revision, VoteBatch
from leaderboard.votes.lifecycle import withdraw_votes
from tests.factories import owner_of
from tests.leaderboard.votes.sent import collecting, rate, sent, vote_lines
from tests.markup import compact

BACKEND = "django.contrib.auth.backends.ModelBackend"


@pytest.mark.parametrize(
    ("fields", "is_withdrawn"),
    [
        ({"is_archived": True}, False),
        ({"submission_policy": "closed"}, False),
        ({"deadline": timezone.now() - timedelta(seconds=1)}, False),
        ({"submitters_withdraw": False}, False),
        ({"deadline": timezone.now() + timedelta(days=1)}, True),
    ],
    ids=["archived", "closed", "deadline past", "not by submitters", "deadline ahead"],
)
def test_a_sender_withdraws_accepted_votes_only_while_votes_are_accepted(make, client, fields, is_withdrawn):
    benchmark, sender = collecting(make), make.user()
    sent(benchmark, vote_lines(60))
    rate(benchmark)
    batch = sent(benchmark, vote_lines(60, seed=1), by=sender)
    rate(benchmark)
    n_revisions = Revision.objects.filter(benchmark=benchmark).count()
    # The batch as it was read before the owners changed the benchmark.
    Benchmark.objects.filter(pk=benchmark.pk).update(**fields)
    if not is_withdrawn:
        with pytest.raises(PermissionDenied):
            withdraw_votes(batch, actor=sender, reason="I lost.")
    client.force_login(sender, backend=BACKEND)
    path = reverse("vote_batch", args=[batch.uuid])
    has_button = 'value="withdraw"' in compact(client.get(path))
    status = client.post(path, {"action": "withdraw", "reason": "I lost."}).status_code
    rate(benchmark)
    batch.refresh_from_db()
    n_new = Revision.objects.filter(benchmark=benchmark).count() - n_revisions
    expected = (True, 302, "withdrawn", 1) if is_withdrawn else (False, 403, "accepted", 0)
    assert (has_button, status, batch.state, n_new) == expected


def test_moderators_withdraw_votes_of_an_archived_benchmark(make):
    benchmark = collecting(make)
    batch = sent(benchmark, vote_lines(60))
    Benchmark.objects.filter(pk=benchmark.pk).update(is_archived=True)
    withdraw_votes(batch, actor=make.member(benchmark, "moderator"), reason="A broken log.")
    batch.refresh_from_db()
    assert batch.state == "withdrawn"


@pytest.mark.parametrize(
    ("state", "action", "sentence"),
    [
        ("pending", "reject", "Give a reason: the sender sees it."),
        ("accepted", "withdraw", "Give a reason: it is kept in the history."),
        ("withdrawn", "reinstate", "Give a reason: it is kept in the history."),
    ],
)
def test_a_step_without_a_reason_is_refused_in_a_sentence(make, client, state, action, sentence):
    benchmark = collecting(make)
    batch, owner = sent(benchmark, vote_lines(30)), owner_of(benchmark)
    VoteBatch.objects.filter(pk=batch.pk).update(state=state)
    client.force_login(owner, backend=BACKEND)
    page = client.post(reverse("vote_batch", args=[batch.uuid]), {"action": action, "reason": " "}, follow=True)
    _, secret = create_token(owner, name="t", scopes=["submit", "manage"], days=30)
    answer = Client(headers={"Authorization": f"Token {secret}"}).post(
        reverse("api:vote_step", args=[batch.uuid]), json.dumps({"step": action}), content_type="application/json"
    )
    batch.refresh_from_db()
    assert [str(message) for message in page.context["messages"]] == [sentence]
    assert (answer.status_code, answer.json()["error"]["message"], batch.state) == (409, sentence, state)
