"""From values as they were read to the instances that a metric scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ranking_engine.evaluation.metric import Cases, FloatArray, Kind, Metric, codes_of


def cases_of(
    metric: Metric,
    references: Sequence[Any],
    predictions: Sequence[Any],
    options: Mapping[str, Any],
    weights: FloatArray | None,
) -> Cases:
    """Return the instances: labels as numbers, numbers as arrays, the rest as it is.

    Args:
        metric: what they are scored by.
        references, predictions: in the same order.
        options: of the metric, all of them.
        weights: in the same order, or None.
    """
    labels: tuple[str, ...] = ()
    true: Any = references
    predicted: Any = predictions
    if (metric.reference_kind, metric.prediction_kind) == (Kind.LABEL, Kind.LABEL):
        labels, (true, predicted) = codes_of(references, predictions)
    elif metric.reference_kind == Kind.LABEL:
        labels, (true,) = codes_of(references)
    if metric.reference_kind == Kind.NUMBER:
        true = np.array(references, dtype=np.float64)
    if metric.prediction_kind == Kind.NUMBER:
        predicted = np.array(predictions, dtype=np.float64)
    return Cases(true, predicted, options, weights, labels)
