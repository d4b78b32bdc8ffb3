from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from ranking_engine import ScoreMatrix

NAN = float("nan")


def full_matrix() -> ScoreMatrix:
    return ScoreMatrix(
        [[1.0, 2.0, 3.0], [4.0, NAN, 6.0]],
        system_names=["A", "B"],
        task_names=["x", "y", "z"],
        directions=[1, -1, 0],
        weights=["0.1", 2, 1],
        groups=["g", None, "h"],
        group_weights={"g": "1/3"},
        gamma=95,
        minimum=[0, None, 1],
        maximum=[100, 5, None],
        chance=[50, None, None],
        precision=["0.1", None, 0.5],
        clusters=[None, "c", "c"],
    )


def test_it_keeps_what_it_is_given_in_exact_form():
    matrix = full_matrix()
    assert matrix.values.dtype == np.float64
    assert (matrix.n_systems, matrix.n_tasks) == (2, 3)
    assert matrix.system_names == ("A", "B")
    assert matrix.weights == (Fraction(1, 10), Fraction(2), Fraction(1))
    assert matrix.groups == ("g", None, "h")
    assert matrix.group_weights == {"g": Fraction(1, 3), "h": Fraction(1)}
    assert matrix.gamma == 95.0
    np.testing.assert_array_equal(matrix.minimum, [0, NAN, 1])
    np.testing.assert_array_equal(matrix.maximum, [100, 5, NAN])
    np.testing.assert_array_equal(matrix.chance, [50, NAN, NAN])
    np.testing.assert_array_equal(matrix.precision, [0.1, NAN, 0.5])
    assert matrix.clusters == (None, "c", "c")


def test_scores_are_values_times_direction_and_an_unordered_task_has_none():
    matrix = full_matrix()
    np.testing.assert_array_equal(matrix.scores, [[1, -2, NAN], [4, NAN, NAN]])
    assert matrix.votes.tolist() == [True, True, False]
    assert matrix.is_complete.tolist() == [True, False]


def test_a_zero_stays_a_plain_zero_whatever_the_direction():
    scores = ScoreMatrix([[0.0, -0.0]], directions=[-1, 1]).scores
    assert not np.signbit(scores).any()


def test_a_system_is_scored_by_a_voting_task_only():
    matrix = ScoreMatrix([[NAN, 1.0], [1.0, NAN], [NAN, NAN]], weights=[1, 0])
    assert matrix.has_score.tolist() == [False, True, False]
    assert matrix.is_complete.tolist() == [False, True, False]


def test_no_voting_task_leaves_nobody_scored_or_complete():
    matrix = ScoreMatrix([[1.0]], directions=[0])
    assert (matrix.has_score.tolist(), matrix.is_complete.tolist()) == ([False], [False])


@pytest.mark.parametrize(
    ("weights", "integers", "denominator"),
    [
        ([0.1, 0.2, 0.3], [1, 2, 3], 10),
        (["1/3", "1/4", 0], [4, 3, 0], 12),
        ([Decimal("0.50"), Fraction(1, 13), 1], [13, 2, 26], 26),
        ([np.float32(0.5), np.int64(3), 1e-3], [500, 3000, 1], 1000),
    ],
)
def test_weights_become_integers_over_their_common_denominator(weights, integers, denominator):
    matrix = ScoreMatrix(np.ones((1, 3)), weights=weights)
    assert matrix.integer_weights.tolist() == integers
    assert matrix.integer_weights.dtype == np.int64
    assert matrix.weight_denominator == denominator
    assert matrix.total_weight == Fraction(sum(integers), denominator)


def test_a_silent_task_has_integer_weight_0_and_no_say_in_the_denominator():
    matrix = ScoreMatrix(np.ones((1, 3)), weights=["1/7", 1, 2], directions=[0, 1, 1])
    assert (matrix.integer_weights.tolist(), matrix.weight_denominator) == ([0, 1, 2], 1)


def test_weights_beyond_exact_floats_are_python_integers():
    assert ScoreMatrix([[1.0, 1.0]], weights=[2**53 - 2, 1]).integer_weights.dtype == np.int64
    large = ScoreMatrix([[1.0, 1.0]], weights=[2**53 - 1, 1]).integer_weights
    assert (large.dtype, large.tolist()) == (np.dtype(object), [2**53 - 1, 1])


def test_it_cannot_be_changed():
    matrix = full_matrix()
    source = np.ones((1, 1))
    copied = ScoreMatrix(source)
    source[0, 0] = 7
    assert copied.values[0, 0] == 1
    for array in (matrix.values, matrix.scores, matrix.directions, matrix.votes, matrix.integer_weights):
        assert not array.flags.writeable
    with pytest.raises(AttributeError):
        matrix.gamma = 1


def test_rows_are_replaced_and_added_in_a_new_matrix():
    matrix = full_matrix()
    replaced = matrix.replace_row(1, [7, 8, NAN])
    np.testing.assert_array_equal(replaced.values, [[1, 2, 3], [7, 8, NAN]])
    longer = matrix.with_row("C", [0, NAN, 0])
    np.testing.assert_array_equal(longer.values, [[1, 2, 3], [4, NAN, 6], [0, NAN, 0]])
    assert longer.system_names == ("A", "B", "C")
    for changed in (replaced, longer):
        assert changed.weights == matrix.weights
        assert changed.group_weights == matrix.group_weights
        assert changed.gamma == matrix.gamma
        assert changed.clusters == matrix.clusters
        np.testing.assert_array_equal(changed.precision, matrix.precision)
    np.testing.assert_array_equal(matrix.values, full_matrix().values)


