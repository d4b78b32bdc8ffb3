from __future__ import annotations

import csv
import io
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from ranking_engine.core.instances import InstanceScores, aggregate, aggregate_all, paired_differences
from ranking_engine.core.ranking import UNRANKED
from ranking_engine.files.instance_tables import read_instances
from ranking_engine.files.tables import TableError
from tests.reference import reference_answers, reference_folder

FILES = ("DIALOG_pc", "DIALOG_tc", "FLICKR", "MLQE", "REAL_SUM", "SUM_EVAL", "TAC_08", "TAC_09", "TAC_11")


@st.composite
def instance_scores(draw):
    n, T = draw(st.integers(1, 10)), draw(st.integers(1, 3))
    cell = st.sampled_from([0.0, 1.0, 2.0, -1.5, np.nan])
    blocks = []
    for _ in range(T):
        U = draw(st.integers(1, 4))
        rows = draw(st.lists(st.lists(cell, min_size=U, max_size=U), min_size=n, max_size=n))
        blocks.append(np.array(rows))
    names = tuple(f"s{i}" for i in range(n)), tuple(f"t{t}" for t in range(T))
    directions = tuple(draw(st.sampled_from([1, -1])) for _ in range(T))
    return InstanceScores(*names, tuple(blocks), directions)


def naive_points(columns):
    """The number of systems below, and half of those tied, over all columns: lists of scores, None = missing."""
    points = {}
    for column in columns:
        for i, mine in enumerate(column):
            if mine is not None:
                others = [x for j, x in enumerate(column) if j != i and x is not None]
                gained = Fraction(2 * sum(x < mine for x in others) + sum(x == mine for x in others), 2)
                points[i] = points.get(i, 0) + gained
    return points


def columns_of(scores, t):
    block = scores.blocks[t] * scores.directions[t]
    return [[None if np.isnan(x) else x for x in column] for column in block.T]


def naive(scores, aggregation):
    n, T = scores.n_systems, len(scores.blocks)
    by_task = [naive_points(columns_of(scores, t)) for t in range(T)]
    if aggregation == "one_level":
        return {i: sum(p[i] for p in by_task if i in p) for i in range(n) if any(i in p for p in by_task)}
    if aggregation == "two_level":
        return naive_points([[p.get(i) for i in range(n)] for p in by_task])
    means = {}
    for i in range(n):
        own = [[c[i] for c in columns_of(scores, t) if c[i] is not None] for t in range(T)]
        own = [sum(map(Fraction, x)) / len(x) for x in own if x]
        if own:
            means[i] = sum(own) / len(own)
    return means


@settings(max_examples=60, deadline=None)
@given(instance_scores())
def test_aggregations_are_as_defined(scores):
    for aggregation, ranking in aggregate_all(scores).items():
        expected = naive(scores, aggregation)
        score_of = {i: score for i, score in enumerate(ranking.scores.tolist()) if not np.isnan(score)}
        assert score_of == pytest.approx({i: float(score) for i, score in expected.items()}, abs=1e-12), aggregation
        assert set(np.flatnonzero(ranking.ranks == UNRANKED)) == set(range(scores.n_systems)) - set(expected)


@pytest.mark.parametrize("n", [3, 30])
def test_many_instances_in_blocks_are_as_defined(n, monkeypatch):
    monkeypatch.setattr("ranking_engine.core.instances._BLOCK_CELLS", 64)
    random = np.random.default_rng(0)
    scores = InstanceScores(tuple(map(str, range(n))), ("t",), (random.integers(0, 5, size=(n, 40)) + 0.0,))
    expected = naive(scores, "one_level")
    assert aggregate(scores, "one_level").scores.tolist() == [float(expected[i]) for i in range(n)]


def peers_float(text):
    """A number as the peer's parser reads it: 17 digits added up as floats, then one division. It is off by rounding,
    which makes and breaks ties that the nearest floats do not have.
    """
    number, n_digits, exponent = 0.0, 0, 0
    mantissa, _, power = text.strip().lstrip("-").lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    for place, digit in enumerate(whole + fraction):
        if n_digits < 17:
            number, n_digits = number * 10.0 + int(digit), n_digits + 1
            exponent -= place >= len(whole)
        else:
            exponent += place < len(whole)
    exponent += int(power or 0)
    number = number * 10.0**exponent if exponent > 0 else number / 10.0**-exponent
    return -number if text.strip().startswith("-") else number


