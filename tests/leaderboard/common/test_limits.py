"""Who guesses waits, whatever address they claim; who is right does not."""

import json
from datetime import timedelta

import pytest
from django.core import signing
from django.core.cache import cache
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone

from leaderboard.accounts.sessions import end_all_sessions
from leaderboard.common.limits import TooManyAttemptsError, attempt, client_address, take_attempt
from leaderboard.models import AttemptCount, User
from tests.concurrency import at_once
from tests.signing_in import signed_in

PASSWORD = "a long password"


@pytest.fixture(autouse=True)
def _few(settings, quick_passwords):
    settings.ATTEMPTS = {
        kind: {of: (3 if of == "account" else 6, 600) for of in rates} for kind, rates in settings.ATTEMPTS.items()
    }


@pytest.fixture
def user(make):
    user = make.user()
    user.set_password(PASSWORD)
    user.save()
    return user


def sign_in(login, password, **extra):
    return Client().post("/account/login/", {"login": login, "password": password}, **extra)


def when(answer) -> bool:
    """Whether the page says when to try again."""
    return "Try again in 10 minutes, at " in answer.content.decode()


def test_an_account_waits_after_some_wrong_passwords_and_reads_until_when(user):
    for _ in range(3):
        assert not when(sign_in(user.email, "wrong"))
    answer = sign_in(user.email, PASSWORD, REMOTE_ADDR="10.9.9.9")
    assert when(answer)
    assert "Too many failed login attempts" in answer.content.decode()
    AttemptCount.objects.update(ends_at=timezone.now() - timedelta(seconds=1))
    assert sign_in(user.email, PASSWORD).status_code == 302


@pytest.mark.parametrize(
    ("address", "field"), [("/account/reauthenticate/", "password"), ("/account/password/change/", "oldpassword")]
)
def test_a_stolen_session_guesses_the_password_no_more_often_than_whoever_signs_in(user, address, field):
    thief, answers = signed_in(user), []
    for guess in ["wrong", PASSWORD] + ["wrong"] * 3:
        cache.clear()  # the count of a process of its own, or of a minute ago
        answers.append(thief.post(address, {field: guess, "password1": "x", "password2": "x"}))
    assert list(map(when, answers)) == [False] * 4 + [True]
    assert when(sign_in(user.email, PASSWORD, REMOTE_ADDR="10.9.9.9"))
    assert sorted(AttemptCount.objects.values_list("kind", "n_attempts")) == [("login", 3), ("login", 3)]
    assert User.objects.get(pk=user.pk).check_password(PASSWORD)


def test_a_stranger_who_guesses_does_not_lock_out_whoever_signed_in_before(user):
    own = Client()
    assert own.post("/account/login/", {"login": user.email, "password": PASSWORD}).status_code == 302
    own.post("/account/logout/")
    for _ in range(3):
        sign_in(user.email, "wrong", REMOTE_ADDR="10.6.6.6")
    assert when(sign_in(user.email, PASSWORD, REMOTE_ADDR="10.6.6.7"))  # a browser that nobody knows
    assert own.post("/account/login/", {"login": user.email, "password": PASSWORD}).status_code == 302


def test_a_known_browser_has_no_more_guesses_than_a_stranger_and_those_of_its_own_account_alone(make, user):
    own = Client()
    own.post("/account/login/", {"login": user.email, "password": PASSWORD})
    own.post("/account/logout/")
    other = make.user()
    guesses = [(user.email, f"10.0.0.{k}") for k in range(4)] + [(other.email, f"10.0.1.{k}") for k in range(4)]
    answers = [
        when(own.post("/account/login/", {"login": login, "password": "wrong"}, REMOTE_ADDR=address))
        for login, address in guesses
    ]
    assert answers == [False] * 3 + [True] + [False] * 3 + [True]
    assert when(sign_in(other.email, "wrong", REMOTE_ADDR="10.0.2.1"))  # counted with those of strangers


def test_a_cookie_that_is_forged_or_of_another_account_or_from_before_signing_out_everywhere_counts_nothing(make, user):
    other = make.user()
    other.set_password(PASSWORD)
    other.save()
    own, theirs, forged = Client(), Client(), Client()
    own.post("/account/login/", {"login": user.email, "password": PASSWORD})
    theirs.post("/account/login/", {"login": other.email, "password": PASSWORD})
    forged.cookies["device"] = own.cookies["device"].value[:-3] + "abc"
    end_all_sessions(user)
    for _ in range(3):
        sign_in(user.email, "wrong", REMOTE_ADDR="10.6.6.6")
    for number, client in enumerate((own, theirs, forged)):
        sent = {"login": user.email, "password": PASSWORD}
        client.cookies.pop("sessionid", None)
        assert when(client.post("/account/login/", sent, REMOTE_ADDR=f"10.5.5.{number}"))


def test_the_cookie_names_nobody(user):
    own = Client()
    own.post("/account/login/", {"login": user.email, "password": PASSWORD})
    cookie = own.cookies["device"]
    content = signing.loads(cookie.value, salt="plurank.known-device")
    assert [(len(name), name == str(user.pk)) for name in content] == [(16, False)]
    assert user.email not in json.dumps(content)
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")


