"""What somebody with an ordinary account and bad intentions tries, and what they get."""

import csv
import io
import re

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from leaderboard.access.audience import audience_of
from leaderboard.models import Batch, Draft, OutboxMessage, Score, Submission, System, User
from leaderboard.models.submissions import Source
from leaderboard.notifications.outbox import send_due_messages
from leaderboard.submissions.drafts import RawRow, make_draft
from leaderboard.submissions.lifecycle import accept_batch, reject_batch, withdraw_submission
from leaderboard.submissions.problems import InputError

BACKEND = "django.contrib.auth.backends.ModelBackend"
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(autouse=True)
def _no_throttle_left(settings):
    cache.clear()
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # the true one is slow on purpose


def signed_in(user: User | None = None, **options) -> Client:
    client = Client(raise_request_exception=False, **options)
    if user:
        client.force_login(user, backend=BACKEND)
    return client


def form_of(benchmark, name: str, score: str = "5", **fields: str) -> dict[str, str]:
    return {"system_name": name} | {f"score-{task.key}": score for task in benchmark.tasks.all()} | fields


def draft_of(make, benchmark, owner, name="Newcomer") -> Draft:
    row = RawRow(name, {task.key: "3" for task in benchmark.tasks.all()})
    return make_draft(audience_of(owner, benchmark), [row], source=Source.FORM)


def confirmation(benchmark, **fields: str) -> dict[str, str]:
    benchmark.refresh_from_db()
    number = str(benchmark.last_revision_number)
    return {"action": "confirm", "previewed_number": number, "create_system": "1"} | fields


# --- Forged, repeated and foreign confirmations --------------------------------------------------------------------


@pytest.mark.parametrize("action", ["confirm", "discard"])
def test_nobody_confirms_or_discards_a_draft_of_somebody_else(make, action):
    benchmark, victim = make.benchmark(), make.user()
    found = draft_of(make, benchmark, victim)
    for other in (make.user(), benchmark.memberships.get().user):
        answer = signed_in(other).post(reverse("draft", args=[found.uuid]), confirmation(benchmark, action=action))
        assert answer.status_code == 404
    assert (Draft.objects.count(), Batch.objects.count()) == (1, 1)


@pytest.mark.parametrize("number", ["9" * 5000, "²", "-1", "1e3", "", "0", "٣", "1\0", " 1", "0x1"])
def test_a_forged_revision_number_shows_the_preview_again(make, number):
    benchmark, owner = make.benchmark(), make.user()
    found = draft_of(make, benchmark, owner)
    path = reverse("draft", args=[found.uuid])
    answer = signed_in(owner).post(path, confirmation(benchmark, previewed_number=number))
    assert answer.status_code == 409
    assert (Draft.objects.count(), Batch.objects.count()) == (1, 1)


def test_a_double_click_submits_once_and_leads_both_times_to_the_same_page(make):
    benchmark, owner = make.benchmark(), make.user()
    path = reverse("draft", args=[draft_of(make, benchmark, owner).uuid])
    client, form = signed_in(owner), confirmation(benchmark)
    first, second, back = client.post(path, form), client.post(path, form), client.get(path)
    assert Batch.objects.filter(uploader=owner).count() == 1
    page = reverse("batch", args=[Batch.objects.get(uploader=owner).uuid])
    assert [(answer.status_code, answer["Location"]) for answer in (first, second, back)] == [(302, page)] * 3


def test_where_a_confirmed_draft_went_is_told_to_its_owner_alone(make):
    benchmark, owner = make.benchmark(), make.user()
    path = reverse("draft", args=[draft_of(make, benchmark, owner).uuid])
    signed_in(owner).post(path, confirmation(benchmark))
    assert signed_in(make.user()).get(path).status_code == 404


def test_an_expired_draft_is_gone_even_before_it_is_swept_away(make):
    benchmark, owner = make.benchmark(), make.user()
    found = draft_of(make, benchmark, owner)
    Draft.objects.update(expires_at=found.created_at)
    path = reverse("draft", args=[found.uuid])
    assert signed_in(owner).get(path).status_code == 404
    assert signed_in(owner).post(path, confirmation(benchmark)).status_code == 404


def test_a_draft_of_one_who_lost_their_membership_is_closed_to_them(make):
    benchmark = make.benchmark(visibility="private")
    member = make.member(benchmark, "member")
    path = reverse("draft", args=[draft_of(make, benchmark, member).uuid])
    member.memberships.all().delete()
    assert signed_in(member).post(path, confirmation(benchmark)).status_code == 404
    assert Batch.objects.count() == 1


