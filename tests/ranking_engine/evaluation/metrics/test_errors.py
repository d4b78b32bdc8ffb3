"""Standard errors that would say too much are not stated, and those that are cover what they claim."""

import math

import numpy as np
import pytest

from ranking_engine.core.clusters import LEAST_CLUSTERS
from ranking_engine.evaluation.metric import Cases
from ranking_engine.evaluation.metrics.errors import bootstrap_error, error_of_mean
from tests.ranking_engine.evaluation.metrics.naive import scored


def test_a_class_of_one_instance_leaves_an_area_without_standard_error():
    generator = np.random.default_rng(0)
    true, scores = ["yes"] + ["no"] * 100, generator.normal(size=101).tolist()
    assert scored("roc_auc", true, scores, {"positive": "yes"}).standard_error is None


def test_a_figure_that_depends_on_one_instance_alone_has_no_standard_error():
    evaluation = scored("r2", [1.0] * 11 + [2.0], [1.0] * 12)
    assert (evaluation.value, evaluation.standard_error) == (pytest.approx(-1 / 11), None)


def test_the_correlation_of_a_rare_label_has_its_error_and_its_figure_by_sums():
    n, n_right = 400_000, 6
    true, predicted = ["no"] * n, ["no"] * n
    true[:10] = ["yes"] * 10
    predicted[:n_right] = ["yes"] * n_right
    predicted[20:24] = ["yes"] * 4
    evaluation = scored("mcc", true, predicted)
    assert evaluation.value == pytest.approx(0.6, abs=1e-4)
    assert evaluation.standard_error == pytest.approx(jackknife_of_rare(n, n_right, 4, 4), rel=1e-4)
    assert 0.1 < evaluation.standard_error < 0.2


def jackknife_of_rare(n, n_both, n_missed, n_alarms):
    """The jackknife over the four kinds of instances."""

    def mcc(tp, fn, fp, tn):
        return (tp * tn - fp * fn) / math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))

    counts = [n_both, n_missed, n_alarms, n - n_both - n_missed - n_alarms]
    without = [mcc(*(count - (kind == other) for other, count in enumerate(counts))) for kind in range(4)]
    mean = sum(count * figure for count, figure in zip(counts, without, strict=True)) / n
    squares = sum(count * (figure - mean) ** 2 for count, figure in zip(counts, without, strict=True))
    return math.sqrt((n - 1) / n * squares)


BY_CLASS = {
    "balanced_accuracy": ["yes", "no"],
    "f1_macro": ["yes", "no"],
    "mcc": ["yes", "no"],
    "f1": ["yes", "no"],
    "span_f1": [("B-x", "O"), ("O", "O")],
    "roc_auc": ["yes", "no"],
    "average_precision": ["yes", "no"],
    "pearson": [1.0, 0.0],
    "r2": [1.0, 0.0],
}


@pytest.mark.parametrize(("key", "values"), BY_CLASS.items(), ids=BY_CLASS)
@pytest.mark.parametrize(("n_rare", "has_error"), [(1, False), (2, False), (9, False), (10, True)])
def test_a_figure_that_counts_a_rare_class_by_itself_needs_ten_clusters_of_it(key, values, n_rare, has_error):
    rare, common = values
    true = [rare] * n_rare + [common] * 150
    predicted = [*true[1:], rare] if n_rare > 1 else [*true[:-1], rare]
    predicted[-3:] = [rare] * 3
    if key in ("roc_auc", "average_precision"):
        predicted = [float(label == rare) for label in predicted]
    options = {"positive": "yes"} if key in ("f1", "roc_auc", "average_precision") else None
    assert (scored(key, true, predicted, options).standard_error is not None) == has_error
    pairs = tuple(f"c{k // 2}" for k in range(2 * len(true)))
    twice = ([value for value in column for _ in range(2)] for column in (true, predicted))
    assert (scored(key, *twice, options, clusters=pairs).standard_error is not None) == has_error


@pytest.mark.parametrize("key", ["balanced_accuracy", "f1_macro"])
def test_many_labels_need_only_a_few_clusters_each_and_none_may_be_in_one_alone(key):
    true = [f"label {k % 40}" for k in range(120)]
    predicted = [true[(k + 1) % 120] if k % 7 == 0 else true[k] for k in range(120)]
    assert scored(key, true, predicted).standard_error is not None
    true[0] = predicted[0] = "alone"
    assert scored(key, true, predicted).standard_error is None


