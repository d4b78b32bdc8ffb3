"""The queue, its flags, decisions, bans, roles and the trail of all that."""

import csv
import html
import io
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.access import audit_page as audit_page_module
from leaderboard.access.audience import audience_of
from leaderboard.access.audit_page import AuditQuery, Position, audit_lines, audit_page
from leaderboard.accounts.people import (
    PeopleError,
    accept_invitation,
    ban,
    change_role,
    find_invitation,
    invite,
    lift_ban,
)
from leaderboard.benchmarks.create import TaskSpec
from leaderboard.benchmarks.releases import freeze_revision
from leaderboard.benchmarks.settings import change_settings
from leaderboard.models import AuditEntry, Ban, Batch, Invitation, Membership, Revision, Submission
from leaderboard.submissions.checks import RawRow
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.moderation import decisions
from leaderboard.submissions.moderation.decisions import decide, queue, queue_page, review
from leaderboard.submissions.preview.draft import preview_draft
from leaderboard.submissions.preview.text import winners_sentence
from tests.factories import audience_of_draft
from tests.markup import compact

BOARD = {f"S{i}": [10.0 + i, 50.0 - i] for i in range(6)}


def signed_in(user):
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def owner_of(benchmark):
    return benchmark.memberships.get(role="owner").user


# --- Flags ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "flags"),
    [
        ([12.5, 47.5], []),
        ([21.0, 47.0], ["New: far outside the range of the others on Task 1"]),
        ([12.5, 20.0], ["New: far outside the range of the others on Task 2"]),
        ([20.0, 55.0], ["New: better than every other system on every task"]),
        ([11.0, 49.0], ["New: exactly the scores of S1"]),
        ([11.0, None], []),
    ],
)
def test_a_flag_says_why_to_look_twice(make, row, flags):
    benchmark = make.benchmark(BOARD, submission_policy="moderated")
    make.pending(benchmark, {"New": row}, by=make.user())
    assert queue(benchmark, most=9)[0][0].flags == flags


def test_a_correction_of_a_system_is_no_duplicate_of_itself(make):
    benchmark = make.benchmark(BOARD, submission_policy="moderated")
    make.pending(benchmark, {"S1": [11.0, 49.0]}, by=make.user())
    assert queue(benchmark, most=9)[0][0].flags == []


def test_too_good_counts_a_lower_score_as_better_where_it_is(make):
    tasks = [TaskSpec("Task 1", direction=-1), TaskSpec("Task 2")]
    benchmark = make.benchmark(BOARD, tasks=tasks, submission_policy="moderated")
    make.pending(benchmark, {"Low": [9.0, 51.0], "High": [16.0, 51.0]}, by=make.user())
    assert queue(benchmark, most=9)[0][0].flags == ["Low: better than every other system on every task"]


@pytest.mark.parametrize("n", [1, 12])
@pytest.mark.parametrize("is_correction", [False, True])
def test_the_queue_takes_as_many_queries_for_many_submissions_as_for_one(
    make, n, is_correction, django_assert_num_queries
):
    benchmark = make.benchmark(BOARD, submission_policy="moderated")
    held = Submission.objects.get(benchmark=benchmark, system__name="S1")
    for number in range(n):
        batch = make.pending(benchmark, {f"New {number}": [21.0, 47.0]}, by=make.user())
        if is_correction:
            Submission.objects.create(benchmark=benchmark, batch=batch, system=held.system, position=2, corrects=held)
    with django_assert_num_queries(11 if is_correction else 9):
        waiting, page = queue_page(benchmark, None)
    assert page.paginator.count == n
    assert [row.flags for row in waiting] == [
        [f"New {number}: far outside the range of the others on Task 1"] for number in range(n)
    ]


def test_the_queue_has_pages_and_the_next_one_begins_where_the_one_before_ends(make, monkeypatch):
    monkeypatch.setattr(decisions, "PAGE_BATCHES", 2)
    benchmark = make.benchmark(BOARD, submission_policy="moderated")
    for number in range(5):
        make.pending(benchmark, {f"New {number}": [12.0, 47.0]}, by=make.user())
    assert [row.title for number in ("1", "2", "3") for row in queue_page(benchmark, number)[0]] == [
        "New 0", "New 1", "New 2", "New 3", "New 4",
    ]  # fmt: skip
    address = reverse("manage_queue", args=[benchmark.key])
    text = compact(signed_in(owner_of(benchmark)).get(address, {"page": "2"}))
    assert [text.count(f">New {number}</a>") for number in range(5)] == [0, 0, 1, 1, 0]
    assert ('href="?page=1"' in text, 'href="?page=3"' in text, "5 submissions wait" in text) == (True, True, True)


