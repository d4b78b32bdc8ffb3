"""Metrics of scores and probabilities against their definitions and the libraries' own calls."""

import contextlib
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn import metrics as sklearn_metrics

from ranking_engine.evaluation.metric import Cases
from ranking_engine.evaluation.metrics import METRICS, ErrorMethod, UndefinedMetricError, cases
from ranking_engine.files.problems import InputError
from tests.ranking_engine.evaluation.metrics import naive
from tests.ranking_engine.evaluation.metrics.naive import scored

LABELS = ("bird", "cat", "dog")


def area(true, scores, weights):
    """Pair by pair."""
    better = total = 0.0
    for a, x, u in zip(true, scores, weights, strict=True):
        for b, y, v in zip(true, scores, weights, strict=True):
            if a == "cat" != b:
                total += u * v
                better += u * v * ((x > y) + (x == y) / 2)
    return better / total


def average_precision(true, scores, weights):
    """Threshold by threshold."""
    whole = sum(w for a, w in zip(true, weights, strict=True) if a == "cat")
    value = before = 0.0
    for threshold in sorted(set(scores), reverse=True):
        kept = [(a, w) for a, x, w in zip(true, scores, weights, strict=True) if x >= threshold]
        right = sum(w for a, w in kept if a == "cat")
        value += (right - before) / whole * right / sum(w for _, w in kept)
        before = right
    return value


BY_SCORE = {"roc_auc": area, "average_precision": average_precision}
rows = st.lists(
    st.tuples(st.sampled_from(["cat", "dog"]), st.integers(-3, 3), st.sampled_from([0.5, 1.0, 3.0])),
    min_size=2,
    max_size=12,
)


@pytest.mark.parametrize("key", BY_SCORE)
@given(rows=rows)
@settings(max_examples=60, deadline=None)
def test_metrics_of_scores_are_their_definitions_also_for_rows_that_are_repeated(key, rows):
    true, scores, weights = zip(*rows, strict=True)
    options = {"positive": "cat"}
    if len(set(true)) < 2:
        with pytest.raises(InputError):
            scored(key, true, scores, options)
        return
    evaluation = scored(key, true, scores, options, weights=weights)
    assert evaluation.value == pytest.approx(BY_SCORE[key](true, scores, weights))
    codes = np.array([("cat", "dog").index(label) for label in true])
    reweighted = METRICS[key].reweighted(Cases(codes, np.array(scores, float), options, None, ("cat", "dog")))
    assert reweighted(np.array(weights)) == pytest.approx(evaluation.value)


def matrix_of(values) -> list[list[float]]:
    return [[row.get(label, 0.0) for label in LABELS] for row in values]


def random_chances(seed, n=60, labels=LABELS):
    generator = np.random.default_rng(seed)
    true = [labels[k] for k in generator.integers(0, len(labels), n)]
    chances = generator.dirichlet([1.0] * len(labels), n)
    weights = generator.choice([0.5, 1.0, 3.0], n)
    return true, [dict(zip(labels, row, strict=True)) for row in chances.tolist()], weights.tolist()


def test_log_loss_and_brier_score_of_three_labels_are_scikit_learns_and_decompose():
    true, chances, weights = random_chances(1)
    codes, matrix = [LABELS.index(label) for label in true], matrix_of(chances)
    log_loss = scored("log_loss", true, chances, weights=weights)
    expected = sklearn_metrics.log_loss(codes, matrix, labels=[0, 1, 2], sample_weight=weights)
    assert log_loss.value == pytest.approx(expected)
    brier = scored("brier", true, chances, weights=weights)
    errors = [sum((row[k] - (k == code)) ** 2 for k in range(3)) for row, code in zip(matrix, codes, strict=True)]
    assert brier.instance_values.tolist() == pytest.approx(errors)
    for evaluation in (log_loss, brier):
        mean = np.average(evaluation.instance_values, weights=weights)
        assert evaluation.value == pytest.approx(mean)
        expected = naive.clustered_error_of_mean(evaluation.instance_values, weights, range(60))
        assert evaluation.standard_error == pytest.approx(expected)


