"""Score completion: fits and errors against a second implementation, and coverage on boards whose gaps are known."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.optimize import minimize

from ranking_engine import ScoreMatrix
from ranking_engine.completion.factors import factored
from ranking_engine.completion.predictions import FOLDS
from ranking_engine.core.missing import filled_in
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability.catalogue import EXPERIMENTS, run_study
from ranking_engine.stability.studies.score_completion import MOST_LISTED


def with_factors(n, T, n_factors, noise, share_missing, seed=0):
    """The scores of a board of factors, whole and with gaps."""
    generator = np.random.default_rng(seed)
    of_systems, of_tasks = generator.normal(size=(n, n_factors)), 1 + generator.normal(size=(T, n_factors))
    whole = 50 + 10 * (of_systems @ of_tasks.T + noise * generator.normal(size=(n, T)))
    return whole, np.where(generator.random(whole.shape) < share_missing, np.nan, whole)


def in_board(result, name, shape):
    """An array of the study, in the board's order of systems and tasks."""
    placed = np.full(shape, np.nan)
    placed[np.ix_(result.arrays["systems"], result.arrays["tasks"])] = result.arrays[name]
    return placed


def penalised(z, of_systems, of_tasks, penalty):
    total = penalty * ((of_systems**2).sum() + (of_tasks**2).sum())
    for i in range(z.shape[0]):
        for t in range(z.shape[1]):
            if not math.isnan(z[i, t]):
                total += (z[i, t] - sum(of_systems[i] * of_tasks[t])) ** 2
    return total


@pytest.mark.parametrize("n_factors", [1, 2])
def test_factors_are_a_minimum_of_the_penalised_squares(n_factors):
    _, gaps = with_factors(7, 6, 2, 0.3, 0.2)
    z = (gaps - np.nanmean(gaps, axis=0)) / np.nanstd(gaps, axis=0)
    fitted = factored(z[None], n_factors, [0.5], rounds=30)[0, 0]

    def unlikely(values):
        factors = values.reshape(13, n_factors)
        return penalised(z, factors[:7], factors[7:], 0.5)

    generator = np.random.default_rng(1)
    tries = [minimize(unlikely, generator.normal(size=13 * n_factors), tol=1e-10) for _ in range(6)]
    best = min(tries, key=lambda fit: fit.fun).x.reshape(13, n_factors)
    np.testing.assert_allclose(fitted, best[:7] @ best[7:].T, atol=0.02)
    assert factored(z[None], 0, [1.0]).tolist() == np.zeros((1, 1, 7, 6)).tolist()


@pytest.mark.parametrize(("n_factors", "noise"), [(1, 0.3), (2, 0.5)])
def test_the_error_of_held_out_scores_is_that_of_missing_ones_and_intervals_cover(n_factors, noise):
    whole, gaps = with_factors(120, 30, n_factors, noise, 0.4)
    gaps = np.where(((~np.isnan(gaps)).sum(axis=1) < 15)[:, None], whole, gaps)  # so that all of them are predicted
    result = run_study("score_completion", ScoreMatrix(gaps))
    summary, is_missing = result.summary, np.isnan(gaps)
    predicted = in_board(result, "predicted", gaps.shape)
    assert (np.isnan(predicted) == ~is_missing).all()
    off = np.abs(predicted - whole)[is_missing]
    error = math.sqrt(np.mean((np.abs(predicted - whole) / np.nanstd(gaps, axis=0))[is_missing] ** 2))
    assert error == pytest.approx(summary["error"], rel=0.12)
    half_width = np.empty(30)
    half_width[result.arrays["tasks"]] = result.arrays["half_width"]
    inside = (off <= np.broadcast_to(half_width, gaps.shape)[is_missing]).mean()
    assert 0.87 <= inside <= 0.94
    assert 0.88 <= summary["coverage"] <= 0.92
    assert summary["factors"] == n_factors
    assert summary["explained"] > 0.7
    assert summary["n_missing"] == is_missing.sum()


