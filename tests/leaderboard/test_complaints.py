"""What users of other platforms complained about most, as tests of what must not happen here.

Each names the complaint's thread. Others have tests where the thing itself is tested: quotas and deadlines
(`services/test_limits.py`), what anonymous readers see (`test_permissions.py`, `test_hidden.py`).
"""

import csv
import io

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from leaderboard.models import Score, System, Task
from leaderboard.selectors.audience import audience
from leaderboard.selectors.scores import current_scores, systems_at
from leaderboard.services.board import BoardQuery, build_board
from leaderboard.services.columns import published_board
from leaderboard.services.submissions import reinstate_submission, withdraw_submission
from leaderboard.services.task_changes import apply_proposal, present_proposal, preview_proposal
from leaderboard.services.uploads import Upload, UploadRow, submit_upload


def owner_of(benchmark):
    return benchmark.memberships.get(role="owner").user


def ranks(benchmark, rule):
    board = published_board(benchmark.publication)
    column = next(column for column in board.columns if column.rule == rule)
    names = [system.name for system in systems_at(board.revision)]
    return dict(zip(names, column.ranks.tolist(), strict=True))


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("rule", ["mean", "median", "borda", "average_rank"])
def test_a_missing_score_never_outranks_a_number(make, direction, rule):
    """Codabench 1284, 2321, 2470: n/a outranked numbers, so that competitors hid results this way."""
    benchmark = make.benchmark({"Bad": [1.0, 1.0], "Gap": [None, 9.0], "Good": [2.0, 2.0]})
    Task.objects.filter(benchmark=benchmark).update(direction=direction)
    make.accepted(benchmark, {"Other": [1.5, 1.5]})
    found = ranks(make.publish(benchmark), rule)
    assert found["Gap"] == -1
    assert min(rank for name, rank in found.items() if name != "Gap") == 1


def test_taking_a_bad_entry_away_brings_the_earlier_one_back(make):
    """Codabench 2018: deleting a bad entry removed the user from the board."""
    benchmark = make.benchmark({"A": [1.0, 1.0], "B": [2.0, 2.0]})
    make.accepted(benchmark, {"A": [9.0, 9.0]})
    bad = benchmark.submissions.order_by("-pk").first()
    revision = withdraw_submission(bad, actor=owner_of(benchmark), reason="It read the test set.")
    a = System.objects.get(benchmark=benchmark, name="A")
    assert {score.value for cell, score in current_scores(revision).items() if cell[0] == a.pk} == {1.0}
    revision = reinstate_submission(bad, actor=owner_of(benchmark), reason="It did not.")
    assert {score.value for cell, score in current_scores(revision).items() if cell[0] == a.pk} == {9.0}


def test_a_changed_direction_ranks_every_old_row_anew(make):
    """Codabench 1736: a rule's change was not applied to old rows. av2-api 70: sorted in the wrong direction."""
    benchmark = make.published({"Low": [1.0], "High": [2.0]})
    assert ranks(benchmark, "mean") == {"High": 1, "Low": 2}
    proposal = present_proposal(benchmark)
    tasks = [type(task)(**{**vars(task), "direction": -1}) for task in proposal.tasks]
    proposal = type(proposal)(**{**vars(proposal), "tasks": tasks})
    token = preview_proposal(benchmark, proposal).token
    apply_proposal(benchmark, proposal, author=owner_of(benchmark), token=token)
    assert ranks(make.publish(benchmark), "mean") == {"Low": 1, "High": 2}


def test_the_tenth_does_not_come_before_the_second(make):
    """Grand-challenge 2967: a combined board sorted ranks as texts."""
    benchmark = make.published({f"S{i:02}": [float(20 - i)] for i in range(12)})
    board = build_board(benchmark, audience(owner_of(benchmark), benchmark), BoardQuery(sort="mean"))
    assert [row.name for row in board.rows] == [f"S{i:02}" for i in range(12)]


def test_a_replayed_upload_stores_nothing_twice(make):
    """Codabench: a replayed request appended its scores again, and sums doubled."""
    benchmark, user = make.benchmark({}, n_tasks=2), make.user()
    rows = [UploadRow({"task-1": 1.0, "task-2": 2.0}, name="A")]
    upload = Upload(rows=rows, creates_systems=True, idempotency_key="k", payload_hash="p")
    first, second = (submit_upload(benchmark, user, upload)[0] for _ in range(2))
    assert (first, Score.objects.count()) == (second, 2)


def test_a_tie_is_not_broken_by_who_came_first(make):
    """AIcrowd 1941, Codabench: time broke ties that the scores leave open."""
    first = make.published({"Early": [1.0, 2.0], "Late": [2.0, 1.0]})
    second = make.published({"Late": [2.0, 1.0], "Early": [1.0, 2.0]})
    for benchmark in (first, second):
        assert ranks(benchmark, "mean") == {"Early": 1, "Late": 1}


def test_the_exported_table_has_the_scores(make):
    """Codabench 1820: the exported CSV had no column of scores."""
    benchmark = make.published({"A": [1.25, 2.0], "B": [3.0, None]})
    text = Client().get(reverse("api:scores", args=[benchmark.key]), headers={"Accept": "text/csv"}).content.decode()
    assert list(csv.reader(io.StringIO(text))) == [["system", "Task 1", "Task 2"], ["A", "1.25", "2"], ["B", "3", ""]]


def test_leaving_a_hard_task_out_does_not_raise_ones_rank(make):
    """CodeSearchNet 129, HELM: a mean over what is present lets whoever leaves the hard task out win."""
    whole = {"Honest": [9.0, 2.0], "Other": [8.0, 3.0]}
    before = ranks(make.published(whole), "mean")
    after = ranks(make.published(whole | {"Honest": [9.0, None]}), "mean")
    assert before["Honest"] in (1, 2)
    assert after["Honest"] == -1


def test_an_own_entry_is_found_on_a_board_of_many_pages(make):
    """EvalAI cut the newest 10,000 rows off before it ranked them, and old best entries vanished."""
    scores = {f"S{i:03}": [float(i)] for i in range(230)}
    benchmark = make.published(scores)
    board = build_board(benchmark, audience(owner_of(benchmark), benchmark), BoardQuery(page=3))
    assert (board.n_pages, len(board.rows), board.rows[-1].name) == (3, 30, "S000")
    assert np.isfinite(board.reference.scores).all()
