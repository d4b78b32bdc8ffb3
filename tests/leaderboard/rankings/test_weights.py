"""Weights of one's own: read, shortened, told as shares. Shares are worked out again here by hand."""

from fractions import Fraction

import pytest

from leaderboard.rankings.configuration import BoardConfiguration, ConfiguredGroup, ConfiguredTask
from leaderboard.rankings.weights import Weights, WeightsError, in_tenths, read_weights, shares_of, weight_text
from ranking_engine import ScoreMatrix


def task(number: int, key: str, weight: str) -> ConfiguredTask:
    return ConfiguredTask(
        id=number, key=key, name=key.upper(), group="glue", direction=1, weight=weight, metric="", unit="",
        minimum=None, maximum=None, chance=None,
    )  # fmt: skip


CONFIGURATION = BoardConfiguration(
    groups=(ConfiguredGroup("glue", "GLUE", "1"),),
    tasks=(task(1, "cola", "1"), task(2, "sst-2", "0.50"), task(3, "rte", "2")),
    gamma=None,
    derived_gamma=None,
    missing_policy="drop_systems",
    aggregation="weighted",
    replacement="row",
)


def test_only_what_differs_is_kept_each_as_its_shortest_text():
    weights = read_weights("rte:3.10,sst-2:1/2,cola:1/3", "glue:1.0", CONFIGURATION)
    assert weights == Weights({"cola": "1/3", "rte": "3.1"}, {})
    assert weights.parameters == {"weights": "cola:1/3,rte:3.1"}
    assert read_weights(weights.parameters["weights"], "", CONFIGURATION) == weights
    assert not read_weights("", "", CONFIGURATION)


def test_numbers_of_a_body_are_read_as_the_decimals_that_they_are():
    assert read_weights({"cola": 0.1, "rte": 0}, {"glue": 2}, CONFIGURATION) == Weights(
        {"cola": "0.1", "rte": "0"}, {"glue": "2"}
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cola", "'cola' is not a weight; expected a key and a number, such as cola:3."),
        ("cola:-1", "The weight of the task 'COLA' is '-1'; a weight is never negative (use 0 to silence a task)."),
        ("cola:1e99", "The weight of the task 'COLA' is '1e99'; expected a number such as 1, 0.5 or 1/13."),
        ("mnli:1", "The benchmark has no task of the key 'mnli'; it has cola, sst-2, rte."),
    ],
)
def test_what_cannot_be_read_is_told(text, message):
    with pytest.raises(WeightsError) as error:
        read_weights(text, "", CONFIGURATION)
    assert str(error.value) == message


def test_every_weight_is_read_back_exactly_from_its_text():
    for weight in (Fraction(1, 8), Fraction(10**12), Fraction(7, 30), Fraction(0), Fraction(123456789, 10**7)):
        assert Fraction(weight_text(weight)) == weight


def test_shares_under_each_aggregation_are_those_of_the_definitions():
    matrix = ScoreMatrix([[1.0, 2.0, 3.0]], weights=[1, 3, 2], groups=["g", "g", None], group_weights={"g": 6})
    assert shares_of(matrix, "basic") == [Fraction(1, 6), Fraction(1, 2), Fraction(1, 3)]
    assert shares_of(matrix, "weighted") == [Fraction(3, 14), Fraction(9, 14), Fraction(1, 7)]  # 6*1/2, 6*3/2, 2
    assert shares_of(matrix, "balanced") == [Fraction(3, 16), Fraction(9, 16), Fraction(1, 4)]  # 6*1/4, 6*3/4, 2


def test_equal_shares_read_alike_and_every_share_is_rounded_to_the_nearest_tenth():
    assert [in_tenths(share) for share in [Fraction(1, 9)] * 9] == [111] * 9
    assert [in_tenths(Fraction(*parts)) for parts in ((1, 7), (6, 7), (0, 1), (1, 1))] == [143, 857, 0, 1000]
    assert in_tenths(Fraction(1, 2000)) == 1
    for n in range(1, 60):
        assert in_tenths(Fraction(1, n)) == int(1000 / n + 0.5)
