"""Changing tasks and weights: previewed as it will be, then a revision with an author, in trail and history."""

from dataclasses import replace
from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError

from leaderboard.access.audience import audience_of
from leaderboard.admin import TaskAdminForm
from leaderboard.benchmarks.create import GroupSpec, TaskSpec, create_benchmark
from leaderboard.benchmarks.tasks import (
    GroupEdit,
    ProposalError,
    StaleProposalError,
    TaskEdit,
    apply_proposal,
    present_proposal,
    preview_proposal,
    state_under,
)
from leaderboard.comparisons.history import history_page
from leaderboard.models import AuditEntry, Benchmark, Revision, Task
from leaderboard.rankings.configuration import present_configuration
from leaderboard.submissions.preview.draft import latest_state, rankings_of_both

SCORES = {"A": [3.0, 1.0], "B": [2.0, 2.0], "C": [1.0, 3.0]}


def with_task(proposal, place, **fields):
    tasks = list(proposal.tasks)
    tasks[place] = replace(tasks[place], **fields)
    return replace(proposal, tasks=tasks)


def changed(benchmark, proposal, **about):
    author = benchmark.memberships.get(role="owner").user
    token = preview_proposal(benchmark, proposal).token
    return apply_proposal(benchmark, proposal, author=author, token=token, **about)


def test_the_present_state_changes_nothing(make):
    benchmark = make.benchmark(SCORES)
    preview = preview_proposal(benchmark, present_proposal(benchmark))
    assert (preview.changes, preview.changes_ranking, preview.effects) == ([], False, [])
    assert changed(benchmark, present_proposal(benchmark)) is None
    assert Revision.objects.filter(benchmark=benchmark).count() == 1


def test_a_weight_shows_the_ranks_that_it_changes_and_stores_nothing(make):
    benchmark = make.benchmark(SCORES)
    before = present_configuration(benchmark)
    preview = preview_proposal(benchmark, with_task(present_proposal(benchmark), 0, weight=Decimal(3)))
    assert [(c.subject, c.of, c.field, c.before, c.after) for c in preview.changes] == [
        ("task", "task-1", "weight", "1", "3")
    ]
    borda = next(effect for effect in preview.effects if effect.rule_name == "Borda")
    assert (borda.winner_before, borda.winner_after) == ("A, B and C", "A")
    assert {(move.system_name, move.before, move.after) for move in borda.moves} == {("B", 1, 2), ("C", 1, 3)}
    assert present_configuration(benchmark) == before
    assert not AuditEntry.objects.exists()


def test_what_is_previewed_is_what_the_new_revision_ranks(make):
    benchmark = make.benchmark(SCORES)
    proposal = with_task(present_proposal(benchmark), 1, direction=Task.Direction.LOWER, weight=Decimal("0.25"))
    preview = preview_proposal(benchmark, proposal)
    changed(benchmark, proposal)
    benchmark.refresh_from_db()
    _, after = rankings_of_both(latest_state(benchmark), latest_state(benchmark))
    moved = {effect.rule_name: effect.winner_after for effect in preview.effects}
    names = [system.name for system in latest_state(benchmark).systems]
    assert moved["Borda"] == " and ".join(names[i] for i in after["borda"].winners) == "A"


def test_a_change_is_a_revision_with_author_reason_trail_and_a_line_in_the_history(make):
    benchmark = make.benchmark(SCORES)
    owner = benchmark.memberships.get(role="owner").user
    revision = changed(benchmark, with_task(present_proposal(benchmark), 0, weight=Decimal(3)), reason="counts more")
    assert (revision.number, revision.cause, revision.author, revision.note) == (
        2, "configuration", owner, "counts more",
    )  # fmt: skip
    entry = AuditEntry.objects.get(field="weight")
    assert (entry.actor, entry.of, entry.before, entry.after, entry.reason, entry.revision) == (
        owner, "task-1", "1", "3", "counts more", revision,
    )  # fmt: skip
    lines, _ = history_page(benchmark, audience_of(owner, benchmark), None)
    assert [(line.number, line.who, line.systems, line.changes, line.note) for line in lines] == [
        (2, owner.shown_name, [], ["weight of task Task 1: 1 → 3"], "counts more"),
        (1, owner.shown_name, ["3 systems accepted"], [], ""),
    ]


def test_a_precision_and_a_cluster_are_revisions_as_a_weight_is(make):
    benchmark = make.benchmark(SCORES)
    proposal = with_task(present_proposal(benchmark), 0, precision=Decimal("0.10"), cluster=" Sums ")
    revision = changed(benchmark, proposal)
    trail = AuditEntry.objects.order_by("field").values_list("of", "field", "before", "after")
    assert list(trail) == [("task-1", "cluster", "", "Sums"), ("task-1", "precision", "", "0.1")]
    lines, _ = history_page(benchmark, audience_of(revision.author, benchmark), None)
    assert sorted(lines[0].changes) == [
        "cluster of task Task 1: nothing → Sums",
        "precision of task Task 1: nothing → 0.1",
    ]
    benchmark.refresh_from_db()
    assert changed(benchmark, present_proposal(benchmark)) is None
    back = with_task(present_proposal(benchmark), 0, precision=None, cluster="")
    assert changed(benchmark, back).number == 3
    assert benchmark.revisions.get(number=3).configuration == benchmark.revisions.get(number=1).configuration


