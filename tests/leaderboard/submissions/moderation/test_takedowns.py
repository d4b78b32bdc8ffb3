"""Taking scores down: nothing of them is left wherever the site keeps values, and that they were there stays."""

import numpy as np
import pytest
from django.apps import apps
from django.db import DatabaseError, connection, models, transaction
from django.test import Client
from django.urls import reverse

from jobs.runner import run_job
from leaderboard.access.audience import audience_of
from leaderboard.benchmarks.releases import freeze_revision
from leaderboard.models import (
    Batch,
    Benchmark,
    Draft,
    InstanceScores,
    Job,
    ListedBoard,
    Notice,
    Report,
    Revision,
    Score,
    StudyPartial,
    Submission,
)
from leaderboard.models.submissions import Source
from leaderboard.queue import jobs
from leaderboard.rankings.revisions import WithdrawnRevisionError, publication_at
from leaderboard.rankings.scores import current_scores
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.lifecycle import (
    accept_batch,
    confirm_draft,
    reinstate_submission,
    reject_batch,
    withdraw_submission,
)
from leaderboard.submissions.moderation.takedowns import revisions_holding, take_down, takedown_effects
from leaderboard.submissions.problems import SubmissionError
from leaderboard.submissions.rows import SubmittedRow
from leaderboard.submissions.uploads import Upload, submit_upload
from tests.factories import owner_of
from tests.markup import compact
from tests.signing_in import signed_in

SECRET, ANOTHER = 71.34567891, 53.98765432  # scores that occur nowhere else
WHY = "It was published without a right to it."


def newest(benchmark, name):
    return Submission.objects.filter(benchmark=benchmark, system__name=name).latest("pk")


@pytest.fixture(scope="module")
def made_once(make_once):
    benchmark = make_once.published({"A": [1.0, 2.0], "B": [3.0, 1.0], "C": [2.0, 2.5]})
    make_once.accepted(benchmark, {"S": [SECRET, 2.0]})
    make_once.publish(benchmark)
    make_once.accepted(benchmark, {"A": [1.5, 2.0]})
    benchmark = make_once.publish(benchmark, studies=True)
    row = SubmittedRow("S", {"task-1": repr(SECRET), "task-2": "2"})
    make_draft(audience_of(owner_of(benchmark), benchmark), [row], source=Source.FORM)
    return benchmark.pk, newest(benchmark, "S").pk


@pytest.fixture
def with_secret(made_once, make):
    """Revision 1 without, 2 with, 3 with and changed elsewhere; all published, and a draft that says it again."""
    benchmark, submission = made_once
    return Benchmark.objects.get(pk=benchmark), Submission.objects.get(pk=submission)


def test_lists_forget_who_won_on_a_board_that_held_the_scores(with_secret):
    benchmark, submission = with_secret
    numbers = ListedBoard.objects.order_by("pk").values_list("publication__revision__number", flat=True)
    assert list(numbers) == [1, 2, 3]
    take_down(submission, actor=owner_of(benchmark), reason=WHY)
    assert list(numbers.all()) == [1]


def places_of(value: float) -> set[str]:
    """The tables in which the value stands: as a number, a text, or inside compressed arrays."""
    names = set()
    for model in apps.get_app_config("leaderboard").get_models():
        for row in model._default_manager.all():
            for field in model._meta.concrete_fields:
                if _holds(field, getattr(row, field.attname), value):
                    names.add(model.__name__)
    return names


def _holds(field: models.Field, stored, value: float) -> bool:
    if stored is None or isinstance(stored, bool):
        return False
    if isinstance(field, models.BinaryField):
        return any(np.isclose(array, value, rtol=1e-12).any() for array in _arrays(bytes(stored)))
    return repr(value) in str(stored)


def _arrays(data: bytes):
    import io
    import zlib

    if data[:2] == b"PK":
        with np.load(io.BytesIO(data)) as packed:
            return [a for a in (packed[name] for name in packed.files) if a.dtype.kind == "f"]
    try:
        data = zlib.decompress(data)
    except zlib.error:
        return []
    return [np.frombuffer(data, "<f8")] if len(data) % 8 == 0 else []


def test_no_table_holds_a_value_that_was_taken_down(make, with_secret):
    benchmark, submission = with_secret
    assert {"Score", "Draft"} <= places_of(SECRET)
    take_down(submission, actor=owner_of(benchmark), reason=WHY)
    assert places_of(SECRET) == set()
    make.publish(benchmark)
    assert places_of(SECRET) == set()


def test_the_search_finds_a_value_in_compressed_arrays(make):
    benchmark = make.published({"A": [ANOTHER], "B": [3.0]})
    assert {"Score", "Report"} <= places_of(ANOTHER)  # the mean of one task is its score
    take_down(newest(benchmark, "A"), actor=owner_of(benchmark), reason=WHY)
    assert places_of(ANOTHER) == set()


