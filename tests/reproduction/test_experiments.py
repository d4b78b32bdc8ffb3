"""The experiments behind the papers' sections, checked against definitions worked out in another way."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import kendalltau

from ranking_engine import ScoreMatrix, rank
from ranking_engine.core.instances import InstanceScores, aggregate_all
from ranking_engine.stability.sensitivity.cardinal import cardinal_sensitivity
from reproduction import measures
from reproduction.boards import board
from reproduction.colombo import synthetic
from reproduction.colombo.instances import per_task
from reproduction.pavao import SIX, matrix_of, ranked
from reproduction.rofin.small_boards import smallest_reversal
from reproduction.zhang import baselines
from reproduction.zhang.arrow import arrow_rules, is_transitive, nine_tasks, smallest_flip
from reproduction.zhang.released_search import search_end
from tests.reference import reference_answers


def test_arrows_theorem_leaves_the_dictators_alone_for_two_and_three_tasks():
    assert arrow_rules(2, with_ties=False) == (64, 2, 2)
    assert arrow_rules(2, with_ties=True) == (729, 2, 2)


def test_transitive_triples_are_those_of_the_thirteen_weak_orders_of_three_systems():
    triples = np.array(list(itertools.product((-1, 0, 1), repeat=3)), dtype=np.int8)
    weak_orders = {tuple(t.tolist()) for t in triples[is_transitive(triples)]}
    orders = {
        (int(np.sign(a - b)), int(np.sign(b - c)), int(np.sign(a - c)))
        for a, b, c in itertools.product(range(3), repeat=3)
    }
    assert weak_orders == orders
    assert len(weak_orders) == 13


def test_the_smallest_flip_has_five_tasks_and_reverses_a_majority():
    matrix, removed = smallest_flip()
    i, j = (k for k in range(3) if k != removed)
    points = [[sum(matrix.scores[a, t] > matrix.scores[b, t] for b in range(3) for t in range(5))] for a in range(3)]
    above = int((matrix.scores[i] > matrix.scores[j]).sum())
    assert matrix.n_tasks == 5
    assert (points[i][0] - points[j][0]) * (above - (5 - above)) < 0


def test_boards_of_the_shape_of_the_papers_example_are_counted_as_the_win_rate_ranks_them():
    n_boards, n_flips, (joined, without) = nine_tasks()
    assert n_boards == 28 * 24**3
    assert 0 < n_flips < n_boards
    before, after = rank(without, "win_rate").scores, rank(joined, "win_rate").scores[:3]
    assert any((before[i] - before[j]) * (after[i] - after[j]) < 0 for i, j in ((0, 1), (1, 2), (0, 2)))
    assert joined.values.shape == (4, 9)
    assert len({tuple(column) for column in joined.values.T.tolist()}) == 3
    for with_fourth, task in zip(joined.values.T[:, :3], without.values.T, strict=True):
        np.testing.assert_array_equal(np.argsort(with_fourth), np.argsort(task))


def test_the_share_of_boards_of_that_shape_is_that_of_boards_drawn_at_random():
    generator = np.random.default_rng(7)
    sizes = [s for s in itertools.product(range(1, 9), repeat=3) if sum(s) == 9]
    n_boards, n_flips, _ = nine_tasks()
    n_drawn, n_reversed = 2_000, 0
    for _ in range(n_drawn):
        groups = [generator.permutation(4) for _ in range(3)]
        values = np.repeat(np.array(groups, dtype=float).T, sizes[generator.integers(len(sizes))], axis=1)
        before, after = (rank(ScoreMatrix(v), "win_rate").scores[:3] for v in (values[:3], values))
        steps = [
            (np.round(before[i] - before[j], 9), np.round(after[i] - after[j], 9)) for i, j in ((0, 1), (1, 2), (0, 2))
        ]
        n_reversed += any(a * b < 0 for a, b in steps)
    expected = n_flips / n_boards
    assert abs(n_reversed / n_drawn - expected) < 4 * (expected * (1 - expected) / n_drawn) ** 0.5


@pytest.mark.parametrize(("name", "file"), [("VTAB", "VTAB"), ("SuperGLUE", "SuperGLUE"), ("Open LLM", "OpenLLM")])
def test_the_search_in_numpy_ends_where_the_released_one_does(name, file):
    theirs = reference_answers(f"benchbench-sens-{file}")["default"]
    tau, change = search_end(board(name).scores, 0.01)
    assert tau == pytest.approx(theirs["tau"], abs=5e-4)
    assert change == pytest.approx(theirs["MRC"], abs=0.0102)  # one place of 100


def test_the_released_search_that_may_not_leave_equal_weights_ends_at_standardised_means():
    scores = np.random.default_rng(2).normal(size=(9, 4)) * [1, 2, 3, 9]
    raw, standardised = (rank(ScoreMatrix(s), "mean") for s in (scores, scores / scores.std(axis=0, ddof=1)))
    assert search_end(scores, 1.0) == (
        pytest.approx((1 - kendalltau(raw.average_ranks, standardised.average_ranks).statistic) / 2),
        pytest.approx(np.abs(np.array(raw.average_ranks) - standardised.average_ranks).max() / 8),
    )


def test_the_papers_set_of_weights_contains_the_released_codes():
    """On raw scores 0.01 u / σ lies between 0.01 σ_min / σ_max and 1, up to a common factor."""
    matrix = ScoreMatrix(np.random.default_rng(4).normal(size=(10, 4)) * [1, 2, 5, 9])
    of_code, of_paper = (
        measures.figures_of(cardinal_sensitivity(matrix, feasible=feasible)) for feasible in ("scaled", "box")
    )
    assert of_code.pairs[0] <= of_paper.pairs[1]
    assert of_code.moved[0] <= of_paper.moved[1]
    assert of_paper.pairs[0] == of_paper.pairs[1]


def test_a_newcomer_cannot_reverse_the_mean_and_reverses_plurality_on_three_tasks():
    assert smallest_reversal("mean") is None
    matrix, (i, j), newcomer = smallest_reversal("plurality")
    before = rank(matrix.subset([i, j]), "plurality").scores
    after = rank(matrix, "plurality").scores
    assert matrix.n_tasks == 3
    assert before[0] > before[1]
    assert after[i] < after[j]
    assert newcomer not in (i, j)


def test_what_each_task_adds_comes_to_the_rankings_of_all_instances():
    generator = np.random.default_rng(3)
    blocks = tuple(generator.integers(0, 4, size=(6, 9)).astype(float) for _ in range(5))
    scores = InstanceScores(tuple("ABCDEF"), tuple("vwxyz"), blocks)
    totals = per_task(scores)
    for key, ranking in aggregate_all(scores).items():
        of_tasks = totals[key].sum(axis=1) if key != "mean" else totals[key].mean(axis=1)
        np.testing.assert_allclose(of_tasks, ranking.scores)


def test_synthetic_tasks_that_are_all_manipulated_turn_the_order_round_and_none_leave_it_where_systems_differ():
    turned = synthetic.drawn(0.5, 0, manipulation="fixed")
    honest = synthetic.drawn(0.5, 1)
    for key in ("mean", "one_level", "two_level"):
        assert synthetic.errors(turned[key].sum(axis=1)[:, None]).item() == 1.0
        assert synthetic.errors(honest[key].sum(axis=1)[:, None]).item() < 0.1


@pytest.mark.parametrize("name", ["VTAB", "GLUE"])
def test_the_success_rate_that_is_studied_is_the_share_of_rivals_beaten(name):
    matrix = matrix_of(name)
    above = (matrix.scores[:, None] > matrix.scores[None]).sum(axis=(1, 2))
    shares = above / ((matrix.n_systems - 1) * matrix.n_tasks)
    np.testing.assert_allclose(ranked(matrix)["success_rate"].scores, shares)
    np.testing.assert_array_equal(rank(matrix, SIX["success_rate"][2]).scores, above)


def test_correlations_agree_with_numpy_and_leave_one_out_names_the_benchmark_that_carries_them():
    pairs = {"A": (0.1, 0.2), "B": (0.2, 0.1), "C": (0.3, 0.3), "D": (0.9, 0.9)}
    x, y = np.array(list(pairs.values())).T
    assert baselines.pearson(pairs) == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert baselines.spearman(pairs) == pytest.approx(0.8)
    assert baselines.least_without_one(pairs)[0] == "D"
    assert baselines.p_value(pairs) == pytest.approx(
        np.mean([abs(np.corrcoef(x, p)[0, 1]) >= abs(np.corrcoef(x, y)[0, 1]) for p in itertools.permutations(y)]),
        abs=0.01,
    )


def test_the_share_of_pairings_is_two_sided():
    """Of the six pairings of three benchmarks in line, the one observed and its mirror image are as far from 0."""
    in_line = {"A": (1.0, 1.0), "B": (2.0, 2.0), "C": (3.0, 3.0)}
    against = {name: (x, -y) for name, (x, y) in in_line.items()}
    assert baselines.p_value(in_line) == pytest.approx(1 / 3, abs=0.01)
    assert baselines.p_value(against) == pytest.approx(1 / 3, abs=0.01)


def test_the_less_noise_preserves_the_more_it_can_reverse():
    matrix = ScoreMatrix(np.random.default_rng(5).normal(size=(12, 5)))
    values = [
        measures.figures_of(cardinal_sensitivity(matrix, least_weight=share, max_programs=0)).pairs[0]
        for share in (0.01, 0.3, 1.0)
    ]
    assert values == sorted(values, reverse=True)
    assert values[0] > values[-1]


@pytest.mark.parametrize("share", [0.0, -0.1, 1.5])
def test_a_preserved_share_is_above_nothing_and_at_most_all(share):
    with pytest.raises(ValueError, match="`least_weight` is"):
        cardinal_sensitivity(ScoreMatrix([[1.0, 2.0], [2.0, 1.0]]), least_weight=share)