def test_a_single_number_is_the_probability_of_the_label_that_is_chosen():
    true = ["yes", "no", "yes", "no"]
    chances = [0.9, 0.2, 0.0, 0.5]
    pairs = [{"yes": chance, "no": 1 - chance} for chance in chances]
    for key, expected in [
        ("brier", np.mean([0.01, 0.04, 1.0, 0.25])),
        ("log_loss", np.mean([-math.log(0.9), -math.log(0.8), -math.log(2.220446049250313e-16), -math.log(0.5)])),
    ]:
        assert scored(key, true, chances, {"positive": "yes"}).value == pytest.approx(expected)
        assert scored(key, true, pairs).value == pytest.approx(expected)
    with pytest.raises(InputError, match="choose the label whose probability single numbers are"):
        scored("brier", true, chances)
    with pytest.raises(
        InputError, match="one number is enough for two labels only; give the probability of each label"
    ):
        scored("brier", [*true, "maybe"], [*chances, 0.5], {"positive": "yes"})


@pytest.mark.parametrize("hidden", [["yes", "no"], ["yes", "no", "maybe"]])
@pytest.mark.parametrize("singles", [[], [0.5]])
def test_no_label_that_predictions_name_tells_whether_it_is_among_the_references(hidden, singles):
    answers = set()
    for guess in ("yes", "no", "maybe", "never"):
        chances = [*singles, *[{"yes": 0.5, guess: 0.5} if guess != "yes" else {"yes": 1.0}] * len(hidden)]
        true = [*hidden, "no"][: len(chances)] if singles else hidden
        try:
            scored("brier", true, chances[: len(true)], {"positive": "yes"})
            answers.add("scored")
        except InputError as error:
            answers.add(str(error))
    assert len(answers) == 1
    assert not any(character.isdigit() for character in answers.pop())


def test_too_many_labels_are_refused_whichever_of_them_are_among_the_references(monkeypatch):
    monkeypatch.setattr(cases, "MAX_CELLS", 6)
    refused = "2 instances, and you name 4 labels; at most 6 numbers are compared"
    for known in ("a", "d", "x"):
        for names, is_refused in (("abc", False), ("abcd", True)):
            chances = [dict.fromkeys(names, 1 / len(names))] * 2
            with pytest.raises(InputError, match=refused) if is_refused else contextlib.nullcontext():
                scored("brier", [known, "z"], chances, {"positive": "z"})


def test_a_probability_of_a_label_that_no_instance_has_is_lost():
    chances = [{"d": 1.0}, {"b": 1.0}, {"c": 1.0}]
    assert scored("brier", ["a", "b", "c"], chances).instance_values.tolist() == [2.0, 0.0, 0.0]


def test_the_scale_of_the_brier_score_is_that_of_the_references_whatever_predictions_name():
    true, chances = ["cat", "dog"] * 6, [{"cat": 0.8, "dog": 0.2}] * 12
    plain = scored("brier", true, chances)
    with_bird = scored("brier", true, [chances[0] | {"bird": 0.0}, *chances[1:]])
    assert plain.value == with_bird.value == pytest.approx((0.2**2 + 0.8**2) / 2)
    assert with_bird.instance_values.tolist() == plain.instance_values.tolist()
    with_parts = scored("brier", [*true, "fish"], [*chances, {"fish": 1.0}], categories=("one",) * 12 + ("two",))
    assert with_parts.by_category["one"].value == pytest.approx(2 * plain.value), "three labels in all"


