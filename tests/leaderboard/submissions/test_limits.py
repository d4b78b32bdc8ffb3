"""Caps, deadlines, bans and embargoes: each test is named after what it prevents."""

import time
from collections import Counter
from datetime import timedelta

import pytest
from django.core.cache import cache, caches
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.access.audience import audience_of
from leaderboard.common.moments import moment_in_words
from leaderboard.models import Ban, Batch, Benchmark, Revision, Submission, SubmissionCount
from leaderboard.rankings.scores import systems_at
from leaderboard.submissions.batches.page import batch_page
from leaderboard.submissions.batches.status import batch_standing
from leaderboard.submissions.checks import SECRET_REFUSALS, check_rows
from leaderboard.submissions.embargo import end_embargoes
from leaderboard.submissions.lifecycle import reject_batch, retract_batch, take_batch
from leaderboard.submissions.problems import QuotaError, SubmissionError
from leaderboard.submissions.quotas import TOTAL, after_deadline, day_of, quota_left, terms_of
from leaderboard.submissions.rows import SubmittedRow
from leaderboard.submissions.uploads import Upload, submit_upload
from ranking_engine.files.problems import InputError
from tests.concurrency import at_once
from tests.factories import owner_of
from tests.markup import compact
from tests.signing_in import signed_in

FIVE = ["1"] * 5


def upload(*names, key=None):
    rows = [SubmittedRow(name, {"task-1": 1.0}) for name in names]
    return Upload(rows=rows, creates_systems=True, idempotency_key=key, payload_hash="-".join(names))


def counts(benchmark, user):
    return dict(SubmissionCount.objects.filter(benchmark=benchmark, user=user).values_list("period", "n_submitted"))


def later(benchmark, **fields):
    Benchmark.objects.filter(pk=benchmark.pk).update(**fields)
    benchmark.refresh_from_db()


# --- Caps -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cap", "words"), [("daily_cap", "2 systems a day"), ("total_cap", "in all")])
def test_a_cap_holds_for_every_door_and_says_so(make, cap, words):
    benchmark, user = make.benchmark(**{cap: 2}), make.user()
    make.submitted(benchmark, "One", FIVE, by=user)
    submit_upload(benchmark, user, upload("Two"))
    with pytest.raises(QuotaError, match=words):
        submit_upload(benchmark, user, upload("Three"))
    with pytest.raises(QuotaError, match="you have submitted 2, so one more would exceed"):
        make.submitted(benchmark, "Three", FIVE, by=user)
    assert quota_left(benchmark, user) == {"today" if cap == "daily_cap" else "in all": 0}


def test_a_table_of_many_systems_does_not_pass_as_one_submission(make):
    benchmark, user = make.benchmark(daily_cap=3), make.user()
    with pytest.raises(QuotaError, match="4 more would exceed"):
        submit_upload(benchmark, user, upload("A1", "A2", "A3", "A4"))
    submit_upload(benchmark, user, upload("A1", "A2", "A3"))
    assert counts(benchmark, user) == {day_of(timezone.now()): 3, TOTAL: 3}


def test_a_submission_that_fails_uses_up_no_quota(make):
    benchmark, user = make.benchmark(daily_cap=3), make.user()
    batches = Batch.objects.count()
    for names in (("Same", "same"), ("ok", "")):
        with pytest.raises(InputError):
            submit_upload(benchmark, user, upload(*names))
    with pytest.raises(QuotaError):
        submit_upload(benchmark, user, upload("A1", "A2", "A3", "A4"))
    assert (counts(benchmark, user), Batch.objects.count()) == ({}, batches)


def test_a_call_that_is_repeated_with_its_key_counts_once(make):
    benchmark, user = make.benchmark(daily_cap=1), make.user()
    first, _ = submit_upload(benchmark, user, upload("A1", key="k"))
    assert submit_upload(benchmark, user, upload("A1", key="k")) == (first, False)
    assert counts(benchmark, user)[TOTAL] == 1