# --- Taking over systems of others ---------------------------------------------------------------------------------


def test_a_draft_made_before_a_system_came_does_not_replace_its_scores_afterwards(make):
    """The name was free when the draft was made; since then another account brought the system onto the board."""
    benchmark, hijacker = make.benchmark(), make.user()
    found = draft_of(make, benchmark, hijacker, "Newcomer")
    make.submitted(benchmark, "Newcomer", ["9"] * 5, by=make.user())
    path = reverse("draft", args=[found.uuid])
    signed_in(hijacker).post(path, confirmation(benchmark))
    assert not Batch.objects.filter(uploader=hijacker).exists()
    assert signed_in(hijacker).get(path)["Location"] == reverse("submit", args=[benchmark.key])


def test_a_proposal_made_under_a_moderator_replaces_nothing_once_everybody_decides_alone(make):
    benchmark, hijacker = make.benchmark(submission_policy="moderated"), make.user()
    found = draft_of(make, benchmark, hijacker, "A")
    benchmark.submission_policy = "open"
    benchmark.save()
    signed_in(hijacker).post(reverse("draft", args=[found.uuid]), confirmation(benchmark))
    assert not Batch.objects.filter(uploader=hijacker).exists()


def test_a_system_that_left_the_board_is_still_its_submitters_own(make):
    benchmark, submitter = make.benchmark(), make.user()
    batch = make.submitted(benchmark, "Withdrawn One", ["9"] * 5, by=submitter)
    withdraw_submission(make.submission_of(batch), actor=submitter, reason="a bug")
    answer = signed_in(make.user()).post(
        reverse("submit", args=[benchmark.key]), form_of(benchmark, "withdrawn ONE"), follow=True
    )
    assert answer.status_code == 400
    assert "came onto the board through another account" in answer.content.decode()
    again = make.submitted(benchmark, "Withdrawn One", ["8"] * 5, by=submitter)
    assert make.submission_of(again).system == make.submission_of(batch).system


def test_what_a_rejected_submission_said_of_its_system_is_gone_when_another_brings_the_system(make):
    benchmark, moderator = make.benchmark(submission_policy="moderated"), make.user()
    client = signed_in(make.user())
    spam = form_of(benchmark, "gPT-9", organisation="Spam", url="https://spam.example/", description="Buy!")
    draft = Draft.objects.get(uuid=client.post(reverse("submit", args=[benchmark.key]), spam)["Location"].split("/")[2])
    client.post(reverse("draft", args=[draft.uuid]), confirmation(benchmark))
    reject_batch(Batch.objects.first(), actor=moderator, reason="spam")
    good = make.submitted(benchmark, "GPT-9", ["5"] * 5, by=make.user())
    accept_batch(good, actor=moderator)
    system = System.objects.get(name_folded="gpt-9")
    assert (system.name, system.organisation, system.url, system.description) == ("GPT-9", "", "", "")


def test_what_an_accepted_system_says_of_itself_is_not_changed_by_a_later_submission(make):
    benchmark = make.benchmark(submission_policy="moderated")
    accept_batch(make.submitted(benchmark, "Steady", ["5"] * 5, by=make.user()), actor=None)
    client = signed_in(make.user())
    path = client.post(reverse("submit", args=[benchmark.key]), form_of(benchmark, "STEADY", organisation="Mine"))
    client.post(path["Location"], confirmation(benchmark))
    assert list(System.objects.filter(name_folded="steady").values_list("name", "organisation")) == [("Steady", "")]


# --- Text that is meant to hurt ------------------------------------------------------------------------------------


URLS = ["javascript:alert(1)", "JaVaScRiPt:x", "data:text/html,x", "ftp://a.example/", "//a.example", "https://a.b/\n"]


@pytest.mark.parametrize("url", URLS)
def test_an_address_that_is_no_web_address_is_refused_by_every_door(make, url):
    benchmark = make.benchmark()
    row = RawRow("New", {task.key: "1" for task in benchmark.tasks.all()}, url=url)
    with pytest.raises(InputError) as caught:
        make_draft(audience_of(make.user(), benchmark), [row], source=Source.API)
    assert list(caught.value.problems.by_place) == ["url"]


def test_a_script_address_in_the_form_stores_nothing(make):
    benchmark = make.benchmark()
    form = form_of(benchmark, "New", url="javascript:alert(document.cookie)")
    assert signed_in(make.user()).post(reverse("submit", args=[benchmark.key]), form).status_code == 400
    assert Draft.objects.count() == 0


