from __future__ import annotations

import numpy as np
import pytest

from ranking_engine.stability.items.anchors import anchor_errors, choose_anchors, estimated_scores
from ranking_engine.stability.items.response_model import fit_items
from tests.ranking_engine.stability.items.test_response_model import simulated


def test_anchors_are_the_best_item_of_each_layer_of_difficulty():
    responses, *_ = simulated(1, n_systems=90, n_items=31)
    responses[:, 4] = 1.0
    model = fit_items(responses)
    assert np.isnan(model.difficulty).nonzero()[0].tolist() == [4]
    anchors = choose_anchors(model, 6)
    by_difficulty = sorted((j for j in range(31) if j != 4), key=lambda j: model.difficulty[j])
    layers = [by_difficulty[k : k + 5] for k in range(0, 30, 5)]
    assert anchors.items.tolist() == [max(layer, key=lambda j: model.discrimination[j]) for layer in layers]
    assert anchors.weights == pytest.approx([5 / 31] * 6)
    assert anchors.constant == pytest.approx(1 / 31)


def test_all_items_as_anchors_give_the_score_itself():
    responses, *_ = simulated(2)
    responses[:, 3], responses[:, 9] = 1.0, 0.0
    anchors = choose_anchors(fit_items(responses), 1000)
    assert estimated_scores(responses, anchors) == pytest.approx(responses.mean(axis=1))


def test_a_missing_anchor_leaves_its_weight_to_the_others_and_none_gives_no_estimate():
    responses, *_ = simulated(3)
    anchors = choose_anchors(fit_items(responses), 4)
    some = responses[:3].copy()
    some[0, anchors.items[0]] = np.nan
    some[1] = np.nan
    left = anchors.weights[1:] @ responses[0, anchors.items[1:]] / anchors.weights[1:].sum() * anchors.weights.sum()
    estimates = estimated_scores(some, anchors)
    assert estimates[0] == pytest.approx(anchors.constant + left)
    assert np.isnan(estimates[1])


def test_errors_are_measured_on_systems_without_a_part_in_the_choice():
    responses, *_ = simulated(4, n_systems=60, n_items=200)
    errors = {one.n_items: one for one in anchor_errors(responses, sizes=(10, 50, 150))}
    assert list(errors) == [10, 50]  # 150 of 200 are no subset worth it
    assert 0 < errors[50].error < errors[10].error < errors[10].random_error
    assert anchor_errors(responses, sizes=(10,)) == anchor_errors(responses, sizes=(10,))
    # Random items, by the variance of a mean without replacement, averaged over systems.
    expected = [np.sqrt(2 / np.pi) * np.sqrt(row.var(ddof=1) / 10 * (1 - 10 / 200)) for row in responses]
    assert errors[10].random_error == pytest.approx(np.mean(expected), rel=0.1)


def test_few_systems_have_no_errors():
    responses, *_ = simulated(5, n_systems=8)
    assert anchor_errors(responses, sizes=(10,)) == []