def test_of_a_large_submission_the_queue_looks_at_the_beginning_and_says_so(make, monkeypatch):
    monkeypatch.setattr(decisions, "LOOKED_AT", 2)
    benchmark = make.benchmark(BOARD, submission_policy="moderated")
    make.pending(benchmark, {f"New {n}": [21.0, 47.0] for n in range(5)}, by=make.user())
    (row,), _ = queue(benchmark, most=9)
    assert (row.n_systems, row.title, row.n_more_flags) == (5, "New 0, New 1 and 3 more", 0)
    assert row.flags == [
        "only the first 2 of its 5 systems were looked at: open it for all",
        "New 0: far outside the range of the others on Task 1",
        "New 1: far outside the range of the others on Task 1",
    ]
    whole = review(Batch.objects.get(uuid=row.uuid)).waiting
    assert whole.flags == [f"New {n}: far outside the range of the others on Task 1" for n in range(5)]


# --- Decisions ------------------------------------------------------------------------------------------------------


def test_the_queue_is_in_the_order_of_arrival_and_shows_the_ranks_that_would_change(make):
    benchmark = make.benchmark(BOARD, submission_policy="moderated")
    first = make.pending(benchmark, {"Better": [20.0, 55.0]}, by=make.user("Ann"))
    second = make.pending(benchmark, {"Worse": [1.0, 1.0]}, by=make.user("Bob"))
    waiting, n_waiting = queue(benchmark, most=9)
    assert ([row.uuid for row in waiting], n_waiting) == ([first.uuid, second.uuid], 2)
    effects = {effect.rule_name: effect for effect in review(first).effects}
    assert effects["Mean"].winner_after == "Better"
    assert benchmark.revisions.count() == 1


def test_a_decision_says_in_a_sentence_what_the_preview_of_a_draft_says(make):
    benchmark = make.benchmark(BOARD, submission_policy="moderated")
    row = RawRow("Better", scores={"task-1": "20", "task-2": "55"})
    draft = make_draft(audience_of(make.user("Ann"), benchmark), [row], source="form")
    told = preview_draft(draft, audience_of_draft(draft)).summary
    assert told.startswith("Better would stand at rank 1")
    assert review(make.pending(benchmark, {"Better": [20.0, 55.0]}, by=make.user("Bob"))).summary == told
    several = review(make.pending(benchmark, {"Better": [20.0, 55.0], "Worse": [1.0, 1.0]}, by=make.user("Cy")))
    assert several.summary == winners_sentence(several.effects) != ""
    known = review(make.pending(benchmark, {next(iter(BOARD)): [1.0, 1.0]}, by=make.user("Di")))
    assert known.summary.startswith(f"{next(iter(BOARD))} would stand at rank ")


@pytest.mark.parametrize(("scores", "head", "column"), [
    ({"Better": [20.0, 55.0]}, ">Better</th>", "Better"),
    ({"Better": [20.0, 55.0], "Worse": [1.0, 1.0]}, ">Best new systems, with rank</th>", ""),
])  # fmt: skip
def test_a_lone_new_system_has_a_column_of_its_ranks(make, scores, head, column):
    benchmark = make.benchmark(BOARD, submission_policy="moderated")
    batch = make.pending(benchmark, scores, by=make.user("Ann"))
    address = reverse("manage_decide", args=[benchmark.key, batch.uuid])
    text = compact(signed_in(owner_of(benchmark)).get(address))
    effects = text.split('class="table-region effects"')[1].split("</table>")[0]
    assert effects.count(head) == 1
    assert ("Best new systems" in effects) == (not column)
    assert text.index('name="action" value="accept"') < text.index("<h2>What would change</h2>")


def test_deciding_about_several_makes_a_revision_each_and_says_what_was_decided_before(make):
    benchmark = make.benchmark(BOARD, submission_policy="moderated")
    batches = [make.pending(benchmark, {f"N{i}": [1.0, 1.0]}, by=make.user()) for i in range(3)]
    decide(batches[:1], "reject", actor=owner_of(benchmark), reason="No.")
    result = decide(batches, "accept", actor=owner_of(benchmark), reason="")
    assert (result.n_decided, len(result.refused)) == (2, 1)
    assert "decided already" in result.refused[0]
    assert Revision.objects.filter(benchmark=benchmark).count() == 3


