from __future__ import annotations

import math

import numpy as np
import pytest

from ranking_engine.stability.items.response_model import (
    LEAST_ITEMS,
    LEAST_SYSTEMS,
    UnfittedError,
    binary_responses,
    fit_items,
)


def simulated(seed, n_systems=40, n_items=30, missing=0.0, negative=()):
    """Responses of a 2PL, and its parameters."""
    random = np.random.default_rng(seed)
    a, b = random.uniform(0.6, 2.0, n_items), random.normal(0, 1, n_items)
    a[list(negative)] *= -1
    theta = random.normal(0, 1, n_systems)
    chance = 1 / (1 + np.exp(-a * (theta[:, None] - b)))
    responses = (random.random(chance.shape) < chance).astype(float)
    responses[random.random(responses.shape) < missing] = np.nan
    return responses, a, b, theta


def log_likelihood(responses, a, b):
    """The marginal log-likelihood in plain loops, by the midpoint rule on a grid of its own."""
    width = 0.1
    points = [-6 + width * (k + 0.5) for k in range(int(12 / width))]
    total = 0.0
    for row in responses.tolist():
        integral = 0.0
        for theta in points:
            likelihood = math.exp(-theta * theta / 2) / math.sqrt(2 * math.pi) * width
            for y, slope, level in zip(row, a, b, strict=True):
                if y == y:
                    p = 1 / (1 + math.exp(-slope * (theta - level)))
                    likelihood *= p if y else 1 - p
            integral += likelihood
        total += math.log(integral)
    return total


@pytest.mark.parametrize("model", ["1PL", "2PL"])
def test_no_nearby_parameters_are_more_likely(model):
    responses, *_ = simulated(1, n_systems=100, n_items=5, missing=0.05)
    fitted = fit_items(responses, model=model, is_penalised=False)
    a, b = fitted.discrimination.tolist(), fitted.difficulty.tolist()
    most = log_likelihood(responses, a, b)
    assert fitted.log_likelihood == pytest.approx(most, abs=0.02)
    assert fitted.is_converged
    steps = [(lambda x: x * 1.1, lambda x: x), (lambda x: x / 1.1, lambda x: x)]
    if model == "1PL":
        assert len(set(np.round(a, 9))) == 1
        for of_a, of_b in steps:
            assert log_likelihood(responses, [of_a(x) for x in a], [of_b(x) for x in b]) <= most + 1e-3
    for j in range(5):
        for shift in (0.2, -0.2):
            moved = [x + shift * (k == j) for k, x in enumerate(b)]
            assert log_likelihood(responses, a, moved) <= most + 1e-3
            if model == "2PL":
                turned = [x * (1 + shift * (k == j)) for k, x in enumerate(a)]
                assert log_likelihood(responses, turned, b) <= most + 1e-3


def test_the_parameters_that_made_many_responses_are_found_again():
    responses, a, b, theta = simulated(2, n_systems=3000, n_items=20)
    fitted = fit_items(responses)
    assert fitted.discrimination == pytest.approx(a, abs=0.3)
    assert fitted.difficulty == pytest.approx(b, abs=0.35)
    assert np.abs(fitted.discrimination - a).mean() < 0.1
    assert np.corrcoef(fitted.ability, theta)[0, 1] > 0.9
    # two in three are within one standard error, as those of the information that has the abilities for known are small
    assert (np.abs(fitted.discrimination - a) < 3 * fitted.discrimination_error).mean() > 0.8


def test_an_item_whose_labels_are_turned_has_a_negative_discrimination():
    responses, *_ = simulated(3, n_systems=60, n_items=40, negative=(7, 21))
    chance = fit_items(responses).chance_negative
    assert set(np.argsort(-chance)[:2]) == {7, 21}
    assert chance[[7, 21]].min() > 0.9


def test_items_that_all_or_none_get_right_are_left_out_and_counted():
    responses, *_ = simulated(4)
    responses[:, 0], responses[:, 1], responses[:, 2] = 1.0, 0.0, np.nan
    fitted = fit_items(responses)
    assert fitted.is_fitted.tolist() == [False] * 3 + [True] * 27
    assert fitted.share_right[:2].tolist() == [1.0, 0.0]
    assert np.isnan(fitted.share_right[2])
    assert np.isnan([fitted.difficulty[:3], fitted.discrimination[:3]]).all()
    again = fit_items(responses[:, 3:])
    assert fitted.difficulty[3:] == pytest.approx(again.difficulty)


def test_missing_responses_say_nothing():
    responses, *_ = simulated(5)
    more = np.vstack([responses, np.full((3, 30), np.nan)])
    assert fit_items(more).difficulty == pytest.approx(fit_items(responses).difficulty)
    assert np.isnan(fit_items(more).ability[-3:]).all()


def test_too_little_is_refused_with_a_reason():
    responses, *_ = simulated(6)
    with pytest.raises(UnfittedError, match=f"at least {LEAST_SYSTEMS}"):
        fit_items(responses[: LEAST_SYSTEMS - 1])
    with pytest.raises(UnfittedError, match=f"at least {LEAST_ITEMS}"):
        fit_items(responses[:, : LEAST_ITEMS - 1])
    with pytest.raises(ValueError, match="table of 0, 1 and NaN"):
        fit_items(responses / 2)
    with pytest.raises(ValueError, match="`model` is '3PL'"):
        fit_items(responses, model="3PL")


def test_tasks_of_0_and_1_alone_have_responses():
    block = np.array([[1.0, 0.0], [np.nan, 1.0]])
    assert binary_responses(block, 1) == pytest.approx(block, nan_ok=True)
    assert binary_responses(block, -1) == pytest.approx(1 - block, nan_ok=True)
    assert binary_responses(block / 2, 1) is None
    assert binary_responses(np.full((2, 2), np.nan), 1) is None
