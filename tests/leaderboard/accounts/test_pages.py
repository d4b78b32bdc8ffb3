"""An account's own pages: a forgotten password, another address, browsers that are signed in."""

import re

import pytest
from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession
from django.core import mail
from django.test import Client
from django.urls import reverse

from config.settings import EMAIL_BACKEND, PASSWORD_HASHERS
from leaderboard.accounts.sessions import browser_name
from leaderboard.models import OutboxMessage, User
from leaderboard.notifications.outbox import send_due_messages
from tests.markup import compact
from tests.signing_in import confirm_password

PASSWORD = "a long password"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


pytestmark = pytest.mark.usefixtures("quick_passwords")


@pytest.fixture
def user(make):
    user = make.user()
    user.set_password(PASSWORD)
    user.save()
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    return user


def ways_in(answer) -> list[str]:
    """Where the links to sign-in and sign-up in the head of a page lead."""
    head = answer.content.decode().partition("</header>")[0]
    return re.findall(r'href="(/account/(?:login|signup)/[^"]*)"', head)


@pytest.mark.parametrize(
    ("path", "way_back"),
    [
        ("/rules/?has=clones", "?next=%2Frules%2F%3Fhas%3Dclones"),
        ("/account/login/?next=/rules/", "?next=%2Frules%2F"),  # from one to the other
        ("/account/login/", ""),
        ("/", ""),
        (f"/rules/?has={'x' * 1000}", ""),
    ],
)
def test_signing_in_or_up_from_a_page_leads_back_to_it(db, client, path, way_back):
    assert ways_in(client.get(path)) == [f"/account/login/{way_back}", f"/account/signup/{way_back}"]


def test_no_way_back_leads_to_another_site_or_repeats_a_form(db, user, client):
    assert ways_in(client.post("/try/", {"text": "x"})) == ["/account/login/", "/account/signup/"]
    answer = client.post("/account/login/?next=//evil.example/", {"login": user.email, "password": PASSWORD})
    assert "evil" not in answer.headers.get("Location", "")


def sign_in(user, password=PASSWORD, **extra):
    client = Client(**extra)
    return client, client.post("/account/login/", {"login": user.email, "password": password})


def is_signed_in(client) -> bool:
    return client.get(reverse("tokens")).status_code == 200


def path_in(text: str) -> str:
    """The path of the first link of a mail."""
    return re.search(r"https?://[^/\s]+(/\S+)", text)[1]


def test_passwords_are_kept_by_argon2(db, settings):
    settings.PASSWORD_HASHERS = PASSWORD_HASHERS
    user = User.objects.create_user("a@plurank.example", PASSWORD)
    assert user.password.startswith("argon2$argon2id$")
    assert user.check_password(PASSWORD)


def test_a_forgotten_password_is_set_anew_by_the_link_that_the_console_shows(user, settings, capsys):
    assert EMAIL_BACKEND == "django.core.mail.backends.console.EmailBackend"  # without any setting
    settings.EMAIL_BACKEND = EMAIL_BACKEND
    Client().post("/account/password/reset/", {"email": user.email})
    capsys.readouterr()
    assert send_due_messages() == 1
    output = capsys.readouterr().out
    assert f"To: {user.email}" in output
    client = Client()
    form = client.get(path_in(output), follow=True)
    new = {"password1": "another long one", "password2": "another long one"}
    answer = client.post(form.redirect_chain[-1][0], new, follow=True)
    assert "Your password is changed" in compact(answer)
    assert sign_in(user)[1].status_code == 200
    assert sign_in(user, "another long one")[1]["Location"] == "/account/"
    again = Client().get(path_in(output), follow=True)  # a link works once
    assert "This link no longer works" in compact(again)


def test_no_link_to_a_new_password_is_kept_once_it_is_sent(user):
    Client().post("/account/password/reset/", {"email": user.email})
    assert "/password/reset/key/" in str(OutboxMessage.objects.get().payload)
    send_due_messages()
    assert OutboxMessage.objects.get().payload == {}


def test_another_address_counts_once_the_mail_sent_there_was_answered_and_the_old_one_is_told(user):
    client = confirm_password(sign_in(user)[0], user)
    new = "new@plurank.example"
    client.post("/account/email/", {"action_add": "", "email": new})
    client.post("/account/email/", {"action_primary": "", "email": new})
    user.refresh_from_db()
    assert user.email != new
    send_due_messages()
    verification = next(message for message in mail.outbox if message.to == [new])
    page = client.get(path_in(verification.body))
    assert f"Is <strong>{new}</strong> your address?" in compact(page)
    client.post(path_in(verification.body))
    old = user.email
    client.post("/account/email/", {"action_primary": "", "email": new})
    user.refresh_from_db()
    assert user.email == new
    mail.outbox.clear()
    send_due_messages()
    assert [message.to for message in mail.outbox if "changed" in message.subject.lower()] == [[old]]
    assert sign_in(user)[1]["Location"] == "/account/"


