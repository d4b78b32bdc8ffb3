"""The scores that hold: read without the history before them, for any number of systems and whichever way scores are
replaced."""

import random

import numpy as np
import pytest

from leaderboard.models import Benchmark, Score, Submission, SubmissionEvent
from leaderboard.models.submissions import Source
from leaderboard.rankings import scores
from leaderboard.rankings.score_matrix import revision_matrix
from leaderboard.rankings.scores import (
    current_scores,
    current_values,
    differing_systems,
    last_in_force,
    submissions_in_force,
    systems_at,
)
from leaderboard.submissions.lifecycle import accept_batch, reinstate_submission, store_batch, withdraw_submission
from tests.rows_read import rows_read

SCORES, EVENTS = "leaderboard_score", "leaderboard_submissionevent"
MANY = 620  # more systems than one statement named at a time once


def newest(benchmark):
    return benchmark.revisions.select_related("configuration").latest("number")


def submit(benchmark, scores_of):
    """Accept a batch of some systems' scores on some tasks, by keys; None is a score that is missing."""
    owner = benchmark.memberships.get(role="owner").user
    rows = [
        {
            "system": {"name": name, "organisation": "", "url": "", "description": ""},
            "scores": {
                key: {"missing": "not_reported"} if value is None else {"value": value} for key, value in row.items()
            },
            "line": None,
        }
        for name, row in scores_of.items()
    ]
    return accept_batch(store_batch(benchmark, owner, rows, source=Source.API), actor=owner)


@pytest.mark.parametrize("replacement", Benchmark.Replacement.values)
def test_a_board_of_many_systems_reads_the_rows_that_hold_and_none_of_those_before(make, replacement):
    rounds = [{f"System {i}": [float(i + n), float(-i)] for i in range(MANY)} for n in range(4)]
    benchmark = make.benchmark(rounds[0], replacement=replacement)
    for values in rounds[1:]:
        make.accepted(benchmark, values)
    assert Score.objects.count() == 4 * 2 * MANY
    with rows_read(SCORES) as read:
        table = revision_matrix(newest(benchmark))
    assert sum(read.numbers) == 2 * MANY
    expected = {f"System {i}": [i + 3.0, -float(i)] for i in range(MANY)}
    assert {system.name: row for system, row in zip(table.systems, table.written.tolist(), strict=True)} == expected


@pytest.mark.parametrize("replacement", Benchmark.Replacement.values)
def test_asking_for_one_system_reads_its_events_and_its_scores_alone(make, replacement):
    values = {f"System {i}": [float(i), 1.0] for i in range(20)}
    benchmark = make.benchmark(values, replacement=replacement)
    make.accepted(benchmark, values)
    system = systems_at(newest(benchmark))[3]
    with rows_read(SCORES) as read, rows_read(EVENTS) as events:
        cells = current_scores(newest(benchmark), [system.id])
    assert (sum(read.numbers), sum(events.numbers)) == (2, 1 if replacement == "row" else 2)
    assert {score.value for score in cells.values()} == {float(system.name.split()[1]), 1.0}


def test_few_rows_are_in_flight_at_a_time(make, monkeypatch):
    monkeypatch.setattr(scores, "CHUNK_ROWS", 60)
    benchmark = make.benchmark({f"System {i:03}": [float(i), 1.0, None] for i in range(130)})
    revision = newest(benchmark)
    with rows_read(SCORES) as read:
        parts = list(current_values(revision))
    assert read.numbers == [60, 60, 60, 60, 60, 60, 30]  # 20 systems x 3 tasks a statement
    assert [len(values) for _, _, values in parts] == [60, 60, 60, 60, 20]
    together = [np.concatenate(column).tolist() for column in zip(*parts, strict=True)]
    expected = {(s, t): score.value for (s, t), score in current_scores(revision).items() if score.value is not None}
    assert dict(zip(zip(*together[:2], strict=True), together[2], strict=True)) == expected


def naive_scores(revision):
    """What holds, from every row of every submission, one after the other."""
    is_by_row = revision.configuration.content["replacement"] == "row"
    cells = {}
    for held in submissions_in_force(revision):
        if is_by_row:
            cells = {cell: score for cell, score in cells.items() if cell[0] != held.system_id}
        for row in Score.objects.filter(submission_id=held.submission_id):
            contents = (None, "withdrawn") if held.is_blank else (row.value, row.missing_reason)
            cells[held.system_id, row.task_id] = (*contents, held.submission_id)
    return cells


