"""What somebody with an ordinary account and bad intentions tries, and what they get."""

import csv
import io

import pytest
from django.test import Client
from django.urls import reverse

from leaderboard.access.audience import audience_of
from leaderboard.models import Batch, Draft, System
from leaderboard.models.submissions import Source
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.lifecycle import accept_batch, reject_batch, withdraw_submission
from leaderboard.submissions.rows import SubmittedRow
from ranking_engine.files.problems import InputError
from tests.leaderboard.site.hostile import SCRIPT, confirmation, draft_of, form_of, signed_in

pytestmark = pytest.mark.usefixtures("quick_passwords")


# --- Forged, repeated and foreign confirmations --------------------------------------------------------------------


@pytest.mark.parametrize("action", ["confirm", "discard"])
def test_nobody_confirms_or_discards_a_draft_of_somebody_else(make, action):
    benchmark, victim = make.benchmark(), make.user()
    draft = draft_of(make, benchmark, victim)
    for other in (make.user(), benchmark.memberships.get().user):
        answer = signed_in(other).post(reverse("draft", args=[draft.uuid]), confirmation(benchmark, action=action))
        assert answer.status_code == 404
    assert (Draft.objects.count(), Batch.objects.count()) == (1, 1)


@pytest.mark.parametrize("number", ["9" * 5000, "²", "-1", "1e3", "", "0", "٣", "1\0", " 1", "0x1"])
def test_a_forged_revision_number_shows_the_preview_again(make, number):
    benchmark, owner = make.benchmark(), make.user()
    draft = draft_of(make, benchmark, owner)
    path = reverse("draft", args=[draft.uuid])
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
    draft = draft_of(make, benchmark, owner)
    Draft.objects.update(expires_at=draft.created_at)
    path = reverse("draft", args=[draft.uuid])
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
    draft = draft_of(make, benchmark, hijacker, "Newcomer")
    make.submitted(benchmark, "Newcomer", ["9"] * 5, by=make.user())
    path = reverse("draft", args=[draft.uuid])
    signed_in(hijacker).post(path, confirmation(benchmark))
    assert not Batch.objects.filter(uploader=hijacker).exists()
    page = signed_in(hijacker).get(path).content.decode()
    assert "Newcomer was submitted by another account" in page
    assert 'value="confirm"' not in page


def test_a_proposal_made_under_a_moderator_replaces_nothing_once_everybody_decides_alone(make):
    benchmark, hijacker = make.benchmark(submission_policy="moderated"), make.user()
    draft = draft_of(make, benchmark, hijacker, "A")
    benchmark.submission_policy = "open"
    benchmark.save()
    signed_in(hijacker).post(reverse("draft", args=[draft.uuid]), confirmation(benchmark))
    assert not Batch.objects.filter(uploader=hijacker).exists()


def test_a_system_that_left_the_board_is_still_its_submitters_own(make):
    benchmark, submitter = make.benchmark(), make.user()
    batch = make.submitted(benchmark, "Withdrawn One", ["9"] * 5, by=submitter)
    withdraw_submission(make.submission_of(batch), actor=submitter, reason="a bug", is_own=True)
    answer = signed_in(make.user()).post(
        reverse("submit", args=[benchmark.key]), form_of(benchmark, "withdrawn ONE"), follow=True
    )
    assert answer.status_code == 400
    assert "was submitted by another account" in answer.content.decode()
    again = make.submitted(benchmark, "Withdrawn One", ["8"] * 5, by=submitter)
    assert make.submission_of(again).system == make.submission_of(batch).system


def test_what_a_rejected_submission_said_of_its_system_is_gone_when_another_brings_the_system(make):
    benchmark = make.benchmark(submission_policy="moderated")
    moderator = make.member(benchmark, "moderator")
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
    row = SubmittedRow("New", {task.key: "1" for task in benchmark.tasks.all()}, url=url)
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
