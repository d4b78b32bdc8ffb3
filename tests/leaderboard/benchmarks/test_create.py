"""Making benchmarks: what is stored, and what is refused before anything is."""

from decimal import Decimal
from functools import partial

import pytest
from django.core.exceptions import ValidationError

from leaderboard.benchmarks.create import GroupSpec, TaskSpec, create_benchmark
from leaderboard.benchmarks.releases import new_edition, use_as_template
from leaderboard.models import Benchmark, Membership, Task, TaskGroup
from leaderboard.rankings.configuration import default_rule_choices
from tests.concurrency import at_once
from tests.factories import owner_of


def created(make, **fields) -> Benchmark:
    return create_benchmark(**({"name": "New", "owner": make.user()} | fields))


def test_a_benchmark_has_its_owner_its_groups_and_its_tasks_in_order(make):
    groups = [GroupSpec("Hard ones", Decimal("2.5")), GroupSpec("Easy", key="e")]
    tasks = [TaskSpec("Z", group="hard ONES"), TaskSpec(" A ", key="first", direction=-1), TaskSpec("a b")]
    benchmark = created(make, name=" New Thing ", groups=groups, tasks=tasks)
    assert (benchmark.key, benchmark.name, benchmark.last_revision_number) == ("new-thing", "New Thing", 0)
    assert [membership.role for membership in benchmark.memberships.all()] == ["owner"]
    assert list(benchmark.groups.values_list("key", "name", "weight")) == [
        ("hard-ones", "Hard ones", Decimal("2.5")), ("e", "Easy", Decimal(1)),
    ]  # fmt: skip
    assert list(benchmark.tasks.values_list("key", "name", "name_folded", "direction", "group__key")) == [
        ("z", "Z", "z", 1, "hard-ones"), ("first", "A", "a", -1, None), ("a-b", "a b", "a b", 1, None),
    ]  # fmt: skip


def test_keys_made_from_names_are_numbered_where_taken(make):
    assert [created(make).key for _ in range(3)] == ["new", "new-2", "new-3"]
    tasks = created(make, tasks=[TaskSpec("a b"), TaskSpec("a-b"), TaskSpec("A_B")]).tasks
    assert list(tasks.values_list("key", flat=True)) == ["a-b", "a-b-2", "a-b-3"]


@pytest.mark.parametrize(
    "fields",
    [
        {"name": ""}, {"name": "=x"}, {"name": "x" * 201}, {"key": "Not A Key"}, {"key": "a" * 81}, {"key": "-a"},
        {"key": "a\n"}, {"visibility": "secret"}, {"submission_policy": "chaos"}, {"missing_policy": "zero"},
        {"default_rule": "best"}, {"source_url": "javascript:alert(1)"}, {"source_url": "no address"},
        {"tasks": [TaskSpec("")]}, {"tasks": [TaskSpec("+1")]}, {"tasks": [TaskSpec("T"), TaskSpec("t")]},
        {"tasks": [TaskSpec("T", key="t"), TaskSpec("U", key="t")]}, {"tasks": [TaskSpec("T", weight=Decimal(-1))]},
        {"tasks": [TaskSpec("T", direction=2)]}, {"tasks": [TaskSpec("T", key="T!")]}, {"groups": [GroupSpec("@g")]},
        {"groups": [GroupSpec("G", key="g"), GroupSpec("H", key="g")]}, {"groups": [GroupSpec("G", Decimal(-1))]},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_not_valid_leaves_nothing(make, fields):
    with pytest.raises((ValidationError, ValueError)):
        created(make, **fields)
    assert [model.objects.count() for model in (Benchmark, Task, TaskGroup, Membership)] == [0] * 4


def test_every_rule_that_the_form_offers_can_be_the_default_rule(make):
    offered = [key for key, _ in default_rule_choices()]
    owner = make.user(is_staff=True)
    assert [created(make, owner=owner, default_rule=key).default_rule for key in offered] == offered


@pytest.mark.parametrize("rule", ["kemeny", "bradley_terry", "borda[ties=average]"])
def test_an_edition_and_a_benchmark_with_the_same_tasks_have_the_default_rule(make, rule):
    variants = [rule] if "[" in rule else []
    first = created(make, tasks=[TaskSpec("T")], default_rule=rule, variants=variants)
    second = new_edition(first, author=owner_of(first), name="Second", with_scores=False)
    third = use_as_template(first, author=make.user(), name="Third")
    assert [(made.default_rule, made.variants) for made in (first, second, third)] == [(rule, variants)] * 3


def test_a_variant_as_the_default_rule_is_stored_in_one_form(make):
    written = ["copeland[ variant = lower ]"]
    made = created(make, default_rule=written[0], variants=written)
    assert (made.default_rule, made.variants) == ("copeland[variant=lower]", ["copeland[variant=lower]"])


def test_a_key_that_is_taken_is_refused(make):
    created(make, key="one")
    with pytest.raises(ValidationError, match=r"There is a benchmark with the key “[a-z-]+” already"):
        created(make, key="one")


# --- How many one account may make -----------------------------------------------------------------------------------


def make_one(owner, number):
    return create_benchmark(name=f"Number {number}", owner=owner, tasks=[TaskSpec("T")])


def test_an_account_makes_so_many_benchmarks_and_no_more(make, settings):
    settings.BENCHMARKS_PER_ACCOUNT = 2
    owner = make.user()
    first = make_one(owner, 1)
    new_edition(first, author=owner, name="Second", with_scores=False)
    with pytest.raises(ValidationError, match="can create 2 benchmarks here, and yours has"):
        make_one(owner, 3)
    assert owner.memberships.count() == 2
    make_one(make.user(), 4)


def test_staff_and_imports_are_not_limited(make, settings):
    settings.BENCHMARKS_PER_ACCOUNT = 1
    staff, owner = make.user(is_staff=True), make.user()
    for number in range(3):
        make_one(staff, number)
        create_benchmark(name=f"Folder {number}", owner=owner, is_limited=False)
    make_one(owner, 9)
    assert (staff.memberships.count(), owner.memberships.count()) == (3, 4)


def test_a_benchmark_that_cannot_be_made_does_not_count(make, settings):
    settings.BENCHMARKS_PER_ACCOUNT = 1
    owner = make.user()
    with pytest.raises(ValidationError):
        create_benchmark(name="Bad", owner=owner, default_rule="dice")
    make_one(owner, 1)


def test_two_at_once_never_both_take_the_last_place(make_committed, settings):
    settings.BENCHMARKS_PER_ACCOUNT = 3
    owner = make_committed.user()
    outcomes = at_once([partial(attempt, owner, number) for number in range(6)])
    assert sum(outcomes) == 3
    assert owner.memberships.count() == 3


def attempt(owner, number) -> bool:
    try:
        make_one(owner, number)
    except ValidationError:
        return False
    return True
