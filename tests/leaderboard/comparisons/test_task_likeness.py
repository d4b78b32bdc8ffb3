"""Which tasks are alike: the tree, the map and the effective number on the page of agreement and in the API."""

from dataclasses import replace

import numpy as np
import pytest
from django.urls import reverse

from leaderboard.benchmarks.create import GroupSpec, TaskSpec
from leaderboard.benchmarks.tasks import apply_proposal, present_proposal, preview_proposal
from ranking_engine import ScoreMatrix
from ranking_engine.stability.separability.group_agreement import group_agreement
from ranking_engine.stability.separability.task_likeness import task_likeness
from tests.factories import TOY, owner_of


@pytest.fixture
def scores():
    random = np.random.default_rng(6)
    skill = random.random(9)
    columns = [skill, skill + random.normal(0, 0.02, 9), random.random(9), random.random(9)]
    return np.column_stack(columns).round(6)


def test_the_page_and_the_api_have_the_tree_of_the_engine(make, client, scores):
    benchmark = make.published({f"S{i}": row.tolist() for i, row in enumerate(scores)})
    likeness = task_likeness(ScoreMatrix(scores))
    answer = client.get(reverse("api:agreement", args=[benchmark.key])).json()["tasks"]
    assert answer["effective_number"] == pytest.approx(likeness.effective_number)
    assert [task["task"] for task in answer["tasks"]] == ["task-1", "task-2", "task-3", "task-4"]
    assert answer["kendall_tau"] == [pytest.approx(row) for row in likeness.kendall_tau.tolist()]
    assert [merge["distance"] for merge in answer["merges"]] == pytest.approx([m.distance for m in likeness.merges])
    assert (answer["order"], answer["clusters"]) == (list(likeness.order), [["task-1", "task-2"]])
    response = client.get(reverse("agreement", args=[benchmark.key]))
    part = response.context["page"].likeness
    assert part.sentence == (
        f"The 4 tasks count for as much as {likeness.effective_number:.1f} tasks that have nothing in common. "
        f"Few systems agree by chance: 4 independent tasks would give about {likeness.independent_number:.1f}."
    )
    assert (part.clusters, part.joins[0][:2]) == (["Task 1 and Task 2"], ("Task 1", "Task 2"))
    assert [leaf.full_name for leaf in part.tree.leaves] == [f"Task {k + 1}" for k in likeness.order]
    assert [branch.is_near for branch in part.tree.branches] == [True, False, False]
    text = response.content.decode()
    assert 'aria-labelledby="tree-title tree-desc"' in text
    assert 'aria-label="The tree as a table"' in text


def test_tasks_in_another_order_have_their_own_tree(make, client, scores):
    """The hash of the inputs is the same in every order of the tasks."""
    benchmark = make.published({f"S{i}": row.tolist() for i, row in enumerate(scores)})
    address = reverse("api:agreement", args=[benchmark.key])
    assert client.get(address).json()["tasks"]["clusters"] == [["task-1", "task-2"]]
    present = present_proposal(benchmark)
    proposal = replace(present, tasks=present.tasks[::-1])
    apply_proposal(benchmark, proposal, author=owner_of(benchmark), token=preview_proposal(benchmark, proposal).token)
    make.publish(benchmark)
    assert client.get(address).json()["tasks"]["clusters"] == [["task-2", "task-1"]]


def test_two_tasks_have_no_tree_and_the_page_says_why(make, client):
    benchmark = make.published({name: row[:2] for name, row in TOY.items()})
    response = client.get(reverse("agreement", args=[benchmark.key]))
    assert response.context["page"].likeness.tree is None
    assert "The tasks are not compared: only 3 to 150 tasks of weight above 0 are compared, and there are 2" in (
        response.content.decode()
    )


def test_groups_of_tasks_and_two_columns_of_a_data_set_are_compared(make, client, scores):
    tasks = [TaskSpec(f"Task {t + 1}", group=group, cluster=cluster) for t, (group, cluster) in
             enumerate([("direct", "a"), ("tuned", "a"), ("direct", "b"), ("tuned", "b")])]  # fmt: skip
    groups = [GroupSpec("direct"), GroupSpec("tuned")]
    benchmark = make.published({f"S{i}": row.tolist() for i, row in enumerate(scores)}, tasks=tasks, groups=groups)
    settings, clusters = ["direct", "tuned"] * 2, ["a", "a", "b", "b"]
    expected = group_agreement(ScoreMatrix(scores, groups=settings, clusters=clusters))
    [pair], [engine] = (
        client.get(reverse("api:agreement", args=[benchmark.key])).json()["task_groups"]["pairs"], expected.pairs
    )  # fmt: skip
    assert (pair["first"], pair["second"]) == ("direct", "tuned")
    assert pair["kendall_tau"] == pytest.approx(engine.tau)
    assert pair["same_top"] == pytest.approx(engine.same_top)
    assert [(one["first"], one["second"]) for one in pair["columns"]] == [("task-1", "task-2"), ("task-3", "task-4")]
    assert [one["kendall_tau"] for one in pair["columns"]] == pytest.approx([one.tau for one in engine.columns])
    text = client.get(reverse("agreement", args=[benchmark.key])).content.decode()
    assert 'aria-label="Pairs of groups"' in text
    assert f'<td class="number">{engine.tau:.2f}</td>'.replace("-", "\N{MINUS SIGN}") in text
