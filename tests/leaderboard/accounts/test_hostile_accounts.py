"""Someone who uses accounts to hurt others: their mailboxes, their accounts, the site's disk."""

import time
from contextlib import suppress
from functools import partial

import pytest
from allauth.account.models import EmailAddress
from django.conf import settings
from django.core.cache import cache

from leaderboard.access.audience import audience_of
from leaderboard.accounts import tokens
from leaderboard.accounts.tokens import create_token
from leaderboard.explore import profiles
from leaderboard.models import ApiToken, Draft, OutboxMessage, User, WeightProfile
from leaderboard.models.submissions import Source
from leaderboard.rankings.weights import Weights
from leaderboard.submissions import drafts
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.rows import SubmittedRow
from tests.concurrency import at_once
from tests.signing_in import confirm_password, prove_address, signed_in

EMAILS = "/account/email/"


@pytest.fixture(autouse=True)
def nothing_was_counted_before():
    """The limits of allauth are counted in the cache."""
    cache.clear()


def test_one_account_mails_few_strangers(make):
    user = prove_address(make.user())
    client = confirm_password(signed_in(user), user)
    for number in range(8):
        client.post(EMAILS, {"action_add": "", "email": f"stranger{number}@plurank.example"})
    strangers = {
        message.payload["to"] for message in OutboxMessage.objects.all() if "stranger" in message.payload["to"]
    }
    assert strangers
    assert len(strangers) < settings.ACCOUNT_MAX_EMAIL_ADDRESSES + 1
    assert EmailAddress.objects.count() <= settings.ACCOUNT_MAX_EMAIL_ADDRESSES


def test_adding_and_removing_addresses_slowly_and_in_turn_does_not_get_round_that(make, monkeypatch, settings):
    settings.ACCOUNT_REAUTHENTICATION_TIMEOUT = 86_400
    user = prove_address(make.user())
    client = confirm_password(signed_in(user), user)
    began, answers = time.time(), []
    for minute in range(24):  # slower than the limit of a minute
        monkeypatch.setattr("allauth.core.internal.ratelimit.time.time", lambda minute=minute: began + 60.0 * minute)
        action = {"action_remove": ""} if minute % 2 else {"action_add": ""}
        answers.append(client.post(EMAILS, action | {"email": f"s{minute // 2}@plurank.example"}).status_code)
    assert answers == [302] * 20 + [429] * 4


def test_drafts_that_nobody_confirms_do_not_fill_the_disk(make, monkeypatch):
    monkeypatch.setattr(drafts, "MAX_DRAFTS", 3)
    benchmark, hostile, other = make.benchmark(n_tasks=1, scores={"A": [1.0]}), make.user(), make.user()
    kept = make_draft(audience_of(other, benchmark), [SubmittedRow("Theirs", {"task-1": "1"})], source=Source.FORM)
    made = [
        make_draft(audience_of(hostile, benchmark), [SubmittedRow("B", {"task-1": "1"})], source=Source.FORM)
        for _ in range(5)
    ]
    assert set(Draft.objects.values_list("pk", flat=True)) == {kept.pk, *(draft.pk for draft in made[2:])}


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("user 1", "choose another display name"),
        ("User-12", "choose another display name"),
        ("user 1.", "choose another display name"),
        ("us\u0435r 1", "mixes alphabets"),
        ("Former member", "choose another display name"),
        ("formermember", "choose another display name"),
    ],
)
def test_nobody_takes_a_name_by_which_the_site_calls_others(db, client, name, problem):
    sent = {"email": "new@plurank.example", "password1": "a new and long one", "password2": "a new and long one"}
    answer = client.post("/account/signup/", sent | {"display_name": name})
    assert problem in answer.content.decode()
    assert not User.objects.exists()


@pytest.mark.parametrize("name", ["Owner1", "owner 1", "Own\u00e9r1", "OWNER-1", "\u041ewner1"])
def test_nobody_takes_a_display_name_that_somebody_has_or_that_looks_like_it(db, client, name):
    known = User.objects.create_user("a@plurank.example", display_name="Owner1")
    sent = {"email": "new@plurank.example", "password1": "a new and long one", "password2": "a new and long one"}
    page = client.post("/account/signup/", sent | {"display_name": name}).content.decode()
    assert "is already taken" in page or "mixes alphabets" in page
    assert list(User.objects.all()) == [known]
    client.post("/account/signup/", sent | {"display_name": "Somebody else"})
    assert User.objects.filter(display_name="Somebody else").exists()


def test_accounts_that_share_a_name_keep_it_and_staff_give_it_to_nobody_else(make):
    staff = make.user(is_staff=True, is_superuser=True)
    first, second = (User.objects.create_user(f"{n}@plurank.example", display_name="Ada") for n in (1, 2))
    client = signed_in(staff)
    address = f"/admin/leaderboard/user/{second.pk}/change/"
    sent = {"email": second.email, "display_name": "Ada", "is_active": "on"}
    sent |= {"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    assert client.post(address, sent).status_code == 302
    third = User.objects.create_user("3@plurank.example", display_name="Eve")
    sent |= {"email": third.email, "display_name": "ada"}
    page = client.post(f"/admin/leaderboard/user/{third.pk}/change/", sent)
    assert "is already taken" in page.content.decode()
    assert [User.objects.get(pk=row.pk).display_name for row in (first, second, third)] == ["Ada", "Ada", "Eve"]


def test_many_at_once_do_not_get_more_tokens_or_profiles_than_one_may_have(make_committed, monkeypatch):
    monkeypatch.setattr(tokens, "MAX_TOKENS", 3)
    monkeypatch.setattr(profiles, "MAX_PROFILES", 3)
    user, benchmark = make_committed.user(), make_committed.benchmark()

    def both(name: str) -> None:
        with suppress(profiles.ProfileError):
            profiles.keep_profile(
                audience_of(user, benchmark),
                name=name, weights=Weights({"task-1": "3"}), aggregation="", is_published=False,
            )  # fmt: skip
        with suppress(tokens.TokenError):
            create_token(user, name=name, scopes=["read"], days=30)

    assert at_once([partial(both, f"number {k}") for k in range(8)]) == [None] * 8
    assert (ApiToken.objects.count(), WeightProfile.objects.count()) == (3, 3)
