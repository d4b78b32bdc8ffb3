"""Signing in by another site: a provider that runs beside the tests, and everything that must not open an account."""

import re
from html import unescape

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount, SocialToken
from django.core.cache import cache
from django.test import Client

from config.settings import SOCIALACCOUNT_PROVIDERS
from leaderboard.accounts.orcid import is_confirmed_orcid, is_orcid
from leaderboard.accounts.sessions import end_all_sessions
from leaderboard.accounts.sign_in import SignInSite, sign_in_sites
from leaderboard.models import Membership, OutboxMessage, User
from tests.leaderboard.accounts.oidc_provider import CLIENT_ID, CLIENT_SECRET, oidc_provider
from tests.markup import compact
from tests.signing_in import confirm_password, prove_address

BACKEND = "django.contrib.auth.backends.ModelBackend"
ADA = {"sub": "ada-1", "name": "Ada N", "email": "Ada@University.example", "email_verified": True}


@pytest.fixture(scope="module")
def running_provider():
    with oidc_provider() as provider:
        yield provider


@pytest.fixture
def provider(running_provider, settings, db):
    cache.clear()
    running_provider.person = dict(ADA)
    running_provider.subject, running_provider.audience, running_provider.is_broken = "", CLIENT_ID, False
    application = {
        "provider_id": "oidc",
        "name": "University",
        "client_id": CLIENT_ID,
        "secret": CLIENT_SECRET,
        "settings": {"server_url": running_provider.url, "oauth_pkce_enabled": True},
    }
    settings.SOCIALACCOUNT_PROVIDERS = SOCIALACCOUNT_PROVIDERS | {"openid_connect": {"APPS": [application]}}
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # the true one is slow on purpose
    return running_provider


def leave(client, **form):
    """The other site's address that the button leads to."""
    page = client.post("/account/with/oidc/", form)
    assert page.status_code == 200
    link = re.search(r'<meta http-equiv="refresh" content="0;url=([^"]+)">', page.content.decode())[1]
    return unescape(link)


def come_back(client, provider, **form):
    """Sign in at the provider and come back."""
    return client.get(provider.authorize(leave(client, **form)))


def sign_up(client, provider, **fields):
    assert come_back(client, provider)["Location"] == "/account/with/sign-up/"
    return client.post("/account/with/sign-up/", {"email": ADA["email"], "display_name": "Ada N"} | fields)


def test_the_sign_in_page_offers_what_is_configured(provider):
    page = compact(Client().get("/account/login/"))
    assert "Sign in with University" in page
    assert "GitHub" not in page
    assert sign_in_sites() == [SignInSite("oidc", "University")]


def test_nothing_is_offered_without_settings(db):
    page = compact(Client().get("/account/login/"))
    assert "without a password" not in page
    assert sign_in_sites() == []
    assert Client().post("/account/with/oidc/").status_code == 404
    assert Client().post("/account/with/github/").status_code == 404
    assert Client().get("/account/with/github/callback/?code=1&state=2").status_code == 404


def test_a_new_person_checks_name_and_address_and_is_signed_in(provider):
    client = Client()
    answer = come_back(client, provider)
    assert answer["Location"] == "/account/with/sign-up/"
    assert User.objects.count() == 0  # nothing is made before they agree
    page = compact(client.get("/account/with/sign-up/"))
    assert 'value="ada@university.example"' in page
    assert 'value="Ada N"' in page
    answer = client.post("/account/with/sign-up/", {"email": "ada@university.example", "display_name": "Ada"})
    assert answer["Location"] == "/account/"
    user = User.objects.get()
    assert (user.email, user.display_name, user.has_usable_password()) == ("ada@university.example", "Ada", False)
    assert EmailAddress.objects.get().verified  # the provider states that the address is theirs
    account = SocialAccount.objects.get()
    assert (account.provider, account.uid, account.extra_data) == ("oidc", "ada-1", {})  # no more than needed
    assert not SocialToken.objects.exists()
    assert client.get("/account/").status_code == 200


