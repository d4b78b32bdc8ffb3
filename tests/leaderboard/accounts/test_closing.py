"""Closing an account: the person goes, their scores and what happened to them stay."""

import json
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.access.audience import audience_of
from leaderboard.access.waiting import waiting_at
from leaderboard.accounts.closing import ClosingError, close_account, owned_alone
from leaderboard.accounts.organisations.founding import found_organisation, move_in
from leaderboard.accounts.tokens import create_token
from leaderboard.accounts.views import SHOWN_WAITING
from leaderboard.models import (
    AuditEntry,
    Benchmark,
    Draft,
    Membership,
    Revision,
    Score,
    Submission,
    SubmissionEvent,
    User,
)
from leaderboard.models.submissions import Source
from leaderboard.notifications.outbox import put_mail
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.lifecycle import accept_batch, confirm_draft
from leaderboard.submissions.rows import SubmittedRow
from leaderboard.submissions.withdrawals import withdraw_own
from tests.markup import compact

NAME, EMAIL, WORDS = "Zaphod Beeblebrox", "zaphod@heart-of-gold.example", "Measured on my laptop in Betelgeuse."


def places_of(words: str) -> set[str]:
    """The tables of the whole site in which a text stands."""
    return {
        model.__name__
        for model in apps.get_models()
        for row in model._default_manager.all()
        if any(words.casefold() in str(getattr(row, field.attname)).casefold() for field in model._meta.concrete_fields)
    }


@pytest.fixture
def leaver(make):
    """Somebody who submitted, moderated, has a token, an address, a draft and a role."""
    user = User.objects.create_user(EMAIL, "a long password", display_name=NAME)
    EmailAddress.objects.create(user=user, email=EMAIL, verified=True, primary=True)
    benchmark = make.benchmark({"A": [1.0]})
    Membership.objects.create(user=user, benchmark=benchmark, role="moderator")
    draft = make_draft(
        audience_of(user, benchmark), [SubmittedRow("Own", {"task-1": "5"})], source=Source.FORM, note=WORDS
    )
    confirm_draft(draft, actor=user, previewed_number=1, creates_systems=True)
    accept_batch(make.pending(benchmark, {"B": [3.0]}, by=make.user()), actor=user, reason=WORDS)
    make_draft(audience_of(user, benchmark), [SubmittedRow("Next", {"task-1": "6"})], source=Source.FORM)
    create_token(user, name="laptop", scopes=["read"], days=30)
    return user


def test_nothing_that_names_the_person_or_that_they_wrote_is_left(leaver):
    assert places_of(EMAIL) == {"User", "EmailAddress", "OutboxMessage"}
    assert {"Batch", "Revision", "SubmissionEvent"} <= places_of(WORDS)
    close_account(leaver)
    for words in (NAME, EMAIL, WORDS):
        assert places_of(words) == set()
    assert not Draft.objects.exists()
    assert not leaver.api_tokens.exists()


def texts_of_the_database() -> list[tuple[str, str, str]]:
    """(table, column, text) of every value of every table, whoever made it; sessions and JSON unpacked."""
    texts = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            names = [column[0] for column in cursor.description]
            rows = cursor.fetchall()
            texts += [(table, name, str(value)) for row in rows for name, value in zip(names, row, strict=True)]
    for session in Session.objects.all():
        texts.append(("django_session", "unpacked", json.dumps(session.get_decoded(), ensure_ascii=False)))
    for entry in LogEntry.objects.all():
        texts.append(("django_admin_log", "in words", entry.get_change_message()))
    return texts


def tables_with(words: str) -> set[str]:
    return {table for table, _, text in texts_of_the_database() if words.casefold() in text.casefold()}


