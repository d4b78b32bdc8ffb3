"""Metrics of ranked documents, by ir-measures."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ranking_engine.evaluation.metric import Cases, FloatArray, Kind, Library, Metric, Option
from ranking_engine.evaluation.metrics.libraries import load

IR_MEASURES = Library("ir-measures", "ir_measures")
_CUTOFF = Option("cutoff", "how many documents count; default all", "integer", lowest=1, highest=10_000)
_RELEVANT = Option("relevant", "the least relevance of a relevant document", "integer", 1, lowest=1, highest=1_000)


def _values(measure: Callable[[Any, Cases], Any], cases: Cases) -> FloatArray:
    """Return the figure of each query; 0 for one without relevant or without ranked documents."""
    library = load(IR_MEASURES)
    judged = {str(k): dict(relevance) for k, relevance in enumerate(cases.references)}
    # Documents are told apart by their scores alone: the order is turned into them.
    ranked = {
        str(k): {name: float(-place) for place, name in enumerate(documents)}
        for k, documents in enumerate(cases.predictions)
    }
    values = np.zeros(len(cases))
    for figure in library.iter_calc([measure(library, cases)], judged, ranked):
        values[int(figure.query_id)] = figure.value
    return values


def _at(cases: Cases, measure: Any) -> Any:  # noqa: ANN401 -- ir-measures' class
    return measure if cases.options["cutoff"] is None else measure @ cases.options["cutoff"]


def _retrieval(
    key: str, name: str, description: str, citation: str, measure: Callable[[Any, Cases], Any], *options: Option
) -> Metric:
    instance_values = partial(_values, measure)
    return Metric(
        key=key,
        name=name,
        description=description,
        library=IR_MEASURES,
        lower_is_better=False,
        lowest=0.0,
        highest=1.0,
        reference_kind=Kind.RELEVANCE,
        prediction_kind=Kind.DOCUMENTS,
        citation=f"{citation}; ir-measures: MacAvaney et al. (2022)",
        instance_values=instance_values,
        options=(_CUTOFF, *options),
    )


METRICS = (
    _retrieval(
        "ndcg",
        "nDCG",
        "The relevance of the ranked documents, which counts less the further down, as a share of the best order's.",
        "Järvelin and Kekäläinen (2002), https://doi.org/10.1145/582415.582418",
        lambda library, cases: _at(cases, library.nDCG),
    ),
    _retrieval(
        "map",
        "Mean average precision",
        "The mean over queries of the precision at each relevant document, 0 for those that are not ranked.",
        "Buckley and Voorhees (2000), https://doi.org/10.1145/345508.345543",
        lambda library, cases: _at(cases, library.AP(rel=cases.options["relevant"])),
        _RELEVANT,
    ),
    _retrieval(
        "mrr",
        "Mean reciprocal rank",
        "The mean over queries of 1 divided by the place of the first relevant document, 0 where none is ranked.",
        "Kantor and Voorhees (2000), The TREC-5 confusion track",
        lambda library, cases: _at(cases, library.RR(rel=cases.options["relevant"])),
        _RELEVANT,
    ),
)
