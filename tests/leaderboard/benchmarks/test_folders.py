"""Benchmarks from folders: a good one whole, a bad one not at all."""

import io
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command

from leaderboard.benchmarks.folders import import_folder
from leaderboard.models import Batch, Benchmark, Score, System, Task, TaskGroup
from leaderboard.rankings.published import published_board
from leaderboard.rankings.score_matrix import revision_matrix
from ranking_engine import rank
from ranking_engine.files.benchmark_file import read_benchmark, to_matrix
from ranking_engine.files.tables import TableError, read_table
from tests.leaderboard.site.rules import board_rules

CSV = "system,Speed,Accuracy\nFast one,1.5,60\nGood one,9.25,\n"
TOML = """
title = "Two sides"
description = "What is traded."
source_url = "https://a.example/"
licence = "CC0"
citation = "Somebody, somewhere."
tags = ["trade", "toy"]
default_rule = "copeland"
gamma = 95.0
policy = "median"

[[group]]
name = "Quality"
weight = 2.5

[[task]]
name = "Speed"
direction = "lower"
unit = "s"
weight = 0.5

[[task]]
name = "Accuracy"
key = "acc"
group = "Quality"
minimum = 0
maximum = 100
chance = 50

[[system]]
name = "Fast one"
key = "fast"
"""


def folder(tmp_path: Path, csv: str = CSV, toml: str | None = TOML, name: str = "two-sides") -> Path:
    path = tmp_path / name
    path.mkdir()
    (path / "scores.csv").write_text(csv, encoding="utf-8")
    if toml is not None:
        (path / "benchmark.toml").write_text(toml, encoding="utf-8")
    return path


def test_a_good_folder_becomes_a_benchmark_with_its_first_revision(make, tmp_path):
    owner = make.user()
    benchmark = import_folder(folder(tmp_path), owner=owner)
    assert (benchmark.key, benchmark.name, benchmark.description) == ("two-sides", "Two sides", "What is traded.")
    assert (benchmark.source_url, benchmark.licence, benchmark.tags) == ("https://a.example/", "CC0", ["trade", "toy"])
    assert (benchmark.default_rule, benchmark.missing_policy, benchmark.gamma) == ("copeland", "median", 95.0)
    assert list(benchmark.groups.values_list("key", "weight")) == [("quality", 2.5)]
    tasks = benchmark.tasks.values_list("key", "direction", "group__key", "unit", "minimum", "maximum", "chance")
    assert list(tasks) == [("speed", -1, None, "s", None, None, None), ("acc", 1, "quality", "", 0.0, 100.0, 50.0)]
    assert [str(task.weight.normalize()) for task in benchmark.tasks.all()] == ["0.5", "1"]
    assert list(System.objects.values_list("key", "name")) == [("fast", "Fast one"), ("good-one", "Good one")]
    scores = Score.objects.order_by("pk").values_list("task__key", "value", "missing_reason")
    assert list(scores) == [("speed", 1.5, ""), ("acc", 60.0, ""), ("speed", 9.25, ""), ("acc", None, "not_reported")]
    batch = Batch.objects.get()
    assert (batch.source, batch.uploader, batch.submissions.count()) == ("importer", owner, 2)
    assert benchmark.memberships.get().user == owner
    assert Benchmark.objects.get().last_revision_number == 1


def test_a_table_alone_is_enough(make, tmp_path):
    benchmark = import_folder(folder(tmp_path, toml=None), owner=make.user(), visibility="private", key="other")
    assert (benchmark.key, benchmark.name, benchmark.visibility) == ("other", "two-sides", "private")
    assert benchmark.default_rule == "copeland"  # a score is missing
    assert [task.name for task in benchmark.tasks.all()] == ["Speed", "Accuracy"]


def test_the_site_ranks_a_folder_as_the_command_line_does(make, tmp_path):
    path = folder(tmp_path)
    benchmark = make.publish(import_folder(path, owner=make.user()))
    matrix = to_matrix(read_table(path / "scores.csv"), read_benchmark(path / "benchmark.toml"))
    order = [matrix.system_names.index(name) for name in ("Fast one", "Good one")]
    own = revision_matrix(benchmark.publication.revision).matrix
    assert own.values.tolist()[0] == matrix.values[order].tolist()[0]
    for column in published_board(benchmark.publication).columns:
        expected = rank(matrix, column.rule, missing="median")
        assert column.ranks.tolist() == expected.ranks[order].tolist()
    assert [column.rule for column in published_board(benchmark.publication).columns] == board_rules()


def test_a_stated_key_goes_before_one_made_from_a_name(make, tmp_path):
    toml = '[[system]]\nname = "Good one"\nkey = "fast-one"\n'
    import_folder(folder(tmp_path, toml=toml), owner=make.user())
    assert dict(System.objects.values_list("name", "key")) == {"Good one": "fast-one", "Fast one": "fast-one-2"}


