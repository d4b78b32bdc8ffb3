"""Anchor items: few instances that stand for a whole task, and the error that using them costs.

Items are sorted by difficulty and cut into as many layers of equal size as there are anchors; the item of each layer
with the highest discrimination is its anchor and counts for the whole layer. Items that every system gets right, or
none, count as they are. The idea of anchors from a response model is that of Polo et al. 2024 (tinyBenchmarks,
arXiv:2402.14992); the layers are ours.

The error is measured on systems that had no part in the choice: the systems are dealt into folds, anchors are chosen
from the others, and the score of each system of the fold is estimated from its responses to the anchors alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.stability.items.response_model import ItemModel, UnfittedError, fit_items

N_FOLDS = 5
N_RANDOM = 50  # random choices that anchors are compared with
SIZES = (10, 20, 50, 100)


@dataclass(frozen=True, eq=False)
class Anchors:
    """Some items, with the share of the task that each counts for.

    Attributes:
        items: by index.
        weights: their shares; with `constant` they sum to 1 where that is the share of items all get right.
        constant: what items that every system gets right add to an estimate.
    """

    items: NDArray[np.int64]
    weights: FloatArray
    constant: float


@dataclass(frozen=True)
class AnchorError:
    """What using so many items costs, on systems that had no part in their choice.

    Attributes:
        n_items: how many.
        error: the mean absolute difference of the estimate and the score on all items.
        random_error: the same for as many items at random, each counting alike; the mean over N_RANDOM choices.
    """

    n_items: int
    error: float
    random_error: float


def choose_anchors(model: ItemModel, n_items: int) -> Anchors:
    """Return anchors of a fitted model; all its items, where there are no more than `n_items`."""
    fitted = np.flatnonzero(model.is_fitted)
    n_all = int((~np.isnan(model.share_right)).sum())  # instances that no one answered are no part of a score
    # Items without a difficulty separate no one; they are sorted by how many get them right.
    share = np.clip(model.share_right[fitted], 1e-9, 1 - 1e-9)
    difficulty = np.where(np.isnan(model.difficulty[fitted]), np.log(1 / share - 1), model.difficulty[fitted])
    ordered = fitted[np.lexsort((fitted, difficulty))]
    layers = np.array_split(ordered, min(n_items, len(ordered)))
    items = [int(layer[np.argmax(model.discrimination[layer])]) for layer in layers]
    weights = [len(layer) / n_all for layer in layers]
    return Anchors(np.array(items, dtype=np.int64), np.array(weights), float((model.share_right == 1).sum() / n_all))


def estimated_scores(responses: FloatArray, anchors: Anchors) -> FloatArray:
    """Return the estimated share of right responses of each system; anchors that it lacks leave their weight to others.

    NaN for a system without a response to any anchor.
    """
    own = responses[:, anchors.items]
    present = ~np.isnan(own)
    weight = present @ anchors.weights
    right = np.where(present, own, 0.0) @ anchors.weights
    share = np.divide(right, weight, out=np.full(len(own), np.nan), where=weight > 0)
    return anchors.constant + anchors.weights.sum() * share


def anchor_errors(responses: FloatArray, *, sizes: tuple[int, ...] = SIZES, seed: int = 0) -> list[AnchorError]:
    """Return what subsets of several sizes cost; only sizes below the number of items, and below half of it.

    Args:
        responses: shape (n_systems, n_items): 1 right, 0 wrong, NaN missing.
        sizes: numbers of items.
        seed: of the folds and of the random choices.
    """
    n_systems, n_items = responses.shape
    wanted = [size for size in sizes if 2 * size <= n_items]
    random = np.random.default_rng([seed, n_items])
    folds = np.array_split(random.permutation(n_systems), N_FOLDS)
    with np.errstate(invalid="ignore"):
        scores = np.where(np.isnan(responses), 0.0, responses).sum(axis=1) / (~np.isnan(responses)).sum(axis=1)
    estimates = {size: np.full(n_systems, np.nan) for size in wanted}
    for fold in folds if wanted else []:
        others = np.setdiff1d(np.arange(n_systems), fold)
        try:
            model = fit_items(responses[others])
        except UnfittedError:
            return []  # an error of some of the systems alone would not be comparable
        for size in wanted:
            estimates[size][fold] = estimated_scores(responses[fold], choose_anchors(model, size))
    errors = []
    for size in wanted:
        differences = np.abs(estimates[size] - scores)
        at_random = []
        for _ in range(N_RANDOM):
            chosen = responses[:, random.choice(n_items, size, replace=False)]
            present = ~np.isnan(chosen)
            counts = present.sum(axis=1)
            shares = np.divide(
                np.where(present, chosen, 0.0).sum(axis=1), counts, out=np.full(n_systems, np.nan), where=counts > 0
            )
            at_random.append(np.nanmean(np.abs(shares - scores)))
        if not np.isnan(differences).all():
            errors.append(AnchorError(size, float(np.nanmean(differences)), float(np.mean(at_random))))
    return errors
