"""Many people at once: no number taken twice, none left out, nothing confirmed or decided twice."""

from functools import partial

import numpy as np

from leaderboard.access.audience import audience_of
from leaderboard.models import Batch, Benchmark, Draft, Job, Revision, Submission, System, SystemChange
from leaderboard.rankings.score_matrix import revision_matrix
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.lifecycle import (
    StalePreviewError,
    SubmissionError,
    accept_batch,
    confirm_draft,
    reinstate_submission,
    reject_batch,
    withdraw_submission,
)
from leaderboard.submissions.moderation.takedowns import take_down
from leaderboard.submissions.rows import SubmittedRow
from tests.concurrency import at_once, before_it_ends
from tests.factories import owner_of

N_THREADS, N_BATCHES = 8, 40


def test_batches_accepted_by_many_at_once_take_every_number_once(make_committed):
    benchmark = make_committed.benchmark({}, n_tasks=5)
    owner = benchmark.memberships.get(role="owner").user
    scores = {f"System {n}": [float(n + t) for t in range(5)] for n in range(N_BATCHES)}
    batches = [make_committed.pending(benchmark, {name: scores[name]}, by=owner) for name in scores]

    def accept_share(share: int) -> list[tuple[int, int]]:
        return [(accept_batch(batch, actor=owner).number, batch.pk) for batch in batches[share::N_THREADS]]

    accepted = at_once([partial(accept_share, share) for share in range(N_THREADS)])
    assert [outcome for outcome in accepted if isinstance(outcome, Exception)] == []
    numbers = sorted(number for share in accepted for number, _ in share)
    assert numbers == list(range(1, N_BATCHES + 1))
    benchmark.refresh_from_db()
    assert benchmark.last_revision_number == N_BATCHES
    assert list(Revision.objects.order_by("number").values_list("number", flat=True)) == numbers
    for kind in ("rankings", "bootstrap"):
        jobs = Job.objects.filter(kind=kind).order_by("sequence")
        assert list(jobs.values_list("sequence", flat=True)) == numbers
    caused = Submission.objects.order_by("events__revision__number").values_list("events__revision__number", "batch")
    assert list(caused) == sorted(pair for share in accepted for pair in share)
    matrix = revision_matrix(Revision.objects.get(number=N_BATCHES)).matrix
    keys = sorted(f"system-{n}" for n in range(N_BATCHES))
    expected = [[float(key.removeprefix("system-")) + t for t in range(5)] for key in keys]
    assert list(matrix.system_names) == keys
    assert np.array_equal(matrix.values, expected)


def test_a_draft_confirmed_by_many_at_once_becomes_one_batch(make_committed):
    benchmark = make_committed.benchmark()
    user = make_committed.user()
    keys = [task.key for task in benchmark.tasks.all()]
    row = SubmittedRow(system_name="Newcomer", scores=dict.fromkeys(keys, "1.5"))
    draft = make_draft(audience_of(user, benchmark), [row], source="form")

    def confirm() -> Batch:
        mine = Draft.objects.filter(pk=draft.pk).first() or draft  # everybody has the page open
        return confirm_draft(mine, actor=user, previewed_number=1, creates_systems=True)

    outcomes = at_once([confirm] * N_THREADS)
    batches = [outcome for outcome in outcomes if isinstance(outcome, Batch)]
    refusals = [outcome for outcome in outcomes if isinstance(outcome, SubmissionError)]
    assert (len(batches), len(refusals)) == (1, N_THREADS - 1)
    assert list(Batch.objects.filter(uploader=user).values_list("pk", flat=True)) == [batches[0].pk]
    assert list(Revision.objects.order_by("number").values_list("number", flat=True)) == [1, 2]
    assert Draft.objects.count() == 0


def test_of_drafts_previewed_against_one_revision_and_confirmed_at_once_one_is_taken(make_committed):
    benchmark = make_committed.benchmark()
    keys = [task.key for task in benchmark.tasks.all()]
    users = [make_committed.user() for _ in range(N_THREADS)]
    row = SubmittedRow(system_name="Newcomer", scores=dict.fromkeys(keys, "1.5"))
    drafts = [make_draft(audience_of(user, benchmark), [row], source="form") for user in users]
    outcomes = at_once(
        [
            partial(confirm_draft, draft, actor=user, previewed_number=1, creates_systems=True)
            for draft, user in zip(drafts, users, strict=True)
        ]
    )
    assert sum(isinstance(outcome, Batch) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, StalePreviewError) for outcome in outcomes) == N_THREADS - 1
    # Whoever was refused still has their draft, to be previewed against the new board.
    assert Draft.objects.count() == N_THREADS - 1
    assert System.objects.filter(benchmark=benchmark, name="Newcomer").count() == 1


