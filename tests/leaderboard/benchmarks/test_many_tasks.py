"""Proposals with many tasks: checked by what was read once, with every problem at its place."""

from dataclasses import replace
from decimal import Decimal

import pytest

from leaderboard.benchmarks.tasks import ProposalError, TaskEdit, present_proposal, write_proposal
from leaderboard.models import Task


def test_queries_do_not_grow_with_the_number_of_new_tasks(make, django_assert_max_num_queries):
    benchmark = make.benchmark({}, n_tasks=1)
    proposal = present_proposal(benchmark)
    tasks = [*proposal.tasks, *(TaskEdit(name=f"New {number}", metric="accuracy") for number in range(300))]
    with django_assert_max_num_queries(20):
        changes = write_proposal(benchmark, replace(proposal, tasks=tasks))
    assert list(benchmark.tasks.values_list("name", flat=True)) == [task.name for task in tasks]
    assert {change.of for change in changes} == {f"new-{number}" for number in range(300)}


def test_every_problem_has_its_place_and_the_words_of_the_constraint(make):
    benchmark = make.benchmark({}, n_tasks=2)
    proposal = present_proposal(benchmark)
    tasks = [
        proposal.tasks[0],
        TaskEdit(name="Low", weight=Decimal(-1)),
        TaskEdit(name="First", key="same"),
        TaskEdit(name="Second", key="same"),
        TaskEdit(name="task 2"),  # which is stored, and not in the proposal
        TaskEdit(name="Scale", minimum=1.0, maximum=0.0),
    ]
    with pytest.raises(ProposalError) as caught:
        write_proposal(benchmark, replace(proposal, tasks=tasks))
    assert caught.value.problems == [
        ("tasks", 1, "__all__", "Constraint “task_weight_not_negative” is violated."),
        ("tasks", 3, "__all__", "Task with this Benchmark and Key already exists."),
        ("tasks", 4, "__all__", "Task with this Benchmark and Name folded already exists."),
        ("tasks", 5, "maximum", "The maximum must be above the minimum."),
    ]
    assert Task.objects.filter(benchmark=benchmark).count() == 2