def test_no_table_of_the_database_holds_name_or_addresses_afterwards(make, leaver, settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    further, unsent = "trillian@heart-of-gold.example", "marvin@heart-of-gold.example"
    leaver.set_password("a long password")
    leaver.save()
    EmailAddress.objects.create(user=leaver, email=further, verified=True)
    EmailAddress.objects.create(user=leaver, email=unsent)
    signed_in, wrong, asking, signing_up = Client(), Client(), Client(), Client()
    signed_in.post("/account/login/", {"login": EMAIL, "password": "a long password"})
    Client().post("/account/login/", {"login": further, "password": "a long password"})
    wrong.post("/account/login/", {"login": EMAIL, "password": "wrong"})
    asking.post("/account/password/reset/", {"email": further})
    both = {"password1": "a long password", "password2": "a long password"}
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    signing_up.post("/account/signup/", {"email": EMAIL} | both)
    put_mail(unsent, subject="For Marvin", text="Confirm.")
    put_mail("fenchurch@plurank.example", subject="A new address", text=f"It was {further}.")
    staff = make.user(is_staff=True, is_superuser=True)
    benchmark = Membership.objects.get(user=leaver).benchmark
    old = [{"added": {"name": "membership", "object": f"{NAME}: member of {benchmark}"}}]
    for row, message in ((benchmark, old), (leaver, [{"changed": {"fields": ["Display name"]}}])):
        LogEntry.objects.log_actions(staff.pk, [row], action_flag=2, change_message=message, single_object=True)
    address = EmailAddress.objects.get(email=further)
    LogEntry.objects.log_actions(staff.pk, [address], action_flag=2, change_message="", single_object=True)
    assert {"django_session", "leaderboard_outboxmessage", "django_admin_log"} <= tables_with("heart-of-gold")
    close_account(leaver)
    for words in (NAME, "Beeblebrox", "heart-of-gold", WORDS):
        assert (words, tables_with(words)) == (words, set())
    logged = LogEntry.objects.get(content_type__model="benchmark").change_message
    assert f"former member: member of {benchmark}" in logged


def test_what_the_administration_logs_of_a_role_names_nobody(make):
    benchmark, user = make.benchmark(), make.user("Greta")
    assert str(Membership.objects.create(benchmark=benchmark, user=user, role="member")) == (
        f"user {user.pk}: member of {benchmark.name}"
    )


def test_the_sweep_deletes_sessions_that_ran_out_and_what_is_listed_of_them(leaver):
    ended, going = Client(), Client()
    for client in (ended, going):
        client.post("/account/login/", {"login": EMAIL, "password": "a long password"})
    key = ended.session.session_key
    Session.objects.filter(pk=key).update(expire_date=timezone.now() - timedelta(seconds=1))
    call_command("sweep", once=True)
    assert list(Session.objects.values_list("pk", flat=True)) == [going.session.session_key]
    assert list(UserSession.objects.values_list("session_key", flat=True)) == [going.session.session_key]


def test_scores_events_and_revisions_stay_under_a_former_member(leaver):
    before = (Score.objects.count(), SubmissionEvent.objects.count(), Revision.objects.count())
    own = Score.objects.get(submission__system__name="Own").value
    close_account(leaver)
    assert (Score.objects.count(), SubmissionEvent.objects.count(), Revision.objects.count()) == before
    score = Score.objects.get(submission__system__name="Own")
    assert (score.value, score.submission.batch.uploader.shown_name) == (own, "former member")
    left = AuditEntry.objects.get(subject="person", of=str(leaver.pk))
    assert (left.before, left.after, left.actor) == ("moderator", "", leaver)


def test_a_closed_account_signs_in_no_more(leaver):
    client = Client()
    client.force_login(leaver, backend="django.contrib.auth.backends.ModelBackend")
    assert client.get(reverse("tokens")).status_code == 200
    close_account(leaver)
    assert client.get(reverse("tokens")).status_code == 302
    assert not Client().login(email=EMAIL, password="a long password")
    assert not User.objects.get(pk=leaver.pk).check_password("a long password")


def test_whoever_alone_owns_a_benchmark_hands_it_over_first(make, leaver):
    benchmark = make.benchmark({"A": [1.0]}, owner=leaver, name="Megadodo")
    with pytest.raises(ClosingError, match="You are the only owner of Megadodo"):
        close_account(leaver)
    assert User.objects.get(pk=leaver.pk).display_name == NAME
    make.member(benchmark, "owner")
    close_account(leaver)
    assert not Membership.objects.filter(user=leaver).exists()


def private_benchmark(make, owner):
    benchmark = make.benchmark({"A": [1.0]}, owner=owner, name="Hactar")
    Benchmark.objects.filter(pk=benchmark.pk).update(visibility="private")
    return benchmark


def test_a_private_benchmark_that_no_one_else_takes_part_in_is_archived(make, leaver):
    benchmark = private_benchmark(make, leaver)
    assert owned_alone(leaver) == ([], [benchmark])
    close_account(leaver)
    benchmark.refresh_from_db()
    assert (benchmark.is_archived, benchmark.memberships.count()) == (True, 0)
    assert AuditEntry.objects.get(benchmark=benchmark, field="archived").reason == (
        "[removed: its author closed their account]"
    )


@pytest.mark.parametrize("touch", ["a member", "a submission", "public"])
def test_a_benchmark_that_others_have_to_do_with_needs_another_owner(make, leaver, touch):
    benchmark = private_benchmark(make, leaver)
    if touch == "a member":
        make.member(benchmark, "member")
    elif touch == "a submission":
        make.accepted(benchmark, {"B": [2.0]}, by=make.user())
    else:
        Benchmark.objects.filter(pk=benchmark.pk).update(visibility="public")
    with pytest.raises(ClosingError, match="You are the only owner of Hactar"):
        close_account(leaver)


def asked_to_withdraw(leaver):
    """A submission of the leaver on a board, with an open request to withdraw it."""
    submission = Submission.objects.get(system__name="Own")
    Benchmark.objects.update(submitters_withdraw=False)
    audience = audience_of(leaver, submission.benchmark)
    assert not withdraw_own(audience, submission, reason=WORDS)
    return submission


def test_an_open_request_to_withdraw_scores_is_cancelled_and_waits_for_no_one(leaver):
    submission = asked_to_withdraw(leaver)
    assert waiting_at([submission.benchmark_id])[submission.benchmark_id].n_requests == 1
    close_account(leaver)
    assert waiting_at([submission.benchmark_id])[submission.benchmark_id].n_requests == 0
    assert list(submission.events.order_by("pk").values_list("kind", flat=True)) == ["accepted", "asked", "cancelled"]
    submission.refresh_from_db()
    assert submission.state == "accepted"
    close_account(User.objects.get(pk=leaver.pk))  # nothing is cancelled twice
    assert submission.events.filter(kind="cancelled").count() == 1


def close_page(leaver) -> str:
    client = Client()
    client.force_login(leaver, backend="django.contrib.auth.backends.ModelBackend")
    redirect = client.get(reverse("close_account"))
    client.post(redirect["Location"], {"password": "a long password"})
    return compact(client.get(reverse("close_account")))


def test_the_page_lists_open_requests_and_submissions_that_wait(make, leaver):
    page = close_page(leaver)
    assert "open requests" not in page
    assert "wait for a decision" not in page
    submission = asked_to_withdraw(leaver)
    for number in range(SHOWN_WAITING + 2):
        batch = make.pending(make.benchmark(name="Megadodo"), {f"Late {number}": [1.0] * 5}, by=leaver)
    make.pending(batch.benchmark, {"Not theirs": [1.0] * 5}, by=make.user())
    page = close_page(leaver)
    assert f'<a href="/submissions/{submission.batch.uuid}/">Own</a> ({submission.benchmark.name})' in page
    assert "Your open requests to withdraw scores are cancelled" in page
    assert ("Late 0" in page, "and 2 more" in page, "Not theirs" in page) == (True, True, False)


def test_the_page_names_what_is_to_be_handed_over_before_anything_is_sent(make, leaver):
    organisation = found_organisation(leaver, key="lab", name="Lab")
    page = close_page(leaver)
    assert 'the organisation <a href="/o/lab/manage/">Lab</a>: make someone else an owner, or delete it' in page
    assert "Close my account" not in page
    benchmark = make.benchmark({"A": [1.0]}, owner=leaver, name="Megadodo")
    assert "Megadodo</a>: invite another owner" in close_page(leaver)
    move_in(benchmark, organisation, author=leaver)
    assert "Megadodo</a>: another owner of Lab owns it, too" in close_page(leaver)
    organisation.members.create(user=make.user(), role="owner")
    make.member(benchmark, "owner")
    assert "Close my account" in close_page(leaver)


def test_two_closed_accounts_do_not_collide_and_the_history_is_frozen_again(make, leaver):
    close_account(leaver)
    close_account(make.user())
    assert User.objects.filter(display_name="former member").count() == 2
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        SubmissionEvent.objects.update(reason="rewritten")


def test_the_page_asks_for_the_password_and_a_tick_and_signs_out(leaver):
    client = Client()
    client.force_login(leaver, backend="django.contrib.auth.backends.ModelBackend")
    address = reverse("close_account")
    redirect = client.get(address)
    assert redirect["Location"].startswith(reverse("account_reauthenticate"))
    client.post(redirect["Location"], {"password": "a long password"})
    assert client.post(address).status_code == 400
    assert client.post(address, {"is_sure": "1"})["Location"] == reverse("home")
    assert client.get(reverse("tokens")).status_code == 302
    assert User.objects.get(pk=leaver.pk).closed_at is not None
