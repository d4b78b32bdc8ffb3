"""Metrics of scores and probabilities of labels."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from ranking_engine.core.decimals import DIGITS, rounded
from ranking_engine.evaluation.metric import (
    AdditiveFigure,
    Cases,
    CodeArray,
    FloatArray,
    Kind,
    Library,
    Metric,
    Option,
    UndefinedMetricError,
)
from ranking_engine.evaluation.metrics.labels import POSITIVE, SKLEARN, positive_code
from ranking_engine.evaluation.metrics.libraries import load

_LEAST = float(np.finfo(np.float64).eps)  # a probability of 0 counts as this one, as in scikit-learn
_BINS = Option("bins", "bins of equal width into which confidences are sorted", "integer", 15, lowest=1, highest=1000)
_POSITIVE_OF_SINGLE = Option(
    "positive", "the label whose probability predictions are that are a single number", "label"
)


def _binary(name: str) -> Callable[[Cases], float]:
    """Return scikit-learn's figure of this name for the positive label; NaN where all or no instances have it."""

    def figure(cases: Cases) -> float:
        true = cases.references == positive_code(cases)
        if true.all() or not true.any():
            return math.nan
        return float(getattr(load(SKLEARN), name)(true, cases.predictions, sample_weight=cases.weights))

    return figure


def _two_classes(cases: Cases) -> CodeArray:
    return np.where(cases.references == positive_code(cases), 1, 0)


def _by_score(cases: Cases, figure: Callable[[FloatArray, FloatArray], float]) -> Callable[[FloatArray], float]:
    """Return a figure of the weights of positive and negative instances at each score, the lowest first."""
    true = cases.references == positive_code(cases)
    codes = np.unique(cases.predictions, return_inverse=True)[1]
    n_scores = int(codes.max()) + 1

    def of_weights(weights: FloatArray) -> float:
        positive, negative = (np.bincount(codes, weights * has, n_scores).astype(np.float64) for has in (true, ~true))
        return figure(positive, negative) if positive.any() and negative.any() else math.nan

    return of_weights


def _area(positive: FloatArray, negative: FloatArray) -> float:
    below = np.cumsum(negative) - negative / 2
    return float(positive @ below) / (float(positive.sum()) * float(negative.sum()))


def _precision_mean(positive: FloatArray, negative: FloatArray) -> float:
    right, wrong = np.cumsum(positive[::-1]), np.cumsum(negative[::-1])
    steps = positive[::-1]
    kept = steps > 0
    return float(steps[kept] @ (right[kept] / (right[kept] + wrong[kept]))) / float(right[-1])


def _codes(cases: Cases) -> np.ndarray:
    return np.arange(len(cases.labels))


def _log_loss(cases: Cases) -> float:
    if len(cases.labels) < 2:
        raise UndefinedMetricError("Log loss is undefined here: references and predictions have one label in all.")
    score = load(SKLEARN).log_loss
    return float(score(cases.references, cases.predictions, labels=_codes(cases), sample_weight=cases.weights))


def _log_losses(cases: Cases) -> FloatArray:
    chances = cases.predictions[np.arange(len(cases)), cases.references]
    return -np.log(np.clip(chances, _LEAST, 1 - _LEAST))


def _is_brier_half(cases: Cases) -> bool:
    """Whether the references have two labels; a further one that predictions name does not change the scale."""
    return cases.n_true_labels <= 2


def _brier(cases: Cases) -> float:
    if len(cases.labels) < 2:
        return 0.0  # the only label has all the probability
    score, weights = load(SKLEARN).brier_score_loss, cases.weights
    is_half = _is_brier_half(cases)
    return float(
        score(cases.references, cases.predictions, labels=_codes(cases), sample_weight=weights, scale_by_half=is_half)
    )


def _brier_terms(cases: Cases) -> FloatArray:
    errors = cases.predictions.copy()
    errors[np.arange(len(cases)), cases.references] -= 1
    return (errors**2).sum(axis=1) / (2 if _is_brier_half(cases) else 1)


