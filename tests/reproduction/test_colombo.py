"""What the notebooks of Colombo et al. 2022 compute, and our figures beside it, against definitions worked out anew."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import kendalltau

from ranking_engine import Ranking
from ranking_engine.core.first_places import tau_on_common_first
from reproduction.colombo import notebooks, paradox, synthetic
from reproduction.colombo.sources import PAPER, as_their_notebook_reads, with_two_decimals
from reproduction.colombo.task_level import cause
from reproduction.tables import same
from tests.reference import reference_folder


@pytest.fixture
def reference():
    """The published leaderboards; the test is skipped where they are not."""
    return reference_folder()


@pytest.mark.parametrize("n", [1, 16, 17, 40, 300])
@pytest.mark.parametrize("n_values", [1, 5, 1000])
def test_their_sort_sorts_and_keeps_the_order_of_ties_of_few(n, n_values):
    values = np.random.default_rng([n, n_values]).integers(n_values, size=n).astype(float)
    order = notebooks.unstable_order(values)
    assert sorted(order.tolist()) == list(range(n))
    np.testing.assert_array_equal(values[order], np.sort(values))
    if n <= 16:
        np.testing.assert_array_equal(order, np.argsort(values, kind="stable"))


def test_their_sort_reorders_ties_of_many():
    values = np.arange(40) % 3.0
    assert notebooks.unstable_order(values).tolist() != np.argsort(values, kind="stable").tolist()


def test_their_distance_counts_pairs_of_places_that_two_lists_of_places_hold_in_opposite_orders():
    generator = np.random.default_rng(1)
    first, second = generator.permutation(9), generator.permutation(9)
    a, b = first.tolist(), second.tolist()
    opposed = sum(
        (a.index(x) - a.index(y)) * (b.index(x) - b.index(y)) < 0 for x, y in itertools.combinations(range(9), 2)
    )
    assert notebooks.distance_of_inverses(first, second) == opposed


def test_the_correlation_of_names_is_that_of_two_lists_of_systems():
    generator = np.random.default_rng(2)
    first, second = generator.permutation(12), generator.permutation(12)
    lists = [[of.tolist().index(place) for place in range(12)] for of in (first, second)]
    assert notebooks.tau_of_names(first, second) == pytest.approx(kendalltau(*lists)[0])
    assert notebooks.tau(first, second) == pytest.approx(kendalltau(first, second)[0])


@pytest.mark.parametrize("title", ["SuperGLUE", "XTREME"])
def test_their_distance_gives_table_8_as_printed(reference, title):
    matrix = as_their_notebook_reads(title)
    ours = [
        notebooks.mean_distance(matrix, places, is_of_inverses=True)
        for places in (notebooks.borda_places(matrix), notebooks.mean_places(matrix))
    ]
    assert all(same(printed, value) for printed, value in zip(PAPER["table_8"][title], ours, strict=False))


def test_correlated_names_give_table_4_as_printed_where_there_are_no_ties(reference):
    places = notebooks.instance_places("MLQE")
    taus = [notebooks.tau_of_names(places[a], places[b]) for a, b in notebooks.PAIRS]
    assert all(same(printed, tau) for printed, tau in zip(PAPER["table_4"]["MLQE"], taus, strict=True))
    for order in itertools.permutations(range(3)):
        agrees = all(same(PAPER["table_4"]["MLQE"][k], taus[i]) for k, i in enumerate(order))
        assert agrees == (order == (0, 1, 2))


def test_the_printed_scores_of_table_1_make_a_paradox_that_the_readme_states_the_other_way_round():
    assert paradox.order(paradox.PRINTED_BOARD, "mean") == "C > B > A"
    assert paradox.order(paradox.PRINTED_BOARD, "borda") == "A > B > C"
    assert paradox.in_pairs(paradox.PRINTED_BOARD) == "A > B, B > C, A = C"
    lower = paradox.LOWER_BOARD
    orders = {"mean": paradox.order(lower, "mean"), "pairs": paradox.in_pairs(lower)}
    assert {**orders, "borda": paradox.order(lower, "borda")} == paradox.README


def test_the_order_of_the_common_first_places_is_correlated_on_these_alone():
    first = Ranking.from_scores("a", np.array([9.0, 8.0, 7.0, 6.0, 1.0]))
    second = Ranking.from_scores("b", np.array([9.0, 6.0, 7.0, 1.0, 8.0]))
    # The first 4 are 0 1 2 3 and 0 4 2 1: in common 0 1 2, as 0 1 2 and as 0 2 1.
    assert tau_on_common_first(first, second, 4) == pytest.approx(1 / 3)
    assert math.isnan(tau_on_common_first(first, second, 1))
    assert math.isnan(tau_on_common_first(first, second, 6))


def test_a_cause_is_stated_where_their_way_gives_the_print():
    assert cause("0.80", 0.8) == "their columns and ties give 0.80, as printed"
    assert cause("0.66", 2 / 3) == "their columns and ties give 0.667, printed without rounding"
    assert cause("0.82", 0.905) == "cause not established: their columns and ties give 0.91"


@pytest.mark.parametrize(("printed", "padded"), [("0", "0.00"), ("1", "1.00"), ("0.8", "0.80"), ("-0.15", "-0.15")])
def test_a_share_without_decimals_is_compared_to_two(printed, padded):
    assert with_two_decimals(printed) == padded


def test_tasks_drawn_from_reversed_strengths_mirror_honest_ones():
    honest = synthetic.manipulated_curves(0.5, "drawn")
    for curve in honest.values():
        np.testing.assert_allclose(curve + curve[::-1], 1, atol=0.05)


def test_the_scale_of_a_task_moves_the_mean_and_no_level_of_borda():
    curves = synthetic.rescaled_curves(0.5, "fixed")
    assert curves["mean"][0] < 0.1
    assert curves["mean"][-1] == pytest.approx(1)
    for key in ("one_level", "two_level"):
        assert len(set(curves[key])) == 1
