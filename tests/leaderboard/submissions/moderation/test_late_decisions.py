"""Moderators who follow a link to a submission that someone decided about meanwhile."""

from uuid import uuid4

import pytest
from django.core import mail
from django.urls import reverse

from leaderboard.models import Membership, Notice
from leaderboard.notifications.mails import put_digests
from leaderboard.notifications.notices import notice_text
from leaderboard.notifications.outbox import send_due_messages
from leaderboard.submissions.lifecycle import accept_batch, reject_batch, retract_batch
from tests.factories import SIX_SYSTEMS, owner_of
from tests.signing_in import signed_in


@pytest.mark.parametrize("how", ["accepted", "rejected", "withdrawn"])
def test_the_link_to_decide_says_what_was_decided_meanwhile(make, how):
    benchmark, user = make.benchmark(SIX_SYSTEMS, name="Speech", submission_policy="moderated"), make.user("Sam")
    owner, moderator = owner_of(benchmark), make.member(benchmark, "moderator")
    batch = make.submitted(benchmark, "New", ["3", "3"], by=user)
    link = Notice.objects.filter(user=moderator).get().path
    if how == "accepted":
        accept_batch(batch, actor=owner)
    elif how == "rejected":
        reject_batch(batch, actor=owner, reason="No.")
    else:
        retract_batch(batch, actor=user)
    answer = signed_in(moderator).get(link, follow=True)
    assert answer.redirect_chain == [(reverse("batch", args=[batch.uuid]), 302)]
    (message,) = map(str, answer.context["messages"])
    said = "New: the submitter withdrew this submission on "
    assert message.startswith(said if how == "withdrawn" else f"New: already {how} by {owner.shown_name} on ")
    # The notice says so, too; it is read, leads to the submission, and no mail asks for the decision any more.
    (notice,) = Notice.objects.filter(user=moderator)
    said = "was withdrawn by its submitter" if how == "withdrawn" else f"needed a decision and was {how}"
    assert notice_text(notice) == notice.text == f"A submission of New to Speech {said}."
    assert (notice.path, notice.read_at is None) == (reverse("batch", args=[batch.uuid]), False)
    mail.outbox.clear()
    put_digests()
    send_due_messages()
    assert not [message for message in mail.outbox if moderator.email in message.to]
    path = reverse("manage_decide", args=[benchmark.key, uuid4()])
    assert "no such submission" in signed_in(moderator).get(path).content.decode()


def test_no_one_is_asked_any_more_once_a_submitter_who_became_a_moderator_accepts(make):
    benchmark, user = make.benchmark(SIX_SYSTEMS, name="Speech", submission_policy="moderated"), make.user("Sam")
    batch = make.submitted(benchmark, "New", ["3", "3"], by=user)
    Membership.objects.create(benchmark=benchmark, user=user, role="moderator")
    accept_batch(batch, actor=user)
    (notice,) = Notice.objects.filter(user=owner_of(benchmark))
    assert notice.text == "A submission of New to Speech needed a decision and was accepted."
    assert (notice.read_at is None, notice.is_mail_wanted) == (False, False)