def test_no_text_of_a_submitter_becomes_markup_on_any_page(make):
    benchmark, submitter = make.benchmark(name=f"B {SCRIPT}", description=SCRIPT, citation=SCRIPT), make.user(SCRIPT)
    client = signed_in(submitter)
    form = form_of(benchmark, f"S {SCRIPT}", organisation=SCRIPT, description=SCRIPT, note=SCRIPT)
    page = client.post(reverse("submit", args=[benchmark.key]), form)["Location"]
    preview = client.get(page).content.decode()
    batch = client.post(page, confirmation(benchmark))["Location"]
    make.publish(benchmark)
    key = System.objects.get(name=f"S {SCRIPT}").key
    paths = [
        batch,
        reverse("board", args=[benchmark.key]) + f"?q={SCRIPT}",
        reverse("board", args=[benchmark.key]) + "?policy=median&scores=1",
        reverse("system", args=[benchmark.key, key]),
        reverse("home") + f"?q={SCRIPT}&tag={SCRIPT}",
        reverse("status"),
        reverse("account_email"),
    ]
    pages = [preview] + [client.get(path).content.decode() for path in paths]
    assert all("alert(1)" in page for page in pages)
    assert [page for page in pages if SCRIPT in page] == []


NAMES = ["=1+1", "+A", "-A", "@SUM(A1)", "\t=1", "\r=1", "\uff1d1", "a\0b", "a\x1bb", "x" * 201, "a\nb"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_hurts_a_spreadsheet_or_a_terminal_is_refused(make, name):
    benchmark = make.benchmark()
    answer = signed_in(make.user()).post(reverse("submit", args=[benchmark.key]), form_of(benchmark, name))
    assert (answer.status_code, Draft.objects.count()) == (400, 0)


def test_the_download_quotes_what_a_table_would_take_for_its_own(make):
    names = ['Comma, "quote" and; more', "tab\there".replace("\t", " "), "5' OR 1=1 --", "%0A"]
    benchmark = make.published({name: [float(i)] * 5 for i, name in enumerate(names)})
    answer = Client().get(reverse("board_csv", args=[benchmark.key]))
    table = list(csv.reader(io.StringIO(answer.content.decode())))
    assert sorted(row[0] for row in table[1:]) == sorted(names)
    assert {len(row) for row in table} == {len(table[0])}
    assert answer["Content-Disposition"] == f'attachment; filename="{benchmark.key}.csv"'


# --- Files that are no tables --------------------------------------------------------------------------------------

HEAD = "system,Task 1,Task 2,Task 3,Task 4,Task 5"
FILES = {
    "bytes": bytes(range(256)) * 50,
    "an archive": b"PK\x03\x04" + bytes(5000),
    "UTF-16": f"{HEAD}\nN,1,2,3,4,5\n".encode("utf-16"),
    "a NUL": f"{HEAD}\nA\0,1,2,3,4,5\n".encode(),
    "a formula": f"{HEAD}\n=HYPERLINK(1),1,2,3,4,5\n".encode(),
    "a quote without end": f'{HEAD}\n"A{"x" * 50_000}'.encode(),
    "a long cell": f"{HEAD}\n{'A' * 400_000},1,2,3,4,5\n".encode(),
    "many columns": f"system{',c' * 5000}\nA{',1' * 5000}\n".encode(),
    "commas": b"," * 500_000,
    "a system twice": f"{HEAD}\nN,1,2,3,4,5\nn,1,2,3,4,5\n".encode(),
    "a task twice": b"system,Task 1,task-1\nN,1,2\n",
    "somebody else's system": f"{HEAD}\nN,1,2,3,4,5\nA,9,9,9,9,9\n".encode(),
    "infinity": f"{HEAD}\nN,1e999,2,3,4,5\n".encode(),
    "markup": f"system,{SCRIPT}\nN,1\n".encode(),
    "nothing": b"",
}


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_a_file_that_is_no_table_of_this_benchmark_stores_nothing_and_says_so(make, content):
    benchmark, client = make.benchmark(), signed_in(make.user())
    path = reverse("upload", args=[benchmark.key])
    answer = client.post(path, {"file": SimpleUploadedFile("scores.csv", content)})
    assert (answer.status_code, Draft.objects.count()) == (400, 0)
    assert SCRIPT not in answer.content.decode()
    assert len(answer.content) < 500_000


def test_a_name_of_a_file_is_not_a_path_and_not_markup(make):
    benchmark, client = make.benchmark(), signed_in(make.user())
    file = SimpleUploadedFile(f"../../{SCRIPT}\r\nX: y.csv", f"{HEAD}\nN,x,2,3,4,5\n".encode())
    answer = client.post(reverse("upload", args=[benchmark.key]), {"file": file})
    assert answer.status_code == 400
    assert SCRIPT not in answer.content.decode()
    assert "X" not in answer.headers


def test_more_systems_than_are_read_are_refused(make, settings):
    settings.UPLOAD_SYSTEMS = 3
    benchmark, client = make.benchmark(), signed_in(make.user())
    table = HEAD + "".join(f"\nN{i},1,2,3,4,5" for i in range(4))
    answer = client.post(reverse("upload", args=[benchmark.key]), {"text": table})
    assert (answer.status_code, Draft.objects.count()) == (400, 0)


def test_a_table_confirmed_twice_is_one_submission(make):
    benchmark, owner = make.benchmark(), make.user()
    client = signed_in(owner)
    table = {"text": f"{HEAD}\nN,1,2,3,4,5\nM,1,2,3,4,"}
    page = client.post(reverse("upload", args=[benchmark.key]), table)["Location"]
    places = [client.post(page, confirmation(benchmark))["Location"] for _ in range(2)]
    assert places[0] == places[1]
    assert list(Batch.objects.get(uploader=owner).submissions.values_list("system__name", flat=True)) == ["N", "M"]


# --- Addresses and numbers that are meant to break something -------------------------------------------------------


@pytest.mark.parametrize("page", ["²", "-1", "0", "9" * 5000, "1.5", "nan", "٣", "\0", "1 OR 1=1", "", "0x10"])
@pytest.mark.parametrize("path", ["/status/", "/b/toy/", "/b/toy/board.csv"])
def test_a_page_that_is_no_number_is_some_page(make, path, page):
    make.published(key="toy")
    assert Client().get(path, {"page": page}, follow=True).status_code == 200


def test_the_download_has_every_system_once_whatever_page_the_address_names(make):
    make.published({f"S{i:03}": [float(i)] for i in range(205)}, key="many")
    pages = [Client().get("/b/many/board.csv", {"page": page}).content for page in ("1", "2", "99")]
    names = [row[0] for row in csv.reader(io.StringIO(pages[0].decode()))][1:]
    assert sorted(names) == [f"S{i:03}" for i in range(205)]
    assert pages == pages[:1] * 3


@pytest.mark.parametrize("name", ["sort", "reference", "policy"])
@pytest.mark.parametrize("value", ["nonsense", "\0", "--borda", "x" * 100_000, "__class__", "a\r\nSet-Cookie: a=b"])
@pytest.mark.parametrize("route", ["board", "board_csv"])
def test_an_unknown_choice_is_a_bad_request(make, route, name, value):
    benchmark = make.published()
    answer = Client(raise_request_exception=False).get(reverse(route, args=[benchmark.key]), {name: value})
    assert answer.status_code == 400
    assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize("q", ["\0", "x" * 100_000, "%", "(((((", "\ud800".encode("utf-8", "surrogatepass"), "'\"--"])
def test_any_search_is_answered(make, q):
    benchmark = make.published()
    for path in ("/", reverse("board", args=[benchmark.key])):
        assert Client(raise_request_exception=False).get(path, {"q": q, "tag": q}).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/account/password/reset/key/zzzzzzzzzzzzz-abc/", "/account/password/reset/key/zzzzzzzzzzzzzzzzzzzz-abc/",
        "/account/confirm-email/" + "a" * 3000 + "/", "/b/" + "a" * 5000 + "/", "/b/a/systems/" + "b" * 5000 + "/",
        "/admin/leaderboard/user/99999999999999999999999999/change/", "/account/login/?next=%00",
    ],
)  # fmt: skip
def test_an_address_of_any_length_is_answered(make, path):
    assert signed_in(make.user()).get(path).status_code in (200, 302, 404)


