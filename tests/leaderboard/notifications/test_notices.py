"""Who is told what: those it concerns, once, and nothing that they may not know."""

import re
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.accounts.closing import close_account
from leaderboard.accounts.tokens import create_token, tell_of_expiring_tokens
from leaderboard.common.append_only import append_only_permit
from leaderboard.models import ApiToken, Batch, Benchmark, Notice, NoticeChoice, NoticeDigest, OutboxMessage
from leaderboard.notifications.mails import put_digests, unsubscribe_link
from leaderboard.notifications.notices import choose_ways, notice_text
from leaderboard.notifications.outbox import send_due_messages
from leaderboard.rankings.notices import tell_of_publications
from leaderboard.submissions.lifecycle import accept_batch, reject_batch, withdraw_submission
from leaderboard.submissions.overdue import escalate_overdue
from tests.concurrency import at_once
from tests.factories import owner_of
from tests.markup import compact
from tests.signing_in import signed_in

TWO = {"Low": [1.0, 1.0], "Mid": [2.0, 2.0]}


def texts(user, kind: str = "") -> list[str]:
    rows = Notice.objects.filter(user=user, **({"kind": kind} if kind else {}))
    return [notice_text(row) for row in rows.order_by("pk")]


def mails() -> list:
    """The mails that go out now."""
    mail.outbox.clear()
    put_digests()
    send_due_messages()
    return list(mail.outbox)


def overtaken(make, **fields):
    """A benchmark on which a rival came above and below somebody's systems; the somebody, and the benchmark."""
    user, rival = make.user("Ada"), make.user("Rival")
    benchmark = make.published(TWO, name="Speech", **fields)
    make.accepted(benchmark, {"Ada A": [5.0, 5.0], "Ada B": [1.5, 1.5]}, by=user)
    make.publish(benchmark)
    tell_of_publications()
    Notice.objects.all().delete()
    make.accepted(benchmark, {"Rival's": [9.0, 9.0]}, by=rival)
    make.publish(benchmark)
    tell_of_publications()
    return user, rival, benchmark


# --- Decisions -------------------------------------------------------------------------------------------------------


def test_a_decision_is_told_to_the_submitter_and_to_nobody_else(make):
    """Codabench 2109: a mail by status went to everybody."""
    benchmark = make.benchmark(TWO, name="Speech", submission_policy="moderated")
    moderator, member = make.member(benchmark, "moderator"), make.member(benchmark, "member")
    users = [make.user() for _ in range(3)]
    batches = [make.submitted(benchmark, f"S{n}", ["3", "3"], by=user) for n, user in enumerate(users)]
    Notice.objects.all().delete()
    accept_batch(batches[0], actor=moderator)
    reject_batch(batches[1], actor=moderator, reason="It saw the test set.")
    assert texts(users[0]) == ["Your submission of S0 to Speech was accepted."]
    assert texts(users[1]) == ["Your submission of S1 to Speech was rejected. Reason: It saw the test set."]
    assert set(Notice.objects.values_list("user", flat=True)) == {users[0].pk, users[1].pk}
    messages = mails()
    assert sorted(to for message in messages for to in message.to) == sorted([users[0].email, users[1].email])
    assert all(user.email not in f"{m.to} {m.cc} {m.bcc}" for m in messages for user in (users[2], member, moderator))


def test_a_new_submission_is_told_to_those_who_decide(make):
    benchmark = make.benchmark(TWO, name="Speech", submission_policy="moderated")
    moderator, member = make.member(benchmark, "moderator"), make.member(benchmark, "member")
    batch = make.submitted(benchmark, "New", ["3", "3"], by=make.user())
    notice = "A submission of New to Speech needs a decision."
    assert texts(moderator) == texts(owner_of(benchmark)) == [notice]
    assert texts(member) == []
    assert Notice.objects.first().path == reverse("manage_decide", args=[benchmark.key, batch.uuid])


def test_who_decides_about_their_own_is_told_nothing(make):
    benchmark = make.benchmark(TWO)
    make.submitted(benchmark, "New", ["3", "3"], by=make.user())
    assert not Notice.objects.exists()


def test_what_is_undone_with_its_transaction_is_told_to_nobody(make):
    benchmark = make.benchmark(TWO, submission_policy="moderated")
    batch = make.submitted(benchmark, "New", ["3", "3"], by=make.user())
    Notice.objects.all().delete()
    with transaction.atomic():
        accept_batch(batch, actor=owner_of(benchmark))
        transaction.set_rollback(True)
    assert not Notice.objects.exists()


