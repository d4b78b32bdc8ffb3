"""The life of a submission, and which score holds at every revision of it."""

import pytest
from django.db import transaction

from leaderboard.access.audience import audience_of
from leaderboard.models import Batch, Benchmark, Draft, Job, Revision, Submission, SubmissionEvent, System, User
from leaderboard.models.submissions import Source
from leaderboard.rankings.scores import current_scores, submissions_in_force, systems_at
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.lifecycle import (
    NewSystemError,
    StalePreviewError,
    SubmissionError,
    accept_batch,
    confirm_draft,
    reinstate_submission,
    reject_batch,
    withdraw_submission,
)
from leaderboard.submissions.rows import SubmittedRow
from tests.factories import Factory


def board(benchmark: Benchmark, number: int) -> dict[str, list[float | str]]:
    """The scores at a revision: by system, one entry a task, the reason where there is no value."""
    revision = benchmark.revisions.get(number=number)
    scores = current_scores(revision)
    tasks = [task["id"] for task in revision.configuration.content["tasks"]]
    values_of = {}
    for system in systems_at(revision):
        cells = [scores.get((system.id, task)) for task in tasks]
        values = ["not submitted" if c is None else c.missing_reason if c.value is None else c.value for c in cells]
        values_of[system.name] = values
    return values_of


def only(batch: Batch) -> Submission:
    return batch.submissions.get()


def accepted(make, benchmark, scores) -> Batch:
    make.accepted(benchmark, scores)
    return Batch.objects.first()


def drafted(benchmark, owner, name="New", text="3") -> Draft:
    row = SubmittedRow(name, {task.key: text for task in benchmark.tasks.all()})
    return make_draft(audience_of(owner, benchmark), [row], source=Source.FORM, note="how")


# --- Current scores at every revision ------------------------------------------------------------------------------


def moderated_by_another(make: Factory, scores: dict[str, list[float]]) -> tuple[Benchmark, User]:
    """A benchmark and a moderator who is not its owner."""
    benchmark = make.benchmark(scores)
    return benchmark, make.member(benchmark, "moderator")


def test_a_later_acceptance_replaces_the_whole_row_whenever_it_was_sent(make):
    benchmark, user = moderated_by_another(make, {"A": [1.0, 1.0]})
    early = make.pending(benchmark, {"A": [2.0, None]}, by=user)
    late = make.pending(benchmark, {"A": [3.0, 3.0]}, by=user)
    accept_batch(late, actor=user)
    accept_batch(early, actor=user)
    assert board(benchmark, 1) == {"A": [1.0, 1.0]}
    assert board(benchmark, 2) == {"A": [3.0, 3.0]}
    assert board(benchmark, 3) == {"A": [2.0, "not_reported"]}


def test_a_later_acceptance_leaves_the_tasks_alone_that_it_does_not_mention_where_tasks_are_merged(make):
    benchmark = make.benchmark({"A": [1.0, 1.0, 1.0]}, replacement="task")
    benchmark_tasks = list(benchmark.tasks.all())
    owner = benchmark.memberships.get().user
    rows = [SubmittedRow("A", {benchmark_tasks[1].key: "2", benchmark_tasks[2].key: ""})]
    draft = make_draft(audience_of(owner, benchmark), rows, source=Source.CSV)
    confirm_draft(draft, actor=owner, previewed_number=1, creates_systems=False)
    assert board(benchmark, 2) == {"A": [1.0, 2.0, "not_reported"]}
    sources = {score.submission_id for score in current_scores(benchmark.revisions.get(number=2)).values()}
    assert len(sources) == 2


def test_the_same_upload_replaces_the_whole_row_where_rows_are_replaced(make):
    benchmark = make.benchmark({"A": [1.0, 1.0, 1.0]}, replacement="row")
    owner = benchmark.memberships.get().user
    draft = make_draft(audience_of(owner, benchmark), [SubmittedRow("A", {"task-2": "2"})], source=Source.CSV)
    confirm_draft(draft, actor=owner, previewed_number=1, creates_systems=False)
    assert board(benchmark, 2) == {"A": ["not submitted", 2.0, "not submitted"]}


