"""Metrics of texts, tags and ranked documents against their definitions and the libraries' own calls."""

import collections
import math
import re
import string

import ir_measures
import jiwer
import numpy as np
import pytest
import sacrebleu
from rouge_score import rouge_scorer
from seqeval.metrics import f1_score

from ranking_engine.evaluation.metrics import METRICS, ErrorMethod, UndefinedMetricError
from ranking_engine.files.problems import InputError
from tests.ranking_engine.evaluation.metrics import naive
from tests.ranking_engine.evaluation.metrics.naive import scored

WORDS = ["the", "a", "cat", "sat", "mat", "on", "Dog", "ran.", "away,", "é", ""]


def random_texts(seed, n=25, most=9):
    generator = np.random.default_rng(seed)

    def text():
        return " ".join(WORDS[k] for k in generator.integers(0, len(WORDS), generator.integers(0, most)))

    references = [tuple(text() for _ in range(generator.integers(1, 4))) for _ in range(n)]
    predictions = [text() if generator.random() < 0.7 else texts[0] for texts in references]
    return references, predictions, [f"c{k}" for k in generator.integers(0, 25, n)]


def left_out(key, columns, clusters, options=None):
    def without(kept):
        return scored(key, *([column[k] for k in kept] for column in columns), options).value

    return naive.left_out_error(without, clusters)


# --- Answers ---------------------------------------------------------------------------------------------------------
def squad_words(text):
    """As the official script (evaluate-v2.0.py) does it, function by function."""
    text = "".join(letter for letter in text.lower() if letter not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split()).split()


def squad_f1(reference, prediction):
    gold, given = squad_words(reference), squad_words(prediction)
    shared = collections.Counter(gold) & collections.Counter(given)
    n_same = sum(shared.values())
    if len(gold) == 0 or len(given) == 0:
        return int(gold == given)
    if n_same == 0:
        return 0
    precision, recall = n_same / len(given), n_same / len(gold)
    return 2 * precision * recall / (precision + recall)


def test_answers_are_compared_as_squads_official_script_does():
    references, predictions, clusters = random_texts(1, n=120)
    pairs = list(zip(references, predictions, strict=True))
    exact = [float(max(squad_words(text) == squad_words(predicted) for text in texts)) for texts, predicted in pairs]
    overlaps = [max(squad_f1(text, predicted) for text in texts) for texts, predicted in pairs]
    for key, expected in (("exact_match", exact), ("answer_f1", overlaps)):
        evaluation = scored(key, references, predictions, clusters=tuple(clusters))
        assert evaluation.instance_values.tolist() == pytest.approx(expected)
        error = naive.clustered_error_of_mean(expected, [1.0] * 120, clusters)
        assert evaluation.standard_error == pytest.approx(error)


# --- Tags ------------------------------------------------------------------------------------------------------------
def test_spans_are_those_of_seqeval():
    generator = np.random.default_rng(2)
    tags = ["O", "B-a", "I-a", "B-b", "I-b"]
    true = [tuple(tags[k] for k in generator.integers(0, 5, 6)) for _ in range(30)]
    predicted = [tuple(tag if generator.random() < 0.7 else "O" for tag in row) for row in true]
    evaluation = scored("span_f1", true, predicted)
    assert evaluation.value == pytest.approx(f1_score([*map(list, true)], [*map(list, predicted)]))
    assert evaluation.standard_error == pytest.approx(left_out("span_f1", (true, predicted), range(30)))
    nothing, some = [("O", "O")] * 12, [("B-a", "O")] * 12
    with pytest.raises(UndefinedMetricError, match="neither references nor predictions have a span"):
        scored("span_f1", nothing, nothing)
    assert [scored("span_f1", *pair).value for pair in ((some, nothing), (nothing, some))] == [0, 0]
    parts = scored("span_f1", nothing + some, nothing + some, categories=("without",) * 12 + ("with",) * 12).by_category
    assert {name: (part.value, part.standard_error) for name, part in parts.items()} == {
        "with": (1, None), "without": (None, None),
    }  # fmt: skip
    with pytest.raises(InputError, match="2 instances have another number of tags than of tokens"):
        scored("span_f1", [("O",), ("O",)], [("O", "O"), ()])


# --- Translations ----------------------------------------------------------------------------------------------------
SACREBLEU = {
    "bleu": sacrebleu.BLEU(force=True),
    "chrf": sacrebleu.CHRF(),
    "ter": sacrebleu.TER(),
}


@pytest.mark.parametrize("key", SACREBLEU)
def test_translations_are_scored_as_sacrebleu_does_with_several_references(key):
    references, predictions, clusters = random_texts(3)
    most = max(map(len, references))
    streams = [[texts[k] if k < len(texts) else None for texts in references] for k in range(most)]
    evaluation = scored(key, references, predictions, clusters=tuple(clusters))
    assert evaluation.value == pytest.approx(SACREBLEU[key].corpus_score(predictions, streams).score)
    assert evaluation.error_method == ErrorMethod.JACKKNIFE
    assert evaluation.standard_error == pytest.approx(left_out(key, (references, predictions), clusters))


def test_options_of_sacrebleu_are_passed_on():
    texts, predictions = [("The cat sat on the mat",)], ["the Cat sat on a mat"]
    assert scored("chrf", texts, predictions, {"word_order": 2}).value == pytest.approx(
        sacrebleu.CHRF(word_order=2).corpus_score(predictions, [["The cat sat on the mat"]]).score
    )
    assert scored("bleu", texts, predictions, {"lowercase": "yes", "tokenizer": "char"}).value == pytest.approx(
        sacrebleu.BLEU(lowercase=True, tokenize="char").corpus_score(predictions, [["The cat sat on the mat"]]).score
    )


