"""Item response theory: the difficulty and the discrimination of the instances of a task, and the ability of systems.

A system of ability theta answers item j right with the probability 1 / (1 + exp(-a_j (theta - b_j))): b is the
difficulty, a the discrimination. With one parameter an item (1PL) all discriminations are one number. Abilities are
normal with mean 0 and variance 1 and are integrated out (marginal maximum likelihood, Bock and Aitkin 1981), by sums
over a grid. Boards have few systems for so many items, so that by default a penalty keeps the items of the 2PL finite:
normal priors on a (mean 1, deviation 1) and on -a b (mean 0, deviation 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import BoolArray, FloatArray

Model = Literal["1PL", "2PL"]

MODELS: tuple[Model, ...] = ("1PL", "2PL")
LEAST_SYSTEMS = 8  # of fewer, an item's figures are mostly chance
LEAST_ITEMS = 5  # that some systems get right and others wrong

_GRID = np.linspace(-5.0, 5.0, 41)
_LOG_PRIOR = -(_GRID**2) / 2 - np.log(np.exp(-(_GRID**2) / 2).sum())
_SLOPE_MEAN, _SLOPE_DEVIATION, _LEVEL_DEVIATION = 1.0, 1.0, 3.0
_MAX_ROUNDS = 500
_SETTLED = 1e-7  # of the log-likelihood, relative
_NEWTON_STEPS = 3
_LONGEST_STEP = 1.0
_LEAST_SLOPE = 0.05  # below, no difficulty can be said


class UnfittedError(ValueError):
    """The responses do not suffice for a model; the text says why."""


@dataclass(frozen=True, eq=False)
class ItemModel:
    """A fitted model; one entry an item, in the order of the columns.

    Attributes:
        model: "1PL" or "2PL".
        discrimination: a; NaN for items that every system gets right, or none.
        difficulty: b; NaN for these, and where a is so near 0 that it cannot be said.
        discrimination_error: the standard error of a, from the information of the last step given the abilities'
            distribution; NaN under the 1PL.
        ability: of each system, the mean of its posterior.
        share_right: of the systems with a response.
        log_likelihood: marginal, of the items in the model, without the penalty.
        is_converged: whether the last round changed it by less than a ten-millionth.
    """

    model: Model
    discrimination: FloatArray
    difficulty: FloatArray
    discrimination_error: FloatArray
    ability: FloatArray
    share_right: FloatArray
    log_likelihood: float
    is_converged: bool

    @property
    def is_fitted(self) -> BoolArray:
        """Which items are in the model: some systems get them right, others wrong."""
        return ~np.isnan(self.discrimination)

    @property
    def chance_negative(self) -> FloatArray:
        """The normal probability that the discrimination is below 0: the better a system, the rarer it is right.

        It takes abilities as known, so that it is too high with few systems; docs/studies.md says how much.
        """
        from scipy.special import ndtr  # noqa: PLC0415 -- slow import

        return np.asarray(ndtr(-self.discrimination / self.discrimination_error), dtype=np.float64)


def fit_items(responses: FloatArray, *, model: Model = "2PL", is_penalised: bool = True) -> ItemModel:
    """Fit a model to right and wrong responses.

    Args:
        responses: shape (n_systems, n_items): 1 right, 0 wrong, NaN missing.
        model: "1PL" or "2PL".
        is_penalised: whether the normal priors are used; only the 2PL has them.

    Raises:
        UnfittedError: too few systems, or too few items that some get right and others wrong.
        ValueError: a response is neither 0, 1 nor missing, or `model` is none of MODELS.
    """
    if model not in MODELS:
        raise ValueError(f"`model` is {model!r}; expected one of {', '.join(MODELS)}")
    Y = np.asarray(responses, dtype=np.float64)
    present = ~np.isnan(Y)
    if Y.ndim != 2 or not np.isin(Y[present], (0.0, 1.0)).all():
        raise ValueError("`responses` must be a table of 0, 1 and NaN")
    if (n := int(present.any(axis=1).sum())) < LEAST_SYSTEMS:
        raise UnfittedError(f"only {n} systems have responses; at least {LEAST_SYSTEMS} are needed")
    n_present, n_right = present.sum(axis=0), np.where(present, Y, 0.0).sum(axis=0)
    varied = np.flatnonzero((n_right > 0) & (n_right < n_present))
    if len(varied) < LEAST_ITEMS:
        raise UnfittedError(
            f"only {len(varied)} instances are right for some systems and wrong for others; at least {LEAST_ITEMS} are "
            "needed"
        )
    right = np.where(present, Y, 0.0)[:, varied]
    wrong = (present[:, varied] - right).astype(np.float64)
    share = n_right[varied] / n_present[varied]
    slope, level = np.ones(len(varied)), np.log(share / (1 - share))
    last, is_converged = -np.inf, False
    prior = (1 / _SLOPE_DEVIATION**2, 1 / _LEVEL_DEVIATION**2) if is_penalised and model == "2PL" else (0.0, 0.0)
    posterior, total = _posterior(right, wrong, slope, level)
    for _ in range(_MAX_ROUNDS):
        counts_right, counts = right.T @ posterior, (right + wrong).T @ posterior
        for _ in range(_NEWTON_STEPS):
            first, second, (a, b, c) = _derivatives(counts_right, counts, slope, level, prior)
            if model == "2PL":
                determinant = np.maximum(a * c - b * b, 1e-9)
                of_slope = (c * first - b * second) / determinant
                of_level = (a * second - b * first) / determinant
            else:
                # The slope that all share, with the levels eliminated: one number over a sum of items.
                c = np.maximum(c, 1e-9)
                of_slope = (first - b * second / c).sum() / max(float((a - b * b / c).sum()), 1e-9)
                of_level = (second - b * np.clip(of_slope, -_LONGEST_STEP, _LONGEST_STEP)) / c
            slope = slope + np.clip(of_slope, -_LONGEST_STEP, _LONGEST_STEP)
            level = level + np.clip(of_level, -_LONGEST_STEP, _LONGEST_STEP)
        posterior, total = _posterior(right, wrong, slope, level)
        objective = total - prior[0] * ((slope - _SLOPE_MEAN) ** 2).sum() / 2 - prior[1] * (level**2).sum() / 2
        if abs(objective - last) <= _SETTLED * abs(objective):
            is_converged = True
            break
        last = objective
    ability = posterior @ _GRID
    ability[~present.any(axis=1)] = np.nan
    errors = np.full(len(varied), np.nan)
    if model == "2PL":
        _, _, information = _derivatives(right.T @ posterior, (right + wrong).T @ posterior, slope, level, prior)
        a, b, c = information
        errors = np.sqrt(c / np.maximum(a * c - b * b, 1e-300))
        # Without priors the model is the same with both signs turned, errors too: most items decide. With them, rounds
        # that begin at slopes of 1 need no turn. Shares right say nothing: good systems may have had harder items.
        if prior[0] == 0 and (slope / errors**2).sum() < 0:
            ability, slope = -ability, -slope
    with np.errstate(divide="ignore", invalid="ignore"):
        share_right = n_right / np.where(n_present > 0, n_present, np.nan)
    figures = np.full((3, Y.shape[1]), np.nan)
    figures[:, varied] = slope, np.where(np.abs(slope) < _LEAST_SLOPE, np.nan, -level / slope), errors
    discrimination, difficulty, discrimination_error = figures
    return ItemModel(model, discrimination, difficulty, discrimination_error, ability, share_right, total, is_converged)


def _posterior(right: FloatArray, wrong: FloatArray, slope: FloatArray, level: FloatArray) -> tuple[FloatArray, float]:
    """Return for each system how likely each point of the grid is, and the marginal log-likelihood of all."""
    logits = np.clip(_GRID[:, None] * slope + level, -30, 30)
    log_right, log_wrong = -np.log1p(np.exp(-logits)), -np.log1p(np.exp(logits))
    joint = right @ log_right.T + wrong @ log_wrong.T + _LOG_PRIOR
    most = joint.max(axis=1, keepdims=True)
    weights = np.exp(joint - most)
    sums = weights.sum(axis=1, keepdims=True)
    return weights / sums, float((most + np.log(sums)).sum())


def _derivatives(
    counts_right: FloatArray, counts: FloatArray, slope: FloatArray, level: FloatArray, prior: tuple[float, float]
) -> tuple[FloatArray, FloatArray, tuple[FloatArray, FloatArray, FloatArray]]:
    """Return the slopes of each item's expected log-likelihood in a and d = -a b, and the three entries of minus its
    second derivatives: aa, ad, dd."""
    p = 1 / (1 + np.exp(-np.clip(_GRID * slope[:, None] + level[:, None], -30, 30)))
    residual, weight = counts_right - counts * p, counts * p * (1 - p)
    first = residual @ _GRID - prior[0] * (slope - _SLOPE_MEAN)
    second = residual.sum(axis=1) - prior[1] * level
    information = (weight @ _GRID**2 + prior[0], weight @ _GRID, weight.sum(axis=1) + prior[1])
    return first, second, information


def binary_responses(block: FloatArray, direction: int) -> FloatArray | None:
    """Return the responses of a task whose scores are all 0 or 1, 1 for right; None of other tasks.

    Args:
        block: scores as stored, shape (n_systems, n_instances).
        direction: of the task, +1 or -1.
    """
    known: NDArray[np.float64] = block[~np.isnan(block)]
    if not known.size or not np.isin(known, (0.0, 1.0)).all():
        return None
    return block if direction > 0 else 1 - block