@pytest.mark.parametrize("replacement", ["row", "task"])
def test_withdrawing_gives_the_place_to_the_submission_before_and_reinstating_takes_it_back(make, replacement):
    benchmark = make.benchmark({"A": [1.0, 1.0], "B": [5.0, 5.0]}, replacement=replacement)
    owner = benchmark.memberships.get().user
    second, third = (accepted(make, benchmark, {"A": [float(value)] * 2}) for value in (2, 3))
    withdraw_submission(only(second), actor=owner, reason="A mistake.")
    withdraw_submission(only(third), actor=owner, reason="A mistake.")
    reinstate_submission(only(second), actor=owner, reason="A mistake.")
    reinstate_submission(only(third), actor=owner, reason="A mistake.")
    values = [board(benchmark, number)["A"][0] for number in range(1, 8)]
    assert values == [1.0, 2.0, 3.0, 3.0, 1.0, 2.0, 3.0]
    assert {tuple(board(benchmark, number)["B"]) for number in range(1, 8)} == {(5.0, 5.0)}


def test_a_system_leaves_with_its_last_submission_and_comes_back_with_it(make):
    benchmark = make.benchmark({"A": [1.0], "B": [2.0]})
    owner = benchmark.memberships.get().user
    batch = accepted(make, benchmark, {"C": [3.0]})
    withdraw_submission(only(batch), actor=owner, reason="broken")
    reinstate_submission(only(batch), actor=owner, reason="not broken")
    withdraw_submission(only(batch), actor=owner, reason="broken after all")
    accepted(make, benchmark, {"C": [4.0]})
    assert [board(benchmark, number).get("C") for number in range(1, 7)] == [None, [3.0], None, [3.0], None, [4.0]]
    changes = System.objects.get(key="c").changes.values_list("revision__number", "kind")
    assert list(changes) == [(2, "joined"), (3, "left"), (4, "joined"), (5, "left"), (6, "joined")]


def test_reinstating_an_old_submission_does_not_put_it_before_a_newer_one(make):
    benchmark = make.benchmark({"A": [1.0]})
    owner = benchmark.memberships.get().user
    first = Submission.objects.get(system__key="a")
    withdraw_submission(first, actor=owner, reason="A mistake.")
    accepted(make, benchmark, {"A": [9.0]})
    reinstate_submission(first, actor=owner, reason="A mistake.")
    assert [board(benchmark, number).get("A") for number in (1, 2, 3, 4)] == [[1.0], None, [9.0], [9.0]]


def test_a_later_place_in_a_batch_counts_only_within_one_revision(make):
    benchmark = make.benchmark({"A": [1.0], "B": [2.0]})
    revision = benchmark.revisions.get()
    in_force = [held.submission_id for held in submissions_in_force(revision)]
    assert in_force == list(Submission.objects.order_by("position").values_list("pk", flat=True))


def test_a_pending_submission_belongs_to_no_revision(make):
    benchmark = make.benchmark({"A": [1.0]})
    make.pending(benchmark, {"A": [7.0], "B": [8.0]}, by=make.user())
    accepted(make, benchmark, {"C": [3.0]})
    assert board(benchmark, 2) == {"A": [1.0], "C": [3.0]}


def test_revisions_of_one_benchmark_say_nothing_of_another(make):
    one, other = make.benchmark({"A": [1.0]}), make.benchmark({"A": [2.0]})
    accepted(make, one, {"A": [3.0]})
    assert (board(one, 2), board(other, 1)) == ({"A": [3.0]}, {"A": [2.0]})


# --- Deciding ------------------------------------------------------------------------------------------------------


def test_accepting_takes_one_number_one_event_a_submission_and_the_jobs(make):
    benchmark, user = moderated_by_another(make, {"A": [1.0]})
    batch = make.pending(benchmark, {"A": [2.0], "B": [3.0]}, by=user)
    revision = accept_batch(batch, actor=user, reason="checked")
    events = SubmissionEvent.objects.filter(submission__batch=batch)
    assert [(e.kind, e.actor, e.reason, e.revision) for e in events] == [("accepted", user, "checked", revision)] * 2
    assert (revision.number, revision.cause, revision.author) == (2, "batch", user)
    benchmark.refresh_from_db()
    assert benchmark.last_revision_number == 2
    jobs = Job.objects.filter(subject_id=revision.pk).values_list("kind", "queue", "sequence")
    studies = ["axioms", "bootstrap", "prospects", "significance", "study_plan"]
    assert sorted(jobs) == sorted([("rankings", "rankings", 2), *((kind, "studies", 2) for kind in studies)])


