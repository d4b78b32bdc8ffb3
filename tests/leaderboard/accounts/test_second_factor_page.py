"""The second factor, the whole way: set up, asked for, lost, turned off."""

import base64
import hashlib
import hmac
import html
import re
import time
import xml.etree.ElementTree as ET
from functools import partial
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.core import mail
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from leaderboard.accounts.second_factor import SecondFactorAdapter, use_code
from leaderboard.notifications.outbox import send_due_messages
from tests.concurrency import at_once
from tests.markup import compact

PASSWORD = "a long password"
INDEX, ACTIVATE, ASKED = "/account/second-factor/", "/account/second-factor/totp/activate/", "mfa_authenticate"


pytestmark = pytest.mark.usefixtures("quick_passwords")


@pytest.fixture
def user(make):
    user = make.user()
    user.set_password(PASSWORD)
    user.save()
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    return user


def totp(secret: str, at: float | None = None) -> str:
    """The code of a moment, written down from RFC 6238: HMAC-SHA-1 of the number of half minutes, six digits of it."""
    count = int((time.time() if at is None else at) // 30)
    digest = hmac.new(base64.b32decode(secret), count.to_bytes(8, "big"), hashlib.sha1).digest()
    start = digest[-1] % 16
    number = int.from_bytes(digest[start : start + 4], "big") % 2**31
    return str(number)[-6:].zfill(6)


def test_the_codes_of_these_tests_are_those_of_the_standard():
    """RFC 6238, appendix B: the last six digits of its table."""
    secret = base64.b32encode(b"12345678901234567890").decode()
    assert [totp(secret, at) for at in (59, 1111111109, 20000000000)] == ["287082", "081804", "353130"]


def sign_in(user, client: Client | None = None):
    client = client or Client()
    return client, client.post("/account/login/", {"login": user.email, "password": PASSWORD})


def confirmed(user) -> Client:
    """A browser in which the user signed in and typed the password once more."""
    client, _ = sign_in(user)
    redirect = client.get(ACTIVATE)
    assert redirect["Location"].startswith(reverse("account_reauthenticate"))
    client.post(redirect["Location"], {"password": PASSWORD})
    return client


def another_half_minute(monkeypatch):
    """A code works once; go on to the time of the next."""
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 30)


def set_up(user) -> tuple[Client, str]:
    """A browser in which the user signed in and turned the second factor on, and its secret."""
    client = confirmed(user)
    page = compact(client.get(ACTIVATE))
    secret = re.search(r'<code class="secret"[^>]*>([A-Z2-7]{32})</code>', page)[1]
    answer = client.post(ACTIVATE, {"code": totp(secret)})
    if answer.status_code == 200:  # the half minute of the code ended on the way
        answer = client.post(ACTIVATE, {"code": totp(secret)})
    assert (answer.status_code, answer["Location"]) == (302, reverse("mfa_view_recovery_codes"))
    return client, secret


def test_signing_in_asks_for_the_code_of_the_app_once_it_is_set_up(user, monkeypatch):
    _, secret = set_up(user)
    another_half_minute(monkeypatch)
    client, answer = sign_in(user)
    assert answer["Location"] == reverse(ASKED)
    assert "_auth_user_id" not in client.session
    assert "Incorrect code." in compact(client.post(reverse(ASKED), {"code": "000000"}))
    assert "_auth_user_id" not in client.session
    assert client.post(reverse(ASKED), {"code": totp(secret)})["Location"] == "/account/"
    assert client.session["_auth_user_id"] == str(user.pk)


def test_a_code_opens_the_account_once(user, monkeypatch):
    _, secret = set_up(user)
    another_half_minute(monkeypatch)
    first, second = sign_in(user)[0], sign_in(user)[0]
    code = totp(secret)
    assert first.post(reverse(ASKED), {"code": code}).status_code == 302
    assert "Incorrect code." in compact(second.post(reverse(ASKED), {"code": code}))


def test_another_process_whose_cache_knows_nothing_takes_no_code_twice(user, monkeypatch):
    _, secret = set_up(user)
    another_half_minute(monkeypatch)
    first, second, third = (sign_in(user)[0] for _ in range(3))
    before, code = totp(secret, time.time() - 30), totp(secret)
    assert first.post(reverse(ASKED), {"code": code}).status_code == 302
    cache.clear()  # as the cache of a process of its own is, or that of a Redis that was away
    assert "This code was already used" in compact(second.post(reverse(ASKED), {"code": code}))
    assert "_auth_user_id" not in second.session
    assert third.post(reverse(ASKED), {"code": before}).status_code == 200  # nor one from before it
    another_half_minute(monkeypatch)
    assert second.post(reverse(ASKED), {"code": totp(secret)}).status_code == 302


def test_one_code_at_the_same_moment_in_many_processes_opens_one_session(make_committed):
    user = make_committed.user()
    secret = base64.b32encode(b"12345678901234567890").decode()
    data = {"secret": SecondFactorAdapter().encrypt(secret)}
    authenticator = Authenticator.objects.create(user=user, type="totp", data=data)
    code = totp(secret)
    outcomes = at_once([partial(use_code, authenticator, code)] * 6)
    assert sorted(outcomes) == [False] * 5 + [True]