def test_what_a_moderator_takes_off_the_board_is_told_with_the_reason(make):
    benchmark, user = make.benchmark(TWO, name="Speech"), make.user()
    batch = make.submitted(benchmark, "New", ["3", "3"], by=user)
    withdraw_submission(make.submission_of(batch), actor=owner_of(benchmark), reason="A bug.")
    assert texts(user) == ["Your submission of New to Speech was taken off the board. Reason: A bug."]


def test_who_waits_beyond_the_time_that_they_were_told_hears_of_it_once_and_so_do_the_moderators(make):
    benchmark, user = make.benchmark(TWO, name="Speech", submission_policy="moderated"), make.user()
    batch = make.submitted(benchmark, "New", ["3", "3"], by=user)
    Notice.objects.all().delete()
    with append_only_permit("the time goes by"):
        Batch.objects.filter(pk=batch.pk).update(decide_by=timezone.now() - timedelta(hours=1))
    assert [escalate_overdue(), escalate_overdue()] == [1, 0]
    (notice,) = texts(user)
    assert notice.startswith("Your submission of New to Speech is still waiting, although the decision is overdue")
    assert texts(owner_of(benchmark)) == ["The submission of New to Speech is overdue."]


# --- Boards ----------------------------------------------------------------------------------------------------------


def test_who_is_overtaken_is_told_from_which_rank_to_which(make):
    user, rival, benchmark = overtaken(make)
    # By hand, Borda on two tasks: 5 > 2 > 1.5 > 1 before, 9 above all of them after.
    notice = "On Speech, under Borda: Ada A fell from rank 1 to 2 and Ada B fell from rank 3 to 4."
    assert texts(user, "overtaken") == [notice]
    assert texts(rival, "overtaken") == []
    assert texts(owner_of(benchmark), "overtaken") == [
        "On Speech, under Borda: Mid fell from rank 2 to 3 and Low fell from rank 4 to 5."
    ]


def test_one_fallen_system_is_told_who_is_ahead_of_it_now(make):
    user = make.user()
    benchmark = make.published(TWO, name="Speech")
    make.accepted(benchmark, {"Mine": [3.0, 3.0]}, by=user)
    make.publish(benchmark)
    tell_of_publications()
    make.accepted(benchmark, {"Other": [4.0, 4.0]}, by=make.user())
    make.publish(benchmark)
    tell_of_publications()
    notice = "On Speech, under Borda: Mine fell from rank 1 to 2. Now ahead of it: Other."
    assert texts(user, "overtaken") == [notice]


def test_a_new_first_place_is_told_to_the_benchmarks_people_and_to_who_took_it(make):
    user, rival, benchmark = overtaken(make)
    notices = ["Rival's is now first on Speech under Borda."]
    assert texts(owner_of(benchmark), "first_place") == notices
    assert texts(rival, "first_place") == notices
    assert texts(user, "first_place") == []
    make.accepted(benchmark, {"Equal": [9.0, 9.0], "Same": [9.0, 9.0]}, by=user)
    make.publish(benchmark)
    tell_of_publications()
    notices.append("Equal and Same now share the first place on Speech with Rival's under Borda.")
    assert texts(owner_of(benchmark), "first_place") == notices
    assert texts(user, "first_place") == notices[1:]


def test_a_board_is_told_of_once_however_many_sweep_and_boards_in_between_are_passed_over(make_committed):
    benchmark = make_committed.published(TWO, name="Speech")
    user = make_committed.user()
    make_committed.accepted(benchmark, {"Mine": [3.0, 3.0]}, by=user)
    make_committed.publish(benchmark)
    tell_of_publications()
    for number in (4.0, 5.0):
        make_committed.accepted(benchmark, {f"S{number}": [number, number]}, by=make_committed.user())
        make_committed.publish(benchmark)
    at_once([tell_of_publications] * 4)
    assert [text[:60] for text in texts(user, "overtaken")] == [
        "On Speech, under Borda: Mine fell from rank 1 to 3. Now ahea"
    ]


def test_the_first_board_of_a_benchmark_overtakes_nobody(make):
    make.published(TWO)
    assert tell_of_publications() == 0
    benchmark = Benchmark.objects.get()
    assert benchmark.noticed_publication == benchmark.publication


def test_who_overtook_only_themselves_is_told_nothing(make):
    user = make.user()
    benchmark = make.published(TWO)
    for score in (3.0, 4.0):
        make.accepted(benchmark, {f"Mine {score}": [score, score]}, by=user)
        make.publish(benchmark)
        tell_of_publications()
    assert texts(user, "overtaken") == []