@pytest.mark.parametrize("name", ["DIALOG_pc", "DIALOG_tc", "TAC_08"])
def test_published_files_give_the_peers_tie_aware_points_to_the_digit(name):
    path = reference_folder() / "data" / "instance" / f"{name}.csv"
    answers = reference_answers(f"colombo-{name}-swapped")
    exact = read_instances(path, system_column="Utterance")
    rows = list(csv.reader(io.StringIO(path.read_text())))
    assert [exact.n_systems, len(exact.blocks)] == [answers["n_systems"], len(answers["metrics"])]
    for system, mean in answers["mean"]["scores"].items():
        i = exact.system_names.index(system)
        assert aggregate(exact, "mean").scores[i] == pytest.approx(mean, abs=1e-12)
    documents = list(dict.fromkeys(row[0] for row in rows[1:]))
    blocks = np.full((len(rows[0]) - 2, exact.n_systems, len(documents)), np.nan)
    for document, system, *cells in rows[1:]:
        blocks[:, exact.system_names.index(system), documents.index(document)] = list(map(peers_float, cells))
    inexact = InstanceScores(exact.system_names, exact.task_names, tuple(blocks))
    object.__setattr__(inexact, "blocks", tuple(blocks))  # the peer compares every bit, and we compare 12 digits
    for aggregation in ("one_level", "two_level"):
        points = dict(zip(exact.system_names, aggregate(inexact, aggregation).scores.tolist(), strict=True))
        assert points == answers["tie_aware"][f"{aggregation}_counts"]
        assert abs(aggregate(exact, aggregation).scores - aggregate(inexact, aggregation).scores).max() <= 13.5


@pytest.mark.parametrize("name", FILES)
def test_every_published_file_is_read_and_ranked(name):
    scores = read_instances(reference_folder() / "data" / "instance" / f"{name}.csv", system_column="Utterance")
    n, U = scores.n_systems, scores.blocks[0].shape[1]
    total = aggregate(scores, "one_level").scores.sum()
    assert total == len(scores.blocks) * U * n * (n - 1) / 2  # every pair gives one point


WIDE = "System,Utterance,a,b\nX,u1,1,2\nX,u2,3,\nY,u1,0,2\nY,u2,4,1\n"
LONG = "task,system,score,instance\na,X,1,u1\na,X,3,u2\nb,X,2,u1\na,Y,0,u1\na,Y,4,u2\nb,Y,2,u1\nb,Y,1,u2\n"


def read(text, **options):
    return read_instances(io.StringIO(text), **options)


def test_both_forms_hold_the_same_scores():
    for scores in (read(WIDE), read(LONG)):
        assert scores.system_names == ("X", "Y")
        assert scores.task_names == ("a", "b")
        np.testing.assert_array_equal(scores.blocks[0], [[1, 3], [0, 4]])
        np.testing.assert_array_equal(scores.blocks[1], [[2, np.nan], [2, 1]])
    swapped = read(WIDE, system_column="utterance")
    assert swapped.system_names == ("u1", "u2")
    np.testing.assert_array_equal(swapped.blocks[0], [[1, 0], [3, 4]])
    assert read(WIDE, lower=["b"]).directions == (1, -1)