def test_an_address_waits_after_wrong_passwords_of_many_accounts(make, user):
    for number in range(6):
        sign_in(f"nobody{number}@plurank.example", "wrong")
    assert when(sign_in(user.email, PASSWORD))
    assert sign_in(user.email, PASSWORD, REMOTE_ADDR="10.9.9.9").status_code == 302


def test_signing_in_rightly_costs_no_attempt_and_hides_no_wrong_one(user):
    for _ in range(2):
        sign_in(user.email, "wrong")
        for _ in range(2):
            assert sign_in(user.email, PASSWORD).status_code == 302
    sign_in(user.email, "wrong")
    assert when(sign_in(user.email, PASSWORD))


def test_whether_an_account_exists_is_not_told_by_its_limit(user):
    pages = []
    for login in (user.email, "nobody@plurank.example"):
        AttemptCount.objects.all().delete()
        answers = [sign_in(login, "wrong") for _ in range(4)]
        pages.append([(answer.status_code, when(answer)) for answer in answers])
    assert pages[0] == pages[1] == [(200, False)] * 3 + [(200, True)]


def test_some_mails_an_hour_go_to_one_address_and_the_page_says_when_there_is_another(user):
    def ask(email, **extra):
        return Client().post("/account/password/reset/", {"email": email}, **extra)

    assert [ask(user.email, REMOTE_ADDR=f"10.0.0.{n}").status_code for n in range(3)] == [302] * 3
    assert when(ask(user.email.upper(), REMOTE_ADDR="10.0.0.9"))
    assert [ask(f"other{n}@plurank.example").status_code for n in range(6)] == [302] * 6
    assert when(ask("another@plurank.example"))


def ask_api(token: str = ""):
    headers = {"Authorization": f"Token {token}"} if token else {}
    return Client().get("/api/v1/benchmarks/", headers=headers)


def test_a_program_that_guesses_tokens_is_told_when_to_come_back(db):
    for _ in range(6):
        assert ask_api("plurank_" + "0" * 64).status_code == 401
    answer = ask_api("plurank_" + "1" * 64)
    assert answer.status_code == 429
    assert 590 <= int(answer["Retry-After"]) <= 600
    assert "Too many requests with tokens that do not exist. Try again in 10 minutes" in answer.content.decode()
    assert ask_api().status_code == 200  # who claims to be nobody guesses nothing


def test_links_to_invitations_are_not_guessed_without_end(make, client):
    client.force_login(make.user(), backend="django.contrib.auth.backends.ModelBackend")
    answers = [client.get(reverse("join", args=[f"guess{n}"])) for n in range(4)]
    assert [answer.status_code for answer in answers] == [404, 404, 404, 429]
    assert when(answers[-1])
    assert 590 <= int(answers[-1]["Retry-After"]) <= 600


def test_eight_guesses_at_the_very_same_time_are_no_more_than_eight_in_a_row(make_committed, settings):
    settings.ATTEMPTS = {"login": {"account": (5, 600)}}
    answers = at_once([lambda: take_attempt("login", account="a")] * 8)
    assert sum(isinstance(answer, TooManyAttemptsError) for answer in answers) == 3
    assert sum(answer is None for answer in answers) == 5


def test_what_is_counted_names_nobody(user):
    sign_in(user.email, "wrong")
    stored = str(list(AttemptCount.objects.values()))
    assert AttemptCount.objects.count() == 2
    assert user.email not in stored
    assert "127.0.0.1" not in stored


def test_what_ends_well_is_not_counted(db):
    with attempt("code", account="a"):
        pass
    with pytest.raises(ZeroDivisionError), attempt("code", account="a"):
        raise ZeroDivisionError
    assert AttemptCount.objects.get().n_attempts == 1


@pytest.mark.parametrize(
    ("proxies", "forwarded", "expected"),
    [
        (0, "", "10.0.0.1"),
        (0, "6.6.6.6", "10.0.0.1"),
        (1, "6.6.6.6, 8.8.8.8", "8.8.8.8"),
        (1, "", "10.0.0.1"),
        (2, "6.6.6.6, 8.8.8.8, 10.0.0.2", "8.8.8.8"),
        (2, "8.8.8.8", "8.8.8.8"),
        (1, "6.6.6.6, 2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        (1, "::ffff:8.8.8.8", "8.8.8.8"),
    ],
)
def test_the_address_is_what_our_own_outermost_proxy_saw(settings, proxies, forwarded, expected):
    settings.PROXIES = proxies
    request = RequestFactory().get("/", REMOTE_ADDR="10.0.0.1", headers={"X-Forwarded-For": forwarded})
    assert client_address(request) == expected


@pytest.mark.parametrize("proxies", [0, 1])
def test_a_forged_header_gives_no_fresh_attempts(user, settings, proxies):
    settings.PROXIES = proxies
    for number in range(6):
        forged = f"10.0.0.{number}" + ", 9.9.9.9" * proxies  # the last one is the proxy's own
        sign_in(f"n{number}@plurank.example", "wrong", headers={"X-Forwarded-For": forged})
    assert when(sign_in(user.email, PASSWORD, headers={"X-Forwarded-For": "10.0.0.99" + ", 9.9.9.9" * proxies}))
