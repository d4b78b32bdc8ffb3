"""Maximum likelihood estimates of strengths, coefficients and the tie parameter, by Newton's method on counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.votes.data import TIED, Comparisons
from ranking_engine.votes.models import OutcomeTerms, VoteModel, half_win_terms

MAX_STEPS = 200
_EXACT = 1e-10  # the last step: its square is what is left
_MAX_STEP = 2.0  # far away the quadratic model overshoots
_HALVINGS = 40


class NotFittedError(ValueError):
    """There is no finite estimate, or the search for it did not end."""


@dataclass(frozen=True, eq=False)
class VoteFit:
    """An estimate.

    Attributes:
        model: what was fitted.
        strengths: of each system, with mean 0 in its component.
        coefficients: one per covariate.
        tie: the tie parameter t; None where the model has none, or no vote is a tie.
        information: minus the second derivative of the log-likelihood in all of these, in this order, plus a constant
            within each component, which makes it regular and changes nothing at mean 0.
        terms: at the estimate.
        n_steps: of Newton's method.
    """

    model: VoteModel
    strengths: FloatArray
    coefficients: FloatArray
    tie: float | None
    information: FloatArray
    terms: OutcomeTerms
    n_steps: int

    @property
    def parameters(self) -> FloatArray:
        """All estimates as one array."""
        return np.concatenate([self.strengths, self.coefficients, [] if self.tie is None else [self.tie]])

    @cached_property
    def inverse(self) -> FloatArray:
        """The inverse of `information`."""
        return np.asarray(np.linalg.inv(self.information))


def fitted_votes(
    comparisons: Comparisons, model: VoteModel, labels: NDArray[np.intp], start: FloatArray | None = None
) -> VoteFit:
    """Return the estimate of maximum likelihood. O(n_rows + n_systems^3) a step.

    Args:
        comparisons: counts of pairs in one component; see `within_components`.
        model: of wins and ties. Where no vote is a tie the tie parameter is at its bound, and strengths are those
            without ties.
        labels: the component of each system, from 0.
        start: where to begin, as `VoteFit.parameters`; default 0.

    Raises:
        NotFittedError: the search did not end: coefficients of covariates that are not determined, such as one that
            decides every vote.
    """
    n, n_covariates = comparisons.n_systems, comparisons.covariates.shape[1]
    estimates_tie = model.has_ties and bool(comparisons.counts[TIED].any())
    terms_of = model.terms if estimates_tie or not model.has_ties else half_win_terms
    same = labels[:, None] == labels
    sizes = np.bincount(labels, minlength=1)[labels]

    def centred(values: FloatArray) -> FloatArray:
        means = np.bincount(labels, weights=values[:n]) / np.maximum(np.bincount(labels), 1)
        return np.concatenate([values[:n] - means[labels], values[n:]])

    def terms_at(values: FloatArray) -> tuple[OutcomeTerms, float]:
        d = values[comparisons.first] - values[comparisons.second]
        if n_covariates:
            d = d + comparisons.covariates @ values[n : n + n_covariates]
        terms = terms_of(d, float(values[-1]) if estimates_tie else 0.0)
        return terms, float((comparisons.counts * terms.value).sum())

    values = np.zeros(n + n_covariates + estimates_tie)
    if estimates_tie:
        values[-1] = 0.5 if model.is_positive else 0.0
    if start is not None and len(start) == len(values):
        values = centred(np.array(start, dtype=np.float64))
    terms, value = terms_at(values)
    for n_steps in range(1, MAX_STEPS + 1):
        information = assembled(
            comparisons,
            (comparisons.counts * terms.curvature).sum(axis=0),
            (comparisons.counts * terms.cross).sum(axis=0) if estimates_tie else None,
            float((comparisons.counts * terms.tie_curvature).sum()),
        )
        scale = max(float(information.diagonal()[:n].max(initial=0.0)), 1e-12)
        information[:n, :n] += np.where(same, scale / sizes, 0.0)
        slope = (comparisons.counts * terms.slope).sum(axis=0)
        of_strengths = np.bincount(comparisons.first, weights=slope, minlength=n)
        of_strengths -= np.bincount(comparisons.second, weights=slope, minlength=n)
        of_tie = [float((comparisons.counts * terms.tie_slope).sum())] if estimates_tie else []
        gradient = np.concatenate([of_strengths, slope @ comparisons.covariates, of_tie])
        try:
            step = centred(np.asarray(np.linalg.solve(information, gradient), dtype=np.float64))
        except np.linalg.LinAlgError as error:
            raise NotFittedError("coefficients are not determined: a covariate repeats others") from error
        largest = float(np.abs(step).max(initial=0.0))
        if largest < _EXACT:
            coefficients = values[n : n + n_covariates]
            tie = float(values[-1]) if estimates_tie else None
            return VoteFit(model, values[:n], coefficients, tie, information, terms, n_steps)
        step *= min(1.0, _MAX_STEP / largest)
        for _ in range(_HALVINGS):
            trial = centred(values + step)
            if not (estimates_tie and model.is_positive and trial[-1] <= 0):
                trial_terms, trial_value = terms_at(trial)
                if trial_value >= value - 1e-11 * abs(value):
                    break
            step /= 2
        values, terms, value = trial, trial_terms, trial_value
    raise NotFittedError(f"no estimate within {MAX_STEPS} steps: a covariate decides every vote, or nearly so")


def assembled(comparisons: Comparisons, by_row: FloatArray, cross: FloatArray | None, of_tie: float) -> FloatArray:
    """Return the sum over rows of `by_row` times g g', where g is the gradient of d in strengths and coefficients.

    Args:
        comparisons: the rows.
        by_row: (n_rows,).
        cross: (n_rows,), what multiplies g in the row and column of the tie parameter; None where there is none.
        of_tie: what is in its diagonal.
    """
    n, X = comparisons.n_systems, comparisons.covariates
    k = X.shape[1]
    whole = np.zeros((n + k + (cross is not None),) * 2)
    pairs = comparisons.table(by_row)
    pairs = pairs + pairs.T
    whole[:n, :n] = -pairs
    whole[np.arange(n), np.arange(n)] += pairs.sum(axis=1)
    columns = [by_row * X[:, c] for c in range(k)] + ([] if cross is None else [cross])
    for c, column in enumerate(columns):
        side = np.bincount(comparisons.first, weights=column, minlength=n)
        side -= np.bincount(comparisons.second, weights=column, minlength=n)
        whole[:n, n + c] = whole[n + c, :n] = side
    if k:
        whole[n : n + k, n : n + k] = X.T @ (by_row[:, None] * X)
        if cross is not None:
            whole[n : n + k, -1] = whole[-1, n : n + k] = cross @ X
    if cross is not None:
        whole[-1, -1] = of_tie
    return whole
