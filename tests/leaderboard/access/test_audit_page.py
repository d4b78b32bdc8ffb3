"""The trail of a benchmark: pages, files, and the links between them."""

import csv
import html
import io
import re

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.access import audit_page as audit_page_module
from leaderboard.access.audience import audience_of
from leaderboard.access.audit_page import AuditQuery, Position, audit_lines, audit_page
from leaderboard.access.setting_names import SETTING_NAMES
from leaderboard.accounts.people import ban
from leaderboard.benchmarks.forms import SettingsForm
from leaderboard.benchmarks.forms_tasks import CountingForm
from leaderboard.benchmarks.releases import freeze_revision
from leaderboard.benchmarks.settings import SETTINGS, change_settings
from leaderboard.benchmarks.tasks import COUNTING
from leaderboard.models import AuditEntry, Batch, Submission, VoteSettings
from leaderboard.submissions.moderation.decisions import decide
from leaderboard.submissions.withdrawals import cancel_request, withdraw_own
from leaderboard.votes.forms import VoteSettingsForm
from tests.factories import SIX_SYSTEMS, owner_of
from tests.markup import compact
from tests.signing_in import signed_in

# --- The trail ------------------------------------------------------------------------------------------------------


def test_the_trail_has_changes_and_decisions_newest_first_and_filters_them(make):
    benchmark, user = make.benchmark(SIX_SYSTEMS, submission_policy="moderated"), make.user("Ann")
    owner = owner_of(benchmark)
    batch = make.pending(benchmark, {"N": [1.0, 1.0]}, by=user)
    decide([batch], "reject", actor=owner, reason="No.")
    ban(benchmark, user, author=owner, reason="Spam.")
    lines = all_audit_lines(benchmark, AuditQuery())
    assert [(line.subject, line.of, line.after) for line in lines[:2]] == [
        ("person", "Ann", "yes"), ("submission", "N", "rejected"),
    ]  # fmt: skip
    assert [(line.of, line.after, line.revision) for line in lines[2:]] == [("6 systems", "accepted", 1)]
    assert [line.of for line in all_audit_lines(benchmark, AuditQuery(subject="person"))] == ["Ann"]
    assert [line.of for line in all_audit_lines(benchmark, AuditQuery(of="S3"))] == ["S3"]
    assert all_audit_lines(benchmark, AuditQuery(who=str(user.pk))) == []


def test_a_request_to_withdraw_scores_is_called_one_and_no_decision(make):
    benchmark, user = make.benchmark(SIX_SYSTEMS, submitters_withdraw=False), make.user("Ann")
    make.accepted(benchmark, {"N": [1.0, 1.0]}, by=user)
    submission, audience = Submission.objects.get(system__name="N"), audience_of(user, benchmark)
    withdraw_own(audience, submission, reason="Wrong.")
    cancel_request(audience, submission)
    lines = all_audit_lines(benchmark, AuditQuery(of="N"))
    assert [(line.field, line.after) for line in lines] == [
        ("request", "cancelled"), ("request", "asked"), ("decision", "accepted"),
    ]  # fmt: skip
    page = compact(signed_in(owner_of(benchmark)).get(reverse("manage_audit", args=[benchmark.key])))
    assert re.findall(r"(\w+) about <a href=\"[^\"]*\">N</a>", page) == ["Request", "Request", "Decision"]
    assert [text in page for text in ("withdrawal requested", "withdrawal request cancelled")] == [True, True]


def all_audit_lines(benchmark, query):
    """The whole of a short trail."""
    return audit_lines(benchmark, query, Position(), most=1000)[0]


def long_trail(make, n: int):
    """A benchmark with `n` changes of a setting and `n` decisions, one after the other."""
    benchmark = make.benchmark(SIX_SYSTEMS, submission_policy="moderated")
    owner = owner_of(benchmark)
    for number in range(n):
        change_settings(benchmark, {"licence": f"Licence {number}"}, author=owner)
        batch = make.pending(benchmark, {f"N{number}": [1.0, 1.0], f"M{number}": [1.0, 1.0]}, by=make.user())
        decide([batch], "reject", actor=owner, reason=f"No {number}.")
    return benchmark