def test_a_label_that_is_predicted_once_and_nowhere_true_leaves_a_macro_average_without_standard_error():
    true, predicted = ["a", "b"] * 30, ["a", "b", "b", "a", "a", "b"] * 10
    assert scored("f1_macro", true, predicted).standard_error is not None
    predicted[0] = "A"
    assert scored("f1_macro", true, predicted).standard_error is None
    assert scored("balanced_accuracy", true, predicted).standard_error is not None


def test_intervals_of_a_rare_label_in_ten_clusters_contain_the_balanced_accuracy_nearly_as_often_as_they_say():
    generator = np.random.default_rng(4)
    true, hits, n_stated = ["rare"] * 10 + ["common"] * 90, 0, 0
    chances = np.array([0.7] * 10 + [0.98] * 90)
    for _ in range(300):
        is_right = generator.random(100) < chances
        other = {"rare": "common", "common": "rare"}
        predicted = [label if right else other[label] for label, right in zip(true, is_right, strict=True)]
        evaluation = scored("balanced_accuracy", true, predicted)
        if evaluation.standard_error is not None:  # otherwise all are right
            n_stated += 1
            hits += abs(evaluation.value - 0.84) < 1.96 * evaluation.standard_error
    assert n_stated > 290
    assert hits / n_stated > 0.87


EQUAL = {
    "all right": ("accuracy", ["a", "b"] * 10, ["a", "b"] * 10, None),
    "all right, weighted": ("accuracy", ["a", "b"] * 10, ["a", "b"] * 10, np.linspace(0.1, 0.7, 20)),
    "perfectly ordered": ("average_precision", ["a"] * 10 + ["b"] * 10, [1.0] * 10 + [0.0] * 10, None),
    "constant predictions": ("mcc", ["a", "b"] * 10, ["a"] * 20, None),
    "all at once": ("pearson", np.arange(20.0).tolist(), (3 * np.arange(20.0) + 1).tolist(), None),
    "the same error everywhere": ("rmse", np.arange(20.0).tolist(), (np.arange(20.0) + 0.1).tolist(), None),
}


@pytest.mark.parametrize(("key", "true", "predicted", "weights"), EQUAL.values(), ids=EQUAL)
def test_an_error_of_0_is_no_certainty_and_not_stated(key, true, predicted, weights):
    options = {"positive": "a"} if key == "average_precision" else None
    details = {} if weights is None else {"weights": weights}
    assert scored(key, true, predicted, options, **details).standard_error is None


def test_a_category_without_the_label_has_no_f1():
    categories = ("one",) * 12 + ("two",) * 12
    true, predicted = ["a", "b", "b"] * 4 + ["b"] * 12, ["a", "b", "a"] * 4 + ["b"] * 12
    evaluation = scored("f1", true, predicted, {"positive": "a"}, categories=categories)
    parts = {name: (part.value, part.standard_error) for name, part in evaluation.by_category.items()}
    assert parts == {"one": (pytest.approx(2 / 3), pytest.approx(parts["one"][1])), "two": (None, None)}


@pytest.mark.parametrize("key", ["mae", "rmse", "spearman"])
def test_fewer_than_ten_clusters_have_no_standard_error_and_ten_have_one(key):
    generator = np.random.default_rng(1)
    true, predicted = generator.normal(size=(2, 60)).tolist()
    for n_clusters, has_error in ((LEAST_CLUSTERS - 1, False), (LEAST_CLUSTERS, True)):
        clusters = tuple(f"c{k % n_clusters}" for k in range(60))
        assert (scored(key, true, predicted, clusters=clusters).standard_error is not None) == has_error
    three = scored("pearson", [1.0, 2.0, 3.0], [1.0, 2.1, 2.9])
    assert (three.value > 0.99, three.standard_error) == (True, None)


def test_intervals_of_ten_clusters_have_the_right_mean_more_than_nine_times_of_ten():
    generator = np.random.default_rng(2)
    clusters = tuple(f"c{k // 3}" for k in range(30))
    hits = 0
    for _ in range(300):
        values = (np.repeat(generator.normal(size=10), 3) + generator.normal(size=30)).tolist()
        evaluation = scored("mean", [None] * 30, values, clusters=clusters)
        hits += abs(evaluation.value) < 1.96 * evaluation.standard_error
    assert hits / 300 > 0.89