def test_one_cannot_decide_about_another_benchmarks_submissions_through_ones_own_queue(make):
    mine, other = (make.benchmark(BOARD, submission_policy="moderated") for _ in range(2))
    foreign = make.pending(other, {"Theirs": [1.0, 1.0]}, by=make.user())
    client = signed_in(owner_of(mine))
    answer = client.post(reverse("manage_queue", args=[mine.key]), {"action": "accept", "batch": str(foreign.uuid)})
    assert answer.status_code == 302
    assert client.get(reverse("manage_decide", args=[mine.key, foreign.uuid])).status_code == 404
    assert foreign.submissions.get().state == "pending"


def test_rejecting_needs_a_reason_and_banning_keeps_the_submitter_out(make):
    benchmark, user = make.benchmark(BOARD, submission_policy="moderated"), make.user()
    batch = make.pending(benchmark, {"Spam": [1.0, 1.0]}, by=user)
    client, path = signed_in(owner_of(benchmark)), reverse("manage_decide", args=[benchmark.key, batch.uuid])
    client.post(path, {"action": "reject", "reason": "  "})
    assert batch.submissions.get().state == "pending"
    client.post(path, {"action": "reject_and_ban", "reason": "Copied."})
    assert (batch.submissions.get().state, Ban.objects.get().reason) == ("rejected", "Copied.")
    answer = signed_in(user).get(reverse("submit", args=[benchmark.key]))
    assert (answer.status_code, b"Copied." in answer.content) == (403, True)
    lift_ban(benchmark, user, author=owner_of(benchmark))
    assert signed_in(user).get(reverse("submit", args=[benchmark.key])).status_code == 200


def test_a_moderator_withdraws_and_reinstates_with_a_reason(make):
    benchmark = make.benchmark(BOARD, submission_policy="moderated")
    batch = benchmark.batches.get()
    client, number = signed_in(make.member(benchmark, "moderator")), batch.submissions.get(system__name="S1").uuid
    path = reverse("batch_step", args=[batch.uuid])
    for reason, state in (("", "accepted"), ("Wrong seed.", "withdrawn")):
        client.post(path, {"action": "withdraw", "reason": reason, "submission": str(number)})
        assert batch.submissions.get(uuid=number).state == state
    client.post(path, {"action": "reinstate", "reason": "Right after all.", "submission": str(number)})
    assert batch.submissions.get(uuid=number).state == "accepted"
    assert client.post(path, {"action": "withdraw", "reason": "x"}).status_code == 404  # which of six?


# --- People ---------------------------------------------------------------------------------------------------------


def test_an_invitation_gives_its_role_once(make):
    benchmark, user = make.benchmark(visibility="private"), make.user()
    secret = invite(benchmark, author=owner_of(benchmark), role="moderator")
    assert secret not in Invitation.objects.values_list("secret_hash", flat=True)
    invitation = find_invitation(secret)
    assert accept_invitation(invitation, user).role == "moderator"
    assert find_invitation(secret) is None
    with pytest.raises(PeopleError, match="used already"):
        accept_invitation(invitation, make.user())


def test_an_invitation_takes_no_role_away_and_dies_with_its_authors_and_its_time(make):
    benchmark = make.benchmark()
    owner, second = owner_of(benchmark), make.member(benchmark, "owner")
    accept_invitation(find_invitation(invite(benchmark, author=owner, role="member")), second)
    assert benchmark.memberships.get(user=second).role == "owner"
    by_second = find_invitation(invite(benchmark, author=second, role="owner"))
    change_role(benchmark, second, author=owner, role="")
    with pytest.raises(PeopleError):
        accept_invitation(by_second, second)
    late = invite(benchmark, author=owner, role="member")
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert find_invitation(late) is None


def test_a_benchmark_keeps_an_owner_and_its_moderators_cannot_be_banned(make):
    benchmark = make.benchmark()
    owner, moderator = owner_of(benchmark), make.member(benchmark, "moderator")
    for role in ("", "member"):
        with pytest.raises(PeopleError, match="at least one owner"):
            change_role(benchmark, owner, author=owner, role=role)
    with pytest.raises(PeopleError, match="cannot be banned"):
        ban(benchmark, moderator, author=owner, reason="x")
    with pytest.raises(PeopleError, match="Nobody"):
        change_role(benchmark, make.user(), author=owner, role="owner")
    change_role(benchmark, moderator, author=owner, role="owner")
    change_role(benchmark, owner, author=moderator, role="")
    assert Membership.objects.get(benchmark=benchmark).user == moderator


