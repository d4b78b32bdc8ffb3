"""A sign-in that waits for the code of a second factor, while the owner of the account ends everything else."""

import re

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.test import Client
from django.urls import reverse

from leaderboard.accounts.closing import close_account
from leaderboard.accounts.pending_sign_in import OUTDATED
from leaderboard.accounts.second_factor import SecondFactorAdapter
from leaderboard.accounts.sessions import end_all_sessions
from leaderboard.models import OutboxMessage, User
from tests.markup import compact
from tests.signing_in import confirm_password, prove_address, signed_in

PASSWORD, ANOTHER = "a long password", "another long one"
ASKED = "/account/second-factor/authenticate/"


pytestmark = pytest.mark.usefixtures("quick_passwords")


@pytest.fixture
def user(make):
    """Someone with a second factor."""
    user = prove_address(make.user())
    user.set_password(PASSWORD)
    user.save()
    secret = SecondFactorAdapter().encrypt("A" * 32)
    Authenticator.objects.create(user=user, type="totp", data={"secret": secret})
    RecoveryCodes.activate(user)
    return user


def codes_left(user) -> list[str]:
    rows = Authenticator.objects.filter(user=user, type="recovery_codes")
    return RecoveryCodes(rows.get()).get_unused_codes() if rows else []


def begin(user) -> Client:
    client = Client()
    answer = client.post("/account/login/", {"login": user.email, "password": PASSWORD})
    assert answer["Location"] == ASKED
    return client


def reset_password(user):
    Client().post("/account/password/reset/", {"email": user.email})
    link = re.search(r"/account/password/reset/key/\S+", OutboxMessage.objects.latest("pk").payload["text"])[0]
    client = Client()
    client.post(client.get(link)["Location"], {"password1": ANOTHER, "password2": ANOTHER})


def change_password(user):
    form = {"oldpassword": PASSWORD, "password1": ANOTHER, "password2": ANOTHER}
    assert signed_in(user).post("/account/password/change/", form).status_code == 302


def sign_out_everywhere_else(user):
    signed_in(user).post("/account/sessions/", {})


def switch_off(user):
    User.objects.filter(pk=user.pk).update(is_active=False)


STEPS = [reset_password, change_password, sign_out_everywhere_else, end_all_sessions, switch_off]


@pytest.mark.parametrize("step", STEPS)
def test_nobody_ends_a_sign_in_that_began_before_all_sessions_ended_and_no_code_is_lost(user, step):
    client, codes = begin(user), codes_left(user)
    step(user)
    answer = client.post(ASKED, {"code": codes[0]})
    assert (answer.status_code, str(OUTDATED) in compact(answer)) == (200, True)
    assert (codes_left(user), "_auth_user_id" in client.session) == (codes, False)


@pytest.mark.parametrize("step", STEPS)
def test_nor_by_a_form_that_looked_a_moment_before(user, step, monkeypatch):
    client, codes = begin(user), codes_left(user)
    step(user)
    monkeypatch.setattr("leaderboard.accounts.forms.is_outdated", lambda login: False)
    answer = client.post(ASKED, {"code": codes[0]}, follow=True)
    assert [at for at, _ in answer.redirect_chain] == ["/account/login/"]
    assert str(OUTDATED) in compact(answer)
    assert "_auth_user_id" not in client.session
    assert client.get(ASKED)["Location"] == "/account/login/"  # it is given up


def test_closing_the_account_ends_it_too(user):
    client, codes = begin(user), codes_left(user)
    close_account(user)
    assert client.post(ASKED, {"code": codes[0]})["Location"] == "/account/login/"
    assert "_auth_user_id" not in client.session


def test_a_sign_in_that_nothing_ended_goes_on_although_the_secret_key_changed_meanwhile(user, settings):
    client, codes = begin(user), codes_left(user)
    session = dict(client.session.items())
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "a new secret key", [settings.SECRET_KEY]
    assert dict(client.session.items()) == session
    assert client.post(ASKED, {"code": codes[0]})["Location"] == "/account/"
    assert "_auth_user_id" in client.session


def test_pages_with_secrets_of_a_second_factor_are_kept_by_no_browser(user):
    client = confirm_password(signed_in(user), user)
    names = ["mfa_view_recovery_codes", "mfa_download_recovery_codes"]
    pages = [client.get(reverse(name)) for name in names]
    assert [codes_left(user)[0] in compact(page) for page in pages] == [True, True]
    Authenticator.objects.all().delete()
    pages += [client.get(reverse("mfa_activate_totp")), client.post(reverse("mfa_activate_totp"), {"code": "000000"})]
    assert [page.status_code for page in pages] == [200] * 4
    assert ["no-store" in page["Cache-Control"] for page in pages] == [True] * 4
