"""The queue, its flags, decisions, bans, roles and the trail of all that."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.models import AuditEntry, Ban, Batch, Invitation, Membership, Revision
from leaderboard.services.audit_page import AuditQuery, audit_rows
from leaderboard.services.benchmarks import TaskSpec
from leaderboard.services.drafts import make_draft
from leaderboard.services.moderation import decide, look_at, queue
from leaderboard.services.people import (
    PeopleError,
    accept_invitation,
    ban,
    change_role,
    find_invitation,
    invite,
    lift_ban,
)
from leaderboard.services.preview import preview_draft
from leaderboard.services.preview_wording import winners_sentence
from leaderboard.services.releases import freeze_revision
from leaderboard.services.upload_checks import RawRow

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
    assert queue(benchmark)[0][0].flags == flags


def test_a_correction_of_a_system_is_no_duplicate_of_itself(make):
    benchmark = make.benchmark(BOARD, submission_policy="moderated")
    make.pending(benchmark, {"S1": [11.0, 49.0]}, by=make.user())
    assert queue(benchmark)[0][0].flags == []


def test_too_good_counts_a_lower_score_as_better_where_it_is(make):
    tasks = [TaskSpec("Task 1", direction=-1), TaskSpec("Task 2")]
    benchmark = make.benchmark(BOARD, tasks=tasks, submission_policy="moderated")
    make.pending(benchmark, {"Low": [9.0, 51.0], "High": [16.0, 51.0]}, by=make.user())
    assert queue(benchmark)[0][0].flags == ["Low: better than every other system on every task"]


# --- Decisions ------------------------------------------------------------------------------------------------------


def test_the_queue_is_in_the_order_of_arrival_and_shows_the_ranks_that_would_change(make):
    benchmark = make.benchmark(BOARD, submission_policy="moderated")
    first = make.pending(benchmark, {"Better": [20.0, 55.0]}, by=make.user("Ann"))
    second = make.pending(benchmark, {"Worse": [1.0, 1.0]}, by=make.user("Bob"))
    waiting, n_waiting = queue(benchmark)
    assert ([row.uuid for row in waiting], n_waiting) == ([first.uuid, second.uuid], 2)
    effects = {effect.rule_name: effect for effect in look_at(first).effects}
    assert effects["Mean"].winner_after == "Better"
    assert benchmark.revisions.count() == 1


def test_a_decision_says_in_a_sentence_what_the_preview_of_a_draft_says(make):
    benchmark = make.benchmark(BOARD, submission_policy="moderated")
    row = RawRow("Better", scores={"task-1": "20", "task-2": "55"})
    draft = make_draft(benchmark, make.user("Ann"), [row], source="form")
    told = preview_draft(draft).summary
    assert told.startswith("Better would stand at rank 1")
    assert look_at(make.pending(benchmark, {"Better": [20.0, 55.0]}, by=make.user("Bob"))).summary == told
    several = look_at(make.pending(benchmark, {"Better": [20.0, 55.0], "Worse": [1.0, 1.0]}, by=make.user("Cy")))
    assert several.summary == winners_sentence(several.effects) != ""
    known = look_at(make.pending(benchmark, {next(iter(BOARD)): [1.0, 1.0]}, by=make.user("Di")))
    assert known.summary.startswith(f"{next(iter(BOARD))} would stand at rank ")


@pytest.mark.parametrize(("scores", "head", "column"), [
    ({"Better": [20.0, 55.0]}, ">Better</th>", "Better"),
    ({"Better": [20.0, 55.0], "Worse": [1.0, 1.0]}, ">Best new systems, with rank</th>", ""),
])  # fmt: skip
def test_a_lone_new_system_has_a_column_of_its_ranks(make, scores, head, column):
    benchmark = make.benchmark(BOARD, submission_policy="moderated")
    batch = make.pending(benchmark, scores, by=make.user("Ann"))
    address = reverse("manage_decide", args=[benchmark.key, batch.uuid])
    text = signed_in(owner_of(benchmark)).get(address).content.decode()
    effects = text.split('class="table-region effects"')[1].split("</table>")[0]
    assert effects.count(head) == 1
    assert ("Best new systems" in effects) == (not column)
    assert text.index('name="action" value="accept"') < text.index("<h2>What would change</h2>")


def test_deciding_about_several_makes_a_revision_each_and_says_what_was_decided_before(make):
    benchmark = make.benchmark(BOARD, submission_policy="moderated")
    batches = [make.pending(benchmark, {f"N{i}": [1.0, 1.0]}, by=make.user()) for i in range(3)]
    decide(batches[:1], actor=owner_of(benchmark), accepts=False, reason="No.")
    n_decided, refused = decide(batches, actor=owner_of(benchmark), accepts=True, reason="")
    assert (n_decided, len(refused)) == (2, 1)
    assert "decided already" in refused[0]
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
    client.post(path, {"action": "ban", "reason": "Copied."})
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


# --- The trail ------------------------------------------------------------------------------------------------------


def test_the_trail_has_changes_and_decisions_newest_first_and_filters_them(make):
    benchmark, user = make.benchmark(BOARD, submission_policy="moderated"), make.user("Ann")
    owner = owner_of(benchmark)
    batch = make.pending(benchmark, {"N": [1.0, 1.0]}, by=user)
    decide([batch], actor=owner, accepts=False, reason="No.")
    ban(benchmark, user, author=owner, reason="Spam.")
    lines = audit_rows(benchmark, AuditQuery())
    assert [(line.subject, line.of, line.after) for line in lines[:2]] == [
        ("person", "Ann", "yes"), ("submission", "N", "rejected"),
    ]  # fmt: skip
    assert [(line.of, line.after, line.revision) for line in lines[2:]] == [("6 systems", "accepted", 1)]
    assert [line.of for line in audit_rows(benchmark, AuditQuery(subject="person"))] == ["Ann"]
    assert [line.of for line in audit_rows(benchmark, AuditQuery(of="S3"))] == ["S3"]
    assert audit_rows(benchmark, AuditQuery(who=str(user.pk))) == []


def test_an_exported_trail_holds_no_formula(make):
    benchmark = make.benchmark()
    owner = owner_of(benchmark)
    entry = {"benchmark": benchmark, "actor": owner, "subject": "setting", "of": "licence", "field": "value"}
    AuditEntry.objects.create(**entry, before="", after="=1+1", reason="@cmd")
    text = signed_in(owner).get(reverse("manage_audit_csv", args=[benchmark.key])).content.decode()
    assert "'=1+1" in text
    assert ",'@cmd" in text


# --- What the owners' pages say ----------------------------------------------------------------------------------


@pytest.mark.parametrize("page", ["manage", "manage_tasks", "manage_studies", "manage_queue", "manage_audit"])
def test_every_page_for_owners_says_how_many_submissions_wait(make, page):
    benchmark = make.benchmark(BOARD, submission_policy="moderated")
    owner = signed_in(owner_of(benchmark))
    address = reverse(page, args=[benchmark.key])
    assert 'class="unread"' not in owner.get(address).content.decode()
    make.pending(benchmark, {"N1": [1.0, 1.0], "N2": [2.0, 2.0]}, by=make.user())
    make.pending(benchmark, {"N3": [3.0, 3.0]}, by=make.user())
    make.pending(make.benchmark(BOARD, submission_policy="moderated"), {"N4": [1.0, 1.0]}, by=make.user())
    sections = owner.get(address).content.decode().split('aria-label="Sections of managing"')[1].split("</nav>")[0]
    count = '<span class="unread">2<span class="visually-hidden"> waiting</span></span>'
    assert sections.index("Queue " + count) == sections.index("Queue")


def test_the_trail_says_in_words_what_was_frozen_and_leads_to_what_was_decided(make):
    benchmark = make.published(BOARD)
    owner = owner_of(benchmark)
    freeze_revision(benchmark, author=owner, number=1, name="First edition")
    text = signed_in(owner).get(reverse("manage_audit", args=[benchmark.key])).content.decode()
    assert '<th scope="row">Froze revision 1 as First edition</th>' in text
    batch = Batch.objects.get(benchmark=benchmark)
    assert f'Decision about <a href="{reverse("batch", args=[batch.uuid])}">6 systems</a>' in text
    rows = signed_in(owner).get(reverse("manage_audit_csv", args=[benchmark.key])).content.decode().splitlines()
    assert any("frozen revision,first-edition,revision,,1," in row for row in rows)


def test_a_decision_is_previewed_within_the_budget_that_the_operator_sets(make, settings):
    benchmark = make.published(BOARD)
    batch = make.pending(benchmark, {"Better": [20.0, 55.0]}, by=make.user("Bob"))
    assert look_at(batch).effects
    settings.ON_DEMAND_BUDGET = 10
    assert look_at(batch).effects == []