def test_scores_of_a_system_with_few_are_neither_predicted_nor_counted():
    """Intervals of the others' errors hold too few of them, and the others' explained share is not theirs."""
    whole, _ = with_factors(40, 10, 1, 0.3, 0.0)
    gaps = whole.copy()
    gaps[0, 2:] = gaps[1, 4:] = gaps[2, 5:] = np.nan  # 2, 4 and 5 of 10 scores
    result = run_study("score_completion", ScoreMatrix(gaps))
    assert {name: result.summary[name] for name in ("n_missing", "n_predictable", "n_with_few_scores")} == {
        "n_missing": 19, "n_predictable": 5, "n_with_few_scores": 14,
    }  # fmt: skip
    assert set(result.summary["cells"]["systems"]) == {"s3"}
    assert np.argwhere(~np.isnan(in_board(result, "predicted", gaps.shape))).tolist() == [[2, t] for t in range(5, 10)]
    assert sum(result.summary["missing"]) == 19
    filled = filled_in(ScoreMatrix(gaps))
    assert filled.is_predicted.sum() == result.summary["n_predictable"]  # as the policy does


def test_noise_cannot_be_predicted():
    _, gaps = with_factors(60, 12, 1, 0.0, 0.2)
    noise = np.where(np.isnan(gaps), np.nan, np.random.default_rng(3).normal(size=gaps.shape))
    summary = run_study("score_completion", ScoreMatrix(noise)).summary
    assert summary["n_predictable"] == 0
    assert summary["explained"] < 0.1
    assert 0.85 <= summary["coverage"] <= 0.95


def test_a_held_out_score_does_not_enter_its_own_prediction():
    """A score that is changed is predicted as before, by the same model, wherever it is held out."""
    _, gaps = with_factors(40, 12, 1, 0.3, 0.2)
    i, t = np.argwhere(~np.isnan(gaps))[7]
    changed = gaps.copy()
    changed[i, t] += 3.0
    before, after = (run_study("score_completion", ScoreMatrix(values)) for values in (gaps, changed))
    held_out = [in_board(result, "held_out", gaps.shape) for result in (before, after)]
    assert held_out[0][i, t] == pytest.approx(held_out[1][i, t], rel=1e-9)
    others = ~np.isnan(gaps)
    others[i, t] = False
    share_moved = np.mean(np.abs(held_out[0] - held_out[1])[others] > 1e-9)
    assert share_moved > 0.5  # it is among the scores that the others are predicted from
    assert share_moved < (FOLDS - 1) / FOLDS + 0.05


def test_errors_in_the_tasks_units_are_those_of_the_definition():
    _, gaps = with_factors(30, 8, 1, 0.3, 0.2)
    result = run_study("score_completion", ScoreMatrix(gaps))
    held_out = in_board(result, "held_out", gaps.shape)
    errors = np.sqrt(np.nanmean((held_out - gaps) ** 2, axis=0))
    names = [f"t{t + 1}" for t in range(8)]
    error_by_task = dict(zip(result.summary["tasks"], result.summary["task_error"], strict=True))
    assert [error_by_task[name] for name in names] == pytest.approx(errors.tolist(), rel=1e-6)


@pytest.mark.parametrize("scores", [[80.0, 90.0], [50.0] * 5 + [90.0]], ids=["two scores", "one that differs"])
def test_errors_of_a_task_whose_other_scores_are_equal_are_those_of_the_definition(scores):
    """A fold leaves one score, or equal ones: they have no spread of their own to measure errors in."""
    few = np.full((12, 1), np.nan)
    few[: len(scores), 0] = scores
    noise = np.random.default_rng(4).normal(size=(12, 4))
    result = run_study("score_completion", ScoreMatrix(np.hstack([few, noise])))
    summary = result.summary
    place = summary["tasks"].index("t1")
    held_out = in_board(result, "held_out", (12, 5))[: len(scores), 0]
    off = held_out - scores
    assert summary["task_error"][place] == pytest.approx(math.sqrt(np.mean(off**2)), rel=1e-6)
    share = 1 - (off**2).sum() / ((scores - np.mean(scores)) ** 2).sum()
    assert summary["task_explained"][place] == pytest.approx(share, rel=1e-6)
    assert summary["n_predictable"] == 0


