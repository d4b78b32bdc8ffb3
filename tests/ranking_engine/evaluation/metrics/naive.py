"""Definitions of metrics and of standard errors, loop by loop, for small inputs."""

import math
import statistics
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from ranking_engine.evaluation.instances import Predictions, References
from ranking_engine.evaluation.metrics import METRICS, UndefinedMetricError, evaluate


def references_of(values, **details) -> References:
    if "weights" in details:
        details["weights"] = np.array(details["weights"], dtype=float)
    return References(tuple(f"i{k}" for k in range(len(values))), tuple(values), **details)


def predictions_of(values) -> Predictions:
    return Predictions(tuple(f"i{k}" for k in range(len(values))), tuple(values))


def scored(key, true, predicted, options=None, **details):
    return evaluate(METRICS[key], references_of(true, **details), predictions_of(predicted), options)


def f1_of_label(label, true: Sequence, predicted: Sequence, weights: Sequence[float]) -> float | None:
    """F1 of one label; None where it is nowhere."""
    triples = list(zip(true, predicted, weights, strict=True))
    both = sum(w for a, b, w in triples if a == b == label)
    total = sum(w for a, _, w in triples if a == label) + sum(w for _, b, w in triples if b == label)
    return 2 * both / total if total else None


def f1_macro(true, predicted, weights):
    return statistics.fmean(f1_of_label(label, true, predicted, weights) for label in {*true, *predicted})


def f1_weighted(true, predicted, weights):
    total = sum(weights)
    return sum(w / total * f1_of_label(label, true, predicted, weights) for label, w in zip(true, weights, strict=True))


def balanced_accuracy(true, predicted, weights):
    recalls = []
    for label in set(true):
        pairs = [(b, w) for a, b, w in zip(true, predicted, weights, strict=True) if a == label]
        recalls.append(sum(w for b, w in pairs if b == label) / sum(w for _, w in pairs))
    return statistics.fmean(recalls)


def accuracy(true, predicted, weights):
    return sum(w for a, b, w in zip(true, predicted, weights, strict=True) if a == b) / sum(weights)


def mcc(true, predicted, weights):
    """The correlation of indicator variables, summed over labels (Gorodkin 2004)."""
    labels = sorted({*true, *predicted})
    w = np.array(weights) / sum(weights)
    a = np.array([[x == label for label in labels] for x in true], dtype=float)
    b = np.array([[x == label for label in labels] for x in predicted], dtype=float)
    a, b = a - w @ a, b - w @ b
    spread = float((w @ (a * a)).sum() * (w @ (b * b)).sum())
    return float((w @ (a * b)).sum()) / math.sqrt(spread) if spread > 1e-12 else 0.0


def effective_number(clusters, weights) -> Fraction:
    """As how many clusters of equal weight those with a weight count."""
    sizes = [
        sum(Fraction(weight) for weight, other in zip(weights, clusters, strict=True) if other == name)
        for name in set(clusters)
    ]
    squares = sum(size**2 for size in sizes)
    return sum(sizes) ** 2 / squares if squares else Fraction(0)


def clustered_error_of_mean(values, weights, clusters) -> float | None:
    """The jackknife, cluster by cluster."""

    def mean(rows):
        return sum(weights[k] * values[k] for k in rows) / sum(weights[k] for k in rows)

    return left_out_error(mean, clusters, weights=weights)


def other_than_commonest(values) -> list[int | None]:
    """One class: the rows whose value is not the commonest, or not the first of these."""
    values = list(values)
    commonest = min(values, key=lambda value: (-values.count(value), value))
    return [None if value == commonest else 0 for value in values]


def has_enough_clusters(classes, clusters, weights) -> bool:
    """Whether the mean of the means of classes has the degrees of freedom of a mean of ten clusters (Satterthwaite)."""
    numbers = []
    for name in set(classes) - {None}:
        rows = [k for k, one in enumerate(classes) if one == name]
        numbers.append(round(effective_number([clusters[k] for k in rows], [weights[k] for k in rows])))
    if not numbers or min(numbers) == 1:
        return False
    variance = sum(Fraction(1, G) for G in numbers)
    return variance**2 / sum(Fraction(1, G * G * (G - 1)) for G in numbers) >= 9


def left_out_error(figure: Callable[[list[int]], float], clusters, classes=None, weights=None) -> float | None:
    """The jackknife: the figure of all rows but one cluster's, for each cluster.

    None where one of them is undefined, of clusters that count as fewer than ten, where it is 0 but for rounding, and
    where the classes of the rows are in too few clusters.
    """
    weights = [1.0] * len(clusters) if weights is None else weights
    if effective_number(clusters, weights) < Fraction(19, 2):  # 10 as a whole number
        return None
    if classes is not None and not has_enough_clusters(classes, clusters, weights):
        return None
    G = len(set(clusters))
    figures = []
    for name in sorted(set(clusters)):
        rows = [k for k, other in enumerate(clusters) if other != name]
        try:
            figures.append(figure(rows))
        except UndefinedMetricError:
            return None
    mean = statistics.fmean(figures)
    return _stated(math.sqrt((G - 1) / G * sum((x - mean) ** 2 for x in figures)))


def _stated(error: float) -> float | None:
    return error if error > 1e-9 else None
