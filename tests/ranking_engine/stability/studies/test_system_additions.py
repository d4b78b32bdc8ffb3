from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings

from ranking_engine import ScoreMatrix, rank
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.core.missing import complete, scored_part
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability.catalogue import STUDIES, run_study
from ranking_engine.stability.plan import make_plan
from ranking_engine.stability.resampling.growing_boards import grows_fast
from ranking_engine.stability.studies.system_additions import effects
from ranking_engine.stability.study import generator
from tests.ranking_engine.strategies import matrices
from tests.reference import reference_answers, reference_matrix

STUDY = STUDIES["system_additions"]
PAPER = ("borda", "copeland", "dowdall", "minimax", "plurality", "mean", "optimality_gap")
# Rofin et al. 2023, table 2: means over 50 orders
TABLE_2 = {
    "glue": {"borda": 7.96, "copeland": 2.76, "dowdall": 9.10, "minimax": 2.94, "plurality": 5.26},
    "superglue": {"borda": 5.38, "copeland": 0.90, "dowdall": 4.24, "minimax": 1.14, "plurality": 1.98},
}


def naive_effect(before, after, newcomer):
    """Compare two rankings, pair by pair, on the systems that both rank."""
    common = [i for i in range(len(before.ranks)) if before.ranks[i] > 0 and after.ranks[i] > 0 and i != newcomer]
    if len(common) < 2:
        return -1
    pairs = [
        (np.sign(before.ranks[i] - before.ranks[j]), np.sign(after.ranks[i] - after.ranks[j]))
        for i, j in itertools.combinations(common, 2)
    ]
    if any(first * second < 0 for first, second in pairs):
        return 2
    return int(any(first != second for first, second in pairs))


def naive_effects(matrix, rule, order):
    """Rank every board as a matrix of its own; systems not yet on it have no scores."""
    effect_of = np.full(len(order), -1)
    boards = []
    for k in range(len(order)):
        values = np.full(matrix.values.shape, np.nan)
        values[order[: k + 1]] = matrix.values[order[: k + 1]]
        boards.append(rank(matrix.with_values(values), rule, missing="drop_systems"))
    for k in range(2, len(order)):
        effect_of[k] = naive_effect(boards[k - 1], boards[k], order[k])
    return effect_of


def assert_same_as_naive(matrix, parameters=None):
    result = run_study("system_additions", matrix, parameters, seed=4)
    for name, array in result.arrays.items():
        if name.endswith(".proven"):
            assert array.all()
            continue
        rule = name.partition(".")[0]
        part = complete(matrix, "drop_systems") if get_rule(rule).needs_complete else scored_part(matrix)
        for number, row in enumerate(array):
            drawn = generator(4, 2, number).permutation(matrix.n_systems)
            order = np.array([i for i in drawn if i in part.systems])
            kept = [list(part.systems).index(i) for i in order]
            expected = np.full(matrix.n_systems, -1)
            expected[order] = naive_effects(part.matrix, rule, kept)
            assert row.tolist() == expected.tolist(), rule
    return result


@settings(max_examples=8, deadline=None)
@given(matrices(max_systems=6, scales=True))
def test_every_rule_changes_as_when_boards_are_ranked_one_by_one(matrix):
    parameters = STUDY.with_defaults({"n_orders": 2})
    if not STUDY.why_not(matrix, parameters):
        assert_same_as_naive(matrix, {"n_orders": 2})


@pytest.mark.parametrize(
    "options",
    [{}, {"n_levels": 4}, {"missing": 0.3}, {"weights": [2, 1, "1/3", "1/7", 1, 1]}],
    ids=["strict", "ties", "gaps", "fractions"],
)
def test_larger_matrices_change_as_when_boards_are_ranked_one_by_one(options):
    base = random_matrix(11, 6, seed=3, **options)
    matrix = ScoreMatrix(np.exp(base.values), weights=base.weights, gamma=2.0, maximum=[9] * 6, chance=[0.1] * 6)
    assert_same_as_naive(matrix, {"n_orders": 2})


