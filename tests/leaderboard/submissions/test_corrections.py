"""Corrections: a submission that names the one it corrects, stands in its place, and leaves a trail."""

import pytest

from leaderboard.access.audience import audience_of
from leaderboard.access.audit_page import AuditQuery, Position, audit_lines
from leaderboard.comparisons.history import history_page
from leaderboard.models import Batch, InstanceScores, Notice, Revision, Submission
from leaderboard.models.submissions import Source
from leaderboard.rankings.scores import current_scores, systems_at
from leaderboard.submissions.corrections import NOT_YOURS
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.lifecycle import confirm_draft, reinstate_submission, take_batch, withdraw_submission
from leaderboard.submissions.moderation.decisions import queue
from leaderboard.submissions.moderation.takedowns import take_down
from leaderboard.submissions.preview.draft import preview_draft
from leaderboard.submissions.problems import SubmissionError
from leaderboard.submissions.rows import SubmittedRow
from leaderboard.submissions.uploads import Upload, submit_upload
from leaderboard.submissions.withdrawals import withdraw_own
from ranking_engine.files.problems import InputError
from tests.factories import audience_of_draft, owner_of

WHY = "The log of Task 2 was of another run."


def row_of(benchmark, name, number=None):
    """The scores that hold for a system, a value or a reason a task."""
    revision = benchmark.revisions.get(number=number) if number else benchmark.revisions.latest("number")
    keys = [task["key"] for task in revision.configuration.content["tasks"]]
    ids = {task["id"]: task["key"] for task in revision.configuration.content["tasks"]}
    system = next(system.id for system in systems_at(revision) if system.name == name)
    scores = {ids[task]: score for (s, task), score in current_scores(revision).items() if s == system}
    return [scores[key].missing_reason or scores[key].value if key in scores else "not_submitted" for key in keys]


def newest(benchmark, name):
    return Submission.objects.filter(benchmark=benchmark, system__name=name).latest("pk")


def correct(benchmark, submission, by, scores, note=WHY) -> Batch:
    """Correct through draft and confirmation, as the pages do."""
    row = SubmittedRow(submission.system.name, scores, corrects=str(submission.uuid))
    draft = make_draft(audience_of(by, benchmark), [row], source=Source.CORRECTION, note=note)
    benchmark.refresh_from_db()
    return confirm_draft(draft, actor=by, previewed_number=benchmark.last_revision_number, creates_systems=False)


def test_a_correction_stands_in_the_place_of_what_it_corrects_and_keeps_what_it_does_not_mention(make):
    benchmark = make.benchmark({"A": [1.0, 2.0], "B": [3.0, 4.0]})
    batch = correct(benchmark, newest(benchmark, "A"), owner_of(benchmark), {"task-2": "9"})
    assert (row_of(benchmark, "A", 1), row_of(benchmark, "A")) == ([1.0, 2.0], [1.0, 9.0])
    assert benchmark.revisions.latest("number").cause == Revision.Cause.CORRECTION
    assert batch.source == Source.CORRECTION


def test_a_correction_of_what_a_later_submission_replaced_is_refused(make):
    benchmark = make.benchmark({"A": [1.0, 2.0]})
    first = newest(benchmark, "A")
    make.accepted(benchmark, {"A": [5.0, 6.0]})
    with pytest.raises(InputError, match="no longer on the board"):
        correct(benchmark, first, owner_of(benchmark), {"task-1": "9"})


def test_withdrawing_a_correction_leaves_its_cells_missing_until_a_new_one(make):
    benchmark = make.benchmark({"A": [1.0, 2.0], "B": [3.0, 4.0]})
    owner = owner_of(benchmark)
    correct(benchmark, newest(benchmark, "A"), owner, {"task-2": "9"})
    correction = newest(benchmark, "A")
    withdraw_submission(correction, actor=owner, reason="That was wrong too.")
    assert row_of(benchmark, "A") == ["withdrawn", "withdrawn"]
    reinstate_submission(correction, actor=owner, reason="It was not.")
    assert row_of(benchmark, "A") == [1.0, 9.0]
    withdraw_submission(correction, actor=owner, reason="It was.")
    correct(benchmark, correction, owner, {"task-1": "7"})
    assert row_of(benchmark, "A") == [7.0, "withdrawn"]