def test_the_board_is_computed_anew_and_every_other_system_stays(make, with_secret):
    benchmark, submission = with_secret
    hashes = dict(benchmark.revisions.values_list("number", "input_hash"))
    revision = take_down(submission, actor=owner_of(benchmark), reason=WHY)
    benchmark.refresh_from_db()
    assert (revision.number, revision.cause, benchmark.publication) == (4, "takedown", None)
    benchmark = make.publish(benchmark)
    assert benchmark.publication.revision == revision
    names = {score.submission_id for score in current_scores(revision).values()}
    assert submission.pk not in names
    assert dict(benchmark.revisions.exclude(number=4).values_list("number", "input_hash")) == hashes


def test_the_hash_of_a_withdrawn_revision_is_told_nowhere_and_kept_for_backups(make, with_secret):
    """Few digits could be guessed from it: all other scores of that revision stand at its neighbours."""
    benchmark, submission = with_secret
    owner = owner_of(benchmark)
    release = freeze_revision(benchmark, author=owner, number=2, name="2026.1")
    take_down(submission, actor=owner, reason=WHY)
    make.publish(benchmark)
    withdrawn, kept = (benchmark.revisions.get(number=number).input_hash for number in (2, 1))
    assert len(withdrawn) == len(kept) == 64
    addresses = [
        reverse("release", args=[benchmark.key, release.key]),
        reverse("history", args=[benchmark.key]),
        *(reverse(f"api:{name}", args=[benchmark.key, *more])
          for name, *more in [("benchmark",), ("revisions",), ("revision", 2), ("revision", 3), ("releases",)]),
    ]  # fmt: skip
    for viewer in (None, owner):
        client = Client()
        if viewer:
            client.force_login(viewer, backend="django.contrib.auth.backends.ModelBackend")
        said = {address: client.get(address).content.decode() for address in addresses}
        assert {address for address, body in said.items() if withdrawn in body} == set()
        assert kept in said[reverse("api:revisions", args=[benchmark.key])]


def test_only_the_revisions_at_which_the_scores_held_are_marked(make):
    benchmark = make.benchmark({"A": [1.0], "B": [2.0]})
    make.accepted(benchmark, {"A": [5.0]})
    old = newest(benchmark, "A")
    make.accepted(benchmark, {"C": [5.5]})
    make.accepted(benchmark, {"A": [6.0]})
    make.publish(benchmark)
    assert revisions_holding(old) == [2, 3]
    assert takedown_effects(old).revisions_text == "revisions 2 to 3"
    take_down(old, actor=owner_of(benchmark), reason=WHY)
    marked = benchmark.revisions.exclude(withdrawn_at=None).values_list("number", flat=True)
    assert sorted(marked) == [2, 3]


def test_an_earlier_revision_says_that_it_contains_withdrawn_material(make, with_secret):
    benchmark, submission = with_secret
    release = freeze_revision(benchmark, author=owner_of(benchmark), number=2, name="2026.1")
    take_down(submission, actor=owner_of(benchmark), reason=WHY)
    make.publish(benchmark)
    with pytest.raises(WithdrawnRevisionError, match="contains withdrawn material"):
        publication_at(benchmark, 2)
    client = Client()
    board = client.get(reverse("board", args=[benchmark.key]), {"revision": 2})
    assert (board.status_code, "contains withdrawn material" in board.content.decode()) == (410, True)
    page = client.get(reverse("release", args=[benchmark.key, release.key])).content.decode()
    assert "It contains withdrawn material." in page
    history = client.get(reverse("history", args=[benchmark.key])).content.decode()
    assert history.count("Contains withdrawn material") == 2
    answer = client.get(reverse("api:rankings", args=[benchmark.key]), {"revision": 2})
    assert (answer.status_code, answer.json()["error"]["code"]) == (410, "withdrawn")
    assert client.get(reverse("board", args=[benchmark.key]), {"revision": 1}).status_code == 200


def test_a_worker_with_the_old_scores_in_its_memory_writes_nothing(make):
    benchmark = make.benchmark({"A": [SECRET], "B": [2.0]})
    job = jobs.claim(Job.objects.get(kind="rankings", benchmark=benchmark).pk, worker="w")
    take_down(newest(benchmark, "A"), actor=owner_of(benchmark), reason=WHY)
    with pytest.raises(jobs.LeaseLostError):
        jobs.finish(job, lambda: pytest.fail("it wrote what it computed"))
    old = Job.objects.filter(subject_id=benchmark.revisions.get(number=1).pk)
    old.update(state="waiting")
    assert {run_job(waiting.pk, worker="w") for waiting in old} == {"nothing to do"}
    assert not Report.objects.filter(revision__benchmark=benchmark).exists()


def test_single_instances_go_with_the_scores(make):
    benchmark = make.benchmark({}, n_tasks=1)
    table = b"system,task,instance,score\nA,Task 1,a,1\nA,Task 1,b,0\n"
    submit_upload(benchmark, owner_of(benchmark), Upload(table=table, is_of_instances=True, creates_systems=True))
    take_down(newest(benchmark, "A"), actor=owner_of(benchmark), reason=WHY)
    assert not InstanceScores.objects.exists()
    assert Batch.objects.get(benchmark=benchmark).payload_hash == "taken down"