def test_a_code_that_was_used_under_a_clock_a_month_ahead_refuses_none_of_today(make):
    user, secret = make.user(), base64.b32encode(b"12345678901234567890").decode()
    data = {"secret": SecondFactorAdapter().encrypt(secret)}
    authenticator = Authenticator.objects.create(user=user, type="totp", data=data)
    type(user).objects.filter(pk=user.pk).update(last_code_step=(time.time() + 30 * 24 * 3600) // 30)
    assert [use_code(authenticator, totp(secret)) for _ in range(2)] == [True, False]


def test_each_recovery_code_signs_in_once(user):
    client, _ = set_up(user)
    text = compact(client.get(reverse("mfa_download_recovery_codes")))
    codes = text.split()
    assert (len(codes), len(set(codes))) == (10, 10)
    other, _ = sign_in(user)
    assert other.post(reverse(ASKED), {"code": codes[3]})["Location"] == "/account/"
    again, _ = sign_in(user)
    assert "Incorrect code." in compact(again.post(reverse(ASKED), {"code": codes[3]}))
    assert "9 of 10 are left" in compact(client.get(INDEX))


def test_turning_it_off_asks_again_who_it_is_and_then_the_password_alone_signs_in(user, monkeypatch):
    client, secret = set_up(user)
    session = client.session
    known = session["account_authentication_methods"]
    session["account_authentication_methods"] = [record | {"at": time.time() - 3600} for record in known]
    session.save()
    off = reverse("mfa_deactivate_totp")
    redirect = client.post(off)
    assert redirect["Location"].startswith(reverse("account_reauthenticate"))
    assert Authenticator.objects.filter(user=user, type="totp").exists()
    another_half_minute(monkeypatch)
    client.post(reverse("mfa_reauthenticate"), {"code": totp(secret), "next": off})  # and what was asked goes on
    assert not Authenticator.objects.filter(user=user).exists()
    assert sign_in(user)[1]["Location"] == "/account/"


def test_the_administration_asks_for_the_second_factor_too(user):
    user.is_staff = user.is_superuser = True
    user.save()
    set_up(user)
    client, _ = sign_in(user)
    assert client.get("/admin/")["Location"].startswith("/admin/login/")
    answer = client.post("/admin/login/", {"username": user.email, "password": PASSWORD})
    assert answer["Location"].startswith("/account/login/")
    assert "_auth_user_id" not in client.session


def test_a_reset_password_does_not_get_round_the_second_factor(user):
    set_up(user)
    client = Client()
    client.post("/account/password/reset/", {"email": user.email})
    send_due_messages()
    form = client.get(re.search(r"/account/password/reset/key/\S+", mail.outbox[-1].body)[0], follow=True)
    new = {"password1": "another long one", "password2": "another long one"}
    client.post(form.redirect_chain[-1][0], new)
    assert "_auth_user_id" not in client.session
    answer = client.post("/account/login/", {"login": user.email, "password": "another long one"})
    assert answer["Location"] == reverse(ASKED)


def test_the_picture_is_an_address_of_the_site_that_nobody_keeps_and_only_its_session_gets(user, make):
    client = confirmed(user)
    picture = reverse("second_factor_picture")
    assert client.get(picture).status_code == 404
    page = client.get(ACTIVATE)
    assert f'src="{picture}"' in compact(page)
    assert "data:" not in compact(page)
    answer = client.get(picture)
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/svg+xml")
    assert "no-store" in answer["Cache-Control"]
    assert ET.fromstring(answer.content).tag == "{http://www.w3.org/2000/svg}svg"
    other = Client()
    other.force_login(make.user(), backend="django.contrib.auth.backends.ModelBackend")
    assert other.get(picture).status_code == 404


def test_a_copy_of_the_database_holds_no_secret_of_a_second_factor(user):
    _, secret = set_up(user)
    stored = str(list(Authenticator.objects.values_list("data", flat=True)))
    assert secret not in stored
    assert Authenticator.objects.filter(user=user).count() == 2


def test_who_did_not_confirm_the_address_cannot_lock_its_true_owner_out(user):
    EmailAddress.objects.update(verified=False)
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    page = client.get(ACTIVATE, follow=True)
    assert page.redirect_chain[-1][0] == INDEX
    text = "Confirm or remove every email address that is not confirmed; then you can set up a second factor."
    assert text in compact(page)


def test_the_page_names_the_addresses_that_must_be_confirmed_or_removed_first(user):
    client, _ = sign_in(user)
    assert "Set up an app" in compact(client.get(INDEX))
    for name in ("bob", "ada"):
        EmailAddress.objects.create(user=user, email=f"{name}@x.example")
    page = compact(client.get(INDEX))
    assert ">Confirm or remove ada@x.example and bob@x.example</a> first: all addresses of the account must be" in page
    assert "Set up an app" not in page


def test_who_has_a_second_factor_reads_in_place_of_the_form_why_no_address_can_be_added(user):
    client, _ = sign_in(user)
    assert 'name="action_add"' in compact(client.get(reverse("account_email")))
    client, _ = set_up(user)
    page = compact(client.get(reverse("account_email")))
    assert ("you cannot add an email address" in page, 'name="action_add"' in page) == (True, False)


def test_who_has_lost_phone_and_codes_reads_whom_to_ask(user):
    set_up(user)
    client, _ = sign_in(user)
    assert "Neither at hand? Ask the operator of this site" in compact(client.get(reverse(ASKED)))


def test_an_app_on_the_same_device_gets_the_secret_by_a_link_or_by_a_copy(user):
    page = compact(confirmed(user).get(ACTIVATE))
    secret = re.search(r'<code class="secret" data-copy="Copy the secret"[^>]*>([A-Z2-7]{32})</code>', page)[1]
    link = urlsplit(html.unescape(re.search(r'href="(otpauth:[^"]*)"', page)[1]))
    fields = parse_qs(link.query)
    assert (link.scheme, link.netloc, fields["secret"], fields["issuer"]) == ("otpauth", "totp", [secret], ["Plurank"])
