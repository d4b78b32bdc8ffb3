"""The mails about accounts: each says what happened, what to do, and what if it was someone else."""

import re

import pytest
from allauth.account.adapter import get_adapter
from allauth.account.models import EmailAddress
from allauth.core import context
from allauth.mfa import app_settings as second_factor
from django.test import Client, RequestFactory

from leaderboard.accounts.sign_in import SignInSite
from leaderboard.models import OutboxMessage, User
from tests.signing_in import confirm_password, prove_address, signed_in

PASSWORD = "a long password"
BOTH = {"password1": PASSWORD, "password2": PASSWORD}
NOT_ME = "If that was not you, do nothing."
SET_NEW = "If that was not you, someone else can use your account. Set a new password, which signs out every browser:"
NAME = "Ann & Bob's"


@pytest.fixture(autouse=True)
def _quick(settings, db, quick_passwords):
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    settings.SITE_URL = "https://boards.example"


@pytest.fixture
def ann(make):
    user = prove_address(make.user("Ann"))
    user.display_name = NAME
    user.set_password(PASSWORD)
    user.save()
    return user


def the_mail():
    """Of the one mail that waits: to whom, its subject, and its paragraphs, with the secrets of its links left out."""
    (message,) = [row.payload for row in OutboxMessage.objects.all()]
    text = re.sub(r"(/confirm-email|/reset/key)/[^/\s]+/", r"\1/KEY/", message["text"])
    return message["to"], message["subject"], text.strip().split("\n\n")


def test_an_address_that_was_added_is_told_who_asked_and_what_if_no_one_did(ann):
    confirm_password(signed_in(ann), ann).post("/account/email/", {"action_add": "", "email": "bob@x.example"})
    assert the_mail() == (
        "bob@x.example",
        "[Plurank] Confirm your email address",
        [
            "Hello,",
            (
                f"{NAME} asked on boards.example to use this address for their account: bob@x.example. If that "
                "was you, confirm that the address is yours:"
            ),
            "https://boards.example/account/confirm-email/KEY/",
            "If that was not you, do nothing. The address then does not become theirs, and nothing changes for you.",
        ],
    )


def sign_up(email):
    Client().post("/account/signup/", {"email": email, "display_name": NAME} | BOTH)


def sign_in_unconfirmed(email):
    user = User.objects.create_user(email, PASSWORD, display_name=NAME)
    EmailAddress.objects.create(user=user, email=email, primary=True)
    Client().post("/account/login/", {"login": email, "password": PASSWORD})


@pytest.mark.parametrize("ask", [sign_up, sign_in_unconfirmed])
def test_the_address_of_an_account_is_told_to_confirm_only_an_account_of_ones_own(ask):
    ask("new@x.example")
    assert the_mail() == (
        "new@x.example",
        "[Plurank] Confirm your email address",
        [
            "Hello,",
            (
                f"An account on boards.example, {NAME}, signs in by this address: new@x.example. If you made "
                "the account, confirm that the address is yours:"
            ),
            "https://boards.example/account/confirm-email/KEY/",
            "If you did not make it, do not confirm the address: someone else may use the account.",
        ],
    )


def test_whoever_has_an_account_is_told_so_when_they_sign_up(ann):
    Client().post("/account/signup/", {"email": ann.email} | BOTH)
    assert the_mail() == (
        ann.email,
        "[Plurank] You have an account already",
        [
            "Hello,",
            (
                f"Someone, probably you, wanted to make an account on boards.example with this address: {ann.email}. "
                "There is one already, and nothing was changed. If you forgot its password, set a new one:"
            ),
            "https://boards.example/account/password/reset/",
            NOT_ME,
        ],
    )


def test_a_new_password_is_set_by_the_link_of_a_mail(ann):
    Client().post("/account/password/reset/", {"email": ann.email})
    assert the_mail() == (
        ann.email,
        "[Plurank] Set a new password",
        [
            "Hello,",
            "Someone, probably you, asked for a new password for your account on boards.example. Set it here:",
            "https://boards.example/account/password/reset/key/KEY/",
            f"{NOT_ME} Your password then stays as it is.",
        ],
    )