def test_the_pages_of_the_trail_hold_each_line_once_in_the_order_of_the_whole(make):
    benchmark = long_trail(make, 5)
    whole = all_audit_lines(benchmark, AuditQuery())
    assert [line.after or line.reason for line in whole[:3]] == ["rejected", "Licence 4", "rejected"]
    assert len(whole) == 2 * 5 + 1  # and the acceptance of the board
    for most in (1, 2, 3, 7, 11, 12):
        pages, start = [], Position()
        while start is not None:
            lines, start = audit_lines(benchmark, AuditQuery(), start, most=most)
            pages.append(lines)
            assert start is None or Position.read(start.text) == start
        assert [line for page in pages for line in page] == whole
        assert [len(page) for page in pages[:-1]] == [most] * (len(pages) - 1)


def test_new_lines_move_nothing_on_an_older_page_of_the_trail(make):
    benchmark = long_trail(make, 3)
    _, start = audit_lines(benchmark, AuditQuery(), Position(), most=3)
    before = audit_lines(benchmark, AuditQuery(), start, most=3)
    change_settings(benchmark, {"licence": "Another"}, author=owner_of(benchmark))
    assert audit_lines(benchmark, AuditQuery(), start, most=3) == before


@pytest.mark.parametrize("n", [1, 12])
def test_a_page_of_the_trail_takes_as_many_queries_for_many_lines_as_for_one(make, n, django_assert_num_queries):
    benchmark = long_trail(make, n)
    for number in range(n):
        ban(benchmark, make.user(f"Person {number}"), author=owner_of(benchmark), reason="Spam.")
    with django_assert_num_queries(5):
        page = audit_page(benchmark, AuditQuery(), "")
        people = list(page["people"])
    assert (len(page["lines"]), people) == (3 * n + 1, [owner_of(benchmark)])


def test_a_page_of_the_trail_ends_where_it_has_read_much_and_the_next_one_goes_on(make, monkeypatch):
    monkeypatch.setattr(audit_page_module, "READ_EVENTS", 4)
    benchmark = long_trail(make, 5)
    lines, start = audit_lines(benchmark, AuditQuery(subject="submission"), Position(), most=100)
    assert [line.reason for line in lines] == ["No 4.", "No 3."]  # of two systems each
    lines, _ = audit_lines(benchmark, AuditQuery(subject="submission"), start, most=100)
    assert [line.reason for line in lines] == ["No 2.", "No 1."]


def test_the_links_of_the_trail_lead_to_older_lines_and_back_and_keep_the_filters(make, monkeypatch):
    monkeypatch.setattr(audit_page_module, "PAGE_LINES", 2)
    benchmark = long_trail(make, 3)
    client, address = signed_in(owner_of(benchmark)), reverse("manage_audit", args=[benchmark.key])
    first = compact(client.get(address + "?subject=setting"))
    (older,) = re.findall(r'<a rel="next" href="([^"]+)">Older</a>', first)
    assert "Newest" not in first
    second = compact(client.get(address + html.unescape(older)))
    assert ["Licence 2" in first, "Licence 1</td>" in first, "Licence 0</td>" in second] == [True, True, True]
    assert '<a href="?subject=setting">Newest</a>' in second
    assert "Older" not in second


def test_the_file_of_a_long_trail_is_read_in_parts_and_holds_every_line_once(make, monkeypatch):
    monkeypatch.setattr(audit_page_module, "FILE_LINES", 3)
    benchmark = long_trail(make, 4)
    answer = signed_in(owner_of(benchmark)).get(reverse("manage_audit_csv", args=[benchmark.key]))
    parts = [part.decode() for part in answer]
    assert [part.count("\n") for part in parts] == [1, 3, 3, 3]  # a header, and nine lines
    rows = list(csv.DictReader(io.StringIO("".join(parts))))
    assert [row["reason"] for row in rows] == [line.reason for line in all_audit_lines(benchmark, AuditQuery())]