def test_taking_a_waiting_submission_back_does_not_burn_the_quota(make):
    """Codabench 1507: cancelling a stuck job used up the user's quota."""
    benchmark, user = make.benchmark(daily_cap=1, submission_policy="moderated"), make.user()
    batch = make.submitted(benchmark, "One", FIVE, by=user)
    retract_batch(batch, actor=user)
    assert (counts(benchmark, user)[TOTAL], batch.submissions.get().state) == (0, "retracted")
    assert batch_standing(batch).state == "retracted"
    again = make.submitted(benchmark, "One", FIVE, by=user)
    with pytest.raises(PermissionDenied, match="someone else"):
        retract_batch(again, actor=make.user())
    take_batch(again, actor=benchmark.memberships.get(role="owner").user)
    with pytest.raises(SubmissionError, match="already decided"):
        retract_batch(again, actor=user)


def test_what_a_moderator_approves_while_its_submitter_withdraws_it_keeps_its_quota(make):
    benchmark = make.benchmark(submission_policy="moderated", embargo_until=timezone.now() + timedelta(days=1))
    user, owner = make.user(), owner_of(benchmark)
    batch = make.submitted(benchmark, "One", FIVE, by=user)
    approvals = []

    def approve_first(execute, sql, *given):
        """As if the approval ended just before this lock of the benchmark was granted, or this row was changed."""
        is_lock_or_change = "UPDATE" in sql or 'FROM "leaderboard_benchmark"' in sql
        if is_lock_or_change and not approvals:
            approvals.append(batch.pk)
            take_batch(Batch.objects.get(pk=batch.pk), actor=owner)
        return execute(sql, *given)

    with connection.execute_wrapper(approve_first):
        retract_batch(batch, actor=user)
    kinds = list(batch.submissions.get().events.order_by("pk").values_list("kind", flat=True))
    assert (kinds, counts(benchmark, user)[TOTAL]) == (["approved", "retracted"], 1)


def test_moderators_and_owners_have_no_cap_and_each_user_has_their_own(make):
    benchmark = make.benchmark(total_cap=1)
    owner = benchmark.memberships.get(role="owner").user
    for user in (owner, make.member(benchmark, "moderator")):
        submit_upload(benchmark, user, upload(f"{user.pk} 1"))
        submit_upload(benchmark, user, upload(f"{user.pk} 2"))
    for user in (make.user(), make.user()):
        submit_upload(benchmark, user, upload(f"{user.pk} 1"))
    assert benchmark.batches.exclude(uploader=owner).count() == 4


def test_clients_that_race_never_pass_the_last_free_place_together(committed_db, make_committed):
    benchmark, user = make_committed.benchmark(total_cap=5), make_committed.user()
    outcomes = at_once([lambda i=i: submit_upload(benchmark, user, upload(f"S{i}")) for i in range(8)])
    assert sum(isinstance(outcome, tuple) for outcome in outcomes) == 5
    assert {type(outcome) for outcome in outcomes if not isinstance(outcome, tuple)} == {QuotaError}
    assert counts(benchmark, user) == {day_of(timezone.now()): 5, TOTAL: 5}
    assert Submission.objects.filter(batch__uploader=user).count() == 5


def test_the_form_says_how_much_is_left_until_when_and_what_becomes_of_it(make):
    soon = timezone.now() + timedelta(days=1)
    benchmark = make.benchmark(
        daily_cap=3, total_cap=10, deadline=soon, embargo_until=soon, submission_policy="moderated"
    )
    user = make.user()
    make.submitted(benchmark, "One", FIVE, by=user)
    assert terms_of(benchmark, user, limited=True) == [
        "You can submit 2 today and 9 in all (systems; each row of a table counts).",
        f"Submissions are accepted until {soon:%-d %b %Y, %H:%M} UTC.",
        f"A moderator decides on every submission within 14 days; {after_deadline(benchmark)}.",
        f"Submissions accepted now join the board on {soon:%-d %b %Y, %H:%M} UTC.",
    ]
    owner = benchmark.memberships.get(role="owner").user
    assert len(terms_of(benchmark, owner, limited=False)) == 1
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    for route in ("submit", "upload"):
        assert "You can submit 2 today" in client.get(reverse(route, args=[benchmark.key])).content.decode()


