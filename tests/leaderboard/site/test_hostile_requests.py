"""Requests that are forged, doors for guessing passwords, and asking for more than one's share."""

import re

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client
from django.urls import reverse

from leaderboard.models import Batch, Draft, OutboxMessage, Score, Submission, User
from leaderboard.notifications.outbox import send_due_messages
from tests.leaderboard.site.hostile import SCRIPT, confirmation, draft_of, form_of, signed_in

pytestmark = pytest.mark.usefixtures("quick_passwords")


# --- The request itself --------------------------------------------------------------------------------------------


def test_a_form_without_its_token_changes_nothing(make):
    benchmark, owner = make.benchmark(), make.user()
    draft = draft_of(make, benchmark, owner)
    client = signed_in(owner, enforce_csrf_checks=True)
    for path in (reverse("draft", args=[draft.uuid]), reverse("submit", args=[benchmark.key]), "/account/logout/"):
        answer = client.post(path, confirmation(benchmark) | form_of(benchmark, "N"))
        assert answer.status_code == 403
        assert "Traceback" not in answer.content.decode()
    assert (Draft.objects.count(), Batch.objects.count()) == (1, 1)
    assert client.get(reverse("account_email")).status_code == 200


@pytest.mark.parametrize("how", [{"headers": {"X-HTTP-Method-Override": "POST"}}, {"data": {"_method": "POST"}}])
def test_a_request_to_read_never_writes(make, how):
    benchmark, owner = make.benchmark(), make.user()
    draft = draft_of(make, benchmark, owner)
    path = reverse("draft", args=[draft.uuid])
    assert signed_in(owner).get(path, **how).status_code == 200
    assert signed_in(owner).get(path + "?action=discard").status_code == 200
    assert Draft.objects.count() == 1


@pytest.mark.parametrize("method", ["put", "patch", "delete", "options", "trace"])
@pytest.mark.parametrize("route", ["home", "status", "board", "submit", "draft"])
def test_other_methods_are_not_allowed(make, route, method):
    benchmark, owner = make.published(), make.user()
    arguments = {"board": [benchmark.key], "submit": [benchmark.key], "draft": [draft_of(make, benchmark, owner).uuid]}
    answer = getattr(signed_in(owner), method)(reverse(route, args=arguments.get(route)))
    assert answer.status_code == 405
    assert Draft.objects.count() == 1


@pytest.mark.parametrize("charset", ["utf-16", "latin-1"])
def test_a_form_in_another_charset_is_refused_and_a_query_is_utf8_all_the_same(db, charset):
    kind = f"text/plain; charset={charset}"
    searched = Client().get("/search/", {"q": "größte Müh"}, CONTENT_TYPE=kind)
    assert 'value="größte Müh"' in searched.content.decode()
    for form in ("application/x-www-form-urlencoded", "multipart/form-data; boundary=b"):
        refused = Client().generic("POST", "/try/", b"text=x", content_type=f"{form}; charset={charset}")
        assert (refused.status_code, refused.context["reason"]) == (
            400, f"The charset {charset!r} is not read; send UTF-8.",
        )  # fmt: skip


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1:80@evil.example", "localhost.evil.example", "a b"])
def test_a_foreign_host_name_is_a_bad_request(db, host):
    answer = Client(raise_request_exception=False).get("/", headers={"Host": host})
    assert answer.status_code == 400
    assert "evil" not in answer.content.decode()


@pytest.mark.parametrize(
    "target",
    ["https://evil.example/", "//evil.example/", r"\\evil.example", r"/\evil.example", "https:evil", "javascript:x"],
)
def test_signing_in_and_out_leads_nowhere_else(make, target):
    user = make.user()
    user.set_password("a long password")
    user.save()
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    form = {"login": user.email, "password": "a long password", "next": target}
    client = signed_in()
    answer = client.post("/account/login/", form)
    assert (answer.status_code, answer["Location"]) == (302, "/account/")
    assert client.get("/account/login/", {"next": target})["Location"] == "/account/"
    assert client.post("/account/logout/", {"next": target})["Location"] == "/"
    sign_in_page = client.get("/account/login/", {"next": target}).content.decode()
    assert 'href="javascript' not in sign_in_page


