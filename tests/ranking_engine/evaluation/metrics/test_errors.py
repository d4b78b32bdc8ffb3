"""Standard errors that would say too much are not stated, and those that are cover what they claim."""

import math

import numpy as np
import pytest

from ranking_engine.evaluation.metric import Cases
from ranking_engine.evaluation.metrics.errors import LEAST_CLUSTERS, bootstrap_error, error_of_mean
from tests.ranking_engine.evaluation.metrics.naive import scored


def test_a_class_of_one_instance_leaves_an_area_without_standard_error():
    generator = np.random.default_rng(0)
    true, scores = ["yes"] + ["no"] * 100, generator.normal(size=101).tolist()
    assert scored("roc_auc", true, scores, {"positive": "yes"}).standard_error is None


def test_a_figure_that_depends_on_one_instance_alone_has_no_standard_error():
    evaluation = scored("r2", [1.0] * 11 + [2.0], [1.0] * 12)
    assert (evaluation.value, evaluation.standard_error) == (pytest.approx(-1 / 11), None)


def test_the_correlation_of_a_rare_label_has_its_error_and_its_figure_by_sums():
    n, n_right = 400_000, 3
    true, predicted = ["no"] * n, ["no"] * n
    true[:5] = ["yes"] * 5
    predicted[:n_right] = ["yes"] * n_right
    predicted[10:12] = ["yes"] * 2
    evaluation = scored("mcc", true, predicted)
    assert evaluation.value == pytest.approx(0.6, abs=1e-4)
    assert evaluation.standard_error == pytest.approx(jackknife_of_rare(n, n_right, 2, 2), rel=1e-4)
    assert 0.1 < evaluation.standard_error < 0.3


def jackknife_of_rare(n, n_both, n_missed, n_alarms):
    """The jackknife over the four kinds of instances."""

    def mcc(tp, fn, fp, tn):
        return (tp * tn - fp * fn) / math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))

    counts = [n_both, n_missed, n_alarms, n - n_both - n_missed - n_alarms]
    without = [mcc(*(count - (kind == other) for other, count in enumerate(counts))) for kind in range(4)]
    mean = sum(count * figure for count, figure in zip(counts, without, strict=True)) / n
    squares = sum(count * (figure - mean) ** 2 for count, figure in zip(counts, without, strict=True))
    return math.sqrt((n - 1) / n * squares)


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
