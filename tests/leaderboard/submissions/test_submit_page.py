"""The form of one system's scores, and drafts that cannot be submitted any more, or not now."""

import pytest
from django.urls import reverse

from leaderboard.access.audience import audience_of
from leaderboard.models import Benchmark, Draft, Score, Task
from leaderboard.models.submissions import Source
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.lifecycle import accept_batch, reject_batch, retract_batch, withdraw_submission
from leaderboard.submissions.rows import SubmittedRow
from tests.factories import owner_of
from tests.leaderboard.evaluation.made import add_references
from tests.markup import compact
from tests.signing_in import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def me(client, make):
    user = make.user("submitter")
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return user


def draft_of(user, benchmark, **scores) -> Draft:
    row = SubmittedRow("Mine", {f"task-{key[1:]}": text for key, text in scores.items()})
    return make_draft(audience_of(user, benchmark), [row], source=Source.FORM, note="By hand.")


def pages_of(client, draft) -> tuple[str, str]:
    """What the page of a draft and the list of drafts say."""
    return tuple(compact(client.get(url)) for url in (reverse("draft", args=[draft.uuid]), reverse("dashboard")))


def test_everything_that_is_wrong_is_said_at_once(client, make, me):
    benchmark = make.published({"A": [1.0, 4.0]}, submission_policy="open")
    sent = {"system_name": "Mine", "url": "no address", "score-task-1": "many", "score-task-2": "7" * 61}
    form = client.post(reverse("submit", args=[benchmark.key]), sent).context["form"]
    assert list(form.errors) == ["url", "score-task-2", "score-task-1"]
    assert form.errors["score-task-1"] == [
        "'many' is not a number; write 71.3, or leave the field empty if there is no score"
    ]
    sent |= {"system_name": "", "score-task-1": ""}
    answer = client.post(reverse("submit", args=[benchmark.key]), sent)
    assert (list(answer.context["form"].errors), answer.context["errors"]) == (
        ["system_name", "url", "score-task-2"],
        [],
    )
    assert {len(texts) for texts in answer.context["form"].errors.values()} == {1}


def test_where_tasks_are_merged_an_empty_field_leaves_the_score_as_it_is(client, make, me):
    benchmark = make.published({"A": [1.0, 4.0]}, submission_policy="open")
    address = reverse("submit", args=[benchmark.key])
    assert "an empty field means “not reported”" in compact(client.get(address))
    Benchmark.objects.filter(pk=benchmark.pk).update(replacement="task")
    assert "If you leave a field empty, the score that the system has on the board stays." in compact(
        client.get(address)
    )
    for scores in ({"score-task-1": "5", "score-task-2": "6"}, {"score-task-1": "7", "score-task-2": ""}):
        preview = client.post(address, {"system_name": "Mine", **scores})
        benchmark.refresh_from_db()
        sent = {"previewed_number": benchmark.last_revision_number, "create_system": "1"}
        batch = client.post(preview["Location"], sent)["Location"]
    stored = Score.objects.filter(submission__batch__uuid=batch.strip("/").split("/")[-1])
    assert list(stored.values_list("task__key", "value", "missing_reason")) == [("task-1", 7.0, "")]