def test_withdrawing_a_system_s_only_correction_keeps_it_on_the_board_without_a_rank(make):
    benchmark = make.benchmark({"A": [1.0, 2.0], "B": [3.0, 4.0]})
    owner = owner_of(benchmark)
    correct(benchmark, newest(benchmark, "A"), owner, {"task-2": "9"})
    revision = withdraw_submission(newest(benchmark, "A"), actor=owner, reason="Wrong.")
    assert [system.name for system in systems_at(revision)] == ["A", "B"]


def test_with_a_corrected_submission_its_corrections_leave_the_board_and_come_back(make):
    benchmark, submitter = make.benchmark({"B": [3.0, 4.0]}), make.user()
    make.accepted(benchmark, {"A": [1.0, 2.0]}, by=submitter)
    first, owner = newest(benchmark, "A"), owner_of(benchmark)
    correct(benchmark, first, owner, {"task-2": "9"})
    correct(benchmark, newest(benchmark, "A"), owner, {"task-1": "7"})
    assert withdraw_own(audience_of(submitter, benchmark), first, reason="Not mine.")
    assert [system.name for system in systems_at(benchmark.revisions.latest("number"))] == ["B"]
    states = Submission.objects.filter(system__name="A").order_by("pk").values_list("state", flat=True)
    assert list(states) == ["withdrawn"] * 3
    first.refresh_from_db()
    reinstate_submission(first, actor=owner, reason="It is yours.")
    assert row_of(benchmark, "A") == [7.0, 9.0]
    assert list(states.all()) == ["accepted"] * 3


@pytest.fixture
def twice_corrected(make):
    """A submission, and two corrections of it that were both waiting before the first was accepted."""
    benchmark, submitter = make.benchmark({"B": [3.0, 4.0]}, submission_policy="moderated"), make.user()
    make.accepted(benchmark, {"A": [1.0, 2.0]}, by=submitter)
    first, owner = newest(benchmark, "A"), owner_of(benchmark)
    batches = [correct(benchmark, first, submitter, {"task-2": score}) for score in ("8", "9")]
    for batch in batches:
        take_batch(batch, actor=owner)
    assert row_of(benchmark, "A") == [1.0, 9.0]
    return benchmark, first, [batch.submissions.get() for batch in batches]


def states_of(*submissions):
    for submission in submissions:
        submission.refresh_from_db()
    return [submission.state for submission in submissions]


def test_all_corrections_of_a_submission_come_back_with_it(twice_corrected):
    benchmark, first, corrections = twice_corrected
    owner = owner_of(benchmark)
    correct(benchmark, corrections[1], owner, {"task-1": "7"})
    last = newest(benchmark, "A")
    withdraw_submission(first, actor=owner, reason="Wrong.")
    assert states_of(first, *corrections, last) == ["withdrawn"] * 4
    reinstate_submission(first, actor=owner, reason="It was right.")
    assert states_of(first, *corrections, last) == ["accepted"] * 4
    assert row_of(benchmark, "A") == [7.0, 9.0]


def test_a_correction_that_was_withdrawn_by_itself_or_taken_down_does_not_come_back(twice_corrected):
    benchmark, first, (one, other) = twice_corrected
    owner = owner_of(benchmark)
    withdraw_submission(one, actor=owner, reason="The log of Task 2 was right.")
    withdraw_submission(first, actor=owner, reason="Wrong.")
    assert states_of(first, one, other) == ["withdrawn"] * 3
    take_down(other, actor=owner, reason="A request.")
    first.refresh_from_db()
    reinstate_submission(first, actor=owner, reason="It was right.")
    assert states_of(first, one, other) == ["accepted", "withdrawn", "withdrawn"]


def test_a_submitter_is_told_that_someone_else_corrected_their_scores(make):
    benchmark, submitter = make.benchmark({"B": [3.0, 4.0]}), make.user()
    make.accepted(benchmark, {"A": [1.0, 2.0]}, by=submitter)
    owner = owner_of(benchmark)
    for scores in ({"task-2": "9"}, {"task-1": "7"}):
        correct(benchmark, newest(benchmark, "A"), owner, scores)
    notices = Notice.objects.filter(user=submitter, kind="decision").order_by("pk")
    texts = [(notice.text, notice.words) for notice in notices]
    assert texts == [(f"Your scores of A on {benchmark.name} were corrected.", WHY)] * 2


def test_where_tasks_are_merged_a_correction_leaves_what_later_submissions_brought(make):
    benchmark = make.benchmark({"A": [1.0, 2.0, 3.0]}, replacement="task")
    first, owner = newest(benchmark, "A"), owner_of(benchmark)
    later = Upload(rows=[SubmittedRow("A", {"task-2": 20.0})], note="", payload_hash="x")
    submit_upload(benchmark, owner, later)
    with pytest.raises(InputError, match="from a later submission"):
        correct(benchmark, first, owner, {"task-2": "5"})
    correct(benchmark, first, owner, {"task-3": "30"})
    assert row_of(benchmark, "A") == [1.0, 20.0, 30.0]


