"""Closing an account: the person goes, their scores and what happened to them stay."""

import pytest
from allauth.account.models import EmailAddress
from django.apps import apps
from django.db import DatabaseError, transaction
from django.test import Client
from django.urls import reverse

from leaderboard.models import AuditEntry, Draft, Membership, Revision, Score, SubmissionEvent, User
from leaderboard.models.submissions import Source
from leaderboard.services.closing import ClosingError, close_account
from leaderboard.services.drafts import RawRow, make_draft
from leaderboard.services.submissions import accept_batch, confirm_draft
from leaderboard.services.tokens import create_token

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
    draft = make_draft(benchmark, user, [RawRow("Own", {"task-1": "5"})], source=Source.FORM, note=WORDS)
    confirm_draft(draft, actor=user, previewed_number=1, creates_systems=True)
    accept_batch(make.pending(benchmark, {"B": [3.0]}, by=make.user()), actor=user, reason=WORDS)
    make_draft(benchmark, user, [RawRow("Next", {"task-1": "6"})], source=Source.FORM)
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
    with pytest.raises(ClosingError, match="You alone own Megadodo"):
        close_account(leaver)
    assert User.objects.get(pk=leaver.pk).display_name == NAME
    make.member(benchmark, "owner")
    close_account(leaver)
    assert not Membership.objects.filter(user=leaver).exists()


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
    asked = client.get(address)
    assert asked["Location"].startswith(reverse("account_reauthenticate"))
    client.post(asked["Location"], {"password": "a long password"})
    assert client.post(address).status_code == 400
    assert client.post(address, {"is_sure": "1"})["Location"] == reverse("home")
    assert client.get(reverse("tokens")).status_code == 302
    assert User.objects.get(pk=leaver.pk).closed_at is not None