# --- Summaries -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("key", "kind"), [("rouge1", "rouge1"), ("rouge2", "rouge2"), ("rouge_l", "rougeL"), ("rouge_lsum", "rougeLsum")]
)
@pytest.mark.parametrize("stemmer", [False, True])
def test_summaries_are_scored_as_rouge_score_does(key, kind, stemmer):
    references, predictions, _ = random_texts(4)
    scorer = rouge_scorer.RougeScorer([kind], use_stemmer=stemmer)
    expected = [
        max(scorer.score(text, predicted)[kind].fmeasure for text in texts)
        for texts, predicted in zip(references, predictions, strict=True)
    ]
    evaluation = scored(key, references, predictions, {"stemmer": stemmer})
    assert evaluation.instance_values.tolist() == pytest.approx(expected)
    assert evaluation.value == pytest.approx(np.mean(expected))


# --- Speech ----------------------------------------------------------------------------------------------------------
def distance(first, second):
    """Levenshtein's, cell by cell."""
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, start=1):
        before, row[0] = row[0], i
        for j, b in enumerate(second, start=1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1]


@pytest.mark.parametrize(("key", "call", "units"), [("wer", jiwer.wer, str.split), ("cer", jiwer.cer, list)])
def test_error_rates_are_jiwers_and_their_definition(key, call, units):
    texts, predictions, clusters = random_texts(5)
    references = [" ".join(first.split()) for first, *_ in texts]
    predictions = [" ".join(predicted.split()) for predicted in predictions]
    evaluation = scored(key, references, predictions, clusters=tuple(clusters))
    pairs = [(units(a), units(b)) for a, b in zip(references, predictions, strict=True)]
    assert evaluation.value == pytest.approx(sum(distance(a, b) for a, b in pairs) / sum(len(a) for a, _ in pairs))
    assert evaluation.value == pytest.approx(call(references, predictions))
    assert evaluation.standard_error == pytest.approx(left_out(key, (references, predictions), clusters))


def test_error_rates_need_a_word_in_some_reference():
    with pytest.raises(ValueError, match="no reference has any words"):
        scored("wer", ["", ""], ["a", ""])


# --- Documents -------------------------------------------------------------------------------------------------------
def ndcg(relevance, documents, cutoff):
    gains = sum(relevance.get(name, 0) / math.log2(k + 2) for k, name in enumerate(documents[:cutoff]))
    ideal = sum(g / math.log2(k + 2) for k, g in enumerate(sorted(relevance.values(), reverse=True)[:cutoff]))
    return gains / ideal if ideal else 0.0


def average_precision(relevance, documents, cutoff, least):
    n_relevant = sum(grade >= least for grade in relevance.values())
    n_found, total = 0, 0.0
    for k, name in enumerate(documents[:cutoff], start=1):
        if relevance.get(name, 0) >= least:
            n_found += 1
            total += n_found / k
    return total / n_relevant if n_relevant else 0.0


def reciprocal_rank(relevance, documents, cutoff, least):
    return next((1 / k for k, name in enumerate(documents[:cutoff], 1) if relevance.get(name, 0) >= least), 0.0)


@pytest.mark.parametrize("cutoff", [None, 3])
@pytest.mark.parametrize("least", [1, 2])
def test_ranked_documents_are_scored_by_the_definitions_and_as_ir_measures_does(cutoff, least):
    generator = np.random.default_rng(6)
    names = [f"d{k}" for k in range(8)]
    references = [{name: int(generator.integers(0, 4)) for name in names[:5]} for _ in range(20)]
    predictions = [tuple(names[k] for k in generator.permutation(8)[: generator.integers(0, 9)]) for _ in range(20)]
    pairs = list(zip(references, predictions, strict=True))
    relevant = {"relevant": least}
    for key, options, expected in [
        ("ndcg", {}, [ndcg(*pair, cutoff) for pair in pairs]),
        ("map", relevant, [average_precision(*pair, cutoff, least) for pair in pairs]),
        ("mrr", relevant, [reciprocal_rank(*pair, cutoff, least) for pair in pairs]),
    ]:
        evaluation = scored(key, references, predictions, {"cutoff": cutoff, **options})
        assert evaluation.instance_values.tolist() == pytest.approx(expected)
    judged = {str(k): relevance for k, relevance in enumerate(references)}
    ranked = {
        str(k): {name: 100.0 - place for place, name in enumerate(row)} for k, row in enumerate(predictions) if row
    }
    measure = ir_measures.RR(rel=least) if cutoff is None else ir_measures.RR(rel=least) @ cutoff
    assert evaluation.value == pytest.approx(ir_measures.calc_aggregate([measure], judged, ranked)[measure])


# --- Bounds ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("key", "reference", "prediction"),
    [
        ("ter", ("a " * 8_000,), "b " * 8_000),
        ("rouge_l", ("a-" * 20_000,), "b-" * 20_000),
        ("rouge_lsum", ("a-" * 20_000,), "b-" * 20_000),
    ],
)
def test_texts_whose_comparison_would_take_hours_are_refused(key, reference, prediction):
    messages = set()
    for longer in (reference, (reference[0] * 2,)):  # nothing in the message tells how long a reference is
        with pytest.raises(InputError, match=r"the predictions are too long for .*: at most [\d,]+ pairs") as caught:
            scored(key, [longer], [prediction])
        messages.add(str(caught.value))
    assert len(messages) == 1


def test_the_longest_texts_are_scored_by_the_other_metrics_in_seconds():
    text = "ab cd " * 16_000
    for key in ("exact_match", "answer_f1", "bleu", "chrf", "rouge1", "rouge2"):
        assert scored(key, [(text,)], [text]).value == pytest.approx(METRICS[key].highest)
    assert scored("wer", [text], [text[::-1]]).value > 0