def test_a_task_of_zeros_and_a_one_leaves_the_figures_of_the_others_alone():
    _, gaps = with_factors(60, 12, 1, 0.3, 0.2)
    rare = np.zeros((60, 1))
    rare[7] = 1.0
    plain, extended = (
        run_study("score_completion", ScoreMatrix(values)).summary for values in (gaps, np.hstack([gaps, rare]))
    )
    assert extended["n_predictable"] == plain["n_predictable"] > 100
    assert extended["coverage"] == pytest.approx(plain["coverage"], abs=0.03)
    json.dumps(extended, allow_nan=False)


def test_the_order_of_rows_and_columns_and_the_direction_change_nothing():
    _, gaps = with_factors(25, 8, 1, 0.3, 0.2)
    matrix = ScoreMatrix(gaps)
    generator = np.random.default_rng(5)
    moved = matrix.subset(generator.permutation(25), generator.permutation(8))
    assert run_study("score_completion", moved).summary == run_study("score_completion", matrix).summary
    turned = ScoreMatrix(-gaps, directions=[-1] * 8)
    summary, other = (run_study("score_completion", board).summary for board in (matrix, turned))
    assert [other[name] for name in ("error", "coverage", "task_error")] == [
        summary[name] for name in ("error", "coverage", "task_error")
    ]
    assert other["cells"]["predicted"] == pytest.approx([-value for value in summary["cells"]["predicted"]])


def test_predictions_stay_on_the_scale_of_the_task():
    _, gaps = with_factors(30, 8, 1, 0.3, 0.3)
    low, high = np.nanquantile(gaps, [0.2, 0.8])
    inside = np.clip(gaps, low, high)
    matrix = ScoreMatrix(inside, minimum=[low] * 8, maximum=[high] * 8)
    result = run_study("score_completion", matrix)
    predicted, cells = result.arrays["predicted"], result.summary["cells"]
    assert low <= np.nanmin(predicted) <= np.nanmax(predicted) <= high
    ends = pytest.approx((low, high))
    assert (min(cells["low"]), max(cells["high"])) == ends, "some intervals would go beyond"
    assert all(a <= b <= c for a, b, c in zip(cells["low"], cells["predicted"], cells["high"], strict=True))


@pytest.mark.parametrize(
    ("matrix", "reason"),
    [
        (random_matrix(3, 4, seed=1), "fewer than 20 scores"),
        (random_matrix(40, 1, seed=1), "fewer than 20 scores on two tasks"),
        (ScoreMatrix(np.ones((40, 4))), "each with two different ones"),
        (ScoreMatrix(np.arange(200_001.0)[:, None]), "up to 200,000 cells"),
    ],
)
def test_boards_that_are_too_small_or_too_large_say_so(matrix, reason):
    with pytest.raises(ValueError, match=reason):
        run_study("score_completion", matrix)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_the_largest_and_the_least_floats_are_predicted_too(scale):
    _, gaps = with_factors(20, 6, 1, 0.3, 0.2)
    plain, scaled = (run_study("score_completion", ScoreMatrix(gaps * factor)) for factor in (1.0, scale))
    np.testing.assert_allclose(scaled.arrays["predicted"] / scale, plain.arrays["predicted"], rtol=1e-6)


def test_the_summary_of_a_wide_board_is_small_and_the_arrays_have_the_rest():
    _, gaps = with_factors(60, 150, 1, 0.3, 0.5)
    result = run_study("score_completion", ScoreMatrix(gaps))
    assert len(result.summary["tasks"]) == len(result.summary["cells"]["low"]) == MOST_LISTED
    assert len(json.dumps(result.summary)) < 64_000
    assert (~np.isnan(result.arrays["predicted"])).sum() > 2_000
    assert result.summary["n_missing"] > 4_000


def test_what_it_should_take_grows_with_the_cells():
    small, large = (EXPERIMENTS["score_completion"].estimate(random_matrix(n, 20, seed=1), {}) for n in (20, 2_000))
    assert small < 0.5 < large


def test_errors_follow_the_unit_of_the_tasks():
    _, values = with_factors(12, 6, 1, 0.3, 0.2)
    summaries = [run_study("score_completion", ScoreMatrix(values * k)).summary for k in (1.0, 2.0**-30)]
    for name in ("task_error", "task_half_width"):
        large, small = (np.array(summary[name], dtype=float) for summary in summaries)
        np.testing.assert_allclose(small, large * 2.0**-30, rtol=1e-6)
        assert (small > 0).all()