def test_a_slash_too_many_does_not_lead_to_another_site(db):
    for path in ("//evil.example/b/x", "//evil.example/..;/b/x", "//evil.example/%2e%2e/status"):
        assert Client().get("/", PATH_INFO=path).status_code == 404


def test_passwords_are_not_guessed_without_end_whatever_address_the_guesser_claims(make):
    victim = make.user()
    answers = []
    for attempt in range(6):
        form = {"login": victim.email, "password": f"guess {attempt}"}
        answers.append(signed_in().post("/account/login/", form, headers={"X-Forwarded-For": f"10.0.0.{attempt}"}))
    assert "Too many failed login attempts" in answers[-1].content.decode()


def test_the_admin_has_no_second_door_for_guessing_passwords(make):
    staff = make.user(is_staff=True, is_superuser=True)
    staff.set_password("a long password")
    staff.save()
    client = signed_in()
    answer = client.post("/admin/login/", {"username": staff.email, "password": "a long password"})
    assert answer["Location"].startswith("/account/login/")
    assert "_auth_user_id" not in client.session


def test_whether_an_address_has_an_account_is_not_told_by_a_reset(make):
    user = make.user()
    pages = []
    for email in (user.email, "nobody@plurank.example"):
        answer = signed_in().post("/account/password/reset/", {"email": email}, follow=True)
        pages.append((answer.status_code, answer.redirect_chain, answer.content))
    assert pages[0] == pages[1]
    send_due_messages()
    assert len(mail.outbox) == 2


def test_nobody_takes_over_the_address_of_another_account(make):
    victim, thief = make.user(), make.user()
    EmailAddress.objects.create(user=victim, email=victim.email, verified=False, primary=True)
    client = signed_in(thief)
    for email in (victim.email, victim.email.upper()):
        assert client.post("/account/email/", {"action_add": "", "email": email}).status_code in (200, 302)
        assert client.post("/account/email/", {"action_primary": "", "email": email}).status_code in (200, 302)
    thief.refresh_from_db()
    assert thief.email != victim.email
    assert User.objects.filter(email__iexact=victim.email).count() == 1


def test_the_same_address_in_other_letters_is_no_second_account(make):
    user = make.user()
    form = {"email": user.email.upper(), "password1": "a long password", "password2": "a long password"}
    assert signed_in().post("/account/signup/", form).status_code in (200, 302)
    assert User.objects.filter(email__iexact=user.email).count() == 1


@pytest.mark.parametrize("is_confirmed", [True, False])
def test_whether_an_address_has_an_account_is_not_told_by_sign_up(make, settings, is_confirmed):
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"  # the default wherever there is a mail server
    known, unknown = make.user().email, "nobody@plurank.example"
    EmailAddress.objects.create(user=User.objects.get(), email=known, verified=is_confirmed, primary=True)
    answers = []
    for email in (known, unknown):
        client, seen = signed_in(), []
        form = {"email": email, "password1": "a long password", "password2": "a long password"}
        for _ in range(2):  # the second time both have an account
            answer = client.post("/account/signup/", form, follow=True)
            seen.append((answer.status_code, answer.redirect_chain, answer.content.decode().replace(email, "*")))
        answer = client.post("/account/login/", {"login": email, "password": "another password"})
        answers.append([*seen, answer.status_code, sorted(client.cookies)])
    assert answers[0] == answers[1]
    mails = {message.payload["to"]: message.payload["text"] for message in OutboxMessage.objects.all()}
    assert set(mails) == {known, unknown}
    assert "/account/confirm-email/" in mails[unknown]
    assert "/account/confirm-email/" not in mails[known]
    assert "already" in mails[known]


# --- Asking for more than one's share ------------------------------------------------------------------------------


