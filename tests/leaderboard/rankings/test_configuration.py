"""Configurations: what a revision keeps of its tasks, and when two revisions share one."""

from decimal import Decimal

import pytest
from django.db import transaction

from leaderboard.benchmarks.create import GroupSpec, TaskSpec, record_configuration_change
from leaderboard.common.text import decimal_text
from leaderboard.models import Benchmark, Configuration, Task, TaskGroup
from leaderboard.rankings.configuration import BoardConfiguration, present_configuration, store_configuration


@pytest.mark.parametrize(
    ("weight", "text"),
    [
        ("1", "1"), ("1.0000000000", "1"), ("0.5", "0.5"), ("0.3333333333", "0.3333333333"), ("100", "100"),
        ("1E+2", "100"), ("1E-10", "0.0000000001"), ("0", "0"), ("0.0000", "0"), ("10.50", "10.5"),
    ],
)  # fmt: skip
def test_a_weight_is_written_without_exponent_and_without_idle_zeros(weight, text):
    assert decimal_text(Decimal(weight)) == text


def test_a_weight_reads_the_same_before_and_after_it_is_stored(make):
    benchmark = make.benchmark(tasks=[TaskSpec("T", weight=Decimal("0.1"))], scores={})
    task = benchmark.tasks.get()
    assert decimal_text(task.weight) == decimal_text(Decimal("0.1")) == "0.1"


def test_the_content_is_everything_that_a_ranking_or_a_page_needs_later(make):
    benchmark = make.benchmark(
        {},
        tasks=[
            TaskSpec("Speed", direction=-1, group="", weight=Decimal("2.5"), metric="time", unit="s", minimum=0.0),
            TaskSpec("Accuracy", maximum=100.0, chance=50.0),
        ],
        gamma=95.0,
        missing_policy="median",
        replacement="task",
    )
    ids = dict(benchmark.tasks.values_list("key", "pk"))
    assert present_configuration(benchmark).content == {
        "groups": [],
        "tasks": [
            {
                "id": ids["speed"], "key": "speed", "name": "Speed", "group": None, "direction": -1, "weight": "2.5",
                "metric": "time", "unit": "s", "minimum": 0.0, "maximum": None, "chance": None,
            },
            {
                "id": ids["accuracy"], "key": "accuracy", "name": "Accuracy", "group": None, "direction": 1,
                "weight": "1", "metric": "", "unit": "", "minimum": None, "maximum": 100.0, "chance": 50.0,
            },
        ],
        "gamma": 95.0,
        "missing_policy": "median",
        "aggregation": "basic",
        "replacement": "task",
    }  # fmt: skip


def test_a_stored_configuration_reads_back_and_is_written_again_as_it_was(make):
    tasks = [
        TaskSpec("Plain"),
        TaskSpec("Rounded", precision=Decimal("0.10"), maximum=100.0),
        TaskSpec("Near", cluster="both", group="G", weight=Decimal("0.3333333333"), maximum=100.0),
    ]
    contents = []
    for gamma, of in [(None, tasks), (None, tasks[1:]), (95.0, tasks[1:])]:
        content = make.benchmark({"A": [1.0] * len(of)}, tasks=of, gamma=gamma).revisions.get().configuration.content
        configuration = BoardConfiguration.read(content)
        assert configuration.content == content
        contents.append((configuration.gamma_derived, configuration.gamma_in_force, "derived_gamma" in content))
    assert contents == [(None, None, False), (95.0, 95.0, True), (None, 95.0, False)]


def test_revisions_share_the_row_of_an_unchanged_configuration(make):
    benchmark = make.benchmark()
    make.accepted(benchmark, {"E": [1.0] * 5})
    assert len(set(benchmark.revisions.values_list("configuration", flat=True))) == 1
    assert Configuration.objects.count() == 1


CHANGES = {
    "a weight": lambda b: b.tasks.filter(key="task-1").update(weight=Decimal("2")),
    "a direction": lambda b: b.tasks.filter(key="task-1").update(direction=-1),
    "a name": lambda b: b.tasks.filter(key="task-1").update(name="Renamed"),
    "a scale": lambda b: b.tasks.filter(key="task-1").update(maximum=100.0),
    "the order": lambda b: b.tasks.filter(key="task-1").update(order=9),
    "archiving": lambda b: b.tasks.filter(key="task-1").update(is_archived=True),
    "a new task": lambda b: Task.objects.create(benchmark=b, key="t9", name="T9", name_folded="t9", order=9),
    "a group": lambda b: TaskGroup.objects.create(benchmark=b, key="g", name="G"),
    "gamma": lambda b: Benchmark.objects.filter(pk=b.pk).update(gamma=95.0),
    "the policy": lambda b: Benchmark.objects.filter(pk=b.pk).update(missing_policy="median"),
    "the aggregation": lambda b: Benchmark.objects.filter(pk=b.pk).update(aggregation="two_step"),
    "the replacement": lambda b: Benchmark.objects.filter(pk=b.pk).update(replacement="task"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_makes_a_revision_and_the_old_one_keeps_its_own(make, change):
    benchmark = make.benchmark()
    old = benchmark.revisions.get().configuration.content
    author = make.user()
    with transaction.atomic():
        change(benchmark)
        benchmark.refresh_from_db()
        revision = record_configuration_change(benchmark, author=author, note="why")
    assert (revision.number, revision.cause, revision.author, revision.note) == (2, "configuration", author, "why")
    assert revision.configuration.content != old
    assert benchmark.revisions.get(number=1).configuration.content == old


@pytest.mark.parametrize("field", ["name", "description", "visibility", "default_rule", "citation"])
def test_what_no_figure_depends_on_makes_no_revision(make, field):
    benchmark = make.benchmark()
    Benchmark.objects.update(**{field: {"visibility": "private", "default_rule": "mean"}.get(field, "Other")})
    benchmark.refresh_from_db()
    with transaction.atomic():
        assert record_configuration_change(benchmark, author=None) is None
    assert benchmark.revisions.count() == 1


def test_before_the_first_scores_there_is_nothing_to_revise(make):
    benchmark = make.benchmark({}, n_tasks=2)
    benchmark.tasks.update(weight=Decimal(3))
    with transaction.atomic():
        assert record_configuration_change(benchmark, author=None) is None
    assert benchmark.revisions.count() == 0


def test_going_back_shares_the_first_row_again(make):
    benchmark = make.benchmark()
    for weight in ("2", "1"):
        with transaction.atomic():
            benchmark.tasks.filter(key="task-1").update(weight=Decimal(weight))
            record_configuration_change(benchmark, author=None)
    first, second, third = benchmark.revisions.order_by("number").values_list("configuration", flat=True)
    assert first == third != second
    assert store_configuration(benchmark).pk == first


def test_tasks_and_groups_stand_in_their_order(make):
    benchmark = make.benchmark({}, tasks=[TaskSpec(name) for name in ("Z", "A", "M")])
    assert [task["key"] for task in present_configuration(benchmark).content["tasks"]] == ["z", "a", "m"]
    assert GroupSpec("G").weight == Decimal(1)
