"""A benchmark as a folder: what is written imports again to the same inputs."""

import pytest
from django.core.management import CommandError, call_command

from leaderboard.benchmarks.create import GroupSpec, TaskSpec
from leaderboard.benchmarks.folders import import_folder
from leaderboard.models import Benchmark, Revision
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.score_matrix import input_hash, revision_matrix
from ranking_engine import rank
from ranking_engine.files.benchmark_file import read_benchmark, to_matrix
from ranking_engine.files.tables import read_table


def hash_of(benchmark):
    revision = Revision.objects.select_related("configuration").filter(benchmark=benchmark).latest("number")
    return input_hash(revision_matrix(revision), configuration_of(revision))


def again(benchmark, folder, owner):
    call_command("export_benchmark", benchmark.key, str(folder), verbosity=0)
    return import_folder(folder, owner=owner, key="again")


def test_odd_numbers_weights_and_names_come_back_with_the_same_hash(make, tmp_path, capsys):
    tasks = [
        TaskSpec('Said "so", twice', direction=-1, group="G\\1", weight="0.0000000001", metric='ü"', minimum=-1e300),
        TaskSpec("Wide", direction=0, chance=1e-17),
        TaskSpec("Plain", maximum=1e22, precision="0.0000001", cluster='C "1"\\'),
    ]
    groups = [GroupSpec(name="G\\1", weight="2.5")]
    scores = {"A, B": [0.1 + 0.2, 5e-324, 1e22], 'C "D"': [-1e300, None, 2 / 3], "Ü😀": [1e16, -0.0, None]}
    first = make.benchmark(scores, tasks=tasks, groups=groups, gamma=66.6)
    second = again(first, tmp_path, first.memberships.get().user)
    assert hash_of(second) == hash_of(first)
    changed = make.benchmark(scores | {"A, B": [0.300000000001, 5e-324, 1e22]}, tasks=tasks, groups=groups, gamma=66.6)
    assert hash_of(changed) != hash_of(first)


def test_a_group_that_lost_its_last_task_is_written_and_both_readers_take_it(make, tmp_path):
    tasks, groups = [TaskSpec("Left", group="New"), TaskSpec("Right")], [GroupSpec("New", "3"), GroupSpec("Old", "2")]
    first = make.benchmark({"A": [1.0, 2.0], "B": [2.0, 1.0]}, tasks=tasks, groups=groups, aggregation="weighted")
    second = again(first, tmp_path, first.memberships.get().user)
    assert hash_of(second) == hash_of(first)
    assert list(second.groups.values_list("name", "weight").order_by("name")) == [("New", 3), ("Old", 2)]
    matrix = to_matrix(read_table(tmp_path / "scores.csv"), read_benchmark(tmp_path / "benchmark.toml"))
    own = revision_matrix(Revision.objects.filter(benchmark=second).latest("number")).matrix
    assert (matrix.groups, matrix.group_weights) == (("New", None), {"New": 3})
    assert rank(matrix, "borda", aggregation="weighted").ranks.tolist() == [2, 1]
    assert rank(own, "borda", aggregation="weighted").ranks.tolist() == [2, 1]


def test_a_folder_is_never_written_over_and_nothing_is_written_of_nothing(make, tmp_path, capsys):
    benchmark = make.benchmark()
    call_command("export_benchmark", benchmark.key, str(tmp_path))
    assert capsys.readouterr().out == f"{tmp_path}: {benchmark.name}, revision 1\n"
    with pytest.raises(CommandError, match="File exists"):
        call_command("export_benchmark", benchmark.key, str(tmp_path))
    with pytest.raises(CommandError, match="no benchmark has the key 'gone'"):
        call_command("export_benchmark", "gone", str(tmp_path))
    empty = make.benchmark({}, n_tasks=2)
    with pytest.raises(CommandError, match=r"no system or no task|no revision yet"):
        call_command("export_benchmark", empty.key, str(tmp_path / "empty"))
    assert not (tmp_path / "empty").exists()
    assert Benchmark.objects.count() == 2
