"""Metrics of predicted labels."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from ranking_engine.evaluation.metric import (
    AdditiveFigure,
    Cases,
    CodeArray,
    FloatArray,
    Kind,
    Library,
    Metric,
    Option,
    all_but_commonest,
)
from ranking_engine.evaluation.metrics.libraries import load

SKLEARN = Library("scikit-learn", "sklearn.metrics")
POSITIVE = Option("positive", "the label that is to be found", "label", is_needed=True)


def positive_code(cases: Cases) -> int:
    """Return the number of the positive label; one that no instance has is a number of no label."""
    label = cases.options["positive"]
    return cases.labels.index(label) if label in cases.labels else -1


def is_right(cases: Cases) -> FloatArray:
    """Return 1 for each instance whose label is predicted, else 0."""
    return (cases.references == cases.predictions).astype(np.float64)


def _label_counts(cases: Cases, figures: Callable[[FloatArray, FloatArray, FloatArray], FloatArray]) -> AdditiveFigure:
    """Return sums per label: of instances that have it and are predicted so, that have it, that are predicted so.

    Labels that no instance of a part has, and that is predicted of none, have no sums.

    Args:
        cases: the instances.
        figures: of these three, each of shape (m, labels).
    """
    from scipy.sparse import csr_array, hstack  # noqa: PLC0415 -- only here

    n = len(cases)
    labels, codes = np.unique(np.concatenate([cases.references, cases.predictions]), return_inverse=True)
    k = len(labels)

    def columns(codes: np.ndarray, ones: FloatArray) -> csr_array:
        return csr_array((ones, (np.arange(n), codes)), shape=(n, k))

    ones = np.ones(n)
    parts = [columns(codes[:n], is_right(cases)), columns(codes[:n], ones)]
    terms = hstack([*parts, columns(codes[n:], ones)], format="csr")

    def of_sums(sums: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore", divide="ignore"):
            return figures(sums[:, :k], sums[:, k : 2 * k], sums[:, 2 * k :])

    return AdditiveFigure(terms, of_sums)


def _f1_by_label(right: FloatArray, true: FloatArray, predicted: FloatArray) -> FloatArray:
    """Return the F1 of each label, NaN where no instance has it and none is predicted so."""
    # AdditiveFigure that should cancel to 0 leave dust behind: a label that is left out altogether must count as such.
    return np.where(true + predicted > 1e-9, 2 * right / (true + predicted), np.nan)


def _f1_macro(right: FloatArray, true: FloatArray, predicted: FloatArray) -> FloatArray:
    """Return the mean over labels, NaN where one of them disappears: that would be the mean of other labels."""
    return np.mean(_f1_by_label(right, true, predicted), axis=1)


def _f1_weighted(right: FloatArray, true: FloatArray, predicted: FloatArray) -> FloatArray:
    return np.nansum(_f1_by_label(right, true, predicted) * true, axis=1) / true.sum(axis=1)


def _recall_mean(right: FloatArray, true: FloatArray, predicted: FloatArray) -> FloatArray:
    return np.nanmean(np.where(true > 1e-9, right / true, np.nan), axis=1)


def _matthews(right: FloatArray, true: FloatArray, predicted: FloatArray) -> FloatArray:
    """Return the correlations, NaN where all labels are alike: there the figure is 0 by convention alone."""
    total, agree = true.sum(axis=1), right.sum(axis=1)
    of_true, of_predicted = (total**2 - (counts**2).sum(axis=1) for counts in (true, predicted))
    covariance = agree * total - (true * predicted).sum(axis=1)
    # Each alone, not their product: 5 of 400,000 instances with the other label are no rounding.
    varies = np.minimum(of_true, of_predicted) > 1e-9 * total**2
    return np.where(varies, covariance / np.sqrt(of_true * of_predicted), np.nan)


def _accuracy(cases: Cases) -> float:
    return float(load(SKLEARN).accuracy_score(cases.references, cases.predictions, sample_weight=cases.weights))


def _balanced_accuracy(cases: Cases) -> float:
    score = load(SKLEARN).balanced_accuracy_score
    return float(score(cases.references, cases.predictions, sample_weight=cases.weights))


def _mcc(cases: Cases) -> float:
    score = load(SKLEARN).matthews_corrcoef
    return float(score(cases.references, cases.predictions, sample_weight=cases.weights))


def _f1_binary(cases: Cases) -> float:
    code = positive_code(cases)
    true, predicted = cases.references == code, cases.predictions == code
    if not true.any() and not predicted.any():
        return math.nan
    return float(load(SKLEARN).f1_score(true, predicted, sample_weight=cases.weights, zero_division=0.0))


def _f1_of(average: str) -> Callable[[Cases], float]:
    def figure(cases: Cases) -> float:
        score = load(SKLEARN).f1_score
        weights = cases.weights
        return float(
            score(cases.references, cases.predictions, average=average, sample_weight=weights, zero_division=0.0)
        )

    return figure


def _true_labels(cases: Cases) -> CodeArray:
    return np.asarray(cases.references, dtype=np.int64)


def _positive_alone(cases: Cases) -> CodeArray:
    return np.where(cases.references == positive_code(cases), 0, -1)


def _binary_counts(cases: Cases) -> AdditiveFigure:
    code = positive_code(cases)
    true, predicted = cases.references == code, cases.predictions == code
    terms = np.column_stack([true & predicted, true.astype(int) + predicted]).astype(np.float64)

    def f1(sums: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(sums[:, 1] > 1e-9, 2 * sums[:, 0] / sums[:, 1], np.nan)

    return AdditiveFigure(terms, f1)


_LABELS = partial(
    Metric,
    library=SKLEARN,
    lower_is_better=False,
    lowest=0.0,
    highest=1.0,
    reference_kind=Kind.LABEL,
    prediction_kind=Kind.LABEL,
)
_F1 = "van Rijsbergen (1979), Information Retrieval, 2nd edition; scikit-learn's f1_score"

METRICS = (
    _LABELS(
        key="accuracy",
        name="Accuracy",
        description="The share of instances whose label is predicted.",
        figure=_accuracy,
        citation="scikit-learn's accuracy_score, https://scikit-learn.org/stable/modules/model_evaluation.html#accuracy-score",
        instance_values=is_right,
    ),
    _LABELS(
        key="balanced_accuracy",
        name="Balanced accuracy",
        description="The mean over the labels of the share of a label's instances that are predicted so.",
        figure=_balanced_accuracy,
        citation="Brodersen et al. (2010), https://doi.org/10.1109/ICPR.2010.764",
        sums=partial(_label_counts, figures=_recall_mean),
        classes=_true_labels,
    ),
    _LABELS(
        key="f1",
        name="F1 of a label",
        description="The harmonic mean of precision and recall of one label, which at least one instance must have; in "
        "a split or category without it, 0 where it is predicted and none where it is not.",
        figure=_f1_binary,
        citation=_F1,
        sums=_binary_counts,
        classes=_positive_alone,
        options=(POSITIVE,),
    ),
    _LABELS(
        key="f1_micro",
        name="F1, micro average",
        description="F1 of the decisions of all labels together; with one label for each instance it is the accuracy.",
        figure=_f1_of("micro"),
        citation=_F1,
        instance_values=is_right,
    ),
    _LABELS(
        key="f1_macro",
        name="F1, macro average",
        description="The mean of the F1 of each label that an instance has or that is predicted.",
        figure=_f1_of("macro"),
        citation=_F1,
        sums=partial(_label_counts, figures=_f1_macro),
        classes=_true_labels,
    ),
    _LABELS(
        key="f1_weighted",
        name="F1, weighted average",
        description="The mean of the F1 of each label, weighted by how many instances have it.",
        figure=_f1_of("weighted"),
        citation=_F1,
        sums=partial(_label_counts, figures=_f1_weighted),
    ),
    _LABELS(
        key="mcc",
        name="Matthews correlation",
        description="The correlation of the true and the predicted labels; 0 is guessing.",
        figure=_mcc,
        citation="Matthews (1975), https://doi.org/10.1016/0005-2795(75)90109-9; for several labels Gorodkin (2004), "
        "https://doi.org/10.1016/j.compbiolchem.2004.09.006",
        sums=partial(_label_counts, figures=_matthews),
        classes=all_but_commonest,
        lowest=-1.0,
    ),
)
