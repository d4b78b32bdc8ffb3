from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ranking_engine.files.benchmark_file import read_benchmark, to_matrix
from ranking_engine.files.tables import TableError, read_table

TABLE = read_table(b"system,CoLA,loss\nT5,1,2\nBERT,2,1\n", name="scores.csv")

FULL = b"""\
title = "A benchmark"
gamma = 95
policy = "median"

[[task]]
name = "loss"
key = "the-loss"
direction = "lower"
weight = 0.07692307692307693
unit = "nats"
minimum = 0

[[task]]
name = "cola"
direction = "unordered"
group = "grammar"
chance = 0.5
precision = 0.10
cluster = " Judged by linguists "

[[group]]
name = "grammar"
weight = "1/3"

[[system]]
name = "T5"
key = "t5"
"""


def read(text: bytes):
    return read_benchmark(text)


def test_a_full_file_describes_the_tasks_whatever_their_order():
    benchmark = read(FULL)
    matrix = to_matrix(TABLE, benchmark)
    assert matrix.task_names == ("cola", "loss")
    assert matrix.directions.tolist() == [0, -1]
    assert matrix.weights == (Fraction(1), Fraction("0.07692307692307693"))
    assert (matrix.groups, matrix.group_weights) == (("grammar", None), {"grammar": Fraction(1, 3)})
    assert matrix.gamma == 95.0
    np.testing.assert_array_equal(matrix.minimum, [np.nan, 0])
    np.testing.assert_array_equal(matrix.chance, [0.5, np.nan])
    np.testing.assert_array_equal(matrix.precision, [0.1, np.nan])
    assert matrix.clusters == ("Judged by linguists", None)
    assert (benchmark.policy, benchmark.metadata) == ("median", {"title": "A benchmark"})
    assert benchmark.system_keys == {"T5": "t5"}
    assert (benchmark.tasks[0].unit, benchmark.tasks[0].key) == ("nats", "the-loss")


def test_without_a_file_or_without_tasks_in_it_every_task_is_higher_is_better():
    for benchmark in (None, read(b'title = "x"\n')):
        matrix = to_matrix(TABLE, benchmark)
        assert (matrix.directions.tolist(), matrix.weights) == ([1, 1], (Fraction(1), Fraction(1)))


def test_other_values_at_the_top_are_metadata():
    assert read(b"tags = ['nlp']\nyear = 2020\n").metadata == {"tags": ["nlp"], "year": 2020}