def test_only_its_submitter_and_moderators_correct_a_submission(make):
    benchmark, submitter = make.benchmark({"B": [3.0, 4.0]}, submission_policy="moderated"), make.user()
    batch = make.pending(benchmark, {"A": [1.0, 2.0]}, by=submitter)
    take_batch(batch, actor=owner_of(benchmark))
    submission = newest(benchmark, "A")
    with pytest.raises(InputError, match=NOT_YOURS):
        correct(benchmark, submission, make.user(), {"task-1": "9"})
    waiting = correct(benchmark, submission, submitter, {"task-1": "9"})
    assert (waiting.submissions.get().state, row_of(benchmark, "A")) == ("pending", [1.0, 2.0])
    take_batch(waiting, actor=owner_of(benchmark))
    assert row_of(benchmark, "A") == [9.0, 2.0]


def test_a_correction_without_a_reason_is_refused(make):
    benchmark = make.benchmark({"A": [1.0, 2.0]})
    with pytest.raises(SubmissionError, match="Explain in the note what was wrong"):
        correct(benchmark, newest(benchmark, "A"), owner_of(benchmark), {"task-1": "9"}, note=" ")
    assert Submission.objects.count() == 1


def test_a_correction_s_preview_shows_which_ranks_would_change(make):
    benchmark = make.benchmark({"A": [1.0], "B": [3.0]})
    row = SubmittedRow("A", {"task-1": "9"}, corrects=str(newest(benchmark, "A").uuid))
    draft = make_draft(audience_of(owner_of(benchmark), benchmark), [row], source=Source.CORRECTION, note=WHY)
    preview = preview_draft(draft, audience_of_draft(draft))
    mean = next(effect for effect in preview.effects if effect.rule_name == "Mean")
    assert (mean.rank_before, mean.rank_after, mean.winner_after) == (2, 1, "A")


def test_history_and_audit_say_what_was_corrected_by_whom_and_why(make):
    benchmark = make.benchmark({"A": [1.0, 2.0]})
    owner, first = owner_of(benchmark), newest(benchmark, "A")
    correct(benchmark, first, owner, {"task-2": "9"})
    line = history_page(benchmark, audience_of(owner, benchmark), None)[0][0]
    assert (line.cause, line.who, line.note, line.systems) == ("Correction", owner.shown_name, WHY, ["A corrected"])
    entry = audit_lines(benchmark, AuditQuery(), Position(), most=1)[0][0]
    assert (entry.field, entry.before, entry.after, entry.who) == (
        "correction", f"of submission {first.uuid}", "accepted", owner.shown_name
    )  # fmt: skip


def test_a_correction_of_one_task_keeps_the_single_instances_of_the_others(make):
    benchmark = make.benchmark({}, n_tasks=2)
    owner = owner_of(benchmark)
    table = b"system,task,instance,score\nA,Task 1,a,1\nA,Task 1,b,0\nA,Task 2,a,1\nA,Task 2,b,1\n"
    submit_upload(benchmark, owner, Upload(table=table, is_of_instances=True, creates_systems=True))
    correct(benchmark, newest(benchmark, "A"), owner, {"task-2": "0.5"})
    kept = InstanceScores.objects.filter(submission=newest(benchmark, "A")).values_list("task__key", flat=True)
    assert (row_of(benchmark, "A"), list(kept)) == ([0.5, 0.5], ["task-1"])


def test_a_moderator_sees_that_it_is_a_correction_and_whether_what_it_corrects_still_holds(make):
    benchmark, submitter = make.benchmark({"B": [3.0, 4.0]}, submission_policy="moderated"), make.user()
    owner = owner_of(benchmark)
    take_batch(make.pending(benchmark, {"A": [1.0, 2.0]}, by=submitter), actor=owner)
    correct(benchmark, newest(benchmark, "A"), submitter, {"task-1": "9"})
    (waiting,), _ = queue(benchmark, most=50)
    assert (waiting.is_correction, waiting.note, waiting.flags) == (True, WHY, [])
    make.accepted(benchmark, {"A": [5.0, 6.0]})
    (waiting,), _ = queue(benchmark, most=50)
    assert waiting.flags[0].startswith("A: the scores that it corrects are no longer on the board")
