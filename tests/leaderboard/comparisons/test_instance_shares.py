"""The share of single instances on which one system is ahead of another, on the page of two systems."""

import pytest
from django.core.cache import cache
from django.urls import reverse

from leaderboard.benchmarks.create import TaskSpec
from leaderboard.comparisons.instance_shares import InstanceShare, common_instances, instance_shares
from leaderboard.models import System
from leaderboard.submissions.uploads import Upload, submit_upload
from tests.factories import owner_of
from tests.leaderboard.evaluation.made import add_references
from tests.markup import compact

BACKEND = "django.contrib.auth.backends.ModelBackend"
# On Task 1 higher is better, on Task 2 lower; Cora's second task has no score of Bert's instances.
SCORES = {
    ("Ada", "Task 1"): {"a": 1, "b": 0, "c": 1, "d": 0.5},
    ("Bert", "Task 1"): {"a": 0, "b": 1, "c": 0.5, "d": 0.5},
    ("Ada", "Task 2"): {"x": 3, "y": 2},
    ("Bert", "Task 2"): {"x": 4, "y": 1},
    ("Cora", "Task 1"): {"e": 1, "f": 0},
}


@pytest.fixture
def board(make):
    cache.clear()
    benchmark = make.benchmark({}, tasks=[TaskSpec("Task 1"), TaskSpec("Task 2", direction=-1), TaskSpec("Task 3")])
    lines = [f"{s},{t},{name},{score}" for (s, t), scores in SCORES.items() for name, score in scores.items()]
    table = "\n".join(["system,task,instance,score", *lines, ""]).encode()
    owner = benchmark.memberships.get(role="owner").user
    submit_upload(benchmark, owner, Upload(table=table, is_of_instances=True, creates_systems=True))
    return make.publish(benchmark)


def ids(*names: str) -> list[int]:
    return [System.objects.get(name=name).pk for name in names]


def test_each_task_counts_who_is_ahead_in_its_own_direction(board):
    revision = board.publication.revision
    assert instance_shares(common_instances(revision, *ids("Ada", "Bert"))) == [
        InstanceShare("Task 1", first=2, second=1, level=1),
        InstanceShare("Task 2", first=1, second=1, level=0),
        InstanceShare("", first=3, second=2, level=1),
    ]
    assert instance_shares(common_instances(revision, *ids("Bert", "Ada")))[0] == InstanceShare(
        "Task 1", first=1, second=2, level=1
    )


def test_other_instances_are_not_compared(board):
    assert instance_shares(common_instances(board.publication.revision, *ids("Ada", "Cora"))) == []


def test_the_page_of_two_systems_shows_the_shares(board, client):
    page = compact(client.get(reverse("head_to_head", args=[board.key]) + "?a=ada&b=bert").content.decode())
    row = '<th scope="row">Task 1</th> <td class="number wins">50 %</td> <td class="number">25 %</td>'
    assert row.replace("> <", "><") in page.replace("> <", "><")
    assert "All tasks" in page


@pytest.mark.parametrize("who", ["", "member", "moderator", "owner"])
def test_where_references_are_hidden_only_moderators_see_the_counts(make, board, client, who):
    add_references(board.tasks.get(key="task-3"), "id,reference\na,x\nb,y\n", "accuracy", by=owner_of(board))
    if who:
        client.force_login(owner_of(board) if who == "owner" else make.member(board, who), backend=BACKEND)
    page = compact(client.get(reverse("head_to_head", args=[board.key]) + "?a=ada&b=bert").content.decode())
    assert "Rank under every rule" in page
    assert ("Instance by instance" in page) is (who in ("moderator", "owner"))


def test_a_pair_without_instances_has_no_such_table(make, client):
    board = make.published()
    assert "Instance by instance" not in client.get(f"/b/{board.key}/head-to-head/?a=a&b=b").content.decode()
