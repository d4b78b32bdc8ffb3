"""How likely each result of a comparison is: Bradley and Terry's model without ties, and two with them.

Systems have strengths s (natural logarithms of Bradley and Terry's p); d is the difference of two, plus what covariates
add. In the first two models a system of d more is exp(d) times as likely to win as to lose; in the third it is more, up
to exp(2 d).

- `half_wins`: the first wins with probability 1 / (1 + exp(-d)); a tie counts as half a win for both.
- `davidson` (Davidson 1970): win, loss and tie are as exp(d / 2) : exp(-d / 2) : nu.
- `rao_kupper` (Rao and Kupper 1967): the first wins with probability 1 / (1 + eta exp(-d)), the second with
  1 / (1 + eta exp(d)), and otherwise it is a tie; eta >= 1. Here only a change of d by log(eta) is worth exp(d).

The tie parameter t that is estimated is log(nu) or log(eta). All log-likelihoods are concave in strengths,
coefficients and t.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ranking_engine.core.score_matrix import FloatArray


class OutcomeTerms(NamedTuple):
    """The log-probabilities of the three results WON, LOST and TIED, and their derivatives; each (3, n_rows).

    Attributes:
        value: the log-probability.
        slope, tie_slope: its derivatives in d and in t.
        curvature, cross, tie_curvature: minus its second derivatives in d twice, in d and t, in t twice.
    """

    value: FloatArray
    slope: FloatArray
    tie_slope: FloatArray
    curvature: FloatArray
    cross: FloatArray
    tie_curvature: FloatArray


@dataclass(frozen=True)
class VoteModel:
    """A model of votes.

    Attributes:
        key, name: for programs and for people.
        terms: the log-probabilities at differences d of shape (n_rows,) and a tie parameter t.
        has_ties: whether ties have a probability, and t is estimated.
        is_positive: whether t must be positive.
        tie_name: what exp(t) is called.
        points_text: what a difference of 400 points is.
    """

    key: str
    name: str
    terms: Callable[[FloatArray, float], OutcomeTerms]
    has_ties: bool = True
    is_positive: bool = False
    tie_name: str = ""
    points_text: str = "odds of 10 to 1 are 400"


def half_win_terms(d: FloatArray, t: float) -> OutcomeTerms:
    """Return the terms of Bradley and Terry's model, a tie as half a win and half a loss."""
    won, lost = -np.logaddexp(0, -d), -np.logaddexp(0, d)
    p = np.exp(won)
    none = np.zeros((3, len(d)))
    curvature = np.broadcast_to(p * np.exp(lost), (3, len(d)))
    return OutcomeTerms(
        np.stack([won, lost, (won + lost) / 2]), np.stack([1 - p, -p, 0.5 - p]), none, curvature, none, none
    )


def _davidson_terms(d: FloatArray, t: float) -> OutcomeTerms:
    """Return the terms of Davidson's model, t = log(nu)."""
    exponents = np.stack([d / 2, -d / 2, np.full(len(d), t)])
    total = np.logaddexp.reduce(exponents)
    value = exponents - total
    p_won, p_lost, p_tied = np.exp(value)
    mean = (p_won - p_lost) / 2
    slope = np.stack([0.5 - mean, -0.5 - mean, -mean])
    tie_slope = np.stack([-p_tied, -p_tied, 1 - p_tied])
    shape = (3, len(d))
    return OutcomeTerms(
        value,
        slope,
        tie_slope,
        np.broadcast_to((p_won + p_lost) / 4 - mean**2, shape),
        np.broadcast_to(-mean * p_tied, shape),
        np.broadcast_to(p_tied * (1 - p_tied), shape),
    )


def _rao_kupper_terms(d: FloatArray, t: float) -> OutcomeTerms:
    """Return the terms of Rao and Kupper's model, t = log(eta) > 0."""
    won, lost = -np.logaddexp(0, t - d), -np.logaddexp(0, t + d)
    a, b = np.exp(won), np.exp(lost)
    a_curve, b_curve = a * (1 - a), b * (1 - b)
    excess = -np.expm1(-2 * t)  # 1 - exp(-2 t); a tie has probability (eta^2 - 1) a b
    return OutcomeTerms(
        np.stack([won, lost, won + lost + 2 * t + np.log(excess)]),
        np.stack([1 - a, b - 1, b - a]),
        np.stack([a - 1, b - 1, a + b - 2 + 2 / excess]),
        np.stack([a_curve, b_curve, a_curve + b_curve]),
        np.stack([-a_curve, b_curve, b_curve - a_curve]),
        np.stack([a_curve, b_curve, a_curve + b_curve + 4 * (1 - excess) / excess**2]),
    )


MODELS = {
    model.key: model
    for model in (
        VoteModel("half_wins", "Bradley-Terry, ties as half wins", half_win_terms, has_ties=False),
        VoteModel("davidson", "Bradley-Terry with ties by Davidson", _davidson_terms, tie_name="nu"),
        VoteModel(
            "rao_kupper",
            "Bradley-Terry with ties by Rao and Kupper",
            _rao_kupper_terms,
            is_positive=True,
            tie_name="eta",
            points_text="400 more are 10 times the strength, and odds of more than 10 to 1",
        ),
    )
}


def vote_model(key: str) -> VoteModel:
    """Return the model of a key, or raise a ValueError that lists all."""
    if key not in MODELS:
        raise ValueError(f"`model` is {key!r}; expected one of {', '.join(MODELS)}")
    return MODELS[key]