# --- Deadlines and bans ---------------------------------------------------------------------------------------------


def test_no_door_accepts_submissions_after_the_deadline(make):
    """Codabench 2307: the API accepted submissions after the phase had ended."""
    user = make.user()
    benchmark = make.benchmark(deadline=timezone.now() + timedelta(hours=1))
    make.submitted(benchmark, "In time", FIVE, by=user)
    later(benchmark, deadline=timezone.now() - timedelta(seconds=1))
    with pytest.raises(SubmissionError, match="Submissions were accepted until"):
        submit_upload(benchmark, user, upload("Late"))
    with pytest.raises(SubmissionError, match="Submissions were accepted until"):
        make.submitted(benchmark, "Late", FIVE, by=user)
    make.submitted(benchmark, "Correction", FIVE, by=benchmark.memberships.get(role="owner").user)


def test_somebody_banned_submits_nowhere_on_that_benchmark_and_anywhere_else(make):
    benchmark, other, user = make.benchmark(), make.benchmark(), make.user()
    owner = benchmark.memberships.get(role="owner").user
    Ban.objects.create(benchmark=benchmark, user=user, reason="Copies of others.", author=owner)
    with pytest.raises(SubmissionError, match="Copies of others"):
        submit_upload(benchmark, user, upload("Spam"))
    submit_upload(other, user, upload("Ham"))


# --- Embargoes ------------------------------------------------------------------------------------------------------


def embargoed(make, **fields):
    return make.benchmark(embargo_until=timezone.now() + timedelta(hours=1), **fields)


def test_what_is_accepted_under_an_embargo_is_on_no_revision_until_it_ends(make):
    benchmark, user = embargoed(make), make.user()
    batch = make.submitted(benchmark, "Hidden", FIVE, by=user)
    benchmark.refresh_from_db()
    assert (benchmark.last_revision_number, batch.submissions.get().state) == (1, "approved")
    assert "Hidden" not in {system.name for system in systems_at(benchmark.revisions.get())}
    assert batch_standing(batch).state == "approved"
    assert batch_page(batch).state_text == "approved, waiting for the embargo to end"
    assert end_embargoes() == 0
    later(benchmark, embargo_until=timezone.now())
    assert (end_embargoes(), end_embargoes()) == (1, 0)
    benchmark.refresh_from_db()
    revision = benchmark.revisions.get(number=2)
    assert (revision.cause, revision.author) == (Revision.Cause.EMBARGO, user)
    assert "Hidden" in {system.name for system in systems_at(revision)}
    kinds = list(batch.submissions.get().events.values_list("kind", "actor", "revision__number"))
    assert kinds == [("approved", user.pk, None), ("accepted", None, 2)]


def test_submissions_join_in_the_order_in_which_they_were_approved(make):
    benchmark = embargoed(make, submission_policy="moderated")
    owner = benchmark.memberships.get(role="owner").user
    first, second = (make.submitted(benchmark, "E", [text] * 5, by=make.user()) for text in ("1", "2"))
    take_batch(second, actor=owner)
    take_batch(first, actor=owner)
    later(benchmark, embargo_until=None)
    assert end_embargoes() == 2
    accepted = [batch.submissions.get().events.get(kind="accepted").revision.number for batch in (second, first)]
    assert accepted == [2, 3]


