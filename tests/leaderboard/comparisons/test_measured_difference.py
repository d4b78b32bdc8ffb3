"""The mean difference of two systems with its standard error, on the page of the pair and in the API."""

import math
import statistics

import pytest
from django.urls import reverse
from scipy.special import stdtrit

from leaderboard.benchmarks.create import TaskSpec
from leaderboard.submissions.rows import SubmittedRow
from leaderboard.submissions.uploads import Upload, submit_upload
from tests.factories import owner_of
from tests.leaderboard.evaluation.made import add_references

TASKS = [TaskSpec("Task 1"), TaskSpec("Task 2", direction=-1)]
SCORES = {
    ("Ada", "Task 1"): [1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1], ("Bert", "Task 1"): [1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1],
    ("Ada", "Task 2"): [3, 2, 4, 1, 3, 5, 2, 2, 1, 4], ("Bert", "Task 2"): [4, 2, 4, 2, 3, 4, 3, 2, 2, 5],
}  # fmt: skip


def measured(client, benchmark):
    return client.get(reverse("api:head_to_head", args=[benchmark.key]), {"a": "ada", "b": "bert"}).json()["measured"]


def uploaded(make, header, lines, **kind):
    benchmark = make.benchmark({}, tasks=TASKS)
    owner = benchmark.memberships.get(role="owner").user
    table = "\n".join([header, *lines, ""]).encode()
    submit_upload(benchmark, owner, Upload(table=table, creates_systems=True, **kind))
    return make.publish(benchmark)


def with_instances(make):
    lines = [f"{s},{t},q{u},{score}" for (s, t), row in SCORES.items() for u, score in enumerate(row)]
    return uploaded(make, "system,task,instance,score", lines, is_of_instances=True)


def test_instances_give_the_paired_error(make, client):
    benchmark = with_instances(make)
    apart = [
        [(a - b) * direction for a, b in zip(SCORES["Ada", task], SCORES["Bert", task], strict=True)]
        for task, direction in (("Task 1", 1), ("Task 2", -1))
    ]
    difference = statistics.mean(map(statistics.mean, apart))
    error = sum(statistics.variance(row) / len(row) for row in apart) ** 0.5 / 2
    degrees = 1 / sum(len(row) * (1 / len(row) / 2) ** 2 for row in apart) - 1
    assert measured(client, benchmark) == {
        "measured_by": "instances",
        "difference": pytest.approx(difference),
        "standard_error": pytest.approx(error),
        "detectable": pytest.approx((stdtrit(degrees, 0.975) + stdtrit(degrees, 0.8)) * error),
        "n_tasks": 2,
        "n_common": 22,
    }
    page = client.get(reverse("head_to_head", args=[benchmark.key]), {"a": "ada", "b": "bert"}).content.decode()
    assert "On 22 common instances of 2 tasks, Ada has" in page
    low, high = (f"{difference + side * stdtrit(degrees, 0.975) * error:.3g}" for side in (-1, 1))
    assert f"The 95 % interval, {low} to {high}, excludes 0" in page


@pytest.mark.parametrize("role", ["", "member", "moderator"])
def test_where_references_are_hidden_only_moderators_see_the_paired_error(make, client, role):
    """With the means it would give the counts of instances on which either is ahead, where scores are 0 or 1."""
    benchmark = with_instances(make)
    add_references(benchmark.tasks.get(key="task-1"), "id,reference\na,x\nb,y\n", "accuracy", by=owner_of(benchmark))
    if role:
        client.force_login(make.member(benchmark, role), backend="django.contrib.auth.backends.ModelBackend")
    assert measured(client, benchmark) is None  # a session is no one to the API
    page = client.get(reverse("head_to_head", args=[benchmark.key]), {"a": "ada", "b": "bert"}).content.decode()
    assert ("paired on these instances" in page) is (role == "moderator")


def test_without_either_nothing_is_said(make, client):
    benchmark = uploaded(make, "system,Task 1,Task 2", ["Ada,1,2", "Bert,2,1"])
    assert measured(client, benchmark) is None


@pytest.mark.parametrize(("of_bert", "n_tasks"), [("0.5", 2), ("0", 1)])
def test_a_standard_error_of_0_is_no_certainty(make, client, of_bert, n_tasks):
    benchmark = make.benchmark({}, tasks=TASKS)
    scores = [("Ada", (80.0, 2.0), (0.3, 0.4)), ("Bert", (70.0, 1.0), (0.4, float(of_bert)))]
    rows = [
        SubmittedRow(
            system_name=name,
            scores={"task-1": first, "task-2": second},
            details={"task-1": (error, None), "task-2": (other, None)},
        )
        for name, (first, second), (error, other) in scores
    ]
    submit_upload(benchmark, owner_of(benchmark), Upload(rows=rows, creates_systems=True))
    measure = measured(client, make.publish(benchmark))
    assert (measure["measured_by"], measure["n_tasks"]) == ("standard_errors", n_tasks)
    assert measure["standard_error"] == pytest.approx(0.5 if n_tasks == 1 else math.hypot(0.5, 0.4, 0.5) / 2)