def test_the_next_time_they_are_signed_in_at_once(provider):
    sign_up(Client(), provider)
    client = Client()
    assert come_back(client, provider, next="/rules/")["Location"] == "/rules/"
    assert client.get("/account/").status_code == 200
    assert User.objects.count() == 1


def test_a_site_may_write_as_a_text_that_it_checked_an_address(provider):
    provider.person["email_verified"] = "true"
    assert sign_up(Client(), provider)["Location"] == "/account/"
    assert EmailAddress.objects.get().verified


@pytest.mark.parametrize("claim", [False, "false", "", None])
def test_an_address_that_the_other_site_did_not_check_is_confirmed_by_mail(provider, claim):
    provider.person["email_verified"] = claim
    client = Client()
    assert sign_up(client, provider)["Location"] == "/account/confirm-email/"
    assert not EmailAddress.objects.get().verified
    assert client.get("/account/")["Location"].startswith("/account/login/")


def test_an_address_that_has_an_account_here_opens_it_to_no_one(provider, make):
    owner = make.user()
    owner.email = "ada@university.example"
    owner.save()
    client = Client()
    answer = sign_up(client, provider)
    # As for an address without an account: the page tells nothing, the mail goes to the owner.
    assert answer["Location"] == "/account/confirm-email/"
    assert client.get("/account/")["Location"].startswith("/account/login/")
    assert not SocialAccount.objects.exists()
    assert User.objects.get() == owner
    assert "already" in OutboxMessage.objects.get().payload["text"]


def test_an_address_that_someone_merely_added_to_their_account_keeps_no_one_from_signing_up(provider, make):
    other = prove_address(make.user())
    row = EmailAddress.objects.create(user=other, email="ada@university.example")
    assert sign_up(Client(), provider)["Location"] == "/account/"
    user = User.objects.get(email="ada@university.example")
    rows = EmailAddress.objects.filter(email=user.email).order_by("verified")
    assert list(rows.values_list("user", "verified", "primary")) == [(other.pk, False, False), (user.pk, True, True)]
    assert not rows.filter(pk=row.pk).exists()  # so that the link that was mailed for it is dead


def test_an_unproven_account_with_the_address_is_opened_by_a_mail_to_it_and_nothing_else(provider):
    both = {"password1": "a long password", "password2": "a long password"}
    Client().post("/account/signup/", {"email": ADA["email"]} | both)
    cache.clear()
    answer = sign_up(Client(), provider)
    assert (answer["Location"], SocialAccount.objects.count()) == ("/account/confirm-email/", 0)
    texts = [row.payload["text"] for row in OutboxMessage.objects.order_by("pk")]
    assert ["/account/confirm-email/" in text for text in texts] == [True, False]
    assert "There is one already" in texts[1]
    Client().post("/account/password/reset/", {"email": ADA["email"]})
    assert "/account/password/reset/key/" in OutboxMessage.objects.latest("pk").payload["text"]


@pytest.mark.parametrize("is_verified", [True, False])
def test_of_the_addresses_that_the_other_site_states_it_takes_none_of_another_account(provider, make, is_verified):
    owner = make.user()
    owner.email = "ada@university.example"  # of an account that never signed in, and has no row of addresses
    owner.save()
    provider.person["email_verified"] = is_verified
    answer = sign_up(Client(), provider, email="home@plurank.example")
    assert answer["Location"] == "/account/confirm-email/"
    user = User.objects.get(email="home@plurank.example")
    assert list(EmailAddress.objects.values_list("user", "email", "verified")) == [(user.pk, user.email, False)]


def test_who_types_another_address_than_the_other_site_states_gets_an_account_with_that_one(provider):
    client = Client()
    assert sign_up(client, provider, email="home@plurank.example")["Location"] == "/account/confirm-email/"
    assert list(EmailAddress.objects.values_list("email", "verified")) == [("home@plurank.example", False)]
    client.post(link_in_mail())
    assert [user.email for user in User.objects.all()] == ["home@plurank.example"]
    assert come_back(Client(), provider)["Location"] == "/account/"


