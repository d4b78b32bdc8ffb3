from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from ranking_engine import ScoreMatrix, rank
from ranking_engine.core.comparison import compare_ranks
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability.sensitivity.cardinal import FEASIBLE_SETS, cardinal_sensitivity
from reproduction.zhang.unstructured import CARDINAL_SHAPE, unstructured_benchmark
from tests.ranking_engine.strategies import matrices
from tests.reference import reference_answers, reference_matrix


def ranks_under(matrix, weights):
    scores = sum(matrix.scores[:, matrix.task_names.index(name)] * w for name, w in weights.items())
    return rank(ScoreMatrix(scores[:, None]), "mean").average_ranks


def figures(reference, ranks):
    """Strictly reversed pairs, (1 - tau-b) / 2 and max rank change of two rows of average ranks."""
    before, after = (np.sign(r[:, None] - r[None, :]) for r in (reference, ranks))
    compared = compare_ranks(np.array([reference, ranks]))
    tau = compared.kendall_tau[0, 1]
    distance = 0.0 if np.isnan(tau) else (1 - tau) / 2
    return int((before * after < 0).sum()) // 2, distance, compared.max_rank_change[0, 1]


def assert_reached(matrix, result):
    """Every lower bound is what its weights give, by ranking the board anew."""
    share, moved = result.discordant_share, result.max_rank_change
    assert figures(result.reference, ranks_under(matrix, share.weights))[0] == round(share.lower * result.n_pairs)
    assert figures(result.reference, ranks_under(matrix, moved.weights))[2] == pytest.approx(moved.lower)
    distance = figures(result.reference, ranks_under(matrix, result.farthest))[1]
    assert distance == pytest.approx(result.tau_b_distance, abs=1e-12)
    np.testing.assert_array_equal(share.ranks, ranks_under(matrix, share.weights))


def on_a_grid(matrix, result, n=11):
    """The best of both figures over a grid of ratios of weights in the feasible set."""
    scores = matrix.scores[:, matrix.votes]
    deviation = scores.std(axis=0, ddof=1)
    kept = deviation > 1e-8
    scores, deviation = scores[:, kept], deviation[kept]
    own = np.array([float(w) for w, vote in zip(matrix.weights, matrix.votes, strict=True) if vote])[kept]
    floor = 0.01 if result.feasible == "scaled" else 0.01 * deviation.min() / deviation.max()
    points = floor ** (np.arange(n) / (n - 1))
    most, moved = 0, 0.0
    for u in itertools.product(points, repeat=scores.shape[1]):
        weights = np.array(u) * own / (deviation if result.feasible == "scaled" else 1.0)
        ranks = rank(ScoreMatrix((scores @ weights)[:, None]), "mean").average_ranks
        reversed_pairs, _, change = figures(result.reference, ranks)
        most, moved = max(most, reversed_pairs), max(moved, change)
    return most, moved


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(FEASIBLE_SETS), st.sampled_from([None, 4]))
def test_intervals_are_proven_on_small_boards_and_no_grid_beats_them(seed, feasible, n_levels):
    matrix = random_matrix(6, 3, seed=seed, n_levels=n_levels, weights=[1, 2, Fraction(1, 2)])
    result = cardinal_sensitivity(matrix, feasible=feasible)
    if result.reason:
        return
    assert result.discordant_share.is_proven
    assert result.max_rank_change.is_proven
    assert_reached(matrix, result)
    most, moved = on_a_grid(matrix, result, 5)
    assert most <= round(result.discordant_share.upper * result.n_pairs)
    assert moved <= result.max_rank_change.upper + 1e-12


@settings(max_examples=25, deadline=None)
@given(matrices(max_systems=4, max_tasks=4), st.sampled_from(FEASIBLE_SETS))
def test_boards_with_ties_gaps_and_silent_tasks_have_an_interval_or_a_reason(matrix, feasible):
    result = cardinal_sensitivity(matrix, feasible=feasible, max_programs=50, box_work=10**6)
    complete = int(matrix.is_complete.sum())
    if complete < 2:
        assert result.summary() == {"reason": "fewer than two systems have all scores", "feasible": feasible}
        return
    if result.reason:
        assert result.reason == "on every task all systems are equal"
        return
    share, moved = result.discordant_share, result.max_rank_change
    assert 0 <= share.lower <= share.upper <= 1
    assert 0 <= moved.lower <= moved.upper <= 1
    assert 0 <= result.tau_b_distance <= 1
    assert len(result.systems) == complete
    part = matrix.subset(matrix.is_complete, matrix.votes)
    assert_reached(part, result)