def test_a_batch_accepted_and_rejected_at_once_is_decided_once(make_committed):
    benchmark = make_committed.benchmark()
    owner = benchmark.memberships.get(role="owner").user
    batch = make_committed.pending(benchmark, {"E": [1, 2, 3, 4, 5]}, by=owner)
    deciders = [partial(accept_batch, batch, actor=owner), partial(reject_batch, batch, actor=owner, reason="no")]
    outcomes = at_once(deciders * 4)
    assert sum(isinstance(outcome, SubmissionError) for outcome in outcomes) == 2 * 4 - 1
    submission = make_committed.submission_of(batch)
    (event,) = submission.events.all()
    assert submission.state == event.kind
    assert Benchmark.objects.get(pk=benchmark.pk).last_revision_number == (2 if event.kind == "accepted" else 1)


def test_withdrawing_and_reinstating_at_once_leaves_a_history_without_gaps(make_committed):
    benchmark = make_committed.benchmark()
    owner = benchmark.memberships.get(role="owner").user
    make_committed.accepted(benchmark, {"E": [1, 2, 3, 4, 5]}, by=owner)
    submission = Submission.objects.get(system__name="E")
    steps = [
        partial(step, submission, actor=owner, reason="test")
        for step in (withdraw_submission, reinstate_submission) * 4
    ]
    outcomes = at_once(steps)
    assert {type(outcome) for outcome in outcomes} <= {Revision, SubmissionError}
    numbers = list(Revision.objects.order_by("number").values_list("number", flat=True))
    n_taken = sum(isinstance(outcome, Revision) for outcome in outcomes)
    assert numbers == list(range(1, n_taken + 3))
    kinds = list(submission.events.order_by("revision__number").values_list("kind", flat=True))
    assert kinds == ["accepted", *(["withdrawn", "reinstated"] * 4)[:n_taken]]
    changes = SystemChange.objects.filter(system=submission.system).order_by("revision__number")
    assert list(changes.values_list("kind", flat=True)) == ["joined", *(["left", "joined"] * 4)[:n_taken]]


def test_scores_that_are_withdrawn_while_they_are_corrected_leave_with_their_correction(make_committed):
    benchmark = make_committed.benchmark()
    owner, submitter = owner_of(benchmark), make_committed.user()
    batch = make_committed.submitted(benchmark, "E", ["1", "2", "3", "4", "5"], by=submitter)
    submission = make_committed.submission_of(batch)
    row = SubmittedRow("E", {"task-1": "7"}, corrects=str(submission.uuid))
    correction = make_draft(audience_of(submitter, benchmark), [row], source="form", note="A typo.")
    outcomes = before_it_ends(
        lambda: confirm_draft(correction, actor=submitter, previewed_number=2, creates_systems=False),
        lambda: withdraw_submission(submission, actor=owner, reason="Wrong."),
    )
    assert list(map(type, outcomes)) == [Batch, Revision]
    assert set(Submission.objects.filter(system=submission.system).values_list("state", flat=True)) == {"withdrawn"}
    matrix = revision_matrix(Revision.objects.latest("number")).matrix
    assert "e" not in matrix.system_names


def test_scores_that_are_being_taken_down_are_not_reinstated(make_committed):
    benchmark = make_committed.benchmark()
    owner = owner_of(benchmark)
    make_committed.accepted(benchmark, {"E": [1, 2, 3, 4, 5]}, by=owner)
    submission = Submission.objects.get(system__name="E")
    withdraw_submission(submission, actor=owner, reason="Wrong.")
    outcomes = before_it_ends(
        lambda: take_down(submission, actor=owner, reason="A request."),
        lambda: reinstate_submission(Submission.objects.get(pk=submission.pk), actor=owner, reason="Right."),
    )
    assert (outcomes[0], type(outcomes[1])) == (None, SubmissionError)
    assert Submission.objects.get(pk=submission.pk).state == "withdrawn"


def test_scores_that_are_being_reinstated_are_taken_down_from_the_board(make_committed):
    benchmark = make_committed.benchmark()
    owner = owner_of(benchmark)
    make_committed.accepted(benchmark, {"E": [1, 2, 3, 4, 5]}, by=owner)
    submission = Submission.objects.get(system__name="E")
    withdraw_submission(submission, actor=owner, reason="Wrong.")
    outcomes = before_it_ends(
        lambda: reinstate_submission(submission, actor=owner, reason="Right."),
        lambda: take_down(Submission.objects.get(pk=submission.pk), actor=owner, reason="A request."),
    )
    assert list(map(type, outcomes)) == [Revision, Revision]
    assert Submission.objects.get(pk=submission.pk).state == "withdrawn"