@pytest.mark.parametrize("decide", [accept_batch, lambda batch, actor: reject_batch(batch, actor=actor, reason="no")])
@pytest.mark.parametrize("first", ["accepted", "rejected"])
def test_a_batch_is_decided_once(make, decide, first):
    benchmark, user = moderated_by_another(make, {"A": [1.0]})
    batch = make.pending(benchmark, {"A": [2.0]}, by=user)
    if first == "accepted":
        accept_batch(batch, actor=user)
    else:
        reject_batch(batch, actor=user, reason="no")
    before = Revision.objects.count(), SubmissionEvent.objects.count()
    with pytest.raises(SubmissionError, match="already decided"), transaction.atomic():
        decide(batch, actor=user)
    assert (Revision.objects.count(), SubmissionEvent.objects.count()) == before
    assert only(batch).state == first


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_a_rejection_says_why(make, reason):
    batch = make.pending(make.benchmark({"A": [1.0]}), {"A": [2.0]}, by=make.user())
    with pytest.raises(SubmissionError, match="Give a reason: the submitter sees it"):
        reject_batch(batch, actor=make.user(), reason=reason)
    assert only(batch).state == "pending"


def test_a_rejection_makes_no_revision_and_leaves_the_board_alone(make):
    benchmark = make.benchmark({"A": [1.0]})
    batch = make.pending(benchmark, {"A": [2.0], "B": [2.0]}, by=make.user())
    moderator = make.member(benchmark, "moderator")
    reject_batch(batch, actor=moderator, reason="wrong split")
    assert Revision.objects.count() == 1
    assert board(benchmark, 1) == {"A": [1.0]}
    events = SubmissionEvent.objects.filter(submission__batch=batch)
    records = [(event.kind, event.actor, event.reason, event.revision) for event in events]
    assert records == [("rejected", moderator, "wrong split", None)] * 2


@pytest.mark.parametrize("state", ["pending", "rejected", "withdrawn"])
def test_only_what_is_accepted_is_withdrawn(make, state):
    benchmark, user = moderated_by_another(make, {"A": [1.0]})
    batch = make.pending(benchmark, {"A": [2.0]}, by=user)
    if state == "rejected":
        reject_batch(batch, actor=user, reason="no")
    if state == "withdrawn":
        accept_batch(batch, actor=user)
        withdraw_submission(only(batch), actor=user, reason="A mistake.")
    with pytest.raises(SubmissionError, match="no longer accepted"), transaction.atomic():
        withdraw_submission(only(batch), actor=user, reason="A mistake.")
    assert only(batch).state == state


def test_only_what_is_withdrawn_is_reinstated(make):
    benchmark, user = moderated_by_another(make, {"A": [1.0]})
    with pytest.raises(SubmissionError, match="no longer withdrawn"), transaction.atomic():
        reinstate_submission(Submission.objects.get(), actor=user, reason="A mistake.")
    assert benchmark.revisions.count() == 1


# --- Confirming ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "role", "state"),
    [
        ("open", None, "accepted"), ("open", "owner", "accepted"), ("moderated", None, "pending"),
        ("moderated", "member", "pending"), ("moderated", "moderator", "accepted"), ("moderated", "owner", "accepted"),
        ("owners", "owner", "accepted"),
    ],
)  # fmt: skip
def test_who_decides_follows_the_policy(make, policy, role, state):
    benchmark = make.benchmark({"A": [1.0]}, submission_policy=policy)
    user = make.member(benchmark, role) if role else make.user()
    batch = confirm_draft(drafted(benchmark, user), actor=user, previewed_number=1, creates_systems=True)
    assert (only(batch).state, batch.uploader, batch.note, batch.source) == (state, user, "how", "form")
    assert benchmark.revisions.count() == (2 if state == "accepted" else 1)
    assert Draft.objects.count() == 0


