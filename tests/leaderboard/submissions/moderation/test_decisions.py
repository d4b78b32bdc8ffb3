"""The queue, its flags, decisions, bans, roles and the trail of all that."""

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.access.audience import audience_of
from leaderboard.benchmarks.create import TaskSpec
from leaderboard.models import Ban, Batch, Revision, Submission
from leaderboard.notifications.notices import notice_text
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.lifecycle import accept_batch
from leaderboard.submissions.moderation import decisions
from leaderboard.submissions.moderation.decisions import decide, queue, queue_page, review
from leaderboard.submissions.preview.draft import preview_draft
from leaderboard.submissions.preview.table import TableEffect
from leaderboard.submissions.preview.text import winners_sentence
from leaderboard.submissions.rows import SubmittedRow
from tests.factories import SIX_SYSTEMS, audience_of_draft, owner_of
from tests.markup import compact
from tests.signing_in import signed_in

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
    benchmark = make.benchmark(SIX_SYSTEMS, submission_policy="moderated")
    make.pending(benchmark, {"New": row}, by=make.user())
    assert queue(benchmark, most=9)[0][0].flags == flags


def test_a_correction_of_a_system_is_no_duplicate_of_itself(make):
    benchmark = make.benchmark(SIX_SYSTEMS, submission_policy="moderated")
    make.pending(benchmark, {"S1": [11.0, 49.0]}, by=owner_of(benchmark))
    assert queue(benchmark, most=9)[0][0].flags == []


def test_a_decision_shows_beside_each_score_the_one_that_it_replaces_or_removes(make):
    tasks = [TaskSpec(name) for name in ("Reading", "Maths", "Code")]
    scores = {"Alpha": [81.2, 62.5, 40.1], "Beta": [70, 60, None]}
    benchmark = make.benchmark(scores, tasks=tasks, submission_policy="moderated")
    rows = {"Alpha": [88.5, 62.5, None], "Beta": [70, 61, 30], "New": [1, 2, None]}
    owner = owner_of(benchmark)
    batch = make.pending(benchmark, rows, by=owner)
    assert queue(benchmark, most=9)[0][0].flags == ["Alpha: removes its scores from the board on Code"]
    pairs = [[(score.text, score.board_text) for score in row.scores] for row in review(batch).rows]
    assert pairs == [
        [("88.5", "81.2"), ("62.5", "62.5"), ("", "40.1")],
        [("70", "70"), ("61", "60"), ("30", "")],
        [("1", ""), ("2", ""), ("", "")],
    ]
    page = signed_in(owner).get(reverse("manage_decide", args=[benchmark.key, batch.uuid])).content.decode()
    table = re.search(r'aria-labelledby="scores".*?</table>', page, re.DOTALL)
    cells = [" ".join(re.sub("<[^>]+>", " ", cell).split()) for cell in re.findall(r"<td.*?</td>", table[0], re.DOTALL)]
    assert cells == [
        *("88.5 was 81.2", "62.5", "removed was 40.1"),
        *("70", "61 was 60", "30 was missing"),
        *("1", "2", "–"),
    ]


def test_the_queue_and_a_decision_say_whose_scores_are_replaced_where_they_are_other_peoples(make):
    benchmark, ada = make.benchmark(SIX_SYSTEMS, submission_policy="moderated"), make.user("Ada")
    accept_batch(make.pending(benchmark, {"Of Ada": [12.0, 48.0]}, by=ada), actor=owner_of(benchmark))
    rows = {"S1": [12.5, 47.0], "New": [12.1, 47.9], "Of Ada": [12.2, 47.1], "S2": [12.3, 47.2]}
    of_ada, of_bob = (make.pending(benchmark, rows, by=by) for by in (ada, make.user("Bob")))
    owner = owner_of(benchmark).shown_name
    of_owner = f"S1 and S2: replaces scores that {owner} submitted"
    expected = [[of_owner], [of_owner, "Of Ada: replaces scores that Ada submitted"]]
    assert [row.flags for row in queue(benchmark, most=9)[0]] == expected
    assert [review(batch).waiting.flags for batch in (of_ada, of_bob)] == expected


