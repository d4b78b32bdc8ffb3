"""Exact match and F1 of short answers, as in SQuAD's official script."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable
from functools import partial

import numpy as np

from ranking_engine.evaluation.metric import Cases, FloatArray, Kind, Library, Metric

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def _normal_answer(text: str) -> str:
    """Return an answer in small letters, without punctuation, articles and further white space."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(reference: str, prediction: str) -> float:
    """Return 1 if two answers are the same once normalised, else 0."""
    return float(_normal_answer(reference) == _normal_answer(prediction))


def answer_f1(reference: str, prediction: str) -> float:
    """Return the F1 of the words of two answers; where one has none, whether both have none (SQuAD 2.0)."""
    true, predicted = _normal_answer(reference).split(), _normal_answer(prediction).split()
    if not true or not predicted:
        return float(true == predicted)
    n_shared = (Counter(true) & Counter(predicted)).total()
    return 2 * n_shared / (len(true) + len(predicted))


def best_of(compare: Callable[[str, str], float], cases: Cases) -> FloatArray:
    """Return what the best of its references gives each prediction."""
    pairs = zip(cases.references, cases.predictions, strict=True)
    return np.array([max(compare(text, predicted) for text in texts) for texts, predicted in pairs])


_ANSWERS = partial(
    Metric,
    library=Library(),
    lower_is_better=False,
    lowest=0.0,
    highest=1.0,
    reference_kind=Kind.TEXTS,
    prediction_kind=Kind.TEXT,
    citation="Rajpurkar et al. (2016), https://doi.org/10.18653/v1/D16-1264; (2018), "
    "https://doi.org/10.18653/v1/P18-2124; our own code",
)
_MATCHES = partial(best_of, exact_match)
_OVERLAPS = partial(best_of, answer_f1)

METRICS = (
    _ANSWERS(
        key="exact_match",
        name="Exact match",
        description="The share of answers that are one of the references, apart from case, punctuation and articles.",
        instance_values=_MATCHES,
    ),
    _ANSWERS(
        key="answer_f1",
        name="F1 of answers",
        description="The mean F1 of the words of an answer and of the reference that it is nearest to.",
        instance_values=_OVERLAPS,
    ),
)
