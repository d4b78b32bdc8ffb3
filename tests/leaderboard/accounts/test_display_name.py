"""The display name, changed by its owner on the profile page."""

import json
import re

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse

from leaderboard.accounts.closing import FORMER
from leaderboard.models import User
from tests.markup import compact
from tests.signing_in import signed_in

PROFILE = "/account/profile/"
RESERVED = "This name is reserved; choose another display name."
TAKEN = "This display name, or one that looks like it, is already taken."


@pytest.fixture
def ada(make):
    return make.user("Ada")


def rename(user, name):
    """The answer of the profile page to a new name, with all else as it is."""
    sent = {"display_name": name, "organisation": user.organisation, "orcid": user.orcid}
    return signed_in(user).post(PROFILE, sent)


def name_of(user):
    return User.objects.get(pk=user.pk).display_name


def test_a_new_name_is_shown_beside_what_was_submitted_before(make, ada):
    benchmark = make.published({"Low": [1.0, 1.0]}, submission_policy="open")
    batch = make.submitted(benchmark, "Mine", ["5", "5"], by=ada)
    page = signed_in(benchmark.memberships.get(role="owner").user)
    path = reverse("batch", args=[batch.uuid])
    before = compact(page.get(path))
    assert rename(ada, "Countess").status_code == 302
    after = compact(page.get(path))
    assert [("Ada" in text, "Countess" in text) for text in (before, after)] == [(True, False), (False, True)]


def test_the_page_offers_the_name_that_one_has(ada):
    page = compact(signed_in(ada).get(PROFILE))
    assert re.search(r'<input[^>]* name="display_name"[^>]*>', page)[0].count('value="Ada"') == 1


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("Eve", TAKEN),
        ("eve", TAKEN),
        ("user 12", RESERVED),
        (FORMER, RESERVED),
        ("Аda", "The display name mixes alphabets"),  # the first letter is Cyrillic
    ],
)
def test_a_name_that_no_new_account_could_have_is_refused(make, ada, name, problem):
    make.user("Eve")
    answer = rename(ada, name)
    assert answer.status_code == 400
    assert problem in compact(answer)
    assert name_of(ada) == "Ada"


def test_whoever_shares_a_name_keeps_it_and_changes_its_capitals_no_more(make, ada):
    make.user("Ada")
    assert rename(ada, "Ada").status_code == 302
    assert rename(ada, "ADA").status_code == 400
    assert name_of(ada) == "Ada"


def test_one_may_spell_ones_own_name_otherwise_and_drop_it(ada):
    assert rename(ada, "ADA").status_code == 302
    assert name_of(ada) == "ADA"
    assert rename(ada, "").status_code == 302
    assert User.objects.get(pk=ada.pk).shown_name == f"user {ada.pk}"


def test_a_name_that_was_given_up_is_free_and_the_new_one_is_taken(make, ada):
    rename(ada, "Countess")
    eve = make.user("Eve")
    assert [rename(eve, name).status_code for name in ("countess", "Ada")] == [400, 302]


def test_older_rows_of_the_administrations_log_take_the_new_name(make, ada):
    log_before = [{"added": {"name": "membership", "object": f"{name}: owner of Speech"}} for name in ("Ada", "Adam")]
    benchmark = make.benchmark()
    LogEntry.objects.log_actions(ada.pk, [benchmark], action_flag=2, change_message=log_before, single_object=True)
    rename(ada, "Countess")
    logged = json.loads(LogEntry.objects.get().change_message)
    assert [row["added"]["object"] for row in logged] == ["Countess: owner of Speech", "Adam: owner of Speech"]


def test_sign_up_says_that_the_name_can_be_changed(db):
    assert "You can change it later." in compact(Client().get("/account/signup/"))
