"""F1 of named entities and other spans in tagged tokens."""

from __future__ import annotations

import numpy as np

from ranking_engine.evaluation.metric import AdditiveFigure, Cases, FloatArray, Kind, Library, Metric
from ranking_engine.evaluation.metrics.libraries import load

SEQEVAL = Library("seqeval", "seqeval.metrics")


def _f1(cases: Cases) -> float:
    true, predicted = map(list, cases.references), map(list, cases.predictions)
    return float(load(SEQEVAL).f1_score(list(true), list(predicted), zero_division=0))


def _counts(cases: Cases) -> AdditiveFigure:
    """Return the spans of each instance that are in both, in the references, and in the predictions."""
    spans_of = load(Library("seqeval", "seqeval.metrics.sequence_labeling")).get_entities
    rows = []
    for true, predicted in zip(cases.references, cases.predictions, strict=True):
        first, second = set(spans_of(list(true))), set(spans_of(list(predicted)))
        rows.append((len(first & second), len(first) + len(second)))

    def f1(sums: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(sums[:, 1] > 0, 2 * sums[:, 0] / sums[:, 1], 0.0)

    return AdditiveFigure(np.array(rows, dtype=np.float64), f1)


METRICS = (
    Metric(
        key="span_f1",
        name="F1 of spans",
        description="The F1 of the spans that tags such as B-PER, I-PER and O mark; a span counts if its ends and its "
        "label are right.",
        library=SEQEVAL,
        lower_is_better=False,
        lowest=0.0,
        highest=1.0,
        reference_kind=Kind.TAGS,
        prediction_kind=Kind.TAGS,
        citation="Tjong Kim Sang and De Meulder (2003), https://aclanthology.org/W03-0419; seqeval, "
        "https://github.com/chakki-works/seqeval",
        figure=_f1,
        sums=_counts,
        takes_weights=False,
    ),
)
