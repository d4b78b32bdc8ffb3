"""Correlations of tasks beyond what systems and tasks are worth, the effective number, and suggested clusters."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from ranking_engine import ScoreMatrix
from ranking_engine.stability.separability.task_dependence import (
    LEAST_CORRELATION,
    MIN_SYSTEMS,
    SuggestedCluster,
    centroid_loadings,
    task_dependence,
)


def plain_loadings(correlations: np.ndarray) -> list[float]:
    """Thurstone's centroid method, task by task, with communalities until they settle."""
    T = len(correlations)
    communalities = [max(abs(correlations[t][s]) for s in range(T) if s != t) for t in range(T)]
    for _ in range(100):
        sums = [communalities[t] + sum(correlations[t][s] for s in range(T) if s != t) for t in range(T)]
        loadings = [min(max(one / sum(sums) ** 0.5, 0.01), 0.995) for one in sums]
        communalities = [loading**2 for loading in loadings]
    return loadings


def regression_residuals(columns: np.ndarray, loadings: list[float]) -> np.ndarray:
    """What a regression on the loading of a system's task, one for each system, and one dummy a task leaves."""
    rows, tasks = np.nonzero(~np.isnan(columns))
    regressors = np.zeros((len(rows), sum(columns.shape)))
    regressors[np.arange(len(rows)), rows] = np.array(loadings)[tasks]
    regressors[np.arange(len(rows)), len(columns) + tasks] = 1
    scores = columns[rows, tasks]
    residuals = np.full_like(columns, np.nan)
    residuals[rows, tasks] = scores - regressors @ np.linalg.lstsq(regressors, scores, rcond=None)[0]
    return residuals


def families_of_three(n_systems: int, n_families: int, seed: int) -> np.ndarray:
    """Scores with an ability a system, and for each family of three tasks something that its tasks share."""
    generator = np.random.default_rng(seed)
    ability = generator.standard_normal((n_systems, 1))
    shared = np.repeat(generator.standard_normal((n_systems, n_families)), 3, axis=1)
    return ability + shared + 0.5 * generator.standard_normal((n_systems, 3 * n_families))


@pytest.mark.parametrize("share_missing", [0.0, 0.2])
@pytest.mark.parametrize("seed", range(5))
def test_correlations_are_those_of_what_a_regression_on_systems_and_tasks_leaves(
    seed: int, share_missing: float
) -> None:
    generator = np.random.default_rng(seed)
    values = families_of_three(30, 3, seed) * generator.uniform(0.2, 3, 9) + 2 * generator.standard_normal((30, 9))
    values[generator.random(values.shape) < share_missing] = np.nan
    measured = (values - np.nanmean(values, axis=0)) / np.nanstd(values, axis=0)

    def correlations_of(columns: np.ndarray) -> np.ndarray:
        table = np.eye(9)
        for a, b in itertools.combinations(range(9), 2):
            common = ~np.isnan(columns[:, a]) & ~np.isnan(columns[:, b])
            table[a, b] = table[b, a] = np.corrcoef(columns[common, a], columns[common, b])[0, 1]
        return table

    residuals = regression_residuals(measured, plain_loadings(correlations_of(measured)))
    np.testing.assert_allclose(task_dependence(ScoreMatrix(values)).correlations, correlations_of(residuals), atol=1e-6)


@given(arrays(np.float64, 6, elements=st.floats(0.1, 0.9)))
def test_the_loadings_of_tasks_that_have_one_thing_in_common_are_their_correlations_with_it(factor: np.ndarray) -> None:
    correlations = np.outer(factor, factor)
    np.fill_diagonal(correlations, 1.0)
    np.testing.assert_allclose(centroid_loadings(correlations), factor, atol=1e-4)


def test_the_effective_number_is_the_participation_ratio_less_what_independent_errors_add() -> None:
    values = families_of_three(60, 4, seed=1)
    dependence = task_dependence(ScoreMatrix(values))
    loadings = np.array(plain_loadings(np.corrcoef(values.T)))
    effects_out = np.eye(12) - np.outer(loadings, loadings) / (loadings @ loadings)
    predicted = effects_out @ np.diag(1 - loadings**2) @ effects_out
    predicted /= np.sqrt(np.outer(np.diag(predicted), np.diag(predicted)))
    eigenvalues = np.linalg.eigvalsh(dependence.correlations)
    by_luck = (predicted**2).sum() - 12 + 12 * 11 / 59
    participation_ratio = eigenvalues.sum() ** 2 / ((eigenvalues**2).sum() - by_luck)
    assert dependence.effective_number == pytest.approx(participation_ratio)


@pytest.mark.parametrize(("n_systems", "n_tasks"), [(12, 6), (30, 9), (100, 40)])
def test_independent_tasks_count_about_as_many_as_they_are_and_nothing_is_suggested(
    n_systems: int, n_tasks: int
) -> None:
    generator = np.random.default_rng(2)
    numbers, n_false = [], 0
    for _ in range(60):
        ability = generator.standard_normal((n_systems, 1))
        dependence = task_dependence(ScoreMatrix(ability + generator.exponential(size=(n_systems, n_tasks))))
        numbers.append(dependence.effective_number)
        n_false += bool(dependence.pairs)
    assert np.mean(numbers) > 0.9 * n_tasks
    assert n_false <= 8  # 3 are expected of 60 at 5 %, and 9 or more come by luck once in 250


