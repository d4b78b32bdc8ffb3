from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from ranking_engine.stability.items.response_model import (
    LEAST_ITEMS,
    LEAST_SYSTEMS,
    UnfittedError,
    binary_responses,
    fit_items,
)

GRID = np.linspace(-6, 6, 61)


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


def with_systematic_gaps(seed):
    """Responses of twenty good systems, none to easy items, and twenty bad ones, none to hard items; and abilities.

    30 of 150 items are common. The bad ones have the larger share right.
    """
    random = np.random.default_rng(seed)
    theta = np.concatenate([random.normal(1, 0.4, 20), random.normal(-1, 0.4, 20)])
    b = np.concatenate([random.normal(-2.5, 0.4, 60), random.normal(2.5, 0.4, 60), random.normal(0, 0.4, 30)])
    chance = 1 / (1 + np.exp(-1.2 * (theta[:, None] - b)))
    responses = (random.random(chance.shape) < chance).astype(float)
    responses[:20, :60], responses[20:, 60:120] = np.nan, np.nan
    return responses, theta


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


@pytest.mark.parametrize("model", ["1PL", "2PL"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_good_systems_that_were_asked_harder_items_are_good(seed, model):
    responses, theta = with_systematic_gaps(seed)
    assert np.nanmean(responses[:20]) < np.nanmean(responses[20:]) - 0.05
    fitted = fit_items(responses, model=model)
    assert np.corrcoef(fitted.ability, theta)[0, 1] > 0.9
    assert (fitted.discrimination[fitted.is_fitted] > 0).mean() > 0.85
    if model == "2PL":
        assert not (np.nan_to_num(fitted.chance_negative) > 0.9).any()


@pytest.mark.parametrize("seed", [4, 6, 8, 9])
def test_with_gaps_the_penalised_fit_is_the_most_likely_one_and_has_its_errors(seed):
    random = np.random.default_rng(seed)
    responses, _, b, theta = simulated(seed, n_items=12)
    is_good, is_easy, is_hard = theta > 0, np.argsort(np.argsort(b)) < 4, np.argsort(np.argsort(b)) >= 8
    responses[np.ix_(is_good, is_easy)], responses[np.ix_(~is_good, is_hard)] = np.nan, np.nan
    fitted = fit_items(responses)
    assert fitted.is_fitted.all()
    a, d = fitted.discrimination, -fitted.discrimination * fitted.difficulty

    def objective(x):
        return minus_penalised(responses, x[:12], x[12:])

    ours = objective(np.concatenate([a, d]))
    starts = [np.repeat([sign, 0.0], 12) + random.normal(0, 0.3, 24) for sign in (1.0, -1.0)]
    best = min((minimize(objective, start, method="BFGS") for start in starts), key=lambda end: end.fun)
    assert ours == pytest.approx(best.fun, abs=1e-3)
    assert best.x[:12] == pytest.approx(a, abs=0.05)
    assert fitted.discrimination_error == pytest.approx(errors_given_abilities(responses, a, d), rel=1e-3)


def joint_of(responses, a, d):
    """The logits at each point of the grid, and the logarithm of how likely each system's responses are there."""
    right, wrong = (responses == 1) * 1.0, (responses == 0) * 1.0
    logits = GRID[:, None] * a + d
    joint = -(right @ np.logaddexp(0, -logits).T) - wrong @ np.logaddexp(0, logits).T - GRID**2 / 2
    return logits, joint


def minus_penalised(responses, a, d):
    """Minus the marginal log-likelihood and the log priors, by the trapezoid rule on a grid of its own."""
    _, joint = joint_of(responses, a, d)
    total = np.logaddexp.reduce(joint, axis=1) - np.logaddexp.reduce(-(GRID**2) / 2)
    return -total.sum() + ((a - 1) ** 2).sum() / 2 + (d**2).sum() / 18


def errors_given_abilities(responses, a, d):
    """The standard errors of a by the information of each item, where every system's posterior is known."""
    logits, joint = joint_of(responses, a, d)
    posterior = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    errors = []
    for j, answers in enumerate((~np.isnan(responses)).T):
        p = 1 / (1 + np.exp(-logits[:, j]))
        weight = answers @ posterior * p * (1 - p)
        information = [[weight @ GRID**2 + 1, weight @ GRID], [weight @ GRID, weight.sum() + 1 / 9]]
        errors.append(math.sqrt(np.linalg.inv(information)[0, 0]))
    return errors


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


@pytest.mark.parametrize(("n_systems", "n_boards", "low", "high"), [(8, 20, 0.4, 0.62), (50, 5, 0.75, 0.95)])
def test_of_the_items_listed_as_many_are_turned_as_the_documentation_says(n_systems, n_boards, low, high):
    random = np.random.default_rng(n_systems)
    is_turned = []
    for _ in range(n_boards):
        a = np.abs(random.normal(1, 0.5, 400)) * np.where(random.random(400) < 0.02, -1, 1)
        b, theta = random.normal(size=400), random.normal(size=n_systems)
        chance = 1 / (1 + np.exp(-a * (theta[:, None] - b)))
        fitted = fit_items((random.random(chance.shape) < chance) * 1.0)
        is_turned += (a[np.nan_to_num(fitted.chance_negative) >= 0.9] < 0).tolist()
    assert low < np.mean(is_turned) < high


def test_without_priors_most_items_have_a_positive_discrimination():
    random = np.random.default_rng(0)
    a, theta = np.array([-2.2] * 5 + [1.0] * 7), random.normal(size=200)
    chance = 1 / (1 + np.exp(-a * (theta[:, None] - random.normal(0, 0.5, 12))))
    fitted = fit_items((random.random(chance.shape) < chance) * 1.0, is_penalised=False)
    assert np.sign(fitted.discrimination).tolist() == np.sign(a).tolist()
    assert np.corrcoef(fitted.ability, theta)[0, 1] > 0.8


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
