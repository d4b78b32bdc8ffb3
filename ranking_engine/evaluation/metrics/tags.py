"""F1 of named entities and other spans in tagged tokens."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ranking_engine.evaluation.metric import AdditiveFigure, Cases, CodeArray, FloatArray, Kind, Library, Metric
from ranking_engine.evaluation.metrics.libraries import load

SEQEVAL = Library("seqeval", "seqeval.metrics")


def _f1(cases: Cases) -> float:
    true, predicted = list(map(list, cases.references)), list(map(list, cases.predictions))
    if not any(map(_spans_of(), [*true, *predicted])):
        return math.nan
    return float(load(SEQEVAL).f1_score(true, predicted, zero_division=0))


def _spans_of() -> Callable[[list[str]], list[tuple[str, int, int]]]:
    spans_of: Callable[[list[str]], list[tuple[str, int, int]]]
    spans_of = load(Library("seqeval", "seqeval.metrics.sequence_labeling")).get_entities
    return spans_of


def _has_spans(cases: Cases) -> CodeArray:
    """Return 0 for each instance with a true span, and -1 for others."""
    spans_of = _spans_of()
    return np.array([0 if spans_of(list(true)) else -1 for true in cases.references])


def _counts(cases: Cases) -> AdditiveFigure:
    """Return the spans of each instance that are in both, in the references, and in the predictions."""
    spans_of = _spans_of()
    rows = []
    for true, predicted in zip(cases.references, cases.predictions, strict=True):
        first, second = set(spans_of(list(true))), set(spans_of(list(predicted)))
        rows.append((len(first & second), len(first) + len(second), len(first)))

    def f1(sums: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(sums[:, 1] > 0, 2 * sums[:, 0] / sums[:, 1], np.nan)

    counts = np.array(rows, dtype=np.float64)
    return AdditiveFigure(counts[:, :2], f1, sizes=counts[:, 2])


METRICS = (
    Metric(
        key="span_f1",
        name="F1 of spans",
        description="The F1 of the spans that tags such as B-PER, I-PER and O mark; a span counts if its ends and its "
        "label are right; none where none are true or predicted.",
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
        classes=_has_spans,
        takes_weights=False,
        when_undefined="neither references nor predictions have a span.",
    ),
)