def test_what_was_taken_down_is_recorded_and_cannot_come_back(with_secret):
    benchmark, submission = with_secret
    owner = owner_of(benchmark)
    take_down(submission, actor=owner, reason=WHY, with_note=True)
    events = list(submission.events.order_by("pk").values_list("kind", "reason", "actor"))
    assert events[1:] == [("withdrawn", WHY, owner.pk), ("taken_down", WHY, owner.pk)]
    assert Score.objects.filter(submission=submission, missing_reason="withdrawn").count() == 2
    submission.refresh_from_db()
    with pytest.raises(SubmissionError, match="taken down; there is nothing to reinstate"):
        reinstate_submission(submission, actor=owner, reason="Please.")
    with pytest.raises(SubmissionError, match="already"):
        take_down(submission, actor=owner, reason=WHY)


def test_a_takedown_sends_one_notice_and_its_page_says_afterwards_that_it_is_done(make):
    benchmark, user = make.benchmark({"A": [1.0]}, submission_policy="moderated"), make.user()
    batch = make.pending(benchmark, {"S": [ANOTHER]}, by=user)
    owner = owner_of(benchmark)
    accept_batch(batch, actor=owner)
    Notice.objects.all().delete()
    submission, client = batch.submissions.get(), signed_in(owner)
    address, sure = reverse("takedown", args=[submission.uuid]), {"reason": WHY, "is_sure": "1"}
    assert "This cannot be undone" in compact(client.get(address))
    assert client.post(address, sure).status_code == 302
    notices = Notice.objects.filter(user=user).values_list("text", "words")
    assert list(notices) == [(f"Your submission of S to {benchmark.name} was taken down.", WHY)]
    for answer, status in ((client.get(address), 200), (client.post(address, sure), 400)):
        page = compact(answer)
        assert (answer.status_code, page.count("These scores were already taken down.")) == (status, 1)
        assert ("This cannot be undone" in page, 'name="is_sure"' in page) == (False, False)


def test_scores_that_a_correction_took_over_are_not_left_behind(with_secret):
    benchmark, submission = with_secret
    owner = owner_of(benchmark)
    row = SubmittedRow("S", {"task-2": "2.25"}, corrects=str(submission.uuid))
    draft = make_draft(audience_of(owner, benchmark), [row], source=Source.CORRECTION, note="A slip.")
    benchmark.refresh_from_db()
    number = benchmark.last_revision_number
    confirm_draft(draft, actor=owner, previewed_number=number, creates_systems=False)
    correction = newest(benchmark, "S")
    with pytest.raises(SubmissionError, match=f"its correction {correction.uuid} first"):
        take_down(submission, actor=owner, reason=WHY)
    assert (takedown_effects(submission).first, takedown_effects(correction).next) == (correction, submission)
    take_down(correction, actor=owner, reason=WHY)
    submission.refresh_from_db()
    take_down(submission, actor=owner, reason=WHY)
    assert places_of(SECRET) == set()


def test_a_takedown_needs_a_reason_and_a_decision(make):
    benchmark, user = make.benchmark({"A": [1.0]}, submission_policy="moderated"), make.user()
    batch = make.pending(benchmark, {"S": [ANOTHER]}, by=user)
    submission, owner = newest(benchmark, "S"), owner_of(benchmark)
    with pytest.raises(SubmissionError, match="Give a reason"):
        take_down(submission, actor=owner, reason=" ")
    with pytest.raises(SubmissionError, match="Reject it first"):
        take_down(submission, actor=owner, reason=WHY)
    reject_batch(batch, actor=owner, reason="No.")
    assert take_down(submission, actor=owner, reason=WHY) is None
    assert places_of(ANOTHER) == set()


def test_scores_that_were_withdrawn_before_leave_the_present_board_alone(make, with_secret):
    benchmark, submission = with_secret
    owner = owner_of(benchmark)
    withdraw_submission(submission, actor=owner, reason="Wrong.")
    present = make.publish(benchmark).publication
    assert take_down(submission, actor=owner, reason=WHY) is None
    benchmark.refresh_from_db()
    assert benchmark.publication == present
    assert sorted(Revision.objects.exclude(withdrawn_at=None).values_list("number", flat=True)) == [2, 3]


def test_the_triggers_stand_before_and_after_a_takedown(with_secret):
    benchmark, submission = with_secret
    for _ in range(2):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            Score.objects.filter(submission__system__name="A").update(value=0.0)
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            Submission.objects.filter(pk=submission.pk).update(corrects_id=submission.pk)
        if not submission.events.filter(kind="taken_down").exists():
            take_down(submission, actor=owner_of(benchmark), reason=WHY)
    with connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM append_only_permit")
        assert cursor.fetchone() == (0,)
    assert not StudyPartial.objects.exists()
    assert not Draft.objects.exists()