def test_weights_beyond_exact_floats_are_ranked_one_by_one():
    matrix = ScoreMatrix(random_matrix(5, 4, seed=1).values, weights=[2**60 + 1, 2**60, 1, 1])
    assert_same_as_naive(matrix, {"n_orders": 2, "rules": ["borda", "copeland", "mean"]})


def test_a_newcomer_that_changes_two_others_is_found_and_named():
    """A beats B on two of three tasks; C comes between them on the third, and Borda ties them."""
    matrix = ScoreMatrix([[3, 3, 0], [2, 2, 3], [0, 0, 2]], system_names=["A", "B", "C"])
    summary = run_study("system_additions", matrix, {"rules": ["borda", "copeland"], "n_orders": 30}).summary
    last_is_c = [generator(0, 2, k).permutation(3)[-1] == 2 for k in range(30)]
    assert summary["rules"]["borda"]["any_change"] == round(np.mean(last_is_c), 6)  # 2 to 1 becomes 4 to 4
    assert summary["rules"]["borda"]["reversals"] == 0
    assert summary["rules"]["borda"]["most_disruptive"] == {"C": sum(last_is_c)}
    assert summary["rules"]["copeland"]["any_change"] == 0
    assert summary["rules"]["copeland"]["n_newcomers"] == 1


def paper_matrix(name):
    matrix = reference_matrix(f"votenrank-{name}").with_gamma(95)
    if name == "glue":
        return matrix.subset(systems=np.arange(30))
    return matrix.subset(systems=matrix.is_complete)


@pytest.mark.parametrize("name", ["glue", "superglue", "value"])
def test_the_papers_table_2_to_the_digit(name):
    result = run_study("system_additions", paper_matrix(name), {"rules": list(PAPER), "compat": "votenrank"}, seed=9)
    printed = TABLE_2.get(name, {})
    for rule, figure in printed.items():
        assert result.summary["rules"][rule]["any_change"] == figure, rule
    answers = reference_answers("votenrank-iia").get(name, {"methods": {}})["methods"]
    for rule, answer in answers.items():
        counts = (result.arrays[f"{rule}.effect"] > 0).sum(axis=1)
        assert counts.tolist() == answer["counts"], rule
        assert (counts.mean(), counts.std()) == pytest.approx((answer["mean"], answer["std"]), abs=1e-9), rule
    assert printed or answers


def test_done_right_copeland_changes_more_often_and_reverses_less():
    """The paper's orders, with ties seen as ties and the last system added."""
    for name, any_change, reversals in [("glue", 4.36, 0.76), ("superglue", 2.36, 0.0)]:
        matrix = paper_matrix(name)
        parameters = STUDY.with_defaults({"rules": ["copeland"]})
        outcomes = [
            effects(part, np.array(shuffled), is_peer=False)["copeland"]
            for part in _parts(matrix, parameters)
            for shuffled in (_shuffled(matrix.n_systems, k) for k in range(50))
        ]
        assert np.mean([(effect > 0).sum() for effect in outcomes]) == pytest.approx(any_change, abs=1e-9)
        assert np.mean([(effect == 2).sum() for effect in outcomes]) == pytest.approx(reversals, abs=1e-9)


def _parts(matrix, parameters):
    return make_plan(matrix, parameters, 1, 1, grows_fast).parts


def _shuffled(n, number):
    order = list(range(n))
    np.random.RandomState(number).shuffle(order)
    return order


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_orders": 0}, "`n_orders` is 0"),
        ({"compat": "peer"}, "`compat` is 'peer'; expected '' or 'votenrank'"),
        ({"missing": "guess"}, "`missing` is 'guess'"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        run_study("system_additions", random_matrix(4, 4, seed=0), parameters)


def test_two_systems_have_no_newcomer():
    with pytest.raises(ValueError, match="systems with scores: 2; at least 3 are needed"):
        run_study("system_additions", ScoreMatrix([[1, 2], [2, 1]]))