def test_a_browser_that_is_signed_in_elsewhere_is_listed_and_signed_out(user):
    here, _ = sign_in(user)
    there, _ = sign_in(user, headers={"User-Agent": FIREFOX}, REMOTE_ADDR="10.1.2.3")
    page = compact(here.get(reverse("sessions")))
    assert "Firefox on Linux" in page
    assert "10.1.2.3" in page
    number = re.search(r'name="session" value="(\d+)"', page)[1]
    assert here.post(reverse("sessions"), {"session": number}).status_code == 302
    assert (is_signed_in(here), is_signed_in(there)) == (True, False)


def test_signing_out_everywhere_ends_sessions_that_no_list_knows_of_too(user, make):
    here, _ = sign_in(user)
    there, _ = sign_in(user)
    unlisted, other = Client(), Client()
    unlisted.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    other.force_login(make.user(), backend="django.contrib.auth.backends.ModelBackend")
    assert is_signed_in(unlisted)
    here.post(reverse("sessions"))
    assert [is_signed_in(client) for client in (here, there, unlisted, other)] == [True, False, False, True]
    here.post(reverse("sessions"))  # and again
    assert is_signed_in(here)
    assert is_signed_in(sign_in(user)[0])


def test_nobody_ends_a_session_of_somebody_else(user, make):
    client, _ = sign_in(user)
    thief = Client()
    thief.force_login(make.user(), backend="django.contrib.auth.backends.ModelBackend")
    thief.post(reverse("sessions"), {"session": str(UserSession.objects.get(user=user).pk)})
    thief.post(reverse("sessions"))
    assert is_signed_in(client)


@pytest.mark.parametrize("number", ["9" * 30, "²", "-1", "x"])
def test_a_session_number_that_is_none_ends_nothing(user, number):
    client, _ = sign_in(user)
    assert client.post(reverse("sessions"), {"session": number}).status_code == 302
    assert is_signed_in(client)


def test_a_changed_password_ends_every_other_session(user):
    here, _ = sign_in(user)
    there, _ = sign_in(user)
    form = {"oldpassword": PASSWORD, "password1": "another long one", "password2": "another long one"}
    here.post("/account/password/change/", form)
    assert (is_signed_in(here), is_signed_in(there)) == (True, False)


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        (FIREFOX, "Firefox on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0", "Edge on Windows"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile Safari/604.1", "Safari on iPhone"),
        ("", "an unknown browser"),
    ],
)
def test_a_browser_is_named_in_words(agent, name):
    assert browser_name(agent) == name


@pytest.mark.parametrize(("name", "said"), [("O'Neil & Co", "Signed in as O&#x27;Neil &amp; Co."), ("", "Signed in.")])
def test_signing_in_calls_people_by_the_name_they_gave_or_by_none(user, name, said):
    user.display_name = name
    user.save()
    client, response = sign_in(user)
    page = compact(client.get(response["Location"]))
    assert re.findall(r"Signed in[^<]*", page) == [said]


def test_who_is_sent_to_sign_in_by_the_form_learns_how_submitting_works(make, client):
    benchmark = make.published()
    page = compact(client.get(reverse("submit", args=[benchmark.key]), follow=True))
    assert "How submitting works" in page
    assert "How submitting works" not in compact(client.get("/account/login/"))


def test_a_new_password_is_said_once_wherever_it_was_set(user, client):
    client.post("/account/password/reset/", {"email": user.email})
    send_due_messages()
    form = client.get(re.search(r"/account/password/reset/key/\S+", mail.outbox[-1].body)[0], follow=True)
    assert ">New password<" in compact(form)
    assert "New password, again" in compact(form)
    new = {"password1": "another long one", "password2": "another long one"}
    done = compact(client.post(form.redirect_chain[-1][0], new, follow=True))
    assert done.count("Your password is changed") == 1
    client.post("/account/login/", {"login": user.email, "password": "another long one"})
    path = reverse("account_change_password")
    page = compact(client.get(path))
    assert [text in page for text in (">Current password<", ">New password<", "New Password")] == [True, True, False]
    old = {"oldpassword": "another long one", "password1": "a third long one", "password2": "a third long one"}
    assert compact(client.post(path, old, follow=True)).count("Your password is changed.") == 1


def test_an_address_that_is_not_confirmed_becomes_no_primary_one_and_the_page_says_what_to_do(user, client):
    further = "further@x.example"
    EmailAddress.objects.create(user=user, email=further)
    client.post("/account/login/", {"login": user.email, "password": PASSWORD})
    confirm_password(client, user)
    answer = client.post(reverse("account_email"), {"action_primary": "", "email": further}, follow=True)
    assert "Confirm this address first; then you can make it your primary one." in compact(answer)
    assert EmailAddress.objects.get(user=user, primary=True).email == user.email
