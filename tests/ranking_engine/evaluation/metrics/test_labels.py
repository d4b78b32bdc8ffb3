"""Metrics of labels and of numbers against their definitions, and their standard errors against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats
from sklearn import metrics as sklearn_metrics

from ranking_engine.evaluation.metric import Cases
from ranking_engine.evaluation.metrics import METRICS, ErrorMethod, UndefinedMetricError, check_references
from ranking_engine.files.problems import InputError
from tests.ranking_engine.evaluation.metrics import naive
from tests.ranking_engine.evaluation.metrics.naive import scored

LABEL_METRICS = {
    "accuracy": naive.accuracy,
    "balanced_accuracy": naive.balanced_accuracy,
    "f1_micro": naive.accuracy,
    "f1_macro": naive.f1_macro,
    "f1_weighted": naive.f1_weighted,
    "mcc": naive.mcc,
}

CLUSTERS = st.sampled_from("klmnopqrstuvw")  # some samples have ten of them, some fewer
row = st.tuples(st.sampled_from("abc"), st.sampled_from("abcd"), st.sampled_from([0.5, 1.0, 3.0]), CLUSTERS)
# short ones with all that is rare, and long ones in which each label is in many clusters
rows = st.lists(row, min_size=2, max_size=40) | st.lists(row, min_size=60, max_size=90)


@pytest.mark.parametrize("key", LABEL_METRICS)
@given(rows=rows)
@settings(max_examples=60, deadline=None)
def test_metrics_of_labels_are_their_definitions_with_weights_and_clusters(key, rows):
    true, predicted, weights, clusters = zip(*rows, strict=True)
    evaluation = scored(key, true, predicted, weights=weights, clusters=clusters)
    assert evaluation.value == pytest.approx(LABEL_METRICS[key](true, predicted, weights))

    def without(kept):
        left = [[column[k] for k in kept] for column in (true, predicted)]
        has_lost_label = key == "f1_macro" and {*left[0], *left[1]} != {*true, *predicted}
        if has_lost_label or (key == "mcc" and min(len(set(column)) for column in left) == 1):
            raise UndefinedMetricError
        return scored(key, *left, weights=[weights[k] for k in kept]).value

    if METRICS[key].decomposes:
        right = [float(a == b) for a, b in zip(true, predicted, strict=True)]
        assert evaluation.instance_values.tolist() == right
        expected = naive.clustered_error_of_mean(right, weights, clusters)
    else:
        classes = {"balanced_accuracy": true, "f1_macro": true, "mcc": naive.other_than_commonest(true)}.get(key)
        expected = naive.left_out_error(without, clusters, classes, weights)
    assert evaluation.standard_error == (None if expected is None else pytest.approx(expected, rel=1e-6))


@given(rows=rows)
@settings(max_examples=60, deadline=None)
def test_the_f1_of_a_label_is_its_definition(rows):
    true, predicted, weights, _ = zip(*rows, strict=True)
    if "a" not in true:
        with pytest.raises(InputError, match="no instance has this label"):
            scored("f1", true, predicted, {"positive": "a"})
        return
    evaluation = scored("f1", true, predicted, {"positive": "a"}, weights=weights)
    assert evaluation.value == pytest.approx(naive.f1_of_label("a", true, predicted, weights))
    assert evaluation.error_method == ErrorMethod.JACKKNIFE


def test_the_f1_of_a_label_in_parts_without_it_is_0_where_it_is_predicted_and_none_where_it_is_not():
    true, predicted = ["a", "b", "b", "b"], ["a", "b", "a", "b"]
    parts = scored("f1", true, predicted, {"positive": "a"}, categories=("has it", "has it", "predicted", "neither"))
    values = {name: part.value for name, part in parts.by_category.items()}
    assert values == {"has it": 1.0, "predicted": 0.0, "neither": None}
    assert METRICS["f1"].description == (
        "The harmonic mean of precision and recall of one label, which at least one instance must have; in a split or "
        "category without it, 0 where it is predicted and none where it is not."
    )


numbers = st.lists(
    st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.sampled_from([0.5, 1.0, 3.0]), CLUSTERS),
    min_size=3,
    max_size=40,
)
LIBRARY_CALLS = {
    "rmse": lambda y, p, w: sklearn_metrics.root_mean_squared_error(y, p, sample_weight=w),
    "mae": lambda y, p, w: sklearn_metrics.mean_absolute_error(y, p, sample_weight=w),
    "mse": lambda y, p, w: sklearn_metrics.mean_squared_error(y, p, sample_weight=w),
    "r2": lambda y, p, w: sklearn_metrics.r2_score(y, p, sample_weight=w),
    "pearson": lambda y, p, _: np.corrcoef(y, p)[0, 1],
    "spearman": lambda y, p, _: np.corrcoef(stats.rankdata(y), stats.rankdata(p))[0, 1],
    "kendall": lambda y, p, _: tau_b(y, p),
}


def tau_b(y, p):
    """Pair by pair (Kendall 1945)."""
    pairs = np.tril_indices(len(y), -1)
    true, predicted = (np.sign(np.subtract.outer(values, values))[pairs] for values in (y, p))
    return (true * predicted).sum() / np.sqrt(abs(true).sum() * abs(predicted).sum())


@pytest.mark.parametrize("key", LIBRARY_CALLS)
@given(rows=numbers)
@settings(max_examples=40, deadline=None)
def test_metrics_of_numbers_are_the_librarys_call_with_ties_weights_and_clusters(key, rows):
    true, predicted, weights, clusters = (list(column) for column in zip(*rows, strict=True))
    metric = METRICS[key]
    details = {"clusters": tuple(clusters), **({"weights": weights} if metric.takes_weights else {})}
    is_constant = len(set(true)) == 1
    if metric.when_undefined and is_constant:
        with pytest.raises(InputError, match="needs two that differ"):
            scored(key, true, predicted, **details)
        return
    if metric.when_undefined and key != "r2" and len(set(predicted)) == 1:
        with pytest.raises(UndefinedMetricError, match="are all the same number"):
            scored(key, true, predicted, **details)
        return
    evaluation = scored(key, true, predicted, **details)
    assert evaluation.value == pytest.approx(LIBRARY_CALLS[key](true, predicted, weights))

    def without(kept):
        kept_weights = {"weights": [weights[k] for k in kept]} if metric.takes_weights else {}
        try:
            return scored(key, [true[k] for k in kept], [predicted[k] for k in kept], **kept_weights).value
        except InputError as error:
            raise UndefinedMetricError from error

    if metric.sums is not None:
        classes = naive.other_than_commonest(true) if key in ("r2", "pearson") else None
        expected = naive.left_out_error(without, clusters, classes, weights if metric.takes_weights else None)
        assert evaluation.standard_error == (None if expected is None else pytest.approx(expected, rel=1e-6, abs=1e-6))
    elif naive.effective_number(clusters, weights if metric.takes_weights else [1.0] * len(clusters)) < 9.5:
        assert evaluation.standard_error is None


def test_spearman_of_weights_is_that_of_rows_that_are_repeated():
    generator = np.random.default_rng(1)
    true, predicted = generator.integers(0, 6, 40).astype(float), generator.integers(0, 5, 40).astype(float)
    times = generator.integers(0, 4, 40)
    figure = METRICS["spearman"].reweighted(Cases(true, predicted))
    repeated = stats.spearmanr(np.repeat(true, times), np.repeat(predicted, times)).statistic
    assert figure(times.astype(float)) == pytest.approx(repeated)


@pytest.mark.parametrize("key", ["spearman", "kendall"])
def test_a_bootstrap_repeats_with_its_seed_and_is_near_the_jackknife(key):
    generator = np.random.default_rng(2)
    true = generator.normal(size=150)
    predicted = true + generator.normal(size=150)
    first, second = (scored(key, true.tolist(), predicted.tolist()) for _ in range(2))
    assert first.error_method == ErrorMethod.BOOTSTRAP
    assert first.standard_error == second.standard_error

    def without(kept):
        return LIBRARY_CALLS[key](true[kept], predicted[kept], None)

    assert first.standard_error == pytest.approx(naive.left_out_error(without, range(150)), rel=0.25)


def test_the_mean_of_numbers_that_are_brought_needs_no_references():
    numbers = [1.0, 2.0, 6.0, 3.0] * 3
    evaluation = scored("mean", [None] * 12, numbers)
    assert (evaluation.value, evaluation.instance_values.tolist()) == (3.0, numbers)
    assert evaluation.standard_error == pytest.approx(np.std(numbers, ddof=1) / np.sqrt(12))
    assert (evaluation.library, evaluation.library_version) == ("", "")


def test_parts_have_figures_of_their_own_and_none_where_there_is_none():
    evaluation = scored(
        "pearson",
        [1.0, 2.0, 3.0, 4.0],
        [1.0, 3.0, 5.0, 5.0],
        splits=("public", "public", "private", "private"),
        categories=("", "one", "one", ""),
    )
    assert evaluation.by_split["public"].value == pytest.approx(1.0)
    assert (evaluation.by_split["private"].value, evaluation.by_split["private"].n_instances) == (None, 2)
    assert list(evaluation.by_category) == ["one"]


def test_options_are_checked_all_at_once():
    with pytest.raises(InputError) as caught:
        METRICS["f1"].read_options({"negative": "no", "beta": 2})
    assert caught.value.problems.lines == [
        "column 'positive': positive is needed: the label that is to be found",
        "column 'beta': F1 of a label has no such option; it has positive",
        "column 'negative': F1 of a label has no such option; it has positive",
    ]


def test_weights_are_refused_where_the_library_takes_none():
    references = naive.references_of([1.0, 2.0], weights=[1, 2])
    with pytest.raises(InputError, match="Pearson correlation takes no weights"):
        check_references(METRICS["pearson"], references)


def test_references_are_in_no_message():
    assert repr(naive.references_of(["hidden"])) == "<References of 1 instances>"