def test_the_bootstrap_of_ten_clusters_is_as_wide_as_the_error_of_a_mean():
    generator = np.random.default_rng(3)
    clusters, ratios = np.arange(30) % 10, []
    for seed in range(40):
        values = generator.normal(size=30)
        by_bootstrap = bootstrap_error(
            lambda cases: float(np.mean(cases.predictions)), Cases([0] * 30, values), clusters, seed
        )
        ratios.append(by_bootstrap / error_of_mean(values, None, clusters))
    assert np.mean(ratios) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("sizes", [[200] + [5] * 9, [900] + [1] * 9, [500] + [10] * 19])
@pytest.mark.parametrize("key", ["accuracy", "mcc", "balanced_accuracy", "f1", "rmse", "spearman"])
def test_a_cluster_with_most_of_the_instances_leaves_no_standard_error(key, sizes):
    generator = np.random.default_rng(5)
    n = sum(sizes)
    clusters = tuple(f"c{k}" for k in np.repeat(np.arange(len(sizes)), sizes))
    labels = key not in ("rmse", "spearman")
    true, predicted = generator.integers(0, 2, (2, n)).astype(str) if labels else generator.normal(size=(2, n))
    options = {"positive": "1"} if key == "f1" else None
    assert scored(key, true.tolist(), predicted.tolist(), options, clusters=clusters).standard_error is None
    assert scored(key, true.tolist(), predicted.tolist(), options).standard_error is not None


def test_ten_clusters_have_an_error_though_one_has_an_instance_more():
    generator, even = np.random.default_rng(7), np.repeat(np.arange(10), 20)
    errors = [
        scored("mean", [None] * len(own), generator.normal(size=len(own)).tolist(), clusters=tuple(map(str, own)))
        for own in (even, np.append(even, 9))
    ]
    assert [evaluation.standard_error is not None for evaluation in errors] == [True, True]


@pytest.mark.parametrize("key", ["accuracy", "rmse"])
def test_an_instance_with_much_of_the_weight_leaves_no_standard_error(key):
    generator = np.random.default_rng(6)
    true, predicted = (column.tolist() for column in generator.integers(0, 2, (2, 100)))
    if key == "accuracy":
        true, predicted = ([str(value) for value in column] for column in (true, predicted))
    for weight, has_error in ((47.0, False), (45.0, True)):  # as good as 9.2 and 9.8 instances of the same weight
        weights = np.array([weight, *[1.0] * 99])
        assert (scored(key, true, predicted, weights=weights).standard_error is not None) == has_error


def test_a_class_with_most_instances_in_one_cluster_leaves_no_standard_error():
    true = ["rare"] * 40 + ["common"] * 200
    predicted = [*true[1:], "rare"]
    predicted[5] = "common"
    rest = [f"c{k}" for k in range(220)]
    uneven, even = ["one"] * 21 + rest[:219], [f"r{k % 20}" for k in range(40)] + rest[:200]
    assert scored("balanced_accuracy", true, predicted, clusters=tuple(uneven)).standard_error is None
    assert scored("balanced_accuracy", true, predicted, clusters=tuple(even)).standard_error is not None


@pytest.mark.parametrize("key", ["wer", "cer", "ter", "bleu", "chrf"])
def test_a_text_with_most_of_the_words_leaves_no_standard_error(key):
    texts, predictions = ["one two three four five"] * 19, ["one two three four six"] * 10 + ["one two three no"] * 9
    for long, has_error in ((300, False), (2, True)):
        true, predicted = [*texts, "seven eight nine " * long], [*predictions, "seven eight ten " * long]
        references = true if key in ("wer", "cer") else [(text,) for text in true]
        assert (scored(key, references, predicted).standard_error is not None) == has_error


def test_intervals_of_unequal_clusters_have_the_right_mean_nine_times_of_ten():
    """The sandwich, which a large cluster draws towards itself, does so in 0.87 of these boards."""
    generator = np.random.default_rng(7)
    sizes = [60] * 2 + [10] * 20
    clusters, hits = np.repeat(np.arange(22), sizes), 0
    for _ in range(2000):
        values = generator.random(sum(sizes)) < np.repeat(generator.beta(2.1, 0.9, 22), sizes)
        error = error_of_mean(values.astype(float), None, clusters)
        hits += abs(values.mean() - 0.7) < 1.96 * error
    assert hits / 2000 > 0.885