def test_a_subset_keeps_what_belongs_to_its_tasks():
    part = full_matrix().subset(systems=[1, 0], tasks=np.array([True, False, True]))
    np.testing.assert_array_equal(part.values, [[4, 6], [1, 3]])
    assert (part.system_names, part.task_names) == (("B", "A"), ("x", "z"))
    assert part.directions.tolist() == [1, 0]
    assert (part.weights, part.groups) == ((Fraction(1, 10), Fraction(1)), ("g", "h"))
    np.testing.assert_array_equal(part.maximum, [100, NAN])
    assert full_matrix().subset(tasks=[1]).group_weights == {}
    np.testing.assert_array_equal(part.precision, [0.1, 0.5])
    assert part.clusters == (None, "c")
    for array in (part.values, part.directions, part.minimum, part.maximum, part.chance, part.precision):
        assert not array.flags.writeable


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"systems": []}, "`systems` chooses none of the 2"),
        ({"tasks": np.zeros(3, dtype=bool)}, "`tasks` chooses none of the 3"),
        ({"systems": [1, 1]}, "`systems` chooses one of the 2 twice"),
        ({"tasks": [0, 1, -3]}, "`tasks` chooses one of the 3 twice"),
    ],
)
def test_a_subset_has_something_and_nothing_twice(chosen, message):
    with pytest.raises(ValueError, match=message):
        full_matrix().subset(**chosen)


def test_a_subset_has_a_task_that_weighs_something():
    matrix = ScoreMatrix([[1, 2]], weights=[0, 1])
    with pytest.raises(ValueError, match="`weights` are all zero"):
        matrix.subset(tasks=[0])


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([1.0, 2.0], {}, r"`values` has shape \(2,\); expected \(n_systems, n_tasks\)"),
        (np.ones((0, 2)), {}, r"`values` has shape \(0, 2\)"),
        ([["a"]], {}, "`values` must be numbers, NaN where a score is missing"),
        ([[1.0, np.inf]], {"task_names": ["x", "y"]}, "`values` is infinite for system 's1' on task 'y'"),
        ([[1.0]], {"system_names": ["A", "B"]}, "`system_names` has 2 entries; the matrix needs 1"),
        ([[1.0], [2.0]], {"system_names": ["A", "A"]}, "`system_names` holds 'A' twice"),
        ([[1.0]], {"task_names": [" "]}, "`task_names` is ' ' at position 0; expected a name"),
        ([[1.0]], {"directions": [2]}, "`directions` is 2 for task 't1'; expected 1 "),
        ([[1.0]], {"directions": [1, 1]}, "`directions` has 2 entries; expected one for each of the 1 tasks"),
        ([[1.0]], {"weights": [-1]}, "`weights` for task 't1' is -1; a weight is never negative"),
        ([[1.0]], {"weights": [NAN]}, "`weights` for task 't1' is nan; expected a number"),
        ([[1.0]], {"weights": [True]}, "`weights` for task 't1' is True; expected a number"),
        ([[1.0]], {"weights": ["1e400000"]}, "`weights` for task 't1' is '1e400000'; expected a number"),
        ([[1.0]], {"weights": ["1e31"]}, "`weights` for task 't1' is '1e31'; expected 0 or a number between"),
        ([[1.0]], {"weights": ["1/0"]}, "`weights` for task 't1' is '1/0'; expected a number"),
        ([[1.0]], {"weights": [0]}, "`weights` are all zero"),
        ([[1.0]], {"groups": [" "]}, "`groups` is ' ' for task 't1'"),
        ([[1.0]], {"group_weights": {"g": 1}}, "`group_weights` names the group 'g', to which no"),
        ([[1.0]], {"groups": ["g"], "group_weights": {"g": -1}}, "`group_weights` for group 'g' is -1"),
        ([[1.0]], {"gamma": np.inf}, "`gamma` is inf; expected a finite number"),
        ([[1.0]], {"chance": [np.inf]}, "`chance` is infinite for task 't1'"),
        ([[1.0]], {"clusters": [" "]}, "`clusters` is ' ' for task 't1'; expected a cluster name"),
        ([[1.0]], {"clusters": ["c", "d"]}, "`clusters` has 2 entries"),
        *(
            ([[1.0]], {"precision": [value]}, "`precision` for task 't1' is .*; expected a positive number")
            for value in (0, -1, "0.1.1", "", "1e31", "1e-999999999", "1e999999999", True, "1_0", "١", np.inf, "9" * 99)
        ),
        ([[1.0]], {"precision": [1 / 3]}, "expected at most 12 significant digits"),
    ],
)  # fmt: skip
def test_errors_name_the_argument_the_thing_and_the_place(values, options, message):
    with pytest.raises(ValueError, match=message):
        ScoreMatrix(values, **options)


def test_a_replaced_row_must_exist_and_fit():
    with pytest.raises(ValueError, match="`i` is 2; the matrix has systems 0 to 1"):
        full_matrix().replace_row(2, [1, 2, 3])
    with pytest.raises(ValueError, match=r"`row` has shape \(2,\); expected \(3,\)"):
        full_matrix().with_row("C", [1, 2])