def test_an_approval_can_be_taken_back_before_the_embargo_ends(make):
    benchmark = embargoed(make, submission_policy="moderated", total_cap=1)
    owner, user, other = benchmark.memberships.get(role="owner").user, make.user(), make.user()
    rejected, retracted = (make.submitted(benchmark, f"Of {u.pk}", FIVE, by=u) for u in (user, other))
    for batch in (rejected, retracted):
        take_batch(batch, actor=owner)
    reject_batch(rejected, actor=owner, reason="It used the test data.")
    retract_batch(retracted, actor=other)
    later(benchmark, embargo_until=None)
    assert end_embargoes() == 0
    assert benchmark.revisions.count() == 1
    # A moderator had decided, so it counts.
    assert counts(benchmark, other)[TOTAL] == 1


def test_two_sweeps_at_once_end_an_embargo_once(committed_db, make_committed):
    benchmark = embargoed(make_committed)
    for i in range(3):
        make_committed.submitted(benchmark, f"S{i}", FIVE, by=make_committed.user())
    later(benchmark, embargo_until=None)
    assert sum(at_once([end_embargoes, end_embargoes])) == 3
    assert Benchmark.objects.get(pk=benchmark.pk).last_revision_number == 4


def test_the_head_of_a_board_says_until_when_who_decides_when_scores_appear_and_how_many_are_left(make, client):
    soon, later_on = timezone.now() + timedelta(days=6, minutes=5), timezone.now() + timedelta(days=9)
    benchmark = make.published(
        submission_policy="moderated", deadline=soon, embargo_until=later_on, daily_cap=2, total_cap=5
    )
    common = [
        f"Submissions are open until {moment_in_words(soon)} (6 days left)",
        f"A moderator decides about each submission, within {benchmark.decision_days} days",
        f"What is accepted now appears on {moment_in_words(later_on)}",
    ]
    path = f"/b/{benchmark.key}/"
    page = client.get(path)
    assert page.context["terms"] == [*common, "Each user may submit 2 per day and 5 in total (systems)"]
    body = compact(page)  # below the tabs, which would otherwise be lower on this page than on others
    assert body.index('class="tabs') < body.index(common[0]) < body.index("<table")
    assert signed_in(make.user()).get(path).context["terms"] == [
        *common, "You may submit 2 today and 5 in all (systems)"
    ]  # fmt: skip
    assert signed_in(owner_of(benchmark)).get(path).context["terms"] == common


def test_the_head_of_a_board_says_that_submissions_closed_and_nothing_where_there_is_nothing_to_say(make, client):
    past = timezone.now() - timedelta(days=1)
    closed, plain, shut = (
        make.published(deadline=past), make.published(), make.published(submission_policy="closed", daily_cap=2)
    )  # fmt: skip
    assert client.get(f"/b/{closed.key}/").context["terms"] == [f"Submissions closed on {moment_in_words(past)}"]
    assert client.get(f"/b/{plain.key}/").context["terms"] == []
    assert client.get(f"/b/{shut.key}/").context["terms"] == []


def test_hidden_names_are_rejected_so_often_a_day_however_many_guesses_come_at_once(make_committed, monkeypatch):
    cache.clear()
    benchmark = make_committed.benchmark({"Zebrafish": [1.0]}, n_tasks=1, submission_policy="open")
    later(benchmark, score_view="own")
    audience, row = audience_of(make_committed.user(), benchmark), SubmittedRow("Zebrafish", {"task-1": 5.0})

    def guess() -> str:
        with pytest.raises(InputError) as error:
            check_rows(audience, [row], suggests=False)
        return error.value.problems.listed[0].message

    kind = type(caches["default"])
    at_hand = kind.get

    def slowly(self, key, *args, **kwargs):
        value = at_hand(self, key, *args, **kwargs)
        time.sleep(0.05)  # meanwhile others look
        return value

    monkeypatch.setattr(kind, "get", slowly)
    guesses = at_once([lambda: [guess() for _ in range(3)]] * 8)
    assert Counter(message for of_thread in guesses for message in of_thread) == {
        "a name cannot be used here; choose another one": SECRET_REFUSALS,
        "too many names were rejected today; try again tomorrow": 24 - SECRET_REFUSALS,
    }
