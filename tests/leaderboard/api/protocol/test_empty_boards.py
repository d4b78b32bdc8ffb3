"""Boards with nothing on them answer at every address of figures, in every form, or say why there is nothing."""

import pytest
from django.db import transaction

from leaderboard.models import Revision, Submission
from leaderboard.rankings.revisions import next_revision
from leaderboard.submissions.lifecycle import withdraw_submission
from tests.factories import owner_of
from tests.leaderboard.api.protocol.figure_addresses import figure_addresses


def emptied(make):
    """All of its systems were withdrawn."""
    board = make.published({"A": [1.0, 2.0], "B": [2.0, 1.0]})
    for submission in Submission.objects.filter(benchmark=board):
        withdraw_submission(submission, actor=owner_of(board), reason="It was wrong.")
    return make.publish(board)


def archived(make):
    """All of its tasks are archived."""
    board = make.published({"A": [1.0, 2.0], "B": [2.0, 1.0]})
    board.tasks.update(is_archived=True)
    with transaction.atomic():
        next_revision(board, cause=Revision.Cause.CONFIGURATION, author=owner_of(board))
    return make.publish(board)


@pytest.mark.parametrize("emptied_board", [emptied, archived])
def test_every_address_of_figures_answers_on_a_board_without_figures(make, api, client, settings, emptied_board):
    settings.API_RATES = dict.fromkeys(settings.API_RATES, "100000/min")
    board = emptied_board(make)
    assert board.publication.revision.number > 1
    statuses = {}
    for address in figure_addresses(board, system="a", rival="b"):
        answer = api.get(address)
        statuses[address] = answer.status_code
    assert {address: status for address, status in statuses.items() if status not in (200, 400, 404, 422)} == {}
    answered = {address.split("?")[0].split("/")[2] for address, status in statuses.items() if status == 200}
    assert {"margins", "agreement", "scores", "rankings", "prospects"} - answered == set()
    for page in ("head-to-head/", "head-to-head/?format=csv", "exports/margins.csv"):
        assert client.get(f"/b/{board.key}/{page}").status_code == 200
