"""A benchmark with the tasks of another one."""

from leaderboard.benchmarks.create import GroupSpec, TaskSpec
from leaderboard.models import Benchmark
from leaderboard.rankings.configuration import present_configuration
from tests.markup import compact
from tests.signing_in import signed_in


def test_a_reader_copies_tasks_and_weights_and_nothing_that_only_owners_see(make):
    tasks = [TaskSpec("Speed", weight="1.5", direction=-1, group="G", maximum=9.0), TaskSpec("Recall", precision="0.1")]
    about = {"daily_cap": 3, "description": "Ours.", "doi": "10.5281/zenodo.1", "default_rule": "copeland"}
    benchmark = make.published(
        {"A": [1.0, 2.0]}, tasks=tasks, groups=[GroupSpec("G", weight="2.5")], gamma=66.6, **about
    )
    reader = make.user()
    browser = signed_in(reader)
    assert f"/b/{benchmark.key}/template/" in compact(browser.get(f"/b/{benchmark.key}/"))
    assert browser.post(f"/b/{benchmark.key}/template/", {"name": "Ours too"})["Location"] == "/b/ours-too/manage/"
    made = Benchmark.objects.get(key="ours-too")
    copied, own = present_configuration(benchmark), present_configuration(made)
    assert [(t.key, t.weight, t.direction, t.group, t.maximum, t.precision) for t in own.tasks] == [
        (t.key, t.weight, t.direction, t.group, t.maximum, t.precision) for t in copied.tasks
    ]
    assert (own.groups, own.gamma, own.aggregation, own.missing_policy) == (
        copied.groups, copied.gamma, copied.aggregation, copied.missing_policy,
    )  # fmt: skip
    assert (made.default_rule, made.visibility, made.daily_cap, made.description, made.doi) == (
        "copeland", "private", None, "", "",
    )  # fmt: skip
    assert list(made.memberships.values_list("user", "role")) == [(reader.pk, "owner")]
    assert not made.systems.exists()


def test_archived_tasks_and_their_groups_are_not_copied(make):
    tasks = [TaskSpec("Seen", group="G"), TaskSpec("Gone", group="H")]
    benchmark = make.published({"A": [1.0, 2.0]}, tasks=tasks, groups=[GroupSpec("G"), GroupSpec("H")])
    benchmark.tasks.filter(name="Gone").update(is_archived=True)
    signed_in(make.user()).post(f"/b/{benchmark.key}/template/", {"name": "Copy"})
    copy = Benchmark.objects.get(key="copy")
    names = [list(rows.values_list("name", flat=True)) for rows in (copy.tasks, copy.groups)]
    assert names == [["Seen"], ["G"]]


def test_a_name_that_is_taken_or_none_is_refused_on_the_page(make):
    benchmark, browser = make.published(), signed_in(make.user())
    answer = browser.post(f"/b/{benchmark.key}/template/", {"name": "", "key": "Not a key"})
    assert answer.status_code == 400
    assert "A key is lower-case letters" in compact(answer)
    assert Benchmark.objects.count() == 1
