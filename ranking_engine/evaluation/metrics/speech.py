"""Error rates of words and characters, for speech and text recognition, by jiwer."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from ranking_engine.evaluation.metric import AdditiveFigure, Cases, FloatArray, Kind, Library, Metric
from ranking_engine.evaluation.metrics.libraries import load

JIWER = Library("jiwer", "jiwer")
_BLOCK_CHARACTERS = 1_000_000  # jiwer numbers the words of a call, and has no more than 1.1 million numbers


def _call_blocks(cases: Cases) -> Iterator[tuple[list[str], list[str]]]:
    """Yield references and predictions, as many as one call of jiwer takes."""
    references: list[str] = []
    predictions: list[str] = []
    n_characters = 0
    for text, predicted in zip(cases.references, cases.predictions, strict=True):
        n_characters += len(text) + len(predicted)
        if n_characters > _BLOCK_CHARACTERS and references:
            yield references, predictions
            references, predictions, n_characters = [], [], len(text) + len(predicted)
        references.append(text)
        predictions.append(predicted)
    yield references, predictions


def edits(process: str, cases: Cases) -> AdditiveFigure:
    """Return how many edits each prediction needs and how long its reference is, and the rate of their sums."""
    rows = []
    for references, predictions in _call_blocks(cases):
        output = getattr(load(JIWER), process)(references, predictions)
        for units, alignment in zip(output.references, output.alignments, strict=True):
            n_edits = sum(
                max(part.ref_end_idx - part.ref_start_idx, part.hyp_end_idx - part.hyp_start_idx)
                for part in alignment
                if part.type != "equal"
            )
            rows.append((n_edits, len(units)))

    def rate(sums: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(sums[:, 1] > 0, sums[:, 0] / sums[:, 1], np.nan)

    terms = np.array(rows, dtype=np.float64)
    return AdditiveFigure(terms, rate, sizes=terms[:, 1])


def _pairs_of_characters(cases: Cases) -> float:
    return float(sum(len(a) * len(b) for a, b in zip(cases.references, cases.predictions, strict=True)))


def _error_rate(key: str, name: str, process: str, unit: str) -> Metric:
    return Metric(
        key=key,
        name=name,
        description=f"How many {unit} have to be replaced, added or left out, for each {unit[:-1]} of the references.",
        library=JIWER,
        lower_is_better=True,
        lowest=0.0,
        highest=math.inf,
        reference_kind=Kind.TEXT,
        prediction_kind=Kind.TEXT,
        citation="Levenshtein (1966), Soviet Physics Doklady 10; jiwer, https://jitsi.github.io/jiwer/",
        sums=partial(edits, process),
        pairs=_pairs_of_characters,
        max_pairs=100e9,  # some billions a second
        when_undefined="no reference has any words.",
    )


METRICS = (
    _error_rate("wer", "Word error rate", "process_words", "words"),
    _error_rate("cer", "Character error rate", "process_characters", "characters"),
)
