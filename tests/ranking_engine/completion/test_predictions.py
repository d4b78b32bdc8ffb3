"""Predictions against their definition, on small tables with ties and gaps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from ranking_engine.completion.factors import factored
from ranking_engine.completion.predictions import (
    FOLDS,
    LEAST_SCORES,
    MOST_CELLS,
    predict,
    predictable_tasks,
    why_not_predicted,
)
from tests.ranking_engine import naive_predictions

NAN = float("nan")


def board(n, T, seed, *, decimals=0, share_missing=0.2, noise=0.5):
    """Scores that one factor makes, rounded so that many are equal, with gaps."""
    generator = np.random.default_rng(seed)
    whole = 50 + 5 * (generator.normal(size=(n, 1)) * (1 + generator.random(T)) + noise * generator.normal(size=(n, T)))
    return np.where(generator.random((n, T)) < share_missing, NAN, np.round(whole, decimals))


@pytest.mark.parametrize(
    ("n", "T", "share_missing"), [(9, 5, 0.2), (12, 4, 0.0), (7, 9, 0.4), (20, 2, 0.1), (6, 6, 0.5), (3, 10, 0.1)]
)
@pytest.mark.parametrize("seed", range(3))
def test_predictions_are_those_of_the_definition(n, T, share_missing, seed):
    scores = board(n, T, seed, share_missing=share_missing)
    scores = scores[:, predictable_tasks(scores)]
    expected, held_out, explained = naive_predictions.studied(scores)
    predictions = predict(scores)
    np.testing.assert_allclose(predictions.predicted, expected, rtol=1e-7)
    np.testing.assert_allclose(predictions.held_out, held_out, rtol=1e-7)
    np.testing.assert_allclose(predictions.explained, explained, atol=1e-7)


def test_a_fit_of_many_tables_is_that_of_each():
    tables = np.stack([board(8, 6, seed) for seed in range(4)])
    together = factored(tables, 2, (0.1, 2.0))
    for table, fits in zip(tables, together, strict=True):
        for penalty, fit in zip((0.1, 2.0), fits, strict=True):
            np.testing.assert_allclose(fit, factored(table[None], 2, [penalty])[0, 0], rtol=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 40), st.integers(2, 8), st.integers(0, 10_000))
def test_folds_part_the_scores_and_leave_every_task_some(n, T, seed):
    scores = board(n, T, seed, share_missing=0.5)
    scores = scores[:, predictable_tasks(scores)]
    if scores.shape[1] == 0:
        return
    folds = predict(scores).fold_of
    assert ((folds >= 0) == ~np.isnan(scores)).all()
    for column in folds.T:
        sizes = np.bincount(column[column >= 0], minlength=FOLDS)
        assert sizes.max() - sizes.min() <= 1
        assert sizes.max() < sizes.sum()


def test_no_prediction_is_beyond_the_best_and_the_worst_score_of_its_task():
    scores = board(30, 6, 2, noise=0.1)
    scores[:3, 1:] = np.nanmax(scores, axis=0)[1:] + 20  # three that are far ahead on all tasks but one
    scores[:3, 0] = NAN
    predicted = predict(scores).predicted
    assert (predicted >= np.nanmin(scores, axis=0) - 1e-9).all()
    assert (predicted <= np.nanmax(scores, axis=0) + 1e-9).all()
    assert predicted[0, 0] == pytest.approx(np.nanmax(scores[:, 0]))


@settings(max_examples=40, deadline=None)
@given(st.integers(3, 20), st.integers(2, 7), st.integers(0, 10_000), st.booleans())
def test_the_order_of_systems_and_tasks_makes_no_difference(n, T, seed, has_few_levels):
    scores = board(n, T, seed, decimals=-1 if has_few_levels else 3)
    scores = scores[:, predictable_tasks(scores)]
    if scores.shape[1] == 0:
        return
    random = np.random.default_rng(seed)
    cells = np.ix_(random.permutation(scores.shape[0]), random.permutation(scores.shape[1]))
    # What its sorted scores do not tell apart can change places.
    rows, columns = (
        len({str(sorted(line)) for line in np.nan_to_num(table, nan=1e9).tolist()}) for table in (scores, scores.T)
    )
    first, second = predict(scores), predict(scores[cells])
    if (rows, columns) == scores.shape:
        np.testing.assert_array_equal(first.fold_of[cells], second.fold_of)
        assert first.predicted[cells].tobytes() == second.predicted.tobytes()
        assert first.held_out[cells].tobytes() == second.held_out.tobytes()


def test_nothing_is_drawn_so_that_the_same_table_gives_the_same_bits():
    scores = board(40, 10, 3)
    first, second = predict(scores), predict(scores.copy())
    assert first.predicted.tobytes() == second.predicted.tobytes()
    assert first.held_out.tobytes() == second.held_out.tobytes()


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        (board(4, 4, 0, share_missing=0), f"fewer than {LEAST_SCORES} scores on two tasks or more"),
        (board(40, 1, 0, share_missing=0), "fewer than"),
        (board(2, 30, 0, share_missing=0), "fewer than"),
        (np.ones((40, 4)), "each with two different ones"),
        (np.full((40, 4), NAN), "fewer than"),
        (np.ones((MOST_CELLS + 1, 1)), f"scores are predicted for up to {MOST_CELLS:,} cells"),
        (board(10, 3, 0), ""),
    ],
)
def test_tables_too_small_or_too_large_for_predictions_say_so(scores, reason):
    assert why_not_predicted(scores).startswith(reason) or reason in why_not_predicted(scores)
