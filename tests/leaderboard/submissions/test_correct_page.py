"""The form of a correction: filled with what holds, previewed, confirmed, and shown where the scores are."""

from copy import deepcopy
from uuid import UUID

import pytest
from django.urls import reverse

from leaderboard.models import Batch, Draft, Submission
from leaderboard.rankings.published import published_board
from tests.markup import compact


@pytest.fixture(scope="module")
def board_once(make_once):
    return make_once.published({"A": [1.0, 4.0], "B": [2.0, 3.0]})


@pytest.fixture
def board(board_once, make):
    return deepcopy(board_once)


def sign_in(client, user):
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")


def test_scores_are_corrected_from_the_page_of_the_system_to_the_board(make, client, board):
    owner = board.memberships.get(role="owner").user
    sign_in(client, owner)
    first = Submission.objects.get(system__key="a")
    address = reverse("correct", args=[board.key, first.uuid])
    assert address in compact(client.get(reverse("system", args=[board.key, "a"])))
    assert address in compact(client.get(reverse("batch", args=[first.batch.uuid])))
    form = client.get(address).context["form"]
    assert (form["score-task-1"].value(), form["score-task-2"].value()) == ("1", "4")

    sent = {"score-task-1": "9", "score-task-2": "Not applicable", "note": "The wrong log."}
    preview = client.post(address, sent)
    page = client.get(preview["Location"])
    assert "The wrong log." in compact(page)
    assert [row.note for row in page.context["draft"]["rows"]] == ["", "missing: not applicable"]
    confirmed = client.post(preview["Location"], {"action": "confirm", "previewed_number": "1"})
    batch = Batch.objects.get(uuid=UUID(confirmed["Location"].strip("/").split("/")[-1]))
    assert (batch.source, batch.submissions.get().corrects) == ("correction", first)

    board = make.publish(board)
    mean = next(column for column in published_board(board.publication).columns if column.rule == "mean")
    assert mean.ranks.tolist() == [-1, 1]
    system = compact(client.get(reverse("system", args=[board.key, "a"])))
    assert "missing: not applicable" in system
    assert '<span class="badge">correction</span> The wrong log.' in system
    corrected = compact(client.get(reverse("batch", args=[first.batch.uuid])))
    assert corrected.index("Its scores of A were corrected.") < corrected.index('<ol class="stages">')
    rule = compact(client.get(reverse("rule", args=[board.key, "copeland"])))
    assert 'title="not applicable"' in rule


def test_the_ranks_of_a_corrected_submission_are_said_to_be_those_of_its_correction(make, client, board):
    owner = board.memberships.get(role="owner").user
    make.accepted(board, {"C": [3.0, 5.0]})
    first = Batch.objects.latest("pk")
    board = make.publish(board)
    sign_in(client, owner)
    page = client.get(reverse("batch", args=[first.uuid]))
    assert page.context["page"].ranks_heading == "Current state of C"
    # It was on no board before, so there is one rank a rule and no arrow.
    assert (page.context["page"].has_before, "Rank, from before to now" in compact(page)) == (False, False)

    sent = {"score-task-1": "0", "score-task-2": "4", "note": "The wrong log."}
    preview = client.post(reverse("correct", args=[board.key, first.submissions.get().uuid]), sent)
    confirmed = client.post(preview["Location"], {"action": "confirm", "previewed_number": "2"})
    make.publish(board)
    assert client.get(reverse("batch", args=[first.uuid])).context["page"].ranks_heading == (
        "Current state of C (through the correction)"
    )
    correction = client.get(confirmed["Location"])
    assert correction.context["page"].ranks_heading == "Current state of C"
    mean = next(rank for rank in correction.context["page"].ranks if rank.rule_name == "Mean")
    assert (correction.context["page"].has_before, mean.before, mean.rank) == (True, 1, 3)


def test_a_correction_without_a_reason_or_a_number_is_asked_for_again(client, board):
    sign_in(client, board.memberships.get(role="owner").user)
    address = reverse("correct", args=[board.key, Submission.objects.get(system__key="a").uuid])
    response = client.post(address, {"score-task-1": "good", "score-task-2": "4"})
    assert (response.status_code, set(response.context["form"].errors)) == (400, {"note", "score-task-1"})
    response = client.post(address, {"score-task-1": "good", "score-task-2": "4", "note": "x"})
    assert (response.status_code, set(response.context["form"].errors)) == (400, {"score-task-1"})
    assert Draft.objects.count() == 0


def test_what_holds_no_more_leads_back_to_its_page_and_on_to_what_holds(make, client, board):
    sign_in(client, board.memberships.get(role="owner").user)
    first = Submission.objects.get(system__key="a")
    make.accepted(board, {"A": [5.0, 5.0]})
    newer = Batch.objects.latest("pk")
    response = client.get(reverse("correct", args=[board.key, first.uuid]))
    assert response["Location"] == reverse("batch", args=[first.batch.uuid])
    link = f'<a href="{reverse("batch", args=[newer.uuid])}">the current one</a>'
    assert link in compact(client.get(response["Location"]))