def test_no_notice_names_a_system_that_is_anonymous_still(make):
    user, rival, benchmark = overtaken(make, anonymous_until=timezone.now() + timedelta(days=1))
    member = make.member(benchmark, "member")
    make.accepted(benchmark, {"Hidden": [99.0, 99.0]}, by=rival)
    make.publish(benchmark)
    tell_of_publications()
    assert texts(member, "first_place") == ["Another system is now first on Speech under Borda."]
    notices = " ".join(texts(user) + texts(member))
    assert "Ada A fell from rank 2 to 3" in notices
    assert "Hidden" not in notices
    assert "Rival" not in notices
    assert "Hidden is now first" in texts(rival, "first_place")[-1]  # it is their own
    assert "Hidden is now first" in texts(owner_of(benchmark), "first_place")[-1]
    make.accepted(benchmark, {"Equal": [99.0, 99.0]}, by=user)
    make.publish(benchmark)
    tell_of_publications()
    ends = "now shares the first place on Speech with", "under Borda."
    assert texts(member, "first_place")[-1] == f"Another system {ends[0]} another system {ends[1]}"
    assert texts(user, "first_place") == [f"Equal {ends[0]} another system {ends[1]}"]


@pytest.mark.parametrize("view", ["ranks", "own"])
def test_no_notice_holds_a_score_and_none_tells_of_others_where_one_sees_ones_own_only(make, view):
    user, _, benchmark = overtaken(make, score_view=view)
    member = make.member(benchmark, "member")
    make.accepted(benchmark, {"Third": [77.5, 77.5]}, by=make.user())
    make.publish(benchmark)
    tell_of_publications()
    notices = texts(user)
    assert "Ada A fell from rank 2 to 3" in notices[-1]
    assert "Third" not in " ".join(notices)
    assert not any("77.5" in text for text in Notice.objects.values_list("text", flat=True))
    assert len(texts(member, "first_place")) == (1 if view == "ranks" else 0)
    make.accepted(benchmark, {"Tie": [77.5, 77.5]}, by=user)
    make.publish(benchmark)
    tell_of_publications()
    shared = "Tie now shares the first place on Speech with Third under Borda."
    assert texts(user, "first_place") == [shared if view == "ranks" else "Tie is now first on Speech under Borda."]


def test_who_lost_their_way_into_a_private_benchmark_hears_no_more_of_it(make):
    user, _, benchmark = overtaken(make)
    Benchmark.objects.update(visibility="private")
    assert "Speech" not in compact(signed_in(user).get(reverse("notices")))
    assert [m for m in mails() if m.to == [user.email]] == []
    make.accepted(benchmark, {"Later": [99.0, 99.0]}, by=make.user())
    make.publish(benchmark)
    before = len(texts(user))
    tell_of_publications()
    assert len(texts(user)) == before


# --- Tokens ----------------------------------------------------------------------------------------------------------


def test_a_token_is_warned_of_a_week_and_a_day_before_it_expires_once_each(make):
    user = make.user()
    create_token(user, name="laptop", scopes=["read"], days=30)
    counts = []
    for left in (10, 6.5, 6, 0.9, 0.5, -1):
        ApiToken.objects.update(expiry=timezone.now() + timedelta(days=left))
        tell_of_expiring_tokens()
        counts.append(len(texts(user)))
    assert counts == [0, 1, 1, 2, 2, 2]
    assert texts(user)[0].startswith("Your API token “laptop” expires on ")


# --- Mails -----------------------------------------------------------------------------------------------------------


def test_many_notices_about_one_benchmark_are_one_mail_an_hour(make):
    benchmark = make.benchmark(TWO, name="Speech", submission_policy="moderated")
    owner = owner_of(benchmark)
    for number in range(3):
        make.submitted(benchmark, f"S{number}", ["3", "3"], by=make.user())
    (first,) = mails()
    assert (first.to, first.subject) == ([owner.email], "[Plurank] Speech: 3 notices")
    assert all(f"A submission of S{n} to Speech needs" in first.body for n in range(3))
    for number in range(3, 6):
        make.submitted(benchmark, f"S{number}", ["3", "3"], by=make.user())
    assert mails() == []
    NoticeDigest.objects.update(sent_at=timezone.now() - timedelta(minutes=61))
    (second,) = mails()
    assert re.findall("A submission of (S[0-9]) to Speech needs", second.body) == ["S3", "S4", "S5"]


def test_several_sweeps_at_once_put_one_mail(make_committed):
    benchmark = make_committed.benchmark(TWO, submission_policy="moderated")
    make_committed.submitted(benchmark, "New", ["3", "3"], by=make_committed.user())
    assert sum(at_once([put_digests] * 4)) == 1
    assert OutboxMessage.objects.count() == 1