BAD = {
    "no table": (None, TOML, OSError, "scores.csv"),
    "an empty table": ("", TOML, TableError, "scores.csv"),
    "no task": ("system\nA\n", None, TableError, "scores.csv"),
    "no system": ("system,T\n", None, TableError, "scores.csv"),
    "text in a cell": ("system,T\nA,good\n", None, TableError, "line 2, column 2"),
    "infinity": ("system,T\nA,inf\n", None, TableError, "line 2, column 2"),
    "a number too large": ("system,T\nA,1e999\n", None, TableError, "line 2, column 2"),
    "a ragged row": ("system,T,U\nA,1\n", None, TableError, "line 2"),
    "the same system twice": ("system,T\nA,1\na,2\n", None, TableError, "line 3"),
    "the same task twice": ("system,T,t\nA,1,2\n", None, TableError, "line 1"),
    "a system that is a formula": ("system,T\n=A1,1\n", None, TableError, "formula"),
    "a task that is a formula": ("system,=T\nA,1\n", None, TableError, "formula"),
    "a control character": ("system,T\nA\x07,1\n", None, TableError, "control character"),
    "a system with an invisible character": ("system,T\nA\u200b,1\n", None, TableError, "U+200B"),
    "a group with an invisible character": (
        CSV, '[[task]]\nname = "Speed"\ngroup = "a\\u2060b"\n', TableError, "the group of a [[task]] holds"
    ),
    "broken TOML": (CSV, "title = ", TableError, "benchmark.toml"),
    "a task without a column": (CSV, '[[task]]\nname = "Memory"\n', TableError, "'Memory' has no column in scores.csv"),
    "a system without a row": (CSV, '[[system]]\nname = "Slow"\nkey = "slow"\n', TableError, "no row for system"),
    "an unknown policy": (CSV, 'policy = "zero"\n', TableError, "benchmark.toml"),
    "an unknown rule": (CSV, 'default_rule = "best"\n', ValidationError, "'best' is not one of"),
    "a weight too fine": (CSV, '[[task]]\nname = "Speed"\nweight = 1e-11\n', TableError, "ten decimal places"),
    "a negative weight": (CSV, '[[task]]\nname = "Speed"\nweight = -1\n', TableError, "weight"),
    "a script for a source": (CSV, 'source_url = "javascript:alert(1)"\n', ValidationError, "valid URL"),
    "a key that is none": (CSV, '[[task]]\nname = "Speed"\nkey = "A key"\n', (TableError, ValidationError), "key"),
    "a system key that is none": (
        CSV, '[[system]]\nname = "Fast one"\nkey = "../x"\n', (TableError, ValidationError), "key"
    ),
    "two systems of one key": (
        CSV, '[[system]]\nname = "Fast one"\nkey = "good-one"\n[[system]]\nname = "Good one"\nkey = "good-one"\n',
        (TableError, ValidationError), "key",
    ),
    "tags that are no list": (CSV, 'tags = "toy"\n', TableError, "tags"),
    "a title that is too long": (CSV, f'title = "{"x" * 201}"\n', ValueError, "200"),
}  # fmt: skip


@pytest.mark.parametrize(("csv", "toml", "error", "says"), BAD.values(), ids=BAD)
def test_a_bad_folder_says_what_is_wrong_and_leaves_nothing(make, tmp_path, csv, toml, error, says):
    path = folder(tmp_path, csv or "", toml)
    if csv is None:
        (path / "scores.csv").unlink()
    with pytest.raises(error) as caught:
        import_folder(path, owner=make.user())
    assert says in str(caught.value)
    counts = [model.objects.count() for model in (Benchmark, Task, TaskGroup, System, Batch, Score)]
    assert counts == [0] * 6


@pytest.mark.parametrize("name", ["Two Sides", "..", "a_b", "x" * 81])
def test_a_folder_whose_name_is_no_key_asks_for_one(make, tmp_path, name):
    path = folder(tmp_path, name="some") if name == ".." else folder(tmp_path, name=name)
    with pytest.raises(ValidationError):
        import_folder(path, owner=make.user(), key=name)
    assert Benchmark.objects.count() == 0


def test_a_key_that_is_taken_is_refused_and_the_first_benchmark_stays(make, tmp_path):
    path = folder(tmp_path)
    import_folder(path, owner=make.user())
    with pytest.raises(ValidationError):
        import_folder(path, owner=make.user())
    assert (Benchmark.objects.count(), Batch.objects.count(), System.objects.count()) == (1, 1, 2)


# --- The command ---------------------------------------------------------------------------------------------------


def command(path: Path, owner: str = "", **options: str) -> str:
    out = io.StringIO()
    call_command("import_benchmark", str(path), owner=owner, stdout=out, **options)
    return out.getvalue()


def test_the_command_says_where_the_benchmark_is(make, tmp_path):
    owner = make.user()
    said = command(folder(tmp_path), owner.email.upper(), key="other", visibility="private", submissions="closed")
    assert said == "/b/other/  Two sides, revision 1\n"
    benchmark = Benchmark.objects.get()
    assert (benchmark.visibility, benchmark.submission_policy) == ("private", "closed")


@pytest.mark.parametrize("case", ["text in a cell", "an unknown rule", "no table", "two systems of one key"])
def test_the_command_says_in_one_line_what_is_wrong(make, tmp_path, case):
    csv, toml, _, says = BAD[case]
    path = folder(tmp_path, csv or "", toml)
    if csv is None:
        (path / "scores.csv").unlink()
    with pytest.raises(CommandError) as caught:
        command(path, make.user().email)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert Benchmark.objects.count() == 0


def test_the_command_says_which_key_is_taken_and_how_to_choose_another(make, tmp_path):
    owner, path = make.user(), folder(tmp_path)
    command(path, owner.email)
    with pytest.raises(CommandError) as caught:
        command(path, owner.email)
    assert str(caught.value) == (
        f"There is a benchmark with the key “{path.name}” already; another one needs another key. Choose it with --key."
    )
    assert command(path, owner.email, key="another").startswith("/b/another/")


def test_the_command_asks_for_an_owner_that_there_is(db, tmp_path):
    with pytest.raises(CommandError, match=r"no account has the email address nobody@plurank\.example"):
        command(folder(tmp_path), "nobody@plurank.example")