@pytest.mark.parametrize(
    ("policy", "role"), [("closed", "owner"), ("closed", None), ("owners", None), ("owners", "moderator")]
)
def test_who_may_no_longer_submit_confirms_nothing_and_keeps_the_draft(make, policy, role):
    benchmark = make.benchmark({"A": [1.0]})
    user = make.member(benchmark, role) if role else make.user()
    draft = drafted(benchmark, user)
    Benchmark.objects.update(submission_policy=policy)
    with pytest.raises(SubmissionError, match="You cannot submit to"):
        confirm_draft(draft, actor=user, previewed_number=1, creates_systems=True)
    assert (Draft.objects.count(), Batch.objects.count()) == (1, 1)


def test_a_stale_preview_is_shown_again_before_anything_is_stored(make):
    benchmark, user = make.benchmark({"A": [1.0]}), make.user()
    draft = drafted(benchmark, user)
    accepted(make, benchmark, {"B": [2.0]})
    with pytest.raises(StalePreviewError):
        confirm_draft(draft, actor=user, previewed_number=1, creates_systems=True)
    assert (Draft.objects.count(), Batch.objects.count()) == (1, 2)
    confirm_draft(draft, actor=user, previewed_number=2, creates_systems=True)
    assert (Draft.objects.count(), Batch.objects.count()) == (0, 3)


def test_a_new_system_needs_its_tick(make):
    benchmark, user = make.benchmark({"A": [1.0]}), make.user()
    draft = drafted(benchmark, user)
    with pytest.raises(NewSystemError):
        confirm_draft(draft, actor=user, previewed_number=1, creates_systems=False)
    assert (System.objects.count(), Draft.objects.count()) == (1, 1)


def test_a_draft_is_confirmed_once(make):
    benchmark, user = make.benchmark({"A": [1.0]}), make.user()
    draft = drafted(benchmark, user)
    kept = Draft.objects.get()
    confirm_draft(draft, actor=user, previewed_number=1, creates_systems=True)
    with pytest.raises(SubmissionError, match="already confirmed or discarded"):
        confirm_draft(kept, actor=user, previewed_number=2, creates_systems=True)
    assert Batch.objects.filter(uploader=user).count() == 1


def test_a_draft_is_confirmed_by_its_owner_alone(make):
    benchmark = make.benchmark({"A": [1.0]})
    draft = drafted(benchmark, make.user())
    owner = benchmark.memberships.get().user
    with pytest.raises(SubmissionError, match="belongs to someone else"):
        confirm_draft(draft, actor=owner, previewed_number=1, creates_systems=True)
    assert Draft.objects.count() == 1


def test_a_task_archived_since_the_preview_stops_the_confirmation(make):
    benchmark, user = make.benchmark({"A": [1.0, 1.0]}), make.user()
    draft = drafted(benchmark, user)
    benchmark.tasks.filter(key="task-2").update(is_archived=True)
    with pytest.raises(SubmissionError, match="'task-2' is not a task of"):
        confirm_draft(draft, actor=user, previewed_number=1, creates_systems=True)
    assert Batch.objects.count() == 1


# --- Systems that wait ---------------------------------------------------------------------------------------------


def test_two_pending_batches_that_name_the_same_new_system_mean_one_system(make):
    benchmark = make.benchmark({"A": [1.0]}, submission_policy="moderated")
    batches = [make.pending(benchmark, {name: [2.0]}, by=make.user()) for name in ("Newcomer", "NEWCOMER")]
    assert System.objects.filter(name_folded="newcomer").count() == 1
    for batch in batches:
        accept_batch(batch, actor=None)
    assert [sorted(board(benchmark, number)) for number in (1, 2, 3)] == [["A"], ["A", "Newcomer"], ["A", "Newcomer"]]


def test_keys_are_slugs_numbered_where_two_names_have_the_same(make):
    make.benchmark({"GPT 4": [1.0], "GPT-4": [2.0], "gpt_4": [3.0], "日本語": [4.0], "中文": [5.0]})
    keys = dict(System.objects.values_list("name", "key"))
    expected = {"GPT 4": "gpt-4", "GPT-4": "gpt-4-2", "gpt_4": "gpt-4-3", "日本語": "unnamed", "中文": "unnamed-2"}
    assert keys == expected
