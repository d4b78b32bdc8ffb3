"""BLEU, chrF and TER by sacrebleu."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ranking_engine.evaluation.metric import AdditiveFigure, Cases, FloatArray, Kind, Library, Metric, Option
from ranking_engine.evaluation.metrics.libraries import load

SACREBLEU = Library("sacrebleu", "sacrebleu.metrics")
_TOKENIZERS = ("13a", "intl", "char", "zh", "none")

_BLOCK = 1_000

Scorer = Callable[[Cases], Any]


def _bleu(cases: Cases) -> Any:  # noqa: ANN401 -- sacrebleu's class
    options = cases.options
    return load(SACREBLEU).BLEU(tokenize=options["tokenizer"], lowercase=options["lowercase"], force=True)


def _chrf(cases: Cases) -> Any:  # noqa: ANN401 -- sacrebleu's class
    return load(SACREBLEU).CHRF(word_order=cases.options["word_order"], lowercase=cases.options["lowercase"])


def _ter(_cases: Cases) -> Any:  # noqa: ANN401 -- sacrebleu's class
    return load(SACREBLEU).TER()


def counts(scorer: Scorer, cases: Cases) -> AdditiveFigure:
    """Return sacrebleu's own counts of each instance, and its figure of their sums, as its bootstrap has them.

    A block of instances at a time: sacrebleu keeps the sequences of all references of a call.
    """
    metric = scorer(cases)
    terms: list[list[float]] = []
    for start in range(0, len(cases), _BLOCK):
        block = cases.references[start : start + _BLOCK]
        # The first references of all instances, the second ones, and so on; None where there are fewer.
        most = max(map(len, block))
        streams = [[texts[k] if k < len(texts) else None for texts in block] for k in range(most)]
        predictions = list(cases.predictions[start : start + _BLOCK])
        terms += metric._extract_corpus_statistics(predictions, streams)  # noqa: SLF001 -- it has no public name
    is_whole = all(isinstance(count, int) for count in terms[0])

    def figures(sums: FloatArray) -> FloatArray:
        rows = np.rint(sums).astype(np.int64).tolist() if is_whole else sums.tolist()
        return np.array([metric._compute_score_from_stats(row).score for row in rows])  # noqa: SLF001 -- as above

    counted = np.array(terms, dtype=np.float64)
    # The second count of all three metrics is the length of the reference.
    return AdditiveFigure(counted, figures, sizes=counted[:, 1])


def pairs_of_words(cases: Cases) -> float:
    """Return how many pairs of words of a reference and a prediction there are."""
    return float(sum(
        len(predicted.split()) * sum(len(text.split()) for text in texts)
        for texts, predicted in zip(cases.references, cases.predictions, strict=True)
    ))  # fmt: skip


_LOWERCASE = Option("lowercase", "whether capital and small letters are the same", "yes_no", default=False)
_TRANSLATION = partial(
    Metric,
    library=SACREBLEU,
    lowest=0.0,
    reference_kind=Kind.TEXTS,
    prediction_kind=Kind.TEXT,
    takes_weights=False,
)
_SACREBLEU_PAPER = "sacrebleu: Post (2018), https://doi.org/10.18653/v1/W18-6319"

METRICS = (
    _TRANSLATION(
        key="bleu",
        name="BLEU",
        description="How many sequences of one to four words are a reference's, from 0 to 100; of all texts together.",
        lower_is_better=False,
        highest=100.0,
        citation=f"Papineni et al. (2002), https://doi.org/10.3115/1073083.1073135; {_SACREBLEU_PAPER}",
        sums=partial(counts, _bleu),
        options=(
            Option("tokenizer", "what splits texts into words", "choice", "13a", choices=_TOKENIZERS),
            _LOWERCASE,
        ),
    ),
    _TRANSLATION(
        key="chrf",
        name="chrF",
        description="The F-score of sequences of one to six characters, from 0 to 100; of all texts together.",
        lower_is_better=False,
        highest=100.0,
        citation=f"Popović (2015), https://doi.org/10.18653/v1/W15-3049; {_SACREBLEU_PAPER}",
        sums=partial(counts, _chrf),
        options=(
            Option("word_order", "sequences of words that count too; 2 is chrF++", "integer", 0, lowest=0, highest=4),
            _LOWERCASE,
        ),
    ),
    _TRANSLATION(
        key="ter",
        name="TER, translation edit rate",
        description="How many edits and moves of words turn texts into the nearest references, for 100 words of these.",
        lower_is_better=True,
        highest=float("inf"),
        citation=f"Snover et al. (2006), https://aclanthology.org/2006.amta-papers.25; {_SACREBLEU_PAPER}",
        sums=partial(counts, _ter),
        pairs=pairs_of_words,
        max_pairs=3_000_000,  # 10,000 a second where texts are unlike their references, 300,000 where they are like
    ),
)