def _calibration(cases: Cases) -> AdditiveFigure:
    """Return what confidence exceeds the right answers by in each bin, with the weights in the last column.

    Of k labels that are equally probable each is predicted as 1 / k, so that no order of their names decides.
    """
    n_bins = cases.options["bins"]
    # As all scores are: sums that ought to be 1 leave dust, and an end of a bin belongs to the bin below it.
    confidence = rounded(cases.predictions.max(axis=1))
    is_likeliest = cases.predictions == cases.predictions.max(axis=1, keepdims=True)
    right = is_likeliest[np.arange(len(cases)), cases.references] / is_likeliest.sum(axis=1)
    bins = np.clip(np.ceil(rounded(confidence * n_bins)).astype(np.int64) - 1, 0, n_bins - 1)
    terms = np.zeros((len(cases), n_bins + 1))
    terms[np.arange(len(cases)), bins] = confidence - right
    terms[:, -1] = 1
    return AdditiveFigure(terms, lambda sums: np.round(np.abs(sums[:, :-1]).sum(axis=1) / sums[:, -1], DIGITS))


_ONE_LABEL = "all references are the same label, or none is the positive one."
_SCORES = partial(
    Metric,
    library=SKLEARN,
    lower_is_better=False,
    lowest=0.0,
    highest=1.0,
    reference_kind=Kind.LABEL,
    prediction_kind=Kind.NUMBER,
    classes=_two_classes,
    options=(POSITIVE,),
    when_undefined=_ONE_LABEL,
)
_CHANCES = partial(
    Metric,
    library=SKLEARN,
    lower_is_better=True,
    lowest=0.0,
    reference_kind=Kind.LABEL,
    prediction_kind=Kind.PROBABILITIES,
    options=(_POSITIVE_OF_SINGLE,),
)

METRICS = (
    _SCORES(
        key="roc_auc",
        name="Area under the ROC curve",
        description="How likely an instance of the positive label scores higher than another one; ties count half.",
        citation="Hanley and McNeil (1982), https://doi.org/10.1148/radiology.143.1.7063747",
        figure=_binary("roc_auc_score"),
        reweighted=partial(_by_score, figure=_area),
    ),
    _SCORES(
        key="average_precision",
        name="Average precision",
        description="The mean precision over the instances with the positive label, from the highest score downwards.",
        citation="scikit-learn's average_precision_score, "
        "https://scikit-learn.org/stable/modules/model_evaluation.html#precision-recall-and-f-measures",
        figure=_binary("average_precision_score"),
        reweighted=partial(_by_score, figure=_precision_mean),
    ),
    _CHANCES(
        key="log_loss",
        name="Log loss",
        description="The mean of minus the logarithm of the true label's probability; a probability of 0 counts as "
        "2.2e-16.",
        highest=-math.log(_LEAST),
        citation="Good (1952), https://doi.org/10.1111/j.2517-6161.1952.tb00104.x",
        figure=_log_loss,
        instance_values=_log_losses,
    ),
    _CHANCES(
        key="brier",
        name="Brier score",
        description="The mean squared difference of the probabilities and 1 for the true label, 0 for others; "
        "half of it where the references have at most two labels.",
        highest=2.0,
        citation="Brier (1950), https://doi.org/10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2",
        figure=_brier,
        instance_values=_brier_terms,
    ),
    _CHANCES(
        key="ece",
        name="Expected calibration error",
        description="How far the probability of the predicted label is from the share of right ones, over bins of it; "
        "above 0 by chance also where probabilities are right.",
        library=Library(),
        highest=1.0,
        citation="Guo et al. (2017), On Calibration of Modern Neural Networks, arXiv 1706.04599; our own code",
        sums=_calibration,
        has_error=False,
        options=(_POSITIVE_OF_SINGLE, _BINS),
    ),
)