def link_in_mail():
    return re.search(r"/account/confirm-email/\S+", OutboxMessage.objects.latest("pk").payload["text"])[0]


def test_who_confirms_the_address_where_they_signed_up_is_known_by_the_other_site_from_then_on(provider):
    provider.person["email_verified"] = False  # ORCID states no address at all
    client = Client()
    sign_up(client, provider)
    client.post(link_in_mail())
    assert EmailAddress.objects.get().verified
    assert come_back(Client(), provider)["Location"] == "/account/"
    assert User.objects.count() == 1


@pytest.mark.parametrize("why", ["another browser", "sessions ended meanwhile"])
def test_who_confirms_it_elsewhere_proves_only_the_address_and_reads_how_to_sign_in(provider, why):
    provider.person["email_verified"] = False
    client = Client()
    sign_up(client, provider)
    if why == "another browser":
        client = Client()
    else:
        end_all_sessions(User.objects.get())
    page = client.post(link_in_mail(), follow=True)
    assert "To sign in, set a password with “Forgot your password?”." in compact(page)
    assert (EmailAddress.objects.get().verified, SocialAccount.objects.exists()) == (True, False)


def test_only_someone_who_is_signed_in_and_gives_the_password_links_an_account(provider, make):
    user = prove_address(make.user())
    user.set_password("a long password")
    user.save()
    assert Client().post("/account/with/oidc/", {"process": "connect"})["Location"] == "/account/login/"
    client = Client()
    client.force_login(user, BACKEND)
    assert come_back(client, provider, process="connect")["Location"] == "/account/reauthenticate/"
    assert not SocialAccount.objects.exists()
    confirm_password(client, user)
    come_back(client, provider, process="connect")
    assert SocialAccount.objects.get().user == user
    page = compact(client.get("/account/linked/"))
    assert "University" in page
    assert "ada-1" in page
    other = Client()
    assert come_back(other, provider).status_code == 302
    assert int(other.session["_auth_user_id"]) == user.pk


def test_an_account_elsewhere_opens_one_account_here(provider, make):
    sign_up(Client(), provider)
    user = make.user()
    client = Client()
    client.force_login(user, BACKEND)
    come_back(client, provider, process="connect")
    assert SocialAccount.objects.get().user != user


def test_a_linked_account_is_unlinked_unless_it_is_the_only_way_in(provider):
    client = Client()
    sign_up(client, provider)
    user = User.objects.get()
    number = SocialAccount.objects.get().pk
    page = client.post("/account/linked/", {"account": number}, follow=True)
    assert "no password" in compact(page)
    assert SocialAccount.objects.exists()
    user.set_password("a long password")
    user.save()
    client.force_login(user, BACKEND)
    confirm_password(client, user)
    page = client.post("/account/linked/", {"account": number}, follow=True)
    assert "no longer opens this one" in compact(page)
    assert not SocialAccount.objects.exists()
    page = client.post("/account/linked/", {"account": number}, follow=True)
    assert "no longer linked" in compact(page)


def test_no_one_unlinks_the_account_of_another(provider, make):
    sign_up(Client(), provider)
    client = Client()
    client.force_login(make.user(), BACKEND)
    client.post("/account/linked/", {"account": SocialAccount.objects.get().pk})
    assert SocialAccount.objects.count() == 1