def test_a_board_too_large_to_compute_on_demand_is_refused_with_the_limit(make, settings):
    settings.ON_DEMAND_BUDGET = 10
    benchmark = make.published()
    for route in ("board", "board_csv"):
        answer = Client().get(reverse(route, args=[benchmark.key]), {"policy": "worst"})
        assert answer.status_code == 422
        assert "up to 10 can be computed on demand" in answer.content.decode()
    assert Client().get(reverse("board", args=[benchmark.key])).status_code == 200


def test_one_policy_is_computed_once_however_often_and_however_oddly_it_is_asked_for(make, monkeypatch):
    from leaderboard.rankings import on_request

    benchmark, calls = make.published(), []
    compute = on_request.rank_in_time

    def counted(*arguments, **options):
        calls.append(arguments)
        return compute(*arguments, **options)

    monkeypatch.setattr(on_request, "rank_in_time", counted)
    for number in range(5):
        parameters = {"policy": "median", "q": str(number), "page": number, "junk": number, "sort": "name"}
        Client().get(reverse("board", args=[benchmark.key]), parameters)
    assert len(calls) == 1


def test_a_hundred_long_names_on_the_board_do_not_make_a_near_miss_search_slow(make):
    import time

    benchmark = make.benchmark({f"{i:04}" + "ab" * 98: [1.0] for i in range(300)})
    started = time.process_time()
    draft_of(make, benchmark, make.user(), "ba" * 100)
    assert time.process_time() - started < 2


def test_no_score_of_anybody_changed_while_all_this_was_tried(make):
    benchmark = make.benchmark()
    before = list(Score.objects.order_by("pk").values())
    make.submitted(benchmark, "Other", ["1"] * 5, by=make.user())
    assert list(Score.objects.filter(pk__in=[row["id"] for row in before]).order_by("pk").values()) == before
    assert Submission.objects.exclude(state="accepted").count() == 0
    assert re.fullmatch(r"[0-9a-f-]{36}", str(Batch.objects.first().uuid))


def test_where_nobody_could_follow_a_link_in_a_mail_a_new_account_is_used_at_once(db):
    client = signed_in()
    form = {"email": "new@plurank.example", "password1": "a long password", "password2": "a long password"}
    assert client.post("/account/signup/", form)["Location"] == "/account/"
    assert client.get("/account/tokens/").status_code == 200


def test_an_account_keeps_its_display_name_and_its_address_in_small_letters(db, settings):
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    client = signed_in()
    form = {
        "email": "New.Person@Plurank.example", "display_name": SCRIPT, "password1": "a long password",
        "password2": "a long password",
    }  # fmt: skip
    assert client.post("/account/signup/", form)["Location"] == "/account/confirm-email/"
    link = next(word for word in OutboxMessage.objects.get().payload["text"].split() if "/confirm-email/" in word)
    client.post(link.removeprefix("http://127.0.0.1:8000"))
    welcome = client.post("/account/login/", {"login": form["email"], "password": form["password1"]})
    assert welcome["Location"] == "/account/"
    user = User.objects.get()
    assert (user.email, user.display_name, user.is_staff) == ("new.person@plurank.example", SCRIPT, False)
    page = client.get("/").content.decode()
    assert "&lt;script&gt;" in page
    assert SCRIPT not in page


def test_an_account_cannot_look_like_another_by_what_cannot_be_seen(db):
    form = {
        "email": "n@plurank.example", "display_name": "Ad\u200bmin", "password1": "a long password",
        "password2": "a long password",
    }  # fmt: skip
    page = signed_in().post("/account/signup/", form).content.decode()
    assert "It holds the invisible or control character U+200B (zero width space); leave it out." in page
    assert not User.objects.exists()


def test_signing_up_takes_no_field_that_the_form_has_not(db):
    form = {"email": "n@plurank.example", "password1": "a long password", "password2": "a long password"}
    signed_in().post("/account/signup/", form | {"is_staff": "on", "is_superuser": "1", "id": "1"})
    assert (User.objects.get().is_staff, User.objects.get().is_superuser) == (False, False)
