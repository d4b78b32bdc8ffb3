from __future__ import annotations

from fractions import Fraction

import pytest

from ranking_engine import ScoreMatrix
from ranking_engine.prospects import Bound, ConditionError, Conditions, Objective, Order, TaskSet, prospects

HALF = Fraction(1, 2)


def task_set(*tasks, groups=()):
    return TaskSet(tasks, tuple(groups))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CoLA >= 0.5", Conditions(bounds=(Bound(task_set("CoLA"), at_least=HALF),))),
        ("50% ≤ CoLA", Conditions(bounds=(Bound(task_set("CoLA"), at_least=HALF),))),
        ("CoLA + RTE <= 1/2", Conditions(bounds=(Bound(task_set("CoLA", "RTE"), at_most=HALF),))),
        ("0 <= CoLA <= .5", Conditions(bounds=(Bound(task_set("CoLA"), Fraction(0), HALF),))),
        ("CoLA=0.5", Conditions(bounds=(Bound(task_set("CoLA"), HALF, HALF),))),
        ("a b + C++ >= x-y", Conditions(orders=(Order(task_set("a b", "C++"), task_set("x-y")),))),
        ('"a + b" <= "1"', Conditions(orders=(Order(task_set("1"), task_set("a + b")),))),
        ("group:QA >= group:\"x y\" + z", Conditions(
            orders=(Order(task_set(groups=["QA"]), task_set("z", groups=["x y"])),))),
        ("minimise RTE", Conditions(objective=Objective("minimise", task_set("RTE")))),
        ("Maximize group:QA", Conditions(objective=Objective("maximise", task_set(groups=["QA"])))),
        ("  ", Conditions()),
    ],
)  # fmt: skip
def test_conditions_are_read_from_text(text, expected):
    assert Conditions.parse([text]) == expected


@pytest.mark.parametrize(
    "text",
    ["CoLA >= 0.5", "CoLA <= 1/3", 'group:"a + b" + "1" >= "x > y"', "minimise RTE + group:QA", '"say ""no"""  <= 1/2'],
)
def test_texts_are_read_as_they_are_written(text):
    (written,) = Conditions.parse([text]).texts
    assert Conditions.parse([written]) == Conditions.parse([text])


def test_both_sides_of_a_bound_are_conditions_of_their_own():
    assert Conditions.parse(["0.1 <= x <= 0.5", "x = y"]).texts == ("x >= 1/10", "x <= 1/2", "x >= y", "y >= x")


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["CoLA"], "'CoLA' is no condition; expected something like `CoLA \\+ RTE >= 0.3`"),
        (["CoLA >="], "'CoLA >=' is no condition"),
        (["CoLA > 0.5"], "'CoLA > 0.5' is no condition"),
        (["0.1 <= 0.2"], "'0.1 <= 0.2' compares two numbers"),
        (["CoLA + + RTE >= 0.2"], "has a \\+ without a task before or after it"),
        (["minimise x", "maximise y"], "'maximise y' is a second objective; there can be only one"),
    ],
)
def test_what_cannot_be_read_is_told(texts, message):
    with pytest.raises(ConditionError, match=message):
        Conditions.parse(texts)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("w >= 0.5", "unknown task 'w'; there are x, y, z, u"),
        ("z >= 0.5", "the task 'z' does not vote: its weight is 0"),
        ("u >= 0.5", "the task 'u' does not vote: it is unordered"),
        ("group:h >= 0.5", "the group 'h' has no task of weight above 0"),
        ("minimise group:k", "unknown group 'k'; there are g, h"),
    ],
)
def test_names_that_the_benchmark_lacks_are_told(text, message):
    matrix = ScoreMatrix(
        [[1, 2, 3, 4]],
        task_names=["x", "y", "z", "u"],
        weights=[1, 1, 0, 1],
        directions=[1, 1, 1, 0],
        groups=["g", "g", "h", None],
    )
    with pytest.raises(ConditionError, match=message):
        prospects(matrix, conditions=Conditions.parse([text]))


@pytest.mark.parametrize("number", ["1e999", "NaN", "-1", "1/0", "30", "101%", "-inf", "0,3", "1e31"])
def test_a_number_that_is_no_share_is_refused_as_a_number(number):
    with pytest.raises(ConditionError) as refused:
        prospects(ScoreMatrix([[1, 2]], task_names=["x", "y"]), conditions=Conditions.parse([f"x >= {number}"]))
    assert str(refused.value) == (
        f"{number!r} is no share of the weight; write a number from 0 to 1, such as 0.3 or 1/3, or from 0% to 100%"
    )


def test_a_task_may_have_the_name_of_a_number():
    matrix = ScoreMatrix([[1, 2, 3]], task_names=["NaN", "30", "z"])
    assert Conditions.parse(['"30" >= 1/4', "NaN <= 1/2"]).rows(matrix) == [
        [Fraction(-1, 4), Fraction(3, 4), Fraction(-1, 4)], [Fraction(-1, 2), Fraction(1, 2), Fraction(1, 2)],
    ]  # fmt: skip


def test_rows_are_zero_where_a_condition_just_holds():
    matrix = ScoreMatrix([[1, 2, 3]], task_names=["x", "y", "z"], groups=["g", "g", None])
    bounds = Conditions.parse(["group:g >= 1/4", "x + x <= 1/3", "X >= z"]).rows(matrix)
    assert bounds == [
        [Fraction(3, 4), Fraction(3, 4), Fraction(-1, 4)],
        [Fraction(-2, 3), Fraction(1, 3), Fraction(1, 3)],
        [1, 0, -1],
    ]