def test_columns_and_rows_match_by_key_too():
    table = read_table(b"system,the-loss,COLA\nt5,2,1\n", name="scores.csv")
    assert to_matrix(table, read(FULL)).directions.tolist() == [-1, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"x =", "not valid TOML"),
        (b"title = 'a'\nx = [1,\n2", "not valid TOML"),
        (b"a = 1\n\nb = = 2", "line 3: not valid TOML"),
        (b"\n\xff", "line 2: not UTF-8; save the file as UTF-8"),
        (b"\ngama = 3", "line 2: unknown key 'gama'; did you mean 'gamma'?"),
        (b"gamma = inf", "line 1: gamma is 'Infinity'; expected a finite number"),
        (b"gamma = 1" + b"0" * 400, "line 1: gamma is '1000"),
        (b"gamma = '3'", "line 1: gamma is '3'; expected a finite number"),
        (b"policy = 'guess'", "line 1: policy is 'guess'; expected one of undefined, drop_systems"),
        (
            b"gamma = 1\naggregation = 'two-step'",
            "line 2: aggregation is 'two-step'; expected one of basic, weighted, balanced, two_step",
        ),
        (b"aggregation = 'Balanced'", "line 1: aggregation is 'Balanced'; expected one of basic, "),
        (b"policy = ['median']", "line 1: policy is ['median']; expected one of undefined, drop_systems"),
        (b"aggregation = ['basic']", "line 1: aggregation is ['basic']; expected one of basic, "),
        (b"missing = 'median'", "line 1: unknown key 'missing' at the top: this is called `policy` here"),
        (b"ties = 'best'", "line 1: unknown key 'ties' at the top: commands and Python have this option, and no file"),
        (b"lower_is_better = ['loss']", 'at the top: a [[task]] says direction = "lower"'),
        (b"precision = 0.1", "line 1: unknown key 'precision' at the top: this belongs in a [[task]]"),
        (b"[[task]]\nname = 'CoLA'\nminimum = 5\nmaximum = 1", "line 3: the minimum 5 is above the maximum 1"),
        (b"[[tasks]]\nname = 'CoLA'", "line 1: unknown key 'tasks'; did you mean 'task'?"),
        (b"[task]\nname = 'CoLA'", "line 1: `task` must be written as [[task]]"),
        (b"[settings]\nx = 1", "line 1: unknown key 'settings'"),
        (
            b"[[task]]\nname = 'CoLA'\nwieght = 2",
            "line 3: unknown key 'wieght' in [[task]]; did you mean 'weight'?",
        ),
        (
            b"[[group]]\nname = 'g'\n[[group]]\ndirection = 'higher'",
            "line 4: unknown key 'direction' in [[group]]",
        ),
        (b"[[task]]\n", "line 1: the name of a [[task]] is empty"),
        (b"[[task]]\nname = 3", "line 2: name is '3'; expected a text"),
        (b"[[task]]\nname = 'CoLA'\n[[task]]\nname = 'cola'", "line 4: the task 'cola' is stated twice"),
        (
            b"[[task]]\nname = 'CoLA'\n[[task]]\nname = 'loss'\nweight = -1",
            "line 5: weight is -1; a weight is never",
        ),
        (b"[[task]]\nname = 'CoLA'\nweight = true", "line 3: weight is True; expected a number"),
        (b"[[task]]\nname = 'CoLA'\nweight = nan", "line 3: weight is NaN; expected a number"),
        (
            b"[[task]]\nname = 'CoLA'\ndirection = 'up'",
            "line 3: direction is 'up'; expected one of higher, lower,",
        ),
        (b"[[task]]\nname = 'CoLA'\nchance = 'x'", "line 3: chance is 'x'; expected a finite number"),
        (b"[[task]]\nname = 'CoLA'\nprecision = 0", "line 3: precision is '0'; expected a positive number"),
        (b"[[task]]\nname = 'CoLA'\nprecision = 1e-999999999", "line 3: precision is '1E-999999999'; expected"),
        (b"[[task]]\nname = 'CoLA'\nprecision = [1]", "line 3: precision is "),
        (b"[[task]]\nname = 'CoLA'\ncluster = 3", "line 3: cluster is '3'; expected a text"),
        (b"[[task]]\nname = 'CoLA'\ncluster = \"a\\u200bb\"", "line 3: the cluster of a [[task]] holds the invisible"),
        (b"[[system]]\nname = 'T5'\nkey = 5", "line 3: key is '5'; expected a text"),
        (
            b"[[task]]\nname = 'CoLa2'",
            "line 2: unknown task 'CoLa2': the table has none; did you mean 'CoLA'?",
        ),
        (
            b"[[system]]\nname = 'BERTA'",
            "line 2: unknown system 'BERTA': the table has none; did you mean 'BERT'?",
        ),
        (b"[[group]]\nname = 'g'", "line 2: no task belongs to the group 'g'"),
        (
            b"[[task]]\nname = 'CoLA'\ngroup = 'reading'\n[[group]]\nname = 'readng'\nweight = 2",
            "line 5: no task belongs to the group 'readng'; did you mean 'reading'?",
        ),
        (
            b"[[task]]\nname = 'CoLA'\nweight = 0\n[[task]]\nname = 'loss'\nweight = 0",
            "the weights of all tasks are zero",
        ),
    ],
)
def test_bad_files_are_told_with_their_line(text, message):
    with pytest.raises(TableError) as caught:
        to_matrix(TABLE, read(text))
    assert str(caught.value).startswith("benchmark.toml")
    assert message in str(caught.value)


def test_a_group_whose_last_task_is_gone_changes_no_figure():
    task = b"[[task]]\nname = 'CoLA'\ngroup = 'grammar'\n[[task]]\nname = 'loss'\n[[group]]\nname = 'grammar'\n"
    matrix = to_matrix(TABLE, read(task + b"[[group]]\nname = 'Old'\nweight = 2"))
    assert (matrix.groups, matrix.group_weights) == (("grammar", None), {"grammar": Fraction(1)})
    alone = to_matrix(TABLE, read(b"[[task]]\nname = 'CoLA'\n[[task]]\nname = 'loss'\n[[group]]\nname = 'Old'"))
    assert (alone.groups, alone.group_weights) == ((None, None), {})


def test_a_column_that_the_file_does_not_state_is_told_by_the_table():
    with pytest.raises(TableError) as caught:
        to_matrix(TABLE, read(b"[[task]]\nname = 'CoLA'"))
    assert str(caught.value) == "scores.csv, line 1, column 3 (loss): unknown task: benchmark.toml does not state it"
