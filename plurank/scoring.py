"""Predictions against references, scored by the metrics of the field's own libraries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ranking_engine.evaluation.instances import Predictions, References
from ranking_engine.evaluation.metrics import METRICS, MetricResult, evaluate
from ranking_engine.evaluation.reading import read_predictions, read_references
from ranking_engine.evaluation.values import READERS, prediction_reader
from ranking_engine.text.close_names import CloseNames
from ranking_engine.text.names import counted, shorten

Source = str | Path | Mapping[Any, Any]


def score(metric: str, references: Source, predictions: Source, *, seed: int = 0, **options: object) -> MetricResult:
    """Score predictions against references, with a standard error.

    Args:
        metric: its key, one of `plurank.METRICS`.
        references: a file (CSV, JSON lines, Parquet) with the columns `id` and `reference`, and, if there are any,
            `split`, `weight`, `cluster` and `category`; or what is right by id.
        predictions: a file with the columns `id` and `prediction`; or predictions by id.
        seed: of the bootstrap, where the metric needs one.
        options: of the metric, such as `positive="spam"`.

    Returns:
        `value`, `standard_error` (clusters of instances count as one), `instance_values` where the value is their mean,
        `by_split`, `by_category`, the library and its version.

    Raises:
        ValueError: something cannot be read or scored; the message names every place, up to a number.
        OSError: a file cannot be opened.
        ImportError: the metric's library is not installed; the message names the extra.

    >>> score("exact_match", {"q1": ["Paris", "Paris, France"], "q2": "1969"}, {"q1": "paris", "q2": "1970"}).value
    0.5
    """
    record = METRICS.get(metric)
    if record is None:
        raise ValueError(f"no metric is called {shorten(metric)!r}{CloseNames(METRICS).suggestion(metric)}")
    for name in options.keys() - {option.key for option in record.options}:
        known_options = ", ".join(option.key for option in record.options) or "none"
        raise ValueError(f"the argument {shorten(name)!r}: {record.name} has no such option; it has {known_options}")
    if isinstance(references, Mapping):
        read = READERS[record.reference_kind]
        ids = tuple(map(str, references))
        known = References(ids, tuple(values_of(references, read, "reference")))
    else:
        known = read_references(Path(references).read_bytes(), str(references), record)
    if isinstance(predictions, Mapping):
        named = {str(name): value for name, value in predictions.items()}
        unknown = sorted(named.keys() - set(known.ids))
        if unknown:
            has = "has" if len(unknown) == 1 else "have"
            these = counted(len(unknown), "prediction")
            raise ValueError(f"{these} {has} no reference, such as that of {shorten(unknown[0])!r}")
        given = Predictions(tuple(named), tuple(values_of(named, prediction_reader(record), "prediction")))
    else:
        given = read_predictions(Path(predictions).read_bytes(), str(predictions), known, record)
    return evaluate(record, known, given, options, seed=seed)


def values_of(cells: Mapping[Any, Any], read: Callable[[object], Any], what: str) -> list[Any]:
    """Return the values of a mapping as a metric takes them; `what` is what errors call them."""
    values = []
    for name, cell in cells.items():
        try:
            values.append(read(cell))
        except ValueError as error:
            raise ValueError(f"the {what} of {shorten(str(name))!r}: {error}") from error
    return values