@pytest.mark.parametrize(
    ("n_systems", "noise"),
    [
        (50, [0.3] * 10 + [3.0] * 10),
        (50, [0.5] * 10 + [2.0] * 10),
        (50, np.geomspace(0.3, 3, 20)),
        (20, [0.3] * 5 + [3.0] * 5),
        (100, [0.3] * 2 + [2.0] * 18),
    ],
)
@pytest.mark.parametrize("share_missing", [0.0, 0.2])
def test_independent_tasks_of_unequal_precision_count_about_as_many_as_they_are(
    n_systems: int, noise: list[float], share_missing: float
) -> None:
    generator = np.random.default_rng(8)
    numbers, n_false = [], 0
    for _ in range(40):
        ability = generator.standard_normal((n_systems, 1))
        values = ability + generator.standard_normal((n_systems, len(noise))) * noise
        values[generator.random(values.shape) < share_missing] = np.nan
        dependence = task_dependence(ScoreMatrix(values))
        numbers.append(dependence.effective_number)
        n_false += bool(dependence.pairs)
    assert np.mean(numbers) > 0.9 * len(noise)
    assert n_false <= 6  # 2 are expected of 40 at 5 %, and 7 or more come by luck once in 300


def test_a_family_among_tasks_of_unequal_precision_is_suggested_alone() -> None:
    generator = np.random.default_rng(9)
    values = generator.standard_normal((80, 1)) + generator.standard_normal((80, 20)) * np.geomspace(0.3, 3, 20)
    values[:, 9:12] += 2 * generator.standard_normal((80, 1))
    assert [one.tasks for one in task_dependence(ScoreMatrix(values)).suggested] == [(9, 10, 11)]


def test_two_families_that_favour_opposite_systems_are_suggested() -> None:
    generator = np.random.default_rng(10)
    favour = generator.standard_normal((60, 1)) * np.repeat([1, -1], 4)
    dependence = task_dependence(ScoreMatrix(favour + 0.6 * generator.standard_normal((60, 8))))
    assert sorted(one.tasks for one in dependence.suggested) == [(0, 1, 2, 3), (4, 5, 6, 7)]


@pytest.mark.parametrize("n_families", [3, 6])
def test_tasks_of_one_family_are_suggested_as_one_cluster(n_families: int) -> None:
    dependence = task_dependence(ScoreMatrix(families_of_three(80, n_families, seed=3)))
    families = [(3 * f, 3 * f + 1, 3 * f + 2) for f in range(n_families)]
    assert sorted(one.tasks for one in dependence.suggested) == families
    assert min(one.correlation for one in dependence.suggested) >= LEAST_CORRELATION
    assert dependence.effective_number < 0.6 * 3 * n_families


def test_a_declared_group_is_one_cluster_of_which_nothing_more_is_suggested() -> None:
    values = families_of_three(80, 5, seed=4)
    groups = [f"family {f}" for f in range(5) for _ in range(3)]
    dependence = task_dependence(ScoreMatrix(values, groups=groups))
    assert dependence.clusters == tuple((3 * f, 3 * f + 1, 3 * f + 2) for f in range(5))
    assert dependence.suggested == ()
    assert dependence.effective_number > 4.5


def test_a_suggestion_joins_a_declared_group_with_what_depends_on_it() -> None:
    values = families_of_three(80, 4, seed=5)
    groups = ["a", "a", None, *[f"other {t}" for t in range(9)]]
    first = min(task_dependence(ScoreMatrix(values, groups=groups)).suggested, key=lambda one: one.tasks)
    assert first == SuggestedCluster((0, 1), (0, 1, 2), first.correlation)


def test_units_directions_weights_and_the_order_of_systems_do_not_matter() -> None:
    values = families_of_three(40, 3, seed=6)
    values[3, 4] = values[7, 0] = np.nan
    plain = task_dependence(ScoreMatrix(values))
    other = task_dependence(
        ScoreMatrix(
            values[::-1] * np.where(np.arange(9) % 2, -1000.0, 1e-3) + 7,
            directions=np.where(np.arange(9) % 2, -1, 1),
            weights=range(1, 10),
        )
    )
    np.testing.assert_allclose(plain.correlations, other.correlations, atol=1e-8)
    assert [one.tasks for one in plain.suggested] == [one.tasks for one in other.suggested]


def test_a_task_that_does_not_vote_and_a_system_without_scores_are_left_out() -> None:
    values = families_of_three(40, 3, seed=7)
    more = np.column_stack([np.full(40, 5.0), values])
    more = np.vstack([more, np.full(10, np.nan)])
    dependence = task_dependence(ScoreMatrix(more, weights=[0, *[1] * 9]))
    plain = task_dependence(ScoreMatrix(values))
    np.testing.assert_allclose(dependence.correlations, plain.correlations)
    assert dependence.clusters == tuple((t,) for t in range(1, 10))


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (np.zeros((MIN_SYSTEMS - 1, 6)), "fewer than 10 systems have scores"),
        (np.zeros((20, 3)), "fewer than 4 clusters of tasks"),
        (np.full((20, 6), np.nan), "fewer than 10 systems have scores"),
    ],
)
def test_small_boards_get_a_reason(values: np.ndarray, reason: str) -> None:
    dependence = task_dependence(ScoreMatrix(values))
    assert (dependence.reason, dependence.pairs, dependence.suggested) == (reason, (), ())
    assert dependence.summary()["effective_number"] is None


def test_scores_that_never_vary_are_as_many_clusters_as_there_are() -> None:
    dependence = task_dependence(ScoreMatrix(np.full((12, 5), 1e308)))
    assert (dependence.reason, dependence.effective_number, dependence.pairs) == ("", 5.0, ())
