"""What is asked of a benchmark with many systems and a long history reads the rows that it names, and no others."""

import pytest

from leaderboard.access.audience import audience_of
from leaderboard.comparisons.revisions import revision_changes
from leaderboard.models import InstanceScores, System
from leaderboard.models.submissions import Source
from leaderboard.rankings.instances import current_instances
from leaderboard.rankings.notices import board_change
from leaderboard.submissions.checks import check_rows
from leaderboard.submissions.corrections import holding
from leaderboard.submissions.lifecycle import store_batch
from leaderboard.submissions.rows import SubmittedRow
from leaderboard.submissions.uploads import Upload, submit_upload
from ranking_engine.files.problems import InputError
from tests.rows_read import rows_read

SENT = 510  # more names than one statement held once


@pytest.fixture
def owner(make):
    return make.user("owner")


@pytest.fixture
def crowded(make, owner):
    """More systems than are ever named."""
    benchmark = make.benchmark({"A": [1.0]}, owner=owner)
    System.objects.bulk_create(
        System(benchmark=benchmark, name=f"Waiting {i}", name_folded=f"waiting {i}", key=f"waiting-{i}")
        for i in range(3 * SENT)
    )
    return benchmark


def test_checking_and_storing_many_rows_reads_the_systems_that_they_name(make, crowded, owner):
    rows = [SubmittedRow(f"Waiting {i}", {"task-1": 2.0}) for i in range(SENT)]
    with rows_read("leaderboard_system") as read:
        checked = check_rows(audience_of(owner, crowded), rows)
    assert max(read.numbers, default=0) <= SENT
    with rows_read("leaderboard_system") as read:
        batch = store_batch(crowded, owner, checked, source=Source.FORM)
    assert read.numbers[0] == SENT
    assert max(read.numbers) == SENT
    assert {row.system.name for row in batch.submissions.select_related("system")} == {row.system_name for row in rows}


def test_many_rows_with_keys_are_held_against_those_keys_alone(make, crowded, owner):
    rows = [SubmittedRow(f"New {i}", {"task-1": 2.0}, key=f"new-{i}") for i in range(SENT)]
    taken = SubmittedRow("Another", {"task-1": 2.0}, key="waiting-7")
    with rows_read("leaderboard_system") as read, pytest.raises(InputError, match="the key 'waiting-7' is taken"):
        submit_upload(crowded, owner, Upload(rows=[*rows, taken], creates_systems=True, payload_hash="x"))
    assert max(read.numbers) == 1


def test_two_revisions_are_compared_by_the_systems_that_brought_something_between_them(make):
    benchmark = make.published({f"System {i}": [float(i), 1.0] for i in range(12)})
    make.accepted(benchmark, {"System 3": [50.0, 1.0]})
    benchmark = make.publish(benchmark)
    older, newer = benchmark.revisions.select_related("configuration").order_by("number")
    with rows_read("leaderboard_score") as read:
        changes = revision_changes(benchmark, older, newer, rule="mean", audience_level="public")
    assert [(change.system_name, change.before, change.after) for change in changes.scores] == [("System 3", "3", "50")]
    assert sum(read.numbers) == 2 * 2


def test_whom_a_new_board_is_told_to_is_asked_of_the_submissions_that_hold(make):
    benchmark = make.published({f"System {i}": [float(i), 1.0] for i in range(6)})
    old = benchmark.publication
    for n in range(3):
        make.accepted(benchmark, {f"System {i}": [float(n - i), 1.0] for i in range(6)})
    new = make.publish(benchmark).publication
    owner = benchmark.memberships.get(role="owner").user
    with rows_read("leaderboard_submission") as read:
        change = board_change(benchmark, old, new)
    assert read.numbers == [6]
    assert set(change.submitters.values()) == {owner.pk}
    assert len(change.submitters) == 6


def test_what_holds_of_some_systems_reads_their_events_alone(make):
    benchmark = make.benchmark({f"System {i}": [float(i), 1.0] for i in range(6)})
    make.accepted(benchmark, {f"System {i}": [0.0, 1.0] for i in range(6)})
    system = System.objects.get(name="System 2")
    with rows_read("leaderboard_submissionevent") as read:
        held = holding(benchmark, [system.pk])
    assert list(held) == [system.submissions.latest("pk").pk]
    assert sum(read.numbers) == 2


def test_single_instances_are_read_of_the_submissions_that_hold(make, owner):
    benchmark = make.benchmark({"A": [1.0], "B": [2.0]}, owner=owner)
    for n in range(4):
        row = SubmittedRow("A", {}, instance_scores={"task-1": {"a": 0.1 * n, "b": 0.5}})
        submit_upload(benchmark, owner, Upload(rows=[row], payload_hash=str(n)))
    revision = benchmark.revisions.select_related("configuration").latest("number")
    with rows_read("leaderboard_instancescores") as read, rows_read("leaderboard_score") as scores:
        (vector,) = current_instances(revision).values()
    assert vector == InstanceScores.objects.latest("pk")
    assert (max(read.numbers), sum(scores.numbers)) == (1, 1)  # B brought none
    assert InstanceScores.objects.count() == 4