@pytest.mark.parametrize(
    ("who_signs_up", "offer"),
    [("open", ["If you have none, you can make one:", "https://boards.example/account/signup/"]), ("closed", [])],
)
def test_an_address_without_an_account_is_told_so_and_offered_one_where_people_sign_up(settings, who_signs_up, offer):
    settings.SIGN_UP = who_signs_up
    Client().post("/account/password/reset/", {"email": "nobody@x.example"})
    assert the_mail() == (
        "nobody@x.example",
        "[Plurank] No account has this email address",
        [
            "Hello,",
            (
                "Someone, probably you, asked on boards.example for a new password for the account with this address: "
                "nobody@x.example. There is no such account, or the address was never confirmed for it. If you have an "
                "account with another address, ask with that one."
            ),
            *offer,
            NOT_ME,
        ],
    )


@pytest.mark.parametrize(
    ("prefix", "facts", "subject", "sentence"),
    [
        (
            "account/email/email_changed",
            {"from_email": "a@x.example", "to_email": "b@x.example"},
            "Your email address was changed",
            "The email address by which you sign in changed from a@x.example to b@x.example.",
        ),
        (
            "account/email/email_deleted",
            {"deleted_email": "a@x.example"},
            "An email address was removed",
            "The address a@x.example was removed from your account.",
        ),
        (
            "account/email/password_changed",
            {},
            "Your password was changed",
            "The password of your account was changed.",
        ),
        (
            "account/email/password_reset",
            {},
            "Your password was changed",
            "A new password of your account was set by the link of an email.",
        ),
        (
            "account/email/password_set",
            {},
            "Your account has a password",
            "A password was set for your account, which had none.",
        ),
        (
            "mfa/email/totp_activated",
            {},
            "The second factor is on",
            "Signing in to your account now asks for a code of an authenticator app.",
        ),
        (
            "mfa/email/totp_deactivated",
            {},
            "The second factor is off",
            "Signing in to your account no longer asks for a code of an authenticator app.",
        ),
        (
            "mfa/email/recovery_codes_generated",
            {},
            "New recovery codes",
            "New recovery codes were made for your account. Codes from before no longer work.",
        ),
        (
            "socialaccount/email/account_connected",
            {"provider": SignInSite("oidc", "R&D")},
            "Another account opens yours",
            "An account at R&D was linked to yours: anyone who signs in there can open it.",
        ),
        (
            "socialaccount/email/account_disconnected",
            {"provider": SignInSite("oidc", "R&D")},
            "An account was unlinked",
            "An account at R&D was unlinked from yours, and no longer opens it.",
        ),
    ],
)
def test_a_change_of_an_account_is_told_with_what_to_do_if_it_was_someone_else(ann, prefix, facts, subject, sentence):
    with context.request_context(RequestFactory().get("/", headers={"User-Agent": "A browser"})):
        get_adapter().send_notification_mail(prefix, ann, context=facts)
    to, headline, paragraphs = the_mail()
    paragraphs[2] = re.sub(r"\d+ \w+ \d+, \d+:\d+", "NOW", paragraphs[2])
    assert (to, headline, paragraphs) == (
        ann.email,
        f"[Plurank] {subject}",
        [
            "Hello,",
            sentence,
            "It was done on NOW UTC, from the IP address 127.0.0.1, by this browser: A browser",
            SET_NEW,
            "https://boards.example/account/password/reset/",
        ],
    )


@pytest.mark.parametrize("is_further", [False, True])
def test_the_owner_of_a_suspended_account_reads_the_same_whatever_they_try(ann, is_further):
    User.objects.update(is_active=False)
    email = "further@x.example" if is_further else ann.email
    EmailAddress.objects.get_or_create(user=ann, email=email, defaults={"verified": True})
    Client().post("/account/signup/", {"email": email} | BOTH)
    assert "There is one already" in the_mail()[2][1]
    OutboxMessage.objects.all().delete()
    Client().post("/account/password/reset/", {"email": email})
    assert the_mail() == (
        email,
        "[Plurank] This account is inactive",
        [
            "Hello,",
            (
                "Someone, probably you, asked on boards.example for a new password for the account with this address: "
                f"{email}. It was suspended, so no one can sign in with it. If you think this is a mistake, ask the "
                "operator of the site."
            ),
            NOT_ME,
        ],
    )


def test_no_other_mail_of_accounts_can_be_sent(settings):
    """Those for which the site has no text: codes by mail, security keys."""
    assert "webauthn" not in second_factor.SUPPORTED_TYPES
    codes = ("LOGIN_BY_CODE_ENABLED", "EMAIL_VERIFICATION_BY_CODE_ENABLED", "PASSWORD_RESET_BY_CODE_ENABLED")
    assert [getattr(settings, f"ACCOUNT_{name}", False) for name in codes] == [False] * 3
