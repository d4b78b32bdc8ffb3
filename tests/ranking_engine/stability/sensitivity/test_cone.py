from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, example, given, settings, strategies as st

from ranking_engine.stability.sensitivity.cone import Boxes, Cone, climb, corners, largest_first, split
from ranking_engine.stability.sensitivity.indicators import most_negative
from ranking_engine.stability.sensitivity.proof import MAX_PROGRAMS, prove
from ranking_engine.stability.sensitivity.relaxation import normaliser, relax

FLOOR = 0.01


def random_cone(seed, m=12, T=3, floor=FLOOR):
    """Rows with a positive mean, as the differences of a board's higher and lower systems have; some of them ties."""
    rows = np.random.default_rng(seed).integers(-3, 6, size=(m, T)).astype(float)
    return Cone(rows[(rows < 0).any(axis=1)], floor)


def grid(T, floor, n=33):
    """Ratios of weights with one at 1, evenly in logarithms, and slightly off them."""
    points = floor ** (np.arange(n) / (n - 1))
    for top in range(T):
        for others in itertools.product(points, repeat=T - 1):
            yield np.insert(np.array(others), top, 1.0)


def climbed(cone):
    met = []
    climb(cone, corners(cone.n_weights, cone.floor), met.append)
    return max((cone.n_negative(weights) for weights in met), default=0), met


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.01, 0.3, 1.0]))
@example(803, 0.01)
def test_the_best_weights_are_proven_best_and_no_grid_beats_them(seed, floor):
    cone = random_cone(seed, m=10, T=3, floor=floor)
    lower, met = climbed(cone)
    bounds = prove(cone, lower, met.append)
    # Where rows are 0 together at one point, halving boxes around it never ends: then all of the work was done, and
    # perhaps the second half of the last box.
    assert bounds.is_proven or bounds.n_programs in (MAX_PROGRAMS, MAX_PROGRAMS + 1)
    assert bounds.lower == max([cone.n_negative(weights) for weights in met], default=0)
    assert bounds.lower >= max(cone.n_negative(weights) for weights in grid(3, floor, 12))
    for weights in met:
        assert weights.min() >= floor * (1 - 1e-12)
        assert weights.max() <= 1


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_relaxations_prove_what_halving_boxes_proves(seed):
    cone = random_cone(seed, m=15, T=4)
    halved = prove(cone, 0, lambda weights: None, max_programs=0, box_work=10**9)
    relaxed = prove(cone, 0, lambda weights: None, max_programs=400, box_work=0)
    assume(halved.is_proven)  # halving never ends around a point where rows are 0 together
    assert relaxed.lower <= halved.lower == halved.upper <= relaxed.upper
    assert relaxed.n_boxes <= 2 * cone.n_weights


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_no_weights_in_a_box_make_more_rows_negative_than_its_bounds_say(seed):
    generator = np.random.default_rng(seed)
    cone = random_cone(seed, m=30, T=5)
    boxes = Boxes(cone)
    lower, upper = largest_first(cone)
    for _ in range(3):
        lower, upper = split(lower, upper, generator.integers(0, 5, size=len(lower)))
    box = int(generator.integers(len(lower)))
    low, high, top = lower[box], upper[box], box % 5
    if low[top] < 1:
        top = int(np.flatnonzero(low == 1)[0]) if (low == 1).any() else top
        low = np.where(np.arange(5) == top, 1.0, low)
        high = np.where(np.arange(5) == top, 1.0, high)
    inside = low + generator.random((400, 5)) * (high - low)
    inside = np.concatenate([inside, np.where(generator.random((400, 5)) < 0.5, low, high)])
    can = boxes.can_be_negative(low[None], high[None])[0]
    positive = boxes.can_be_positive(low[None], high[None])[0]
    is_negative = np.array([cone.is_negative(weights) for weights in inside])
    assert not is_negative[:, ~can].any()
    assert is_negative[:, ~positive].all()
    rows = cone.rows[can & positive]
    most = is_negative.sum(axis=1).max()
    assert most <= can.sum()
    if len(rows):
        n_always = int((can & ~positive).sum())
        relaxation = relax(rows, n_always, (low, high, top), normaliser(cone.rows), (low + high) / 2)
        assert most <= relaxation.bound
        assert relaxation.bound <= can.sum() + 1e-6
        assert (relaxation.weights >= low - 1e-12).all()
        assert (relaxation.weights <= high + 1e-12).all()


def test_a_step_along_one_axis_is_the_best_there_is():
    generator = np.random.default_rng(0)
    for seed in range(10):
        cone = random_cone(seed, m=20, T=2)
        start = np.array([generator.uniform(FLOOR, 1), generator.uniform(FLOOR, 1)])
        met = []
        climb(cone, [start], met.append, max_sweeps=1)
        line = [np.array([x, start[1]]) for x in np.linspace(FLOOR, 1, 1001)]
        assert cone.n_negative(met[-1]) >= max(cone.n_negative(weights) for weights in line)


def test_the_boxes_hold_every_ratio_of_weights():
    cone = random_cone(1, T=4)
    lower, upper = largest_first(cone)
    for seed in range(50):
        weights = FLOOR + (1 - FLOOR) * np.random.default_rng(seed).random(4)
        scaled = weights / weights.max()
        assert ((lower <= scaled) & (scaled <= upper)).all(axis=1).any()


@pytest.mark.parametrize("budget", [{"max_programs": 0, "box_work": 0}, {"max_programs": 3, "box_work": 0}])
def test_a_search_that_is_cut_short_keeps_a_valid_interval(budget):
    cone = random_cone(7, m=60, T=6)
    whole = prove(cone, climbed(cone)[0], lambda weights: None)
    cut = prove(cone, 0, lambda weights: None, **budget)
    assert whole.is_proven
    assert cut.lower <= whole.lower <= cut.upper
    assert cut.n_programs <= budget["max_programs"] + 2 * cone.n_weights


def test_without_rows_nothing_is_negative():
    bounds = prove(Cone(np.zeros((0, 3)), FLOOR), 0, lambda weights: None)
    assert (bounds.lower, bounds.upper, bounds.n_boxes) == (0, 0, 0)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000))
def test_programs_with_indicators_bound_what_halving_boxes_proves(seed):
    cone = random_cone(seed, m=12, T=4)
    halved = prove(cone, 0, lambda weights: None, max_programs=0, box_work=10**7)
    answer, strict = most_negative(cone), most_negative(cone, margin=1e-6)
    # a row may be negative by less than the margin, and then the strict program does not count it
    assert cone.n_negative(strict.weights) <= halved.lower <= answer.upper
    assert strict.upper <= halved.upper