def test_nothing_is_applied_that_was_not_previewed(make):
    benchmark = make.benchmark(SCORES)
    owner = benchmark.memberships.get(role="owner").user
    proposal = with_task(present_proposal(benchmark), 0, weight=Decimal(3))
    token = preview_proposal(benchmark, proposal).token
    other = with_task(present_proposal(benchmark), 0, weight=Decimal(4))
    with pytest.raises(StaleProposalError):
        apply_proposal(benchmark, other, author=owner, token=token)
    make.accepted(benchmark, {"D": [5.0, 5.0]})
    benchmark.refresh_from_db()
    with pytest.raises(StaleProposalError):
        apply_proposal(benchmark, proposal, author=owner, token=token)
    assert Task.objects.get(benchmark=benchmark, key="task-1").weight == 1


def test_groups_are_made_and_tasks_are_added_and_archived(make):
    benchmark = make.benchmark(SCORES)
    proposal = present_proposal(benchmark)
    tasks = [replace(task, group="Both") for task in proposal.tasks[:1]]
    tasks += [replace(proposal.tasks[1], is_archived=True), TaskEdit("Third", group="both")]
    groups = [GroupEdit("Both", Decimal(2))]
    changed(benchmark, replace(proposal, tasks=tasks, groups=groups, aggregation="balanced"))
    benchmark.refresh_from_db()
    content = present_configuration(benchmark).content
    assert content["groups"] == [{"key": "both", "name": "Both", "weight": "2"}]
    assert [(task["key"], task["group"]) for task in content["tasks"]] == [("task-1", "both"), ("third", "both")]
    assert benchmark.aggregation == "balanced"
    assert latest_state(benchmark).values[:, 0].tolist() == [3.0, 2.0, 1.0]


@pytest.mark.parametrize(
    ("fields", "place", "message"),
    [
        ({"name": "Task 2"}, "name", "Another one already has the name"),
        ({"name": "a\u200bb"}, "name", "invisible"),
        ({"weight": Decimal(-1)}, "__all__", "negative"),
        ({"group": "Nowhere"}, "group", "no group"),
        ({"minimum": 1.0, "maximum": 1.0}, "maximum", "must be above"),
        ({"minimum": 0.0, "maximum": 1.0, "chance": 2.0}, "chance", "outside"),
        ({"precision": Decimal(0)}, "precision", "expected a positive number"),
        ({"precision": Decimal("1.234567890123")}, "precision", "at most 12 significant digits"),
        ({"cluster": "a\u200bb"}, "cluster", "invisible"),
    ],
)
def test_what_cannot_be_stored_is_refused_with_its_place(make, fields, place, message):
    benchmark = make.benchmark(SCORES)
    with pytest.raises(ProposalError) as caught:
        preview_proposal(benchmark, with_task(present_proposal(benchmark), 0, **fields))
    where = [(kind, row, name) for kind, row, name, _ in caught.value.problems]
    assert ("tasks", 1 if fields.get("name") == "Task 2" else 0, place) in where
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "problems"),
    [
        ({"minimum": 5.0, "maximum": 1.0, "chance": 9.0}, {"maximum": ["The maximum must be above the minimum."]}),
        ({"minimum": 1.0, "maximum": 1.0}, {"maximum": ["The maximum must be above the minimum."]}),
        ({"minimum": 1.0, "chance": 0.5}, {"chance": ["The chance level is outside the scale."]}),
        ({"maximum": 1.0, "chance": 2.0}, {"chance": ["The chance level is outside the scale."]}),
        ({"minimum": 0.0, "maximum": 1.0, "chance": 1.0}, {}),
    ],
)
def test_no_door_takes_a_scale_without_extent_or_a_chance_level_outside_of_it(make, fields, problems):
    owner, task, said = make.user(), make.benchmark({}, n_tasks=1).tasks.get(), []
    try:
        create_benchmark(name="New", owner=owner, tasks=[TaskSpec("T", **fields)])
    except ValidationError as error:
        said.append(error.message_dict)
    values = {"order": 0, "name": task.name, "key": task.key, "direction": 1, "weight": 1} | fields
    form = TaskAdminForm(values, instance=task)
    assert (said, dict(form.errors)) == ([problems] if problems else [], problems)


def test_a_benchmark_without_scores_changes_without_a_revision(make):
    owner = make.user()
    benchmark = create_benchmark(name="Empty", owner=owner, groups=[GroupSpec("G")], tasks=[TaskSpec("T", group="G")])
    proposal = with_task(present_proposal(benchmark), 0, weight=Decimal(2))
    preview = preview_proposal(benchmark, proposal)
    assert (len(preview.changes), preview.changes_ranking) == (1, False)
    assert apply_proposal(benchmark, proposal, author=owner, token=preview.token) is None
    assert benchmark.tasks.get().weight == 2


def test_the_imagined_board_is_the_one_of_the_configuration_that_follows(make):
    """Replacing by task instead of by row brings back scores of earlier submissions: the preview knows."""
    benchmark = make.benchmark({"A": [3.0, 1.0]})
    make.accepted(benchmark, {"A": [5.0, None]})
    benchmark.refresh_from_db()
    configuration = replace(present_configuration(benchmark), replacement=Benchmark.Replacement.TASK)
    assert state_under(benchmark, configuration).values.tolist()[0][0] == 5.0