def test_too_good_counts_a_lower_score_as_better_where_it_is(make):
    tasks = [TaskSpec("Task 1", direction=-1), TaskSpec("Task 2")]
    benchmark = make.benchmark(SIX_SYSTEMS, tasks=tasks, submission_policy="moderated")
    make.pending(benchmark, {"Low": [9.0, 51.0], "High": [16.0, 51.0]}, by=make.user())
    assert queue(benchmark, most=9)[0][0].flags == ["Low: better than every other system on every task"]


@pytest.mark.parametrize("n", [1, 12])
@pytest.mark.parametrize("is_correction", [False, True])
def test_the_queue_takes_as_many_queries_for_many_submissions_as_for_one(
    make, n, is_correction, django_assert_num_queries
):
    benchmark = make.benchmark(SIX_SYSTEMS, submission_policy="moderated")
    held = Submission.objects.get(benchmark=benchmark, system__name="S1")
    for number in range(n):
        batch = make.pending(benchmark, {f"New {number}": [21.0, 47.0]}, by=make.user())
        if is_correction:
            Submission.objects.create(benchmark=benchmark, batch=batch, system=held.system, position=2, corrects=held)
    with django_assert_num_queries(14 if is_correction else 10):
        waiting, page = queue_page(benchmark, None)
    assert page.paginator.count == n
    replacing = ["S1: replaces scores that owner submitted"] if is_correction else []
    removing = ["S1: removes its scores from the board on Task 1 and Task 2"] if is_correction else []
    assert [row.flags for row in waiting] == [
        [*replacing, f"New {number}: far outside the range of the others on Task 1", *removing] for number in range(n)
    ]


def test_the_queue_has_pages_and_the_next_one_begins_where_the_one_before_ends(make, monkeypatch):
    monkeypatch.setattr(decisions, "PAGE_BATCHES", 2)
    benchmark = make.benchmark(SIX_SYSTEMS, submission_policy="moderated")
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
    benchmark = make.benchmark(SIX_SYSTEMS, submission_policy="moderated")
    make.pending(benchmark, {f"New {n}": [21.0, 47.0] for n in range(5)}, by=make.user())
    (row,), _ = queue(benchmark, most=9)
    assert (row.n_systems, row.title, row.n_more_flags) == (5, "New 0, New 1 and 3 more", 0)
    assert row.flags == [
        "only the first 2 of its 5 systems were checked: open it to see all",
        "New 0: far outside the range of the others on Task 1",
        "New 1: far outside the range of the others on Task 1",
    ]
    whole = review(Batch.objects.get(uuid=row.uuid)).waiting
    assert whole.flags == [f"New {n}: far outside the range of the others on Task 1" for n in range(5)]


# --- Decisions ------------------------------------------------------------------------------------------------------


def test_the_queue_is_in_the_order_of_arrival_and_shows_the_ranks_that_would_change(make):
    benchmark = make.benchmark(SIX_SYSTEMS, submission_policy="moderated")
    first = make.pending(benchmark, {"Better": [20.0, 55.0]}, by=make.user("Ann"))
    second = make.pending(benchmark, {"Worse": [1.0, 1.0]}, by=make.user("Bob"))
    waiting, n_waiting = queue(benchmark, most=9)
    assert ([row.uuid for row in waiting], n_waiting) == ([first.uuid, second.uuid], 2)
    effects = {effect.rule_name: effect for effect in review(first).effects}
    assert effects["Mean"].winner_after == "Better"
    assert benchmark.revisions.count() == 1


def test_rules_without_a_winner_do_not_count_as_rules_whose_first_place_stays():
    effects = [
        TableEffect(rule, before, after, 0, [], [])
        for rule, before, after in (("Mean", "A", "B"), ("Borda", "A", "A"), ("Condorcet", "", ""))
    ]
    assert winners_sentence(effects) == "The first place would change under 1 of 2 rules with a winner."
    assert winners_sentence(effects[1:]) == "The first place would not change under the 1 rule with a winner."
    assert winners_sentence(effects[2:]) == ""