def test_twelve_thousand_fields_are_read_and_more_are_refused(make):
    benchmark, client = make.benchmark(), signed_in(make.user())
    path = reverse("submit", args=[benchmark.key])
    filling = {f"x{i}": "1" for i in range(12_000)}
    assert client.post(path, form_of(benchmark, "N") | filling).status_code == 400
    assert Draft.objects.count() == 0
    fits = dict(list(filling.items())[:11_900])
    assert client.post(path, form_of(benchmark, "N") | fits).status_code == 302


def test_a_body_that_is_too_large_or_cannot_be_read_is_a_bad_request(make):
    benchmark, client = make.benchmark(), signed_in(make.user())
    path = reverse("submit", args=[benchmark.key])
    assert client.post(path, form_of(benchmark, "N", note="x" * 3_000_000)).status_code == 400
    form_type = "application/x-www-form-urlencoded"
    assert client.post(path, "note=" + "x" * 3_000_000, content_type=form_type).status_code == 400
    assert client.post(path, b"\xff\xfe", content_type="multipart/form-data; boundary=x").status_code == 400


@pytest.mark.parametrize("score", ["1e999", "-1e999", "nan", "inf", "٣", "1_000", "0x1", "1,5", "--1", "1 2", "9" * 61])
def test_a_score_that_is_no_finite_number_stores_nothing(make, score):
    benchmark = make.benchmark()
    answer = signed_in(make.user()).post(reverse("submit", args=[benchmark.key]), form_of(benchmark, "N", score))
    assert (answer.status_code, Draft.objects.count()) == (400, 0)