def test_each_kind_is_switched_off_for_oneself_alone(make):
    benchmark = make.benchmark(TWO, submission_policy="moderated")
    moderator, owner = make.member(benchmark, "moderator"), owner_of(benchmark)
    choose_ways(moderator, {"waiting": "off"})
    choose_ways(owner, {"waiting": "site"})
    make.submitted(benchmark, "New", ["3", "3"], by=make.user())
    assert (len(texts(moderator)), len(texts(owner))) == (0, 1)
    assert mails() == []


def test_one_click_in_a_mail_program_stops_mails_of_that_kind_and_looking_does_not(make):
    user, _, benchmark = overtaken(make)
    (message,) = [m for m in mails() if m.to == [user.email]]
    assert message.extra_headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    link = message.extra_headers["List-Unsubscribe"].strip("<>")
    assert link in message.body
    assert link.startswith("http://127.0.0.1:8000/unsubscribe/")
    path = link.removeprefix("http://127.0.0.1:8000")
    client = Client(enforce_csrf_checks=True)  # no session, no cookie: a program
    assert client.get(path).status_code == 200
    assert not NoticeChoice.objects.exists()
    form = "application/x-www-form-urlencoded"
    assert client.post(path, "List-Unsubscribe=One-Click", content_type=form).status_code == 200
    assert list(NoticeChoice.objects.values_list("user", "kind", "way")) == [(user.pk, "overtaken", "site")]
    make.accepted(benchmark, {"Later": [99.0, 99.0]}, by=make.user())
    make.publish(benchmark)
    NoticeDigest.objects.all().delete()
    tell_of_publications()
    assert [m for m in mails() if m.to == [user.email]] == []
    assert len(texts(user, "overtaken")) == 2  # the site goes on to say it


@pytest.mark.parametrize("change", [lambda token: f"{token[:-3]}AAA", lambda token: f"x{token}", lambda token: "x"])
def test_a_forged_link_stops_nothing(make, change):
    path = unsubscribe_link(make.user(), ["decision"]).removeprefix("http://127.0.0.1:8000")
    forged = f"/unsubscribe/{change(path.split('/')[2])}/"
    assert Client().post(forged).status_code == 404
    assert not NoticeChoice.objects.exists()


def test_nobody_is_mailed_at_an_address_that_they_did_not_confirm(make):
    benchmark = make.benchmark(TWO, submission_policy="moderated")
    owner = owner_of(benchmark)
    address = EmailAddress.objects.create(user=owner, email=owner.email, primary=True, verified=False)
    make.submitted(benchmark, "New", ["3", "3"], by=make.user())
    assert mails() == []
    address.verified = True
    address.save()
    assert len(mails()) == 1


def test_a_closed_account_hears_nothing(make):
    benchmark = make.benchmark(TWO, submission_policy="moderated")
    owner = owner_of(benchmark)
    make.submitted(benchmark, "New", ["3", "3"], by=make.user())
    owner.is_active = False
    owner.save()
    make.submitted(benchmark, "Newer", ["3", "3"], by=make.user())
    assert len(texts(owner)) == 1
    assert mails() == []


def test_a_closed_account_leaves_no_notice_no_session_and_no_mail_behind(make):
    benchmark, user = make.benchmark(TWO, submission_policy="moderated"), make.user()
    accept_batch(make.submitted(benchmark, "New", ["3", "3"], by=user), actor=owner_of(benchmark))
    put_digests()
    address = user.email
    assert OutboxMessage.objects.filter(payload__to=address).count() == 1
    close_account(user)
    assert not OutboxMessage.objects.filter(payload__to=address).exists()
    assert not Notice.objects.filter(user=user).exists()
    assert not NoticeDigest.objects.filter(user=user).exists()


# --- The page --------------------------------------------------------------------------------------------------------


def test_the_page_lists_ones_own_notices_with_an_unread_mark_that_goes(make):
    user, rival, _ = overtaken(make)
    client = signed_in(user)
    page = compact(client.get("/"))
    assert '<a href="/account/notices/"><span class="unread">1</span>' in page
    listed = compact(client.get(reverse("notices")))
    assert "Ada A fell from rank 1 to 2" in listed
    assert "is now first" not in listed  # that is the rival's
    client.post(reverse("notices"))
    assert 'class="unread"' not in compact(client.get("/"))
    assert Notice.objects.filter(user=rival, read_at=None).exists()


@pytest.mark.parametrize("n", [1, 3])
def test_the_page_asks_the_database_as_often_for_many_notices_as_for_one(make, django_assert_num_queries, n):
    user = make.user()
    for number in range(n):
        Notice.objects.create(user=user, kind="token", key=str(number), text="Text", path="/")
    client = signed_in(user)
    with django_assert_num_queries(4):
        client.get(reverse("notices"))