@pytest.mark.parametrize("chunk_rows", [1, 7, 20_000])
@pytest.mark.parametrize("replacement", Benchmark.Replacement.values)
def test_scores_of_patchy_histories_are_those_of_reading_every_row_in_order(make, monkeypatch, replacement, chunk_rows):
    monkeypatch.setattr(scores, "CHUNK_ROWS", chunk_rows)
    draw = random.Random(chunk_rows)
    benchmark = make.benchmark({}, n_tasks=5, replacement=replacement)
    owner = benchmark.memberships.get(role="owner").user
    keys = [task.key for task in benchmark.tasks.all()]
    numbers = []
    for n in range(18):
        accepted = Submission.objects.filter(benchmark=benchmark, state="accepted")
        withdrawn = Submission.objects.filter(benchmark=benchmark, state="withdrawn")
        if n % 6 == 4:
            withdraw_submission(draw.choice(list(accepted)), actor=owner, reason="Wrong.")
        elif n % 6 == 5 and withdrawn:
            reinstate_submission(draw.choice(list(withdrawn)), actor=owner, reason="Right.")
        else:
            names = draw.sample("ABCDE", draw.randint(1, 5))
            rows = {
                name: {key: draw.choice([None, float(n)]) for key in draw.sample(keys, draw.choice([1, 1, 2, 4]))}
                for name in names
            }
            submit(benchmark, rows)
        numbers.append(newest(benchmark).number)
    for revision in benchmark.revisions.select_related("configuration"):
        cells = {
            cell: (score.value, score.missing_reason, score.submission_id)
            for cell, score in current_scores(revision).items()
        }
        assert cells == naive_scores(revision)
        in_force = {held.system_id: held for held in submissions_in_force(revision)}
        assert {held.system_id: held for held in last_in_force(revision)} == in_force
    assert len(numbers) == 18


def test_a_long_history_of_single_scores_is_read_back_only_as_far_as_scores_are_missing(make):
    benchmark = make.benchmark({}, n_tasks=4, replacement="task")
    keys = [task.key for task in benchmark.tasks.all()]
    for n in range(60):
        submit(benchmark, {"A": {keys[n % 4]: float(n)}, "B": {keys[n % 3]: float(-n)}})
    with rows_read(SCORES) as read:
        table = revision_matrix(newest(benchmark))
    assert table.written[:, :3].tolist() == [[56.0, 57.0, 58.0], [-57.0, -58.0, -59.0]]
    assert (table.written[0, 3], np.isnan(table.written[1, 3])) == (59.0, True)
    # A's four and what else is in the turns up to them; of B, after its third score, none but those of the fourth task.
    assert sum(read.numbers) < 20 < Score.objects.count() == 120


@pytest.mark.parametrize("changed", [["System 3"], ["System 3", "System 7"], []])
def test_systems_that_differ_are_those_with_other_submissions(make, changed):
    benchmark = make.benchmark({f"System {i}": [float(i), 1.0] for i in range(9)})
    older = newest(benchmark)
    make.accepted(benchmark, {name: [100.0, 1.0] for name in [*changed, "Another"]})
    names = {system.id: system.name for system in systems_at(newest(benchmark))}
    assert {names[i] for i in differing_systems(older, newest(benchmark))} == {*changed, "Another"}


def test_where_scores_are_replaced_in_another_way_since_every_system_may_differ(make):
    benchmark = make.benchmark({"A": [1.0, 2.0], "B": [3.0, 4.0]})
    older = newest(benchmark)
    later = newest(benchmark)
    later.configuration.content = {**later.configuration.content, "replacement": "task"}
    assert differing_systems(older, later) == {system.id for system in systems_at(older)}


def test_of_a_long_history_a_board_reads_one_event_a_system_and_those_of_what_was_withdrawn(make):
    values = {f"System {i}": [float(i), 1.0] for i in range(9)}
    benchmark = make.benchmark(values)
    for _ in range(4):
        make.accepted(benchmark, values)
    owner = benchmark.memberships.get(role="owner").user
    last = Submission.objects.filter(system__name="System 4").latest("pk")
    withdraw_submission(last, actor=owner, reason="Wrong.")
    with rows_read(EVENTS) as read:
        revision_matrix(newest(benchmark))
    assert sum(read.numbers) == 6 + 8  # five acceptances and what was withdrawn; the others' newest
    assert SubmissionEvent.objects.count() == 46


def test_the_events_of_one_system_say_what_all_events_say_of_it(make):
    benchmark = make.benchmark({"A": [1.0, 2.0], "B": [3.0, 4.0]})
    make.accepted(benchmark, {"A": [5.0, 6.0]})
    owner = benchmark.memberships.get(role="owner").user
    withdraw_submission(Submission.objects.filter(system__name="A").latest("pk"), actor=owner, reason="Wrong.")
    revision = newest(benchmark)
    for system in systems_at(revision):
        held = [one for one in submissions_in_force(revision) if one.system_id == system.id]
        assert submissions_in_force(revision, [system.id]) == held
    assert SubmissionEvent.objects.count() == 4