def test_a_decision_says_in_a_sentence_what_the_preview_of_a_draft_says(make):
    benchmark = make.benchmark(SIX_SYSTEMS, submission_policy="moderated")
    row = SubmittedRow("Better", scores={"task-1": "20", "task-2": "55"})
    draft = make_draft(audience_of(make.user("Ann"), benchmark), [row], source="form")
    summary = preview_draft(draft, audience_of_draft(draft)).summary
    assert summary.startswith("Better would have rank 1")
    assert review(make.pending(benchmark, {"Better": [20.0, 55.0]}, by=make.user("Bob"))).summary == summary
    several = review(make.pending(benchmark, {"Better": [20.0, 55.0], "Worse": [1.0, 1.0]}, by=make.user("Cy")))
    assert several.summary == winners_sentence(several.effects) != ""
    known = review(make.pending(benchmark, {next(iter(SIX_SYSTEMS)): [1.0, 1.0]}, by=make.user("Di")))
    assert known.summary.startswith(f"{next(iter(SIX_SYSTEMS))} would have rank ")


@pytest.mark.parametrize(("scores", "head", "column"), [
    ({"Better": [20.0, 55.0]}, ">Better</th>", "Better"),
    ({"Better": [20.0, 55.0], "Worse": [1.0, 1.0]}, ">Best new systems, with rank</th>", ""),
])  # fmt: skip
def test_a_lone_new_system_has_a_column_of_its_ranks(make, scores, head, column):
    benchmark = make.benchmark(SIX_SYSTEMS, submission_policy="moderated")
    batch = make.pending(benchmark, scores, by=make.user("Ann"))
    address = reverse("manage_decide", args=[benchmark.key, batch.uuid])
    text = compact(signed_in(owner_of(benchmark)).get(address))
    assert f"<title>Decide on {' and '.join(scores)}, {benchmark.name} · Plurank</title>" in text
    effects = text.split('class="table-region effects"')[1].split("</table>")[0]
    assert effects.count(head) == 1
    assert ("Best new systems" in effects) == (not column)
    assert text.index('name="action" value="accept"') < text.index("<h2>What would change</h2>")


def test_deciding_about_several_makes_a_revision_each_and_says_what_was_decided_before(make):
    benchmark = make.benchmark(SIX_SYSTEMS, submission_policy="moderated")
    batches = [make.pending(benchmark, {f"N{i}": [1.0, 1.0]}, by=make.user()) for i in range(3)]
    decide(batches[:1], "reject", actor=owner_of(benchmark), reason="No.")
    result = decide(batches, "accept", actor=owner_of(benchmark), reason="")
    assert (result.n_decided, len(result.refused)) == (2, 1)
    assert "already decided" in result.refused[0]
    assert Revision.objects.filter(benchmark=benchmark).count() == 3


def test_one_cannot_decide_about_another_benchmarks_submissions_through_ones_own_queue(make):
    mine, other = (make.benchmark(SIX_SYSTEMS, submission_policy="moderated") for _ in range(2))
    foreign = make.pending(other, {"Theirs": [1.0, 1.0]}, by=make.user())
    client = signed_in(owner_of(mine))
    answer = client.post(reverse("manage_queue", args=[mine.key]), {"action": "accept", "batch": str(foreign.uuid)})
    assert answer.status_code == 302
    assert client.get(reverse("manage_decide", args=[mine.key, foreign.uuid])).status_code == 404
    assert foreign.submissions.get().state == "pending"