def test_the_people_page_tells_nothing_of_who_has_an_account(make):
    """There is no field for an e-mail address, and numbers of strangers change nothing."""
    benchmark, stranger = make.benchmark(), make.user()
    client, path = signed_in(owner_of(benchmark)), reverse("manage_people", args=[benchmark.key])
    told = []
    for number in (str(stranger.pk), "999999", "x"):
        client.post(path, {"action": "change", "user": number, "role": "owner"})
        told.append([str(message) for message in client.get(path).context["messages"]])
    assert told[1] == told[2]
    assert Membership.objects.filter(benchmark=benchmark).count() == 1


@pytest.mark.parametrize("n", [1, 12])
def test_the_people_page_takes_as_many_queries_for_many_people_as_for_one(make, n, django_assert_num_queries):
    benchmark = make.benchmark()
    for number in range(n):
        make.member(benchmark, "member")
        ban(benchmark, make.user(f"Spammer {number}"), author=owner_of(benchmark), reason="Spam.")
    client, address = signed_in(owner_of(benchmark)), reverse("manage_people", args=[benchmark.key])
    with django_assert_num_queries(10):
        text = compact(client.get(address))
    assert (text.count('name="role"'), text.count('value="lift"')) == (n + 2, n)  # the owner, and the invitation


def test_people_have_pages_owners_first(make, monkeypatch):
    monkeypatch.setattr("leaderboard.accounts.views_people.PAGE_PEOPLE", 2)
    benchmark = make.benchmark()
    owner = owner_of(benchmark)
    for role in ("member", "moderator", "member"):
        make.member(benchmark, role)
    client, address = signed_in(owner), reverse("manage_people", args=[benchmark.key])
    pages = [compact(client.get(f"{address}?page={number}")) for number in (1, 2)]
    rows = [re.findall(r'<th scope="row">(\w+)</th><td>(\w+)</td>', page) for page in pages]
    assert rows == [[("owner", "Owner"), ("moderator", "Moderator")], [("member", "Member"), ("member", "Member")]]


# --- The trail ------------------------------------------------------------------------------------------------------


def test_the_trail_has_changes_and_decisions_newest_first_and_filters_them(make):
    benchmark, user = make.benchmark(BOARD, submission_policy="moderated"), make.user("Ann")
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


def all_audit_lines(benchmark, query):
    """The whole of a short trail."""
    return audit_lines(benchmark, query, Position(), most=1000)[0]


def long_trail(make, n: int):
    """A benchmark with `n` changes of a setting and `n` decisions, one after the other."""
    benchmark = make.benchmark(BOARD, submission_policy="moderated")
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


# --- What the owners' pages say ----------------------------------------------------------------------------------


@pytest.mark.parametrize("page", ["manage", "manage_tasks", "manage_studies", "manage_queue", "manage_audit"])
def test_every_page_for_owners_says_how_many_submissions_wait(make, page):
    benchmark = make.benchmark(BOARD, submission_policy="moderated")
    owner = signed_in(owner_of(benchmark))
    address = reverse(page, args=[benchmark.key])
    assert 'class="unread"' not in compact(owner.get(address))
    make.pending(benchmark, {"N1": [1.0, 1.0], "N2": [2.0, 2.0]}, by=make.user())
    make.pending(benchmark, {"N3": [3.0, 3.0]}, by=make.user())
    make.pending(make.benchmark(BOARD, submission_policy="moderated"), {"N4": [1.0, 1.0]}, by=make.user())
    sections = compact(owner.get(address)).split('aria-label="Sections of managing"')[1].split("</nav>")[0]
    count = '<span class="unread">2<span class="visually-hidden"> waiting</span></span>'
    assert sections.index("Queue " + count) == sections.index("Queue")


def test_the_trail_says_in_words_what_was_frozen_and_leads_to_what_was_decided(make):
    benchmark = make.published(BOARD)
    owner = owner_of(benchmark)
    freeze_revision(benchmark, author=owner, number=1, name="First edition")
    text = compact(signed_in(owner).get(reverse("manage_audit", args=[benchmark.key])))
    assert '<th scope="row">Froze revision 1 as First edition</th>' in text
    batch = Batch.objects.get(benchmark=benchmark)
    assert f'Decision about <a href="{reverse("batch", args=[batch.uuid])}">6 systems</a>' in text
    rows = signed_in(owner).get(reverse("manage_audit_csv", args=[benchmark.key])).getvalue().decode().splitlines()
    assert any("frozen revision,first-edition,revision,,1," in row for row in rows)


def test_a_decision_is_previewed_within_the_budget_that_the_operator_sets(make, settings):
    benchmark = make.published(BOARD)
    batch = make.pending(benchmark, {"Better": [20.0, 55.0]}, by=make.user("Bob"))
    assert review(batch).effects
    settings.ON_DEMAND_BUDGET = 10
    assert review(batch).effects == []