def test_tasks_of_the_long_form_may_have_instances_of_their_own():
    scores = read("system,task,instance,score\nX,a,1,5\nY,a,1,4\nX,b,7,1\nY,b,7,2\nY,b,8,3\n")
    assert [block.shape for block in scores.blocks] == [(2, 1), (2, 2)]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "table: the table is empty"),
        ("system,instance,a\n", {}, "table: the table has no rows below its header"),
        ("model,instance,a\nX,1,2\n", {}, "table, line 1: no column is called 'system' (for the systems)"),
        ("system,a,b\nX,1,2\n", {}, "table, line 1: no column is called 'instance or utterance' (for the instances)"),
        ("system,instance\nX,1\n", {}, "table, line 1: no column holds the scores of a task"),
        ("system,instance,a\nX,1,two\n", {}, "table, line 2, column 3 (a): 'two' is not a number"),
        ("system,instance,a\nX,1,inf\n", {}, "table, line 2, column 3 (a): 'inf' is not a number"),
        ("system,instance,a\nX,1,1_0\n", {}, "table, line 2, column 3 (a): '1_0' is not a number"),
        ("system,instance,a\nX,1\n", {}, "table, line 2: 2 cells; the header has 3"),
        ("system,instance,a\nX,1,1\nX,1,2\n", {}, "table, line 3: system 'X' has instance '1' twice"),
        ("system,instance,a,a\nX,1,1,1\n", {}, "table, line 1: two columns have the same name"),
        ("system,instance,a\n,1,1\n", {}, "table, line 2, column 1 (system): the system name '' is empty"),
        ("system,instance,a\nX,1,1\n", {"lower": ["b"]}, "table: no task is called 'b'"),
        (LONG + "a,X,9,u1\n", {}, "table, line 9: system 'X' has instance 'u1' of task 'a' twice"),
    ],
)
def test_bad_tables_are_told_with_their_place(text, options, message):
    with pytest.raises(TableError) as error:
        read(text, **options)
    assert error.value.one_line() == message


def test_systems_that_share_no_instances_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr("ranking_engine.files.instance_tables._SMALL_CELLS", 100)
    rows = [f"s{i},s{i}-{u},1" for i in range(40) for u in range(3)]
    with pytest.raises(TableError, match=r"systems share hardly any instances \(2.5 % of all pairs"):
        read("\n".join(["system,instance,a", *rows]))


def test_many_instances_take_little_memory():
    """Rows are read one by one: the peak is that of the numbers, not of the text."""

    def lines():
        yield "system,instance," + ",".join(f"t{t}" for t in range(10)) + "\n"
        for i in range(10):
            for u in range(700):
                yield f"s{i},{u}," + ",".join(str((i * 7 + u * 3 + t) % 11 / 8) for t in range(10)) + "\n"

    tracemalloc.start()
    scores = read_instances(lines(), name="stream")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert scores.blocks[0].shape == (10, 700)
    assert peak < 6 * 70_000 * 8


def test_intervals_hold_the_difference_and_shrink_with_agreement():
    random = np.random.default_rng(3)
    base = random.normal(size=200)
    block = np.array([base + 1, base + 0.1 * random.normal(size=200), base[::-1]])
    differences = paired_differences(InstanceScores(("A", "B", "C"), ("t",), (block,)), n_resamples=500)
    assert differences.pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert (differences.lower <= differences.difference).all()
    assert (differences.difference <= differences.upper).all()
    assert differences.n_common.tolist() == [200] * 3
    width = differences.upper - differences.lower
    assert width[0] < 0.1 < width[1]  # paired: what all instances share cancels
    assert differences.lower[0] > 0.9
    again = paired_differences(InstanceScores(("A", "B", "C"), ("t",), (block,)), [(0, 2)], n_resamples=500)
    assert (again.lower[0], again.upper[0]) == (differences.lower[1], differences.upper[1])


def test_too_few_common_instances_give_no_interval():
    block = np.array([[1.0, 2, 3, np.nan, 5, 6, 7], [0, 0, 0, 0, 0, 0, np.nan], [np.nan] * 6 + [1]])
    differences = paired_differences(InstanceScores(("A", "B", "C"), ("t",), (block,)), n_resamples=10)
    assert differences.difference[0] == pytest.approx(17 / 5)
    assert np.isnan(differences.lower[:2]).all()
    assert np.isnan(differences.difference[2])
    assert differences.n_common.tolist() == [5, 1, 0]


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match=r"task t have shape \(1, 2\); expected \(2, n_instances\)"):
        InstanceScores(("A", "B"), ("t",), (np.zeros((1, 2)),))
    with pytest.raises(ValueError, match="task t has an infinite score"):
        InstanceScores(("A",), ("t",), (np.array([[np.inf]]),))
    with pytest.raises(ValueError, match="`aggregation` is 'max'"):
        aggregate(InstanceScores(("A",), ("t",), (np.zeros((1, 2)),)), "max")
    with pytest.raises(ValueError, match="`level`"):
        paired_differences(InstanceScores(("A",), ("t",), (np.zeros((1, 2)),)), level=1.0)