def test_a_draft_that_the_board_overtook_can_be_read_and_discarded(client, make, me):
    benchmark = make.published({"A": [1.0, 4.0]}, submission_policy="open")
    draft = draft_of(me, benchmark, t1="5", t2="withheld")
    benchmark.tasks.filter(key="task-1").update(is_archived=True)
    address = reverse("draft", args=[draft.uuid])
    page = client.get(address)
    assert page.status_code == 200
    assert page.context["problems"] == [f"'task-1' is not a task of {benchmark.name}"]
    assert page.context["lines"] == [("Mine", "Task 1", "5"), ("Mine", "Task 2", "withheld")]
    assert "By hand." in compact(page)
    refused = client.post(address, {"previewed_number": benchmark.last_revision_number, "create_system": "1"})
    assert (refused["Location"], Draft.objects.count()) == (address, 1)
    client.post(address, {"action": "discard"})
    assert Draft.objects.count() == 0


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"is_archived": True}, "The benchmark is archived."),
        ({"submission_policy": "closed"}, "Its submissions are closed."),
        ({"daily_cap": 1}, "You can submit 1 system a day to this benchmark; you have submitted 1, so one more would"),
    ],
)
def test_a_draft_says_at_once_that_it_cannot_be_submitted_now(client, make, me, changes, why):
    benchmark = make.published({"A": [1.0]}, submission_policy="open")
    make.submitted(benchmark, "First", ["2"], by=me)
    draft = draft_of(me, benchmark, t1="5")
    assert all(why not in page and "submitted now" not in page for page in pages_of(client, draft))
    Benchmark.objects.filter(pk=benchmark.pk).update(**changes)
    page, listing = pages_of(client, draft)
    assert f"<strong>This draft cannot be submitted now.</strong> {why}" in page
    assert ("Confirm and submit" in page, "Discard the draft" in page) == (False, True)
    assert f"Cannot be submitted now: {why}" in listing


def test_where_all_tasks_take_predictions_no_one_is_sent_to_the_form_of_scores(client, make, me):
    benchmark = make.published({"A": [1.0, 4.0], "B": [2.0, 3.0]}, submission_policy="open")
    first, second = Task.objects.filter(benchmark=benchmark)
    board, form = reverse("board", args=[benchmark.key]), reverse("submit", args=[benchmark.key])
    predictions = reverse("new_predictions", args=[benchmark.key])
    add_references(first, "id,reference\nn1,1\n", "exact_match", by=owner_of(benchmark))
    assert f'href="{form}">Submit scores' in compact(client.get(board))
    add_references(second, "id,reference\nn1,1\n", "exact_match", by=owner_of(benchmark))
    page = compact(client.get(board))
    assert (f'href="{predictions}">Submit predictions' in page, form in page) == (True, False)
    assert client.get(form)["Location"] == predictions
    client.force_login(owner_of(benchmark), backend="django.contrib.auth.backends.ModelBackend")
    assert client.get(form).status_code == 200


@pytest.mark.parametrize("state", ["rejected", "retracted", "withdrawn"])
def test_scores_that_are_not_on_the_board_are_corrected_and_submitted_again_by_their_submitter(client, make, me, state):
    benchmark = make.published({"A": [1.0, 4.0]}, submission_policy="moderated")
    batch = make.pending(benchmark, {"Mine": [2.5, None]}, by=me)
    submission = batch.submissions.get()
    if state == "rejected":
        reject_batch(batch, actor=owner_of(benchmark), reason="A typo.")
    elif state == "retracted":
        retract_batch(batch, actor=me)
    else:
        accept_batch(batch, actor=owner_of(benchmark))
        withdraw_submission(submission, actor=me, is_own=True, reason="A typo.")
    page = compact(client.get(reverse("batch", args=[batch.uuid])))
    address = f"{reverse('submit', args=[benchmark.key])}?again={submission.uuid}"
    link = f'<a class="button is-small" href="{address}">Correct Mine and submit again</a>'
    assert link in page
    assert ("Moderators can reinstate withdrawn scores." in page) is (state == "withdrawn")
    form = client.get(address).context["form"]
    assert {field.name: field.value() for field in form if field.value()} == {
        "system_name": "Mine", "score-task-1": "2.5"
    }  # fmt: skip
    moderator = signed_in(owner_of(benchmark))
    assert link not in compact(moderator.get(reverse("batch", args=[batch.uuid])))
    assert moderator.get(address).status_code == 404


def test_scores_that_wait_are_not_submitted_again(client, make, me):
    benchmark = make.published({"A": [1.0, 4.0]}, submission_policy="moderated")
    submission = make.pending(benchmark, {"Mine": [2.5, None]}, by=me).submissions.get()
    address = reverse("submit", args=[benchmark.key])
    answers = [client.get(address, {"again": number}).status_code for number in (submission.uuid, "x", "")]
    assert answers == [404, 404, 200]