def test_one_label_in_all_has_no_log_loss_and_a_brier_score_of_0():
    with pytest.raises(UndefinedMetricError, match="Log loss is undefined here: references and predictions have one"):
        scored("log_loss", ["a", "a"], [{"a": 1.0}, {"a": 1.0}])
    assert scored("brier", ["a", "a"], [{"a": 1.0}, {"a": 1.0}]).value == 0
    assert scored("log_loss", ["a"], [{"a": 0.5, "b": 0.5}]).value == pytest.approx(math.log(2))


@pytest.mark.parametrize("bins", [1, 4, 15])
def test_the_calibration_error_is_its_definition(bins):
    true, chances, weights = random_chances(2)
    in_bins: dict[int, list] = {}
    for label, row, weight in zip(true, chances, weights, strict=True):
        best = max(LABELS, key=lambda name: row[name])
        number = next(b for b in range(bins) if row[best] <= (b + 1) / bins)
        in_bins.setdefault(number, []).append((weight, row[best], best == label))
    total = sum(weights)
    expected = sum(
        abs(sum(w * (chance - is_right) for w, chance, is_right in members)) / total for members in in_bins.values()
    )
    evaluation = scored("ece", true, chances, {"bins": bins}, weights=weights)
    assert evaluation.value == pytest.approx(expected)


@pytest.mark.parametrize("names", ["abc", "acb", "bac", "bca", "cab", "cba"])
def test_no_order_of_labels_and_no_dust_of_sums_decides_in_which_bin_a_confidence_is(names):
    first, second, third = names
    true = [first] * 3 + [second] * 7 + [first] * 9 + [second]
    chances = [{first: 0.6, second: 0.3, third: 0.1}] * 10 + [{first: 0.6, second: 0.2, third: 0.2}] * 10
    assert scored("ece", true, chances).value == 0  # 12 of 20 are right
    tied = [{first: 0.4, second: 0.4, third: 0.2}] * 10
    assert scored("ece", [first] * 8 + [third] * 2, tied).value == 0


def test_a_confidence_at_the_end_of_a_bin_is_in_the_bin_below():
    true, chances = ["yes"] * 60 + ["no"] * 40, [0.55] * 50 + [0.545] * 50  # both from 0.54 to 0.55
    for bins in (20, 100):
        value = scored("ece", true, chances, {"positive": "yes", "bins": bins}).value
        assert value == pytest.approx(abs(0.5475 - 0.6))


def test_the_calibration_error_of_right_probabilities_is_above_0_and_has_no_standard_error():
    generator = np.random.default_rng(4)
    figures = []
    for _ in range(20):
        chances = generator.uniform(size=200)
        true = np.where(generator.uniform(size=200) < chances, "yes", "no").tolist()
        figures.append(scored("ece", true, chances.tolist(), {"positive": "yes"}))
    assert np.mean([figure.value for figure in figures]) > 0.05
    assert {(figure.standard_error, figure.error_method) for figure in figures} == {(None, ErrorMethod.NONE)}


def test_the_bootstrap_of_an_area_is_near_its_jackknife():
    generator = np.random.default_rng(3)
    true = ["cat" if x else "dog" for x in generator.integers(0, 2, 150)]
    scores = [float(x) + (label == "cat") for x, label in zip(generator.normal(size=150), true, strict=True)]

    def without(kept):
        return area([true[k] for k in kept], [scores[k] for k in kept], [1.0] * len(kept))

    evaluation = scored("roc_auc", true, scores, {"positive": "cat"})
    assert evaluation.standard_error == pytest.approx(naive.left_out_error(without, range(150)), rel=0.25)


def test_a_part_with_one_label_has_no_area():
    categories = ("one", "one", "two", "two")
    evaluation = scored("roc_auc", ["a", "b", "a", "a"], [1, 0, 3, 4], {"positive": "a"}, categories=categories)
    assert [evaluation.by_category[name].value for name in ("one", "two")] == [1.0, None]
    with pytest.raises((InputError, UndefinedMetricError)):
        scored("roc_auc", ["a", "a"], [1, 0], {"positive": "a"})