@pytest.mark.parametrize("text", ["x", "e", "s5e5", "e-1", "e" + "9" * 19, "e1s", "٣", "\0"])
def test_a_place_in_the_trail_that_there_is_none_of_is_the_newest_line_and_for_programs_an_error(make, text):
    benchmark = long_trail(make, 1)
    assert Position.read(text) is None
    assert audit_page(benchmark, AuditQuery(), text)["lines"] == all_audit_lines(benchmark, AuditQuery())


def test_an_exported_trail_holds_no_formula(make):
    benchmark = make.benchmark()
    owner = owner_of(benchmark)
    entry = {"benchmark": benchmark, "actor": owner, "subject": "setting", "of": "licence", "field": "value"}
    AuditEntry.objects.create(**entry, before="", after="=1+1", reason="@cmd")
    text = signed_in(owner).get(reverse("manage_audit_csv", args=[benchmark.key])).getvalue().decode()
    assert "'=1+1" in text
    assert ",'@cmd" in text


def test_the_trail_says_in_words_what_was_frozen_and_leads_to_what_was_decided(make):
    benchmark = make.published(SIX_SYSTEMS)
    owner = owner_of(benchmark)
    freeze_revision(benchmark, author=owner, number=1, name="First edition")
    text = compact(signed_in(owner).get(reverse("manage_audit", args=[benchmark.key])))
    assert '<th scope="row">Froze revision 1 as First edition</th>' in text
    batch = Batch.objects.get(benchmark=benchmark)
    assert f'Decision about <a href="{reverse("batch", args=[batch.uuid])}">6 systems</a>' in text
    rows = signed_in(owner).get(reverse("manage_audit_csv", args=[benchmark.key])).getvalue().decode().splitlines()
    assert any("frozen revision,first-edition,revision,,1," in row for row in rows)


def test_the_trail_calls_a_setting_what_the_form_calls_it_and_finds_it_by_both_names(make):
    benchmark = make.benchmark()
    owner = owner_of(benchmark)
    change_settings(benchmark, {"anonymous_until": timezone.now()}, author=owner)
    change_settings(benchmark, {"score_view": "ranks"}, author=owner)
    followed = AuditEntry.objects.create(
        benchmark=benchmark, actor=owner, subject="address", of="1", field="address", after="https://a.example/s.csv"
    )
    address = reverse("manage_audit", args=[benchmark.key])

    def changed(query):
        page = compact(signed_in(owner).get(address, query))
        return [html.unescape(text) for text in re.findall(r'<th scope="row">([^<]*)</th>', page)]

    hidden, seen = "setting “Hide system names until”", "setting “What readers see”"
    assert changed({"subject": "setting"}) == [seen, hidden]
    assert [changed({"of": words}) for words in ("hide system", "anonymous_u")] == [[hidden], [hidden]]
    assert changed({"subject": "address"}) == ["followed URL https://a.example/s.csv (1): URL"]
    assert [line.of for line in all_audit_lines(benchmark, AuditQuery(subject="setting"))] == [
        "score_view", "anonymous_until",
    ]  # fmt: skip
    assert followed.get_subject_display() == "followed URL"


def test_every_setting_that_the_trail_has_has_a_name_on_pages():
    of_votes = {f"votes: {name}" for name in VoteSettings.CHOSEN}
    assert set(SETTING_NAMES) == {*SETTINGS, *COUNTING, *of_votes, "ladder"}
    labels = {name: field.label for form in (SettingsForm(), CountingForm()) for name, field in form.fields.items()}
    labels |= {f"votes: {name}": field.label for name, field in VoteSettingsForm().fields.items()}
    labels["ladder"] = "The Ladder"
    assert {name: str(labels[name]).removesuffix(" (UTC)") for name in SETTING_NAMES} == dict(SETTING_NAMES)
