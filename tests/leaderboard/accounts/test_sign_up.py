"""Who may make an account: everyone, some domains, people with an invitation, no one."""

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.test import Client

from leaderboard.accounts.people import invite, revoke_invitation
from leaderboard.models import Invitation, OutboxMessage, User
from tests.factories import owner_of
from tests.markup import compact

PASSWORD = "a long password"


pytestmark = pytest.mark.usefixtures("quick_passwords", "db")


def sign_up(client, email="ada@university.example"):
    return client.post("/account/signup/", {"email": email, "password1": PASSWORD, "password2": PASSWORD})


@pytest.fixture
def hashed(monkeypatch):
    """What was hashed: nearly all the time of a sign-up."""
    passwords, encode = [], MD5PasswordHasher.encode

    def counted(hasher, password, salt):
        passwords.append(password)
        return encode(hasher, password, salt)

    monkeypatch.setattr(MD5PasswordHasher, "encode", counted)
    return passwords


def test_every_sign_up_takes_the_time_of_making_an_account_though_its_owner_is_not_mailed_again(settings, hashed):
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    n_hashed = []
    for _ in range(3):
        sign_up(Client())
        n_hashed.append(len(hashed))
    assert (n_hashed, OutboxMessage.objects.count()) == ([1, 2, 3], 1)


def test_a_closed_site_makes_no_account(settings):
    settings.SIGN_UP = "closed"
    client = Client()
    assert "Sign-up is closed" in compact(client.get("/account/signup/"))
    sign_up(client)
    assert not User.objects.exists()
    assert "/account/signup/" not in client.get("/").content.decode()


def test_an_account_comes_from_a_domain_that_is_named(settings):
    settings.SIGN_UP, settings.SIGN_UP_DOMAINS = "domains", ["university.example"]
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    for email in ["a@elsewhere.example", "a@sub.university.example", "a@university.example.elsewhere.example"]:
        answer = sign_up(Client(), email)
        assert "accepts only email addresses that end in @university.example" in compact(answer)
    assert not User.objects.exists()
    sign_up(Client(), "Ada@University.example")
    assert User.objects.get().email == "ada@university.example"


def test_an_invitation_opens_sign_up_in_the_browser_that_opened_it(settings, make):
    settings.SIGN_UP = "invitation"
    benchmark = make.benchmark()
    secret = invite(benchmark, author=owner_of(benchmark), role="member")
    n_users = User.objects.count()
    stranger, guest = Client(), Client()
    sign_up(stranger)
    assert User.objects.count() == n_users
    guest.get(f"/join/{secret}/")
    assert "Sign-up is closed" not in compact(guest.get("/account/signup/"))
    sign_up(guest)
    assert User.objects.count() == n_users + 1


@pytest.mark.parametrize("ending", ["revoked", "used", "unknown"])
def test_an_invitation_that_no_longer_works_opens_nothing(settings, make, ending):
    settings.SIGN_UP = "invitation"
    benchmark = make.benchmark()
    secret = invite(benchmark, author=owner_of(benchmark), role="member")
    client = Client()
    client.get(f"/join/{secret}/")
    if ending == "revoked":
        revoke_invitation(benchmark, Invitation.objects.get().pk, author=owner_of(benchmark))
    elif ending == "used":
        Invitation.objects.update(used_by=owner_of(benchmark))
    else:
        client = Client()
        client.get("/join/another/")
    n_users = User.objects.count()
    sign_up(client)
    assert User.objects.count() == n_users
