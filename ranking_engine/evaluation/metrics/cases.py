"""From values as they were read to the instances that a metric scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ranking_engine.evaluation.metric import Cases, CodeArray, FloatArray, Kind, Metric, codes_of, option_problem
from ranking_engine.files.problems import InputError

MAX_CELLS = 50_000_000  # of the matrix of probabilities


def cases_of(
    metric: Metric,
    references: Sequence[Any],
    predictions: Sequence[Any],
    options: Mapping[str, Any],
    weights: FloatArray | None,
) -> Cases:
    """Return the instances: labels as numbers, numbers as arrays, probabilities as a matrix, the rest as it is.

    Args:
        metric: what they are scored by.
        references, predictions: in the same order.
        options: of the metric, all of them.
        weights: in the same order, or None.

    Raises:
        InputError: predictions do not fit the references.
    """
    labels: tuple[str, ...] = ()
    true: Any = references
    predicted: Any = predictions
    if metric.prediction_kind == Kind.LABEL:
        labels, (true, predicted) = codes_of(references, predictions)
    elif metric.prediction_kind == Kind.PROBABILITIES:
        labels, true, predicted = _chance_matrix(references, predictions, options)
    elif metric.prediction_kind == Kind.NUMBER:
        predicted = np.array(predictions, dtype=np.float64)
        if metric.reference_kind == Kind.LABEL:
            labels, (true,) = codes_of(references)
        elif metric.reference_kind == Kind.NUMBER:
            true = np.array(references, dtype=np.float64)
    elif metric.prediction_kind == Kind.TAGS:
        n_wrong = sum(len(tags) != len(tokens) for tags, tokens in zip(predictions, references, strict=True))
        if n_wrong:
            raise InputError.of(f"{n_wrong:,} instances have another number of tags than of tokens")
    n_true_labels = len(set(references)) if metric.reference_kind == Kind.LABEL else 0
    return Cases(true, predicted, options, weights, labels, n_true_labels)


def _chance_matrix(
    references: Sequence[str], predictions: Sequence[Any], options: Mapping[str, Any]
) -> tuple[tuple[str, ...], CodeArray, FloatArray]:
    """Return the labels, the code of each reference and the probability of each label, which sum to 1.

    A single number is the probability of the label that the option `positive` names; the other label of the references
    has the rest. Whether predictions are refused depends on the labels that they name and on those of the references,
    each by themselves: both together would tell whether a label is among the references.
    """
    named = {label for chances in predictions if isinstance(chances, Mapping) for label in chances}
    has_single = any(not isinstance(chances, Mapping) for chances in predictions)
    labels = tuple(sorted({*references, *named}))
    place = {label: k for k, label in enumerate(labels)}
    if has_single:
        if options.get("positive") is None:
            raise option_problem("choose the label whose probability single numbers are", "positive")
        if len(set(references)) != 2:
            raise InputError.of("one number is enough for two labels only; give the probability of each label")
    if max(len(named), len(set(references))) * len(references) > MAX_CELLS:
        raise InputError.of(
            f"{len(references):,} instances, and you name {len(named):,} labels; at most {MAX_CELLS:,} numbers are "
            "compared, one for each instance and label"
        )
    matrix = np.zeros((len(references), len(labels)))
    positive = place.get(options.get("positive") or "", -1)
    other = next((place[label] for label in references if place[label] != positive), -1)
    for row, chances in zip(matrix, predictions, strict=True):
        if isinstance(chances, Mapping):
            for label, chance in chances.items():
                row[place[label]] = chance
        else:
            row[positive], row[other] = chances, 1 - chances
    true = np.array([place[label] for label in references], dtype=np.int64)
    return labels, true, matrix / matrix.sum(axis=1, keepdims=True)
