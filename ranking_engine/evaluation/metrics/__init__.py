"""Metrics of predictions against references, computed by the field's own libraries, with standard errors."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping

import numpy as np

from ranking_engine.evaluation.instances import Predictions, References
from ranking_engine.evaluation.metric import (
    Cases,
    CodeArray,
    ErrorMethod,
    FloatArray,
    Kind,
    Library,
    Metric,
    MetricResult,
    MissingLibraryError,
    Option,
    PartFigure,
    UndefinedMetricError,
    undefined,
)
from ranking_engine.evaluation.metrics import (
    answers,
    labels,
    numbers,
    probabilities,
    retrieval,
    speech,
    summaries,
    tags,
    translation,
)
from ranking_engine.evaluation.metrics.cases import cases_of
from ranking_engine.evaluation.metrics.errors import (
    bootstrap_error,
    error_of_mean,
    has_enough_clusters,
    jackknife_error,
    stated_error,
)
from ranking_engine.evaluation.metrics.libraries import is_available, library_version
from ranking_engine.files.problems import InputError, Problems

__all__ = [
    "METRICS", "ErrorMethod", "Kind", "Library", "Metric", "MetricResult", "MissingLibraryError", "Option",
    "PartFigure", "UndefinedMetricError", "check_references", "evaluate", "is_available", "library_version",
]  # fmt: skip

MODULES = (labels, probabilities, numbers, answers, tags, translation, summaries, speech, retrieval)
METRICS: dict[str, Metric] = {metric.key: metric for module in MODULES for metric in module.METRICS}
MAX_LABELS = 10_000
MAX_PARTS = 200  # splits or categories that have a figure of their own


def check_references(metric: Metric, references: References, options: Mapping[str, object] | None = None) -> None:
    """Check that a metric can score against these references; predictions can still make it undefined.

    Raises:
        InputError: an option is wrong or does not fit the references, or these cannot be used with the metric.
    """
    chosen, problems = metric.read_options(options), Problems()
    if references.weights is not None and not metric.takes_weights:
        problems.add("weight", f"{metric.name} takes no weights; leave the column out", place_name="weight")
    values = set(references.values) if metric.reference_kind in (Kind.LABEL, Kind.NUMBER) else set()
    if metric.reference_kind == Kind.LABEL and len(values) > MAX_LABELS:
        problems.add("reference", f"{len(values):,} different labels; at most {MAX_LABELS:,} are allowed")
    if chosen.get("positive") is not None and chosen["positive"] not in values:
        problems.add("positive", "no instance has this label", place_name="positive")
    if metric.when_undefined and len(values) == 1:
        problems.add("reference", "all references are the same; this metric needs two that differ")
    for column, names in (("split", references.splits), ("category", references.categories)):
        if len(set(names or ())) > MAX_PARTS:
            problems.add(column, f"more than {MAX_PARTS} different ones", place_name=column)
    if problems:
        raise InputError(problems)


def evaluate(
    metric: Metric,
    references: References,
    predictions: Predictions,
    options: Mapping[str, object] | None = None,
    *,
    seed: int = 0,
) -> MetricResult:
    """Score predictions against references.

    Args:
        metric: one of `METRICS`.
        references: with splits, weights, clusters and categories where they have them.
        predictions: of every instance of the references, and maybe of others.
        options: of the metric; those that are left out have their defaults.
        seed: of the bootstrap, where the metric needs one.

    Raises:
        InputError: as `check_references`.
        UndefinedMetricError: there is no figure, such as a correlation with predictions that are all the same.
        MissingLibraryError: the metric's library is not installed.
        ValueError: there are no instances, or one has no prediction.
    """
    check_references(metric, references, options)
    chosen = metric.read_options(options)
    if not len(references):
        raise ValueError("there are no instances")
    cases = cases_of(metric, references.values, predictions.for_ids(references.ids).values, chosen, references.weights)
    if metric.pairs is not None and metric.pairs(cases) > metric.max_pairs:  # how many would tell of the references
        raise InputError.of(
            f"the predictions are too long for {metric.name}: at most {metric.max_pairs:,.0f} pairs of their words or "
            "characters and those of the references are compared"
        )
    with warnings.catch_warnings():  # of libraries, about what is checked here or is a mistake as all others
        warnings.simplefilter("ignore")
        return result_of(metric, cases, references, seed)


def result_of(metric: Metric, cases: Cases, references: References, seed: int) -> MetricResult:
    """Return what `evaluate` does, of instances that were checked."""
    clusters = references.cluster_codes()
    value, error, instance_values = figures_of(metric, cases, clusters, seed)
    if not math.isfinite(value):
        raise undefined(metric)
    return MetricResult(
        metric=metric.key,
        value=value,
        standard_error=error,
        error_method=metric.error_method,
        n_instances=len(cases),
        n_clusters=int(clusters.max()) + 1,
        instance_values=instance_values,
        by_split=_parts(metric, cases, clusters, references.splits, seed),
        by_category=_parts(metric, cases, clusters, references.categories, seed),
        library=metric.library.distribution,
        library_version=library_version(metric),
        options=cases.options,
    )


def figures_of(
    metric: Metric, cases: Cases, clusters: CodeArray, seed: int
) -> tuple[float, float | None, FloatArray | None]:
    """Return the figure, its standard error, and the values of instances if their mean is the figure."""
    if metric.instance_values is not None:
        values = metric.instance_values(cases)
        mean = float(np.average(values, weights=cases.weights))
        value = mean if metric.figure is None else metric.figure(cases)
        return value, stated_error(error_of_mean(values, cases.weights, clusters), value), values
    has_error = metric.has_error and (
        metric.classes is None or has_enough_clusters(metric.classes(cases), clusters, cases.weights)
    )
    if metric.sums is not None:
        additive = metric.sums(cases)
        value = additive.whole(cases.weights) if metric.figure is None else metric.figure(cases)
        error = jackknife_error(additive, cases.weights, clusters) if has_error else None
        return value, stated_error(error, value), None
    if metric.figure is None:
        raise ValueError(f"the record of {metric.key} has no figure")
    value = metric.figure(cases)
    if not (math.isfinite(value) and has_error):
        return value, None, None
    reweighted = None if metric.reweighted is None else metric.reweighted(cases)
    error = bootstrap_error(metric.figure, cases, clusters, seed, reweighted)
    return value, stated_error(error, value), None


def _parts(
    metric: Metric, cases: Cases, clusters: CodeArray, names: tuple[str, ...] | None, seed: int
) -> dict[str, PartFigure]:
    """Return the figure of the instances with each name; those without a name are in no part."""
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names or ()):
        places.setdefault(name, []).append(place)
    places.pop("", None)
    parts: dict[str, PartFigure] = {}
    for name in sorted(places):
        rows = np.array(places[name])
        part = cases.at(rows)
        codes = np.unique(clusters[rows], return_inverse=True)[1]
        value, error, _ = figures_of(metric, part, codes, seed)
        is_there = math.isfinite(value)
        parts[name] = PartFigure(value if is_there else None, error if is_there else None, len(rows))
    return parts