def test_a_task_of_weight_two_is_two_tasks():
    matrix = random_matrix(8, 3, seed=4, weights=[1, 2, 1])
    twice = ScoreMatrix(matrix.values[:, [0, 1, 1, 2]])
    for feasible in FEASIBLE_SETS:
        one, two = (cardinal_sensitivity(m, feasible=feasible) for m in (matrix, twice))
        assert one.discordant_share.lower == two.discordant_share.lower
        assert one.max_rank_change.upper == two.max_rank_change.upper


def test_tasks_that_agree_reverse_nothing_and_a_constant_task_is_left_out():
    values = np.arange(6.0)[:, None] * np.array([1.0, 2.0, 0.0])
    result = cardinal_sensitivity(ScoreMatrix(values))
    assert (result.discordant_share.lower, result.discordant_share.upper) == (0, 0)
    assert (result.max_rank_change.upper, result.tau_b_distance, result.dropped_tasks) == (0, 0, ("t3",))
    assert set(result.farthest) == {"t1", "t2"}


@pytest.mark.parametrize("factor", [2.0**-30, 2.0**30])
def test_the_unit_of_the_tasks_changes_nothing(factor):
    matrix = random_matrix(6, 4, seed=1)
    one, two = (cardinal_sensitivity(ScoreMatrix(values)) for values in (matrix.values, matrix.values * factor))
    for name in ("discordant_share", "max_rank_change"):
        intervals = [getattr(result, name) for result in (one, two)]
        assert len({(interval.lower, interval.upper, interval.is_proven) for interval in intervals}) == 1
    assert (one.tau_b_distance, one.reference.tolist()) == (two.tau_b_distance, two.reference.tolist())
    mixed = cardinal_sensitivity(ScoreMatrix(matrix.values * np.array([1.0, 1.0, 1.0, factor])))
    assert (mixed.dropped_tasks, set(mixed.farthest)) == ((), {"t1", "t2", "t3", "t4"})


def test_the_second_feasible_set_holds_the_first():
    for seed in range(4):
        matrix = random_matrix(9, 4, seed=seed)
        scaled, box = (cardinal_sensitivity(matrix, feasible=feasible) for feasible in FEASIBLE_SETS)
        assert scaled.discordant_share.lower <= box.discordant_share.upper
        assert box.discordant_share.is_proven


PROVEN = {  # reversed pairs of all, for `scaled`
    "bb-superglue8": (54, 378),
    "bb-vtab": (25, 120),
    "bb-helm-capability": (423, 2080),
    "bb-glue9": (453, 3741),
    "bb-openllm": (2489, 4950),
}


def published(name):
    """MTEB as benchbench loads it: 56 columns and 56 times their mean."""
    if name != "mteb112":
        return reference_matrix(name)
    matrix = reference_matrix("bb-mteb56")
    mean = matrix.values.mean(axis=1, keepdims=True)
    return ScoreMatrix(np.hstack([matrix.values, np.repeat(mean, 56, axis=1)]))


# What benchbench's search returns as (1 - tau) / 2, with its default of both losses.
FOUND_BY_BENCHBENCH = {
    "bb-superglue8": 0.1111, "bb-vtab": 0.0667, "bb-helm-capability": 0.2029, "bb-glue9": 0.1211,
    "bb-openllm": 0.4624, "mteb112": 0.1813, "bb-bbh": 0.2453, "bb-mmlu": 0.3429,
}  # fmt: skip