@pytest.mark.parametrize("spoiled", ["state", "code", "used", "session", "subject", "audience", "broken", "no person"])
def test_what_does_not_fit_together_signs_no_one_in(provider, spoiled):
    sign_up(Client(), provider)
    client = Client()
    back = provider.authorize(leave(client))
    if spoiled == "state":
        back = re.sub(r"state=[^&]+", "state=another", back)
    elif spoiled == "code":
        back = re.sub(r"code=[^&]+", "code=another", back)
    elif spoiled == "used":
        provider.codes.clear()
    elif spoiled == "session":
        client = Client()
    elif spoiled == "subject":
        provider.subject = "someone else"
    elif spoiled == "audience":
        provider.audience = "another site"
    elif spoiled == "broken":
        provider.is_broken = True
    else:
        provider.subject, provider.person = "ada-1", {"name": "Ada N"}
    answer = client.get(back)
    assert answer.status_code == 401
    assert "Sign-in failed" in compact(answer)
    assert client.get("/account/")["Location"].startswith("/account/login/")


def test_a_provider_that_does_not_answer_is_said_so(provider):
    provider.is_broken = True
    answer = Client().post("/account/with/oidc/")
    assert answer.status_code == 401
    assert "does not answer" in compact(answer)


def test_cancelling_at_the_other_site_changes_nothing(provider):
    client = Client()
    state = re.search(r"state=([^&]+)", leave(client))[1]
    answer = client.get(f"/account/with/oidc/callback/?error=access_denied&state={state}", follow=True)
    assert "Sign-in cancelled" in compact(answer)
    assert not User.objects.exists()


def test_a_link_alone_begins_no_sign_in(provider):
    assert Client().get("/account/with/oidc/").status_code == 405
    assert Client(enforce_csrf_checks=True).post("/account/with/oidc/").status_code == 403


def test_no_way_leads_to_another_site(provider):
    sign_up(Client(), provider)
    assert come_back(Client(), provider, next="https://elsewhere.example/")["Location"] == "/account/"


def test_one_address_begins_only_so_many(provider, settings):
    settings.ATTEMPTS = settings.ATTEMPTS | {"other_site": {"address": (2, 300)}}
    answers = [Client().post("/account/with/oidc/").status_code for _ in range(3)]
    assert answers == [200, 200, 429]


def test_a_name_that_is_taken_is_not_filled_in(provider, make):
    make.user("Ada N")
    client = Client()
    come_back(client, provider)
    assert 'value="Ada N"' not in compact(client.get("/account/with/sign-up/"))


def test_closing_an_account_ends_its_links(provider):
    client = Client()
    sign_up(client, provider)
    user = User.objects.get()
    user.organisation, user.orcid = "University", "0000-0002-1825-0097"
    user.save()
    client.post("/account/close/", {"is_sure": "on"})
    user.refresh_from_db()
    assert (user.organisation, user.orcid, user.is_active) == ("", "", False)
    assert not SocialAccount.objects.exists()


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("0000-0002-1825-0097", True),
        ("0000-0002-1694-233X", True),
        ("0000-0002-1825-0098", False),
        ("0000000218250097", False),
        ("0000-0002-1825-009x", False),
        ("٠٠٠٠-0002-1825-0097", False),
        ("", False),
    ],
)
def test_the_check_digit_of_an_orcid_is_checked(text, is_one):
    assert is_orcid(text) is is_one


def test_people_say_where_they_work_and_owners_read_it(make, client):
    benchmark = make.benchmark()
    user = make.user("Ada N")
    client.force_login(user, BACKEND)
    bad = client.post("/account/profile/", {"organisation": "University", "orcid": "0000-0002-1825-0098"})
    assert bad.status_code == 400
    assert "not an ORCID iD" in compact(bad)
    client.post(
        "/account/profile/", {"display_name": "Ada N", "organisation": "University", "orcid": "0000-0002-1825-0097"}
    )
    user.refresh_from_db()
    assert user.affiliation == "University, ORCID 0000-0002-1825-0097"
    assert not is_confirmed_orcid(user)
    Membership.objects.create(benchmark=benchmark, user=user, role="member")
    client.force_login(benchmark.memberships.get(role="owner").user, BACKEND)
    assert "University, ORCID 0000-0002-1825-0097" in compact(client.get(f"/b/{benchmark.key}/manage/people/"))
    client.logout()
    assert "University" not in compact(client.get(f"/b/{benchmark.key}/"))
