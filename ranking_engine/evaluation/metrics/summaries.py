"""ROUGE by rouge-score."""

from __future__ import annotations

import re
from functools import partial

import numpy as np

from ranking_engine.evaluation.metric import Cases, FloatArray, Kind, Library, Metric, Option
from ranking_engine.evaluation.metrics.libraries import load

ROUGE = Library("rouge-score", "rouge_score.rouge_scorer")
_WORD = re.compile(r"[a-z0-9]+")  # as the library's tokeniser has them


def _f_scores(kind: str, cases: Cases) -> FloatArray:
    scorer = load(ROUGE).RougeScorer([kind], use_stemmer=cases.options["stemmer"])
    pairs = zip(cases.references, cases.predictions, strict=True)
    return np.array([scorer.score_multi(texts, predicted)[kind].fmeasure for texts, predicted in pairs])


def pairs_of_words(cases: Cases) -> float:
    """Return how many pairs of words of a reference and a prediction there are."""

    def n_words(text: str) -> int:
        return len(_WORD.findall(text.lower()))

    return float(sum(
        n_words(predicted) * sum(map(n_words, texts))
        for texts, predicted in zip(cases.references, cases.predictions, strict=True)
    ))  # fmt: skip


def _rouge(key: str, name: str, kind: str, description: str) -> Metric:
    instance_values = partial(_f_scores, kind)
    is_sequence = kind.startswith("rougeL")
    return Metric(
        key=key,
        name=name,
        description=f"{description} Words are sequences of the letters a to z and digits.",
        library=ROUGE,
        lower_is_better=False,
        lowest=0.0,
        highest=1.0,
        reference_kind=Kind.TEXTS,
        prediction_kind=Kind.TEXT,
        citation="Lin (2004), https://aclanthology.org/W04-1013",
        instance_values=instance_values,
        options=(Option("stemmer", "whether words are cut to their stems (English)", "yes_no", default=False),),
        pairs=pairs_of_words if is_sequence else None,
        max_pairs=100_000_000,  # some 1.5 million a second: it ends within the time of a site
    )


METRICS = (
    _rouge("rouge1", "ROUGE-1", "rouge1", "The mean F1 of words, with the reference that it is highest with."),
    _rouge("rouge2", "ROUGE-2", "rouge2", "The mean F1 of pairs of words, with the reference that it is highest with."),
    _rouge("rouge_l", "ROUGE-L", "rougeL", "The mean F1 of the longest common sequence of words."),
    _rouge("rouge_lsum", "ROUGE-Lsum", "rougeLsum", "As ROUGE-L, line by line of a summary."),
)