SLOW_BOARDS = {"bb-glue9", "bb-openllm"}  # boxes by the ten thousand, half a minute on a busy machine


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW_BOARDS)) for name in [*PROVEN, "mteb112"]]
)
def test_six_of_eight_published_boards_are_proven_and_none_is_below_benchbench(name):
    matrix = published(name)
    result = cardinal_sensitivity(matrix)
    assert result.discordant_share.is_proven
    assert result.max_rank_change.is_proven
    if name in PROVEN:
        assert (round(result.discordant_share.lower * result.n_pairs), result.n_pairs) == PROVEN[name]
        assert_reached(matrix, result)
    assert result.tau_b_distance >= FOUND_BY_BENCHBENCH[name] - 5e-5  # printed with four digits


@pytest.mark.parametrize(
    ("file", "name"), [("SuperGLUE", "bb-superglue8"), ("VTAB", "bb-vtab"), ("OpenLLM", "bb-openllm")]
)
def test_the_weights_of_benchbench_give_its_own_figures_here(file, name):
    matrix, answers = reference_matrix(name), reference_answers(f"benchbench-sens-{file}")
    for loss in ("unweighted_loss", "weighted_loss"):
        theirs = answers[loss]
        weights = dict(zip(matrix.task_names, theirs["weights"], strict=True))
        rounded = matrix.with_values(np.round(matrix.values, 9))  # it ties means within 1e-8
        reference = rank(rounded, "mean").average_ranks
        _, distance, moved = figures(reference, ranks_under(rounded, weights))
        assert (distance, moved) == pytest.approx((theirs["tau"], theirs["MRC"]), abs=1e-9)
    result = cardinal_sensitivity(matrix, max_programs=0, box_work=0)
    assert result.tau_b_distance >= answers["default"]["tau"] - 1e-9


@pytest.mark.slow  # a thousand relaxations of some thousand pairs each: about a minute
@pytest.mark.parametrize(("name", "lower", "upper"), [("bb-bbh", 0.2454, 0.40), ("bb-mmlu", 0.3702, 0.70)])
def test_the_two_hard_boards_have_an_interval(name, lower, upper):
    result = cardinal_sensitivity(reference_matrix(name))
    assert lower <= result.discordant_share.lower <= result.discordant_share.upper <= upper
    assert result.tau_b_distance >= FOUND_BY_BENCHBENCH[name] - 5e-5


def test_the_same_seed_gives_the_same_bits_and_progress_never_decreases():
    matrix = random_matrix(12, 5, seed=2)
    steps = []
    first, second = (
        cardinal_sensitivity(matrix, seed=3, progress=lambda done, total: steps.append(done / total)),
        cardinal_sensitivity(matrix, seed=3),
    )
    assert first.summary() == second.summary()
    assert steps[-1] == 1
    np.testing.assert_array_equal(first.discordant_share.ranks, second.discordant_share.ranks)


def test_progress_may_cancel():
    def cancel(done, total):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        cardinal_sensitivity(random_matrix(5, 3, seed=1), progress=cancel)


def test_a_budget_of_nothing_leaves_an_interval():
    matrix = random_matrix(30, 12, seed=2)
    result = cardinal_sensitivity(matrix, max_programs=0, box_work=0)
    assert not result.discordant_share.is_proven
    assert result.steps["relaxations"] == 0
    assert result.discordant_share.lower < result.discordant_share.upper <= 1


def test_an_unknown_feasible_set_is_refused():
    with pytest.raises(ValueError, match="`feasible` is 'sphere'; expected 'scaled' or 'box'"):
        cardinal_sensitivity(random_matrix(3, 3, seed=1), feasible="sphere")


def test_baselines_repeat_the_released_draws_and_constant_ones_have_no_sensitivity():
    first = unstructured_benchmark("random", 3, 2, seed=0).values
    assert first[0, 0] == 54.8813503927  # numpy's first draw of seed 0, 54.88135039273247, as a score
    shape = (CARDINAL_SHAPE[0] // 10, 4)
    constant, random = (
        cardinal_sensitivity(unstructured_benchmark(kind, *shape, seed=0)) for kind in ("constant", "random")
    )
    assert constant.discordant_share.upper == 0
    assert random.tau_b_distance > 0.2
    with pytest.raises(ValueError, match="`kind` is 'noise'"):
        unstructured_benchmark("noise", 2, 2)