def test_rejecting_needs_a_reason_and_banning_keeps_the_submitter_out(make):
    benchmark, user = make.benchmark(SIX_SYSTEMS, submission_policy="moderated"), make.user()
    batch = make.pending(benchmark, {"Spam": [1.0, 1.0]}, by=user)
    client, path = signed_in(owner_of(benchmark)), reverse("manage_decide", args=[benchmark.key, batch.uuid])
    client.post(path, {"action": "reject", "reason": "  "})
    assert batch.submissions.get().state == "pending"
    client.post(path, {"action": "reject_and_ban", "reason": "Copied."})
    assert (batch.submissions.get().state, Ban.objects.get().reason) == ("rejected", "Copied.")
    answer = signed_in(user).get(reverse("submit", args=[benchmark.key]))
    assert (answer.status_code, b"Copied." in answer.content) == (403, True)
    assert f"<title>You cannot submit to {benchmark.name} · Plurank</title>" in compact(answer)
    banned = "Its owners or moderators banned you from submitting: Copied."
    assert f'<p class="notice">{banned}</p>' in compact(signed_in(user).get(reverse("board", args=[benchmark.key])))
    assert banned not in compact(client.get(reverse("board", args=[benchmark.key])))
    people = reverse("manage_people", args=[benchmark.key])
    explained = (
        "Banned users can read this benchmark but not submit to it. They are notified, with the reason. You ban "
        "someone where you reject their submission."
    )
    assert explained in compact(client.get(people))
    page = compact(client.post(people, {"action": "lift", "user": user.pk}, follow=True))
    assert (f"{user.shown_name} can submit again." in page, explained in page) == (True, True)
    assert [notice_text(notice) for notice in user.notices.filter(key__startswith="ban ").order_by("pk")] == [
        f"You are banned from submitting to {benchmark.name}. You can still read it. Reason: Copied.",
        f"You are no longer banned from submitting to {benchmark.name}.",
    ]
    assert signed_in(user).get(reverse("submit", args=[benchmark.key])).status_code == 200


def test_the_page_of_a_decision_says_what_a_ban_does_and_the_queue_whose_submitter_is_banned(make):
    benchmark, user = make.benchmark(SIX_SYSTEMS, submission_policy="moderated"), make.user("Bob")
    first, _ = (make.pending(benchmark, {name: [12.0, 48.0]}, by=user) for name in ("Spam", "More"))
    client, path = signed_in(owner_of(benchmark)), reverse("manage_decide", args=[benchmark.key, first.uuid])
    assert (
        "If you ban Bob, they can read this benchmark but no longer submit to it, and a notice gives them your reason. "
        "Their other waiting submissions stay in the queue. Owners can lift the ban under People."
    ) in compact(client.get(path))
    client.post(path, {"action": "reject_and_ban", "reason": "Copied."})
    (left,) = queue(benchmark, most=9)[0]
    assert left.flags[0] == "its submitter is banned from submitting"
    assert review(benchmark.batches.get(uuid=left.uuid)).waiting.flags[0] == "its submitter is banned from submitting"


@pytest.mark.parametrize("reason", ["", "  "])
def test_rejecting_several_without_a_reason_keeps_them_selected_and_says_so_at_the_reason(make, reason):
    benchmark = make.benchmark(SIX_SYSTEMS, submission_policy="moderated")
    batches = [make.pending(benchmark, {f"New {n}": [12.0, 48.0]}, by=make.user()) for n in range(3)]
    client, path = signed_in(owner_of(benchmark)), reverse("manage_queue", args=[benchmark.key])
    numbers = [str(batch.uuid) for batch in batches[:2]]
    answer = client.post(path, {"action": "reject", "batch": numbers, "reason": reason})
    page = compact(answer)
    assert answer.status_code == 400
    assert re.findall(r'id="batch-([\w-]+)"\s+checked', page) == numbers
    assert '<ul class="errorlist" id="reason_error"><li>Give a reason: the submitter sees it.</li></ul>' in page
    assert re.search(r'<input [^>]*id="reason"[^>]*aria-invalid="true" autofocus[^>]*reason_error">', page)
    decide_page = client.post(reverse("manage_decide", args=[benchmark.key, numbers[0]]), {"action": "reject"})
    assert (decide_page.status_code, "Give a reason: the submitter sees it." in compact(decide_page)) == (400, True)
    assert [batch.submissions.get().state for batch in batches] == ["pending"] * 3