def test_scores_as_large_as_numbers_go_leave_a_board_that_can_be_read(make):
    benchmark = make.benchmark()
    for name, score in (("Huge", "1.7e308"), ("Huger", "1.79e308"), ("Tiny", "-1.7e308")):
        make.submitted(benchmark, name, [score] * 5, by=make.user())
    make.publish(benchmark)
    for parameters in ({}, {"scores": "1"}, {"policy": "median"}, {"sort": "mean"}):
        answer = Client(raise_request_exception=False).get(reverse("board", args=[benchmark.key]), parameters)
        assert answer.status_code == 200


@pytest.mark.parametrize("name", ["sessionid", "messages", "csrftoken"])
@pytest.mark.parametrize("value", ["\0", "garbage", "a" * 5000])
def test_broken_cookies_change_nothing(db, name, value):
    client = Client(raise_request_exception=False)
    client.cookies[name] = value
    assert client.get("/").status_code == 200


# --- The request itself --------------------------------------------------------------------------------------------


def test_a_form_without_its_token_changes_nothing(make):
    benchmark, owner = make.benchmark(), make.user()
    found = draft_of(make, benchmark, owner)
    client = signed_in(owner, enforce_csrf_checks=True)
    for path in (reverse("draft", args=[found.uuid]), reverse("submit", args=[benchmark.key]), "/account/logout/"):
        answer = client.post(path, confirmation(benchmark) | form_of(benchmark, "N"))
        assert answer.status_code == 403
        assert "Traceback" not in answer.content.decode()
    assert (Draft.objects.count(), Batch.objects.count()) == (1, 1)
    assert client.get(reverse("account_email")).status_code == 200


@pytest.mark.parametrize("how", [{"headers": {"X-HTTP-Method-Override": "POST"}}, {"data": {"_method": "POST"}}])
def test_a_request_to_read_never_writes(make, how):
    benchmark, owner = make.benchmark(), make.user()
    found = draft_of(make, benchmark, owner)
    path = reverse("draft", args=[found.uuid])
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
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert client.get("/account/login/", {"next": target})["Location"] == "/"
    assert client.post("/account/logout/", {"next": target})["Location"] == "/"
    shown = client.get("/account/login/", {"next": target}).content.decode()
    assert 'href="javascript' not in shown


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
    told = []
    for email in (known, unknown):
        client, seen = signed_in(), []
        form = {"email": email, "password1": "a long password", "password2": "a long password"}
        for _ in range(2):  # the second time both have an account
            answer = client.post("/account/signup/", form, follow=True)
            seen.append((answer.status_code, answer.redirect_chain, answer.content.decode().replace(email, "*")))
        answer = client.post("/account/login/", {"login": email, "password": "another password"})
        told.append([*seen, answer.status_code, sorted(client.cookies)])
    assert told[0] == told[1]
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
        assert "up to 10 are computed on demand" in answer.content.decode()
    assert Client().get(reverse("board", args=[benchmark.key])).status_code == 200


def test_one_policy_is_computed_once_however_often_and_however_oddly_it_is_asked_for(make, monkeypatch):
    from leaderboard.rankings import published

    benchmark, calls = make.published(), []
    compute = published.rank_in_time

    def counted(*arguments, **options):
        calls.append(arguments)
        return compute(*arguments, **options)

    monkeypatch.setattr(published, "rank_in_time", counted)
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
    assert client.post("/account/signup/", form)["Location"] == "/"
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
    assert client.post("/account/login/", {"login": form["email"], "password": form["password1"]})["Location"] == "/"
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
