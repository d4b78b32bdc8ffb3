"""Metrics of predicted numbers, and the mean of numbers that are brought."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from ranking_engine.evaluation.metric import (
    AdditiveFigure,
    Cases,
    FloatArray,
    Kind,
    Library,
    Metric,
    all_but_commonest,
)
from ranking_engine.evaluation.metrics.labels import SKLEARN
from ranking_engine.evaluation.metrics.libraries import load

SCIPY = Library("scipy", "scipy.stats")
_DUST = 1e-12  # variance of numbers up to 1 in size that is taken for none: sums that cancel leave as much


def _predicted(cases: Cases) -> FloatArray:
    return np.asarray(cases.predictions, dtype=np.float64)


def _absolute_errors(cases: Cases) -> FloatArray:
    return np.abs(cases.references - cases.predictions)


def _squared_errors(cases: Cases) -> FloatArray:
    return (cases.references - cases.predictions) ** 2


def _of_sklearn(name: str) -> Callable[[Cases], float]:
    def figure(cases: Cases) -> float:
        score = getattr(load(SKLEARN), name)
        return float(score(cases.references, cases.predictions, sample_weight=cases.weights))

    return figure


def _r2(cases: Cases) -> float:
    if len(cases) < 2 or np.ptp(cases.references) == 0:
        return math.nan
    return _of_sklearn("r2_score")(cases)


def _root_mean_square(cases: Cases) -> AdditiveFigure:
    terms = np.column_stack([np.ones(len(cases)), _squared_errors(cases)])
    return AdditiveFigure(terms, lambda sums: np.sqrt(np.maximum(sums[:, 1], 0) / sums[:, 0]))


def _scaled(values: FloatArray) -> FloatArray:
    """Return numbers less their mean in units of their spread, so that differences of sums stay exact."""
    centred = values - values.mean()
    spread = float(np.abs(centred).max())
    return centred / spread if spread else centred


def _explained(cases: Cases) -> AdditiveFigure:
    spread = float(np.abs(cases.references - cases.references.mean()).max()) or 1.0
    y, errors = _scaled(cases.references), (cases.references - cases.predictions) / spread
    terms = np.column_stack([np.ones(len(cases)), y, y**2, errors**2])

    def r2(sums: FloatArray) -> FloatArray:
        variation = sums[:, 2] - sums[:, 1] ** 2 / sums[:, 0]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(variation > _DUST * len(y), 1 - sums[:, 3] / variation, np.nan)

    return AdditiveFigure(terms, r2)


def _moments(cases: Cases) -> AdditiveFigure:
    x, y = _scaled(cases.references), _scaled(cases.predictions)
    terms = np.column_stack([np.ones(len(cases)), x, y, x * x, y * y, x * y])

    def correlation(sums: FloatArray) -> FloatArray:
        n, a, b, aa, bb, ab = sums.T
        first, second = aa - a * a / n, bb - b * b / n
        with np.errstate(invalid="ignore", divide="ignore"):
            figures = (ab - a * b / n) / np.sqrt(first * second)
        return np.where(np.minimum(first, second) > _DUST * len(x), figures, np.nan)

    return AdditiveFigure(terms, correlation)


def _correlation(name: str) -> Callable[[Cases], float]:
    def figure(cases: Cases) -> float:
        if len(cases) < 2 or np.ptp(cases.references) == 0 or np.ptp(cases.predictions) == 0:
            return math.nan
        return float(getattr(load(SCIPY), name)(cases.references, cases.predictions).statistic)

    return figure


def _rank_correlation(cases: Cases) -> Callable[[FloatArray], float]:
    """Return Spearman's correlation for instances that occur several times: that of their middle ranks."""
    columns = [np.unique(values, return_inverse=True)[1] for values in (cases.references, cases.predictions)]

    def figure(times: FloatArray) -> float:
        ranks = []
        for codes in columns:
            sizes = np.bincount(codes, times)
            ranks.append((np.cumsum(sizes) - sizes / 2)[codes])
        total = times.sum()
        x, y = (values - float(times @ values) / total for values in ranks)
        spread = float(times @ (x * x)) * float(times @ (y * y))
        return float(times @ (x * y)) / math.sqrt(spread) if spread > 0 else math.nan

    return figure


_NUMBERS = partial(Metric, reference_kind=Kind.NUMBER, prediction_kind=Kind.NUMBER)
_REGRESSION_ERROR = partial(_NUMBERS, library=SKLEARN, lower_is_better=True, lowest=0.0, highest=math.inf)
_CORRELATION = partial(
    _NUMBERS,
    library=SCIPY,
    lower_is_better=False,
    lowest=-1.0,
    highest=1.0,
    takes_weights=False,
    classes=all_but_commonest,
    when_undefined="the references, or the predictions, are all the same number.",
)
_REGRESSION = "https://scikit-learn.org/stable/modules/model_evaluation.html#regression-metrics"

METRICS = (
    _REGRESSION_ERROR(
        key="rmse",
        name="Root mean squared error",
        description="The square root of the mean squared difference of prediction and reference.",
        figure=_of_sklearn("root_mean_squared_error"),
        citation=f"scikit-learn's root_mean_squared_error, {_REGRESSION}",
        sums=_root_mean_square,
    ),
    _REGRESSION_ERROR(
        key="mae",
        name="Mean absolute error",
        description="The mean difference of prediction and reference, whatever its sign.",
        figure=_of_sklearn("mean_absolute_error"),
        citation=f"scikit-learn's mean_absolute_error, {_REGRESSION}",
        instance_values=_absolute_errors,
    ),
    _REGRESSION_ERROR(
        key="mse",
        name="Mean squared error",
        description="The mean squared difference of prediction and reference.",
        figure=_of_sklearn("mean_squared_error"),
        citation=f"scikit-learn's mean_squared_error, {_REGRESSION}",
        instance_values=_squared_errors,
    ),
    _NUMBERS(
        key="r2",
        name="R², coefficient of determination",
        description="The share of the references' variation that is predicted; 0 is what their mean predicts.",
        library=SKLEARN,
        lower_is_better=False,
        lowest=-math.inf,
        highest=1.0,
        figure=_r2,
        citation=f"scikit-learn's r2_score, {_REGRESSION}",
        sums=_explained,
        classes=all_but_commonest,
        when_undefined="the references are all the same number.",
    ),
    _CORRELATION(
        key="pearson",
        name="Pearson correlation",
        description="How well the predictions follow the references along a line.",
        figure=_correlation("pearsonr"),
        citation="Pearson (1895), https://doi.org/10.1098/rspl.1895.0041",
        sums=_moments,
    ),
    _CORRELATION(
        key="spearman",
        name="Spearman correlation",
        description="The correlation of the ranks of predictions and references; ties have their middle rank.",
        figure=_correlation("spearmanr"),
        citation="Spearman (1904), https://doi.org/10.2307/1412159",
        reweighted=_rank_correlation,
    ),
    _CORRELATION(
        key="kendall",
        name="Kendall's tau b",
        description="How many more pairs of instances are in the right order than in the wrong one; ties count.",
        figure=_correlation("kendalltau"),
        citation="Kendall (1945), https://doi.org/10.1093/biomet/33.3.239",
    ),
    _NUMBERS(
        key="mean",
        name="Mean of numbers",
        description="The mean of a number that you submit for each instance, such as a judge's grade; there are no "
        "references.",
        library=Library(),
        lower_is_better=False,
        lowest=-math.inf,
        highest=math.inf,
        reference_kind=Kind.NOTHING,
        citation="the arithmetic mean; our own code",
        instance_values=_predicted,
    ),
)