def test_a_moderator_withdraws_and_reinstates_with_a_reason(make):
    benchmark = make.benchmark(SIX_SYSTEMS, submission_policy="moderated")
    batch = benchmark.batches.get()
    client, number = signed_in(make.member(benchmark, "moderator")), batch.submissions.get(system__name="S1").uuid
    path = reverse("batch_step", args=[batch.uuid])
    for reason, state in (("", "accepted"), ("Wrong seed.", "withdrawn")):
        client.post(path, {"action": "withdraw", "reason": reason, "submission": str(number)})
        assert batch.submissions.get(uuid=number).state == state
    client.post(path, {"action": "reinstate", "reason": "Right after all.", "submission": str(number)})
    assert batch.submissions.get(uuid=number).state == "accepted"
    which_of_six = client.post(path, {"action": "withdraw", "reason": "x"}, follow=True)
    assert "This submission has 6 systems; name one of them by its own" in which_of_six.content.decode()


# --- What the owners' pages say ----------------------------------------------------------------------------------


@pytest.mark.parametrize("page", ["manage", "manage_tasks", "manage_studies", "manage_queue", "manage_audit"])
def test_every_page_for_owners_says_how_many_submissions_wait(make, page):
    benchmark = make.benchmark(SIX_SYSTEMS, submission_policy="moderated")
    owner = signed_in(owner_of(benchmark))
    address = reverse(page, args=[benchmark.key])
    assert 'class="unread"' not in compact(owner.get(address))
    make.pending(benchmark, {"N1": [1.0, 1.0], "N2": [2.0, 2.0]}, by=make.user())
    make.pending(benchmark, {"N3": [3.0, 3.0]}, by=make.user())
    make.pending(make.benchmark(SIX_SYSTEMS, submission_policy="moderated"), {"N4": [1.0, 1.0]}, by=make.user())
    sections = compact(owner.get(address)).split('aria-label="Sections of managing"')[1].split("</nav>")[0]
    count = '<span class="unread">2<span class="visually-hidden"> waiting</span></span>'
    assert sections.index("Queue " + count) == sections.index("Queue")


def test_what_is_approved_under_an_embargo_waits_for_no_decision(make):
    benchmark = make.benchmark(
        SIX_SYSTEMS, submission_policy="moderated", embargo_until=timezone.now() + timedelta(days=1)
    )
    first, second = (make.pending(benchmark, {name: [1.0, 1.0]}, by=make.user()) for name in ("N1", "N2"))
    owner, address = signed_in(owner_of(benchmark)), reverse("manage_queue", args=[benchmark.key])
    said = []
    for batch in (first, second):
        answer = owner.post(address, {"action": "accept", "batch": str(batch.uuid)}, follow=True)
        page = compact(answer)
        said.append(
            (
                [str(message) for message in answer.context["messages"]],
                re.findall(r"<p>(\d submissions? (?:waits?|is|are)\b[^.<]*)", page),
                re.findall(r'class="unread">(\d)', page),
                "Accept selected" in page,
            )
        )
    approved = ["1 submission approved; it joins the board when the embargo ends."]
    assert said == [
        (
            approved,
            ["1 submission waits, oldest first", "1 submission is approved and joins the board when the embargo ends"],
            ["1"],
            True,
        ),
        (approved, ["2 submissions are approved and join the board when the embargo ends"], [], False),
    ]


def test_a_decision_is_previewed_within_the_budget_that_the_operator_sets(make, settings):
    benchmark = make.published(SIX_SYSTEMS)
    batch = make.pending(benchmark, {"Better": [20.0, 55.0]}, by=make.user("Bob"))
    assert review(batch).effects
    settings.ON_DEMAND_BUDGET = 10
    assert review(batch).effects == []
