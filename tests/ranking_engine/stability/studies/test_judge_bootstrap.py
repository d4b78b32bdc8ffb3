from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from ranking_engine import RULES, ScoreMatrix, condorcet_winner, rank
from ranking_engine.core.comparison import kendall_tau, spearman
from ranking_engine.core.missing import complete, scored_part
from ranking_engine.core.ranking import Ranking
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability.catalogue import STUDIES, run_study
from ranking_engine.stability.study import generator
from tests.ranking_engine.strategies import matrices

STUDY = STUDIES["judge_bootstrap"]
SMALL = {"n_trials": 3, "n_resamples": 3, "n_rounds": 1}


def board_of(part, counts, systems):
    """The matrix in which only `systems` have scores, and each task counts so often."""
    values = np.full(part.values.shape, np.nan)
    values[systems] = part.values[systems]
    return part.with_values(values).with_weights([w * int(k) for w, k in zip(part.weights, counts, strict=True)])


def ranking_by_task(board, t):
    return Ranking.from_scores("task", _places(board.scores[:, t]))


def _places(scores):
    """Scores that tie only when equal as stored."""
    places = np.full(len(scores), np.nan)
    has = ~np.isnan(scores)
    places[has] = np.unique(scores[has], return_inverse=True)[1]
    return places


CORRELATION_OF_TWO = {"spearman": spearman, "kendall": kendall_tau}


def naive_trial(part, rule, counts, systems, of_two):
    board = board_of(part, counts, systems)
    ranking = rank(board, rule, missing="drop_systems")
    winners = ranking.winners
    quality = [naive_quality(board, counts, i) for i in winners]
    quality = [q for q in quality if not np.isnan(q)]
    elected = condorcet_winner(board)
    unseen = [of_two(ranking, ranking_by_task(board, t)) for t in range(part.n_tasks) if counts[t] == 0]
    unseen = [value for value in unseen if not np.isnan(value)]
    return {
        "winner_rank": np.mean(quality) if quality else np.nan,
        "condorcet": np.nan if elected is None or not winners else (elected in winners) / len(winners),
        "generalization": np.mean(unseen) if unseen else np.nan,
    }


def naive_quality(board, counts, i):
    total = weight_of = 0.0
    for t in range(board.n_tasks):
        column = board.scores[:, t]
        n = int((~np.isnan(column)).sum())
        if counts[t] and n > 1 and not np.isnan(column[i]):
            r = ranking_by_task(board, t).average_ranks[i]
            weight = float(board.weights[t])
            total, weight_of = total + weight * (1 - (r - 1) / (n - 1)), weight_of + weight
    return total / weight_of if weight_of else np.nan


def naive_stability(part, rule, axis, number, q, of_two):
    rankings = []
    for k in range(q):
        random = generator(6, 5, axis, number, k)
        counts, systems = np.ones(part.n_tasks, dtype=int), range(part.n_systems)
        if axis == 1:
            counts = np.bincount(random.integers(part.n_tasks, size=part.n_tasks), minlength=part.n_tasks)
        else:
            systems = sorted(set(random.integers(part.n_systems, size=part.n_systems).tolist()))
        rankings.append(rank(board_of(part, counts, systems), rule, missing="drop_systems"))
    values = []
    for first, second in itertools.combinations(rankings, 2):
        common = int(((first.ranks > 0) & (second.ranks > 0)).sum())
        if axis == 1 or common >= 3:
            values.append(of_two(first, second))
    values = [value for value in values if not np.isnan(value)]
    return np.mean(values) if values else np.nan


def assert_same_as_naive(matrix, parameters=SMALL):
    result = run_study("judge_bootstrap", matrix, parameters, seed=6)
    of_two = CORRELATION_OF_TWO[parameters.get("correlation", "spearman")]
    for rule in result.summary["rules"]:
        part = (complete(matrix, "drop_systems") if RULES[rule].needs_complete else scored_part(matrix)).matrix
        n, T = part.n_systems, part.n_tasks
        for trial in range(parameters["n_trials"]):
            random = generator(6, 5, 0, trial)
            systems = sorted(set(random.integers(n, size=n).tolist()))
            counts = np.bincount(random.integers(T, size=T), minlength=T)
            for name, expected in naive_trial(part, rule, counts, systems, of_two).items():
                value = result.arrays[f"{rule}.{name}"][trial]
                assert value == pytest.approx(expected, abs=1e-9, nan_ok=True), (rule, name, trial)
        for name, axis, number in (("judge_stability", 1, 0), ("candidate_stability", 2, 1)):
            expected = naive_stability(part, rule, axis, number, parameters["n_resamples"], of_two)
            value = result.arrays[f"{rule}.{name}"][0]
            assert value == pytest.approx(expected, abs=1e-9, nan_ok=True), (rule, name)
    return result


@settings(max_examples=8, deadline=None)
@given(matrices(max_systems=5, max_tasks=4, scales=True), st.sampled_from([*CORRELATION_OF_TWO]))
def test_every_criterion_is_as_when_trials_are_ranked_one_by_one(matrix, correlation):
    if not STUDY.why_not(matrix, STUDY.with_defaults(SMALL)):
        assert_same_as_naive(matrix, {**SMALL, "correlation": correlation})


@pytest.mark.parametrize(
    "options",
    [{"n_levels": 4}, {"missing": 0.3}, {"weights": [2, 1, "1/3", "1/7", 1, 1]}],
    ids=["ties", "gaps", "fractions"],
)
def test_larger_matrices_are_as_when_ranked_one_by_one(options):
    base = random_matrix(9, 6, seed=3, **options)
    matrix = ScoreMatrix(np.exp(base.values), weights=base.weights, gamma=2.0, maximum=[9] * 6, chance=[0.1] * 6)
    assert_same_as_naive(matrix)


def test_whom_nobody_beats_is_a_winner_of_schulzes_in_every_trial_although_the_score_puts_another_first():
    """In batches and one by one; on this board 18 of 40 trials have winners below rank 1."""
    matrix = random_matrix(12, 4, seed=1, kind="uniform")
    parameters = {"n_trials": 40, "n_resamples": 2, "n_rounds": 1, "rules": ["schulze", "ranked_pairs"]}
    result = assert_same_as_naive(matrix, parameters)
    first_alone = []
    for trial in range(40):
        random = generator(6, 5, 0, trial)
        systems = sorted(set(random.integers(12, size=12).tolist()))
        board = board_of(matrix, np.bincount(random.integers(4, size=4), minlength=4), systems)
        ranking = rank(board, "schulze")
        first_alone.append(set(ranking.winners) != set(np.flatnonzero(ranking.ranks == 1).tolist()))
    assert sum(first_alone) == 18
    assert set(result.summary["rules"]) == {"schulze", "ranked_pairs"}


def test_tasks_that_agree_score_one_on_every_criterion():
    matrix = ScoreMatrix(np.tile([[5.0], [4], [3], [2], [1]], 8))
    parameters = {"n_trials": 200, "n_resamples": 10, "n_rounds": 2, "rules": ["mean", "borda", "copeland", "schulze"]}
    rules = run_study("judge_bootstrap", matrix, parameters).summary["rules"]
    for criteria in rules.values():
        assert {name: entry["mean"] for name, entry in criteria.items()} == dict.fromkeys(criteria, 1.0)


def test_a_ranking_of_opposed_tasks_generalizes_worse_than_none():
    """Half of the tasks are the other half reversed: of the half drawn more often fewer are left unseen."""
    order = np.array([[5.0], [4], [3], [2], [1]])
    matrix = ScoreMatrix(np.hstack([np.tile(order, 6), np.tile(6 - order, 6)]))
    parameters = {"n_trials": 2000, "n_resamples": 30, "n_rounds": 2, "rules": ["borda", "copeland"]}
    borda = run_study("judge_bootstrap", matrix, parameters).summary["rules"]["borda"]
    assert -0.5 < borda["generalization"]["mean"] < -0.2
    assert borda["condorcet"]["mean"] == 1.0  # whichever half is drawn more often orders all pairs alike
    assert borda["winner_rank"]["mean"] > 0.5
    # two resamples agree on which half is heavier with probability about a half, and are -1 apart else
    assert abs(borda["judge_stability"]["mean"]) < 0.2
    assert borda["candidate_stability"]["mean"] is None  # all tasks tie everybody


def test_a_condorcet_method_always_elects_the_condorcet_winner():
    matrix = random_matrix(8, 7, seed=4)
    parameters = {"n_trials": 300, "n_resamples": 2, "n_rounds": 1, "rules": ["copeland", "borda", "schulze"]}
    rules = run_study("judge_bootstrap", matrix, parameters).summary["rules"]
    assert rules["copeland"]["condorcet"]["mean"] == rules["schulze"]["condorcet"]["mean"] == 1.0
    assert 0.5 < rules["borda"]["condorcet"]["mean"] < 1.0
    undefined = {entry["condorcet"]["n_undefined"] for entry in rules.values()}
    assert len(undefined) == 1
    assert undefined != {0}


def test_standardizing_changes_relative_differences_and_no_order():
    matrix = ScoreMatrix(random_matrix(6, 5, seed=1).values + 10)
    parameters = {**SMALL, "n_trials": 100, "rules": ["relative_difference", "copeland", "mean"]}
    plain, moved = (
        run_study("judge_bootstrap", matrix, {**parameters, "standardize": flag}).arrays for flag in (False, True)
    )
    assert not np.allclose(
        plain["relative_difference.generalization"], moved["relative_difference.generalization"], equal_nan=True
    )
    for rule in ("copeland", "mean"):
        np.testing.assert_allclose(plain[f"{rule}.generalization"], moved[f"{rule}.generalization"], atol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_trials": 0}, "`n_trials` is 0"),
        ({"n_resamples": 1}, "`n_resamples` is 1; expected at least 2"),
        ({"n_rounds": 0}, "`n_rounds` is 0"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        run_study("judge_bootstrap", random_matrix(4, 4, seed=0), parameters)


def test_two_systems_are_too_few():
    with pytest.raises(
        ValueError,
        match=r"too few systems \(2\) or tasks of weight above 0 \(2\): at least 3 systems and 2 tasks are needed",
    ):
        run_study("judge_bootstrap", ScoreMatrix([[1, 2], [2, 1]]))


def test_baselines_are_a_random_ranking_and_one_of_the_tasks_drawn():
    matrix = random_matrix(9, 6, seed=3)
    chosen = {"rules": ["borda"], "n_trials": 400, "n_resamples": 40, "n_rounds": 2}
    with_them = run_study("judge_bootstrap", matrix, chosen | {"baselines": True}, seed=1).summary
    without = run_study("judge_bootstrap", matrix, chosen, seed=1).summary
    assert with_them["rules"] == without["rules"]
    assert "baselines" not in without
    chance, dictator = (with_them["baselines"][name] for name in ("random_ranking", "dictator"))
    for name in ("generalization", "judge_stability", "candidate_stability"):
        assert abs(chance[name]["mean"]) < 0.1
    assert 0.1 < dictator["judge_stability"]["mean"] < with_them["rules"]["borda"]["judge_stability"]["mean"]


def test_tasks_that_agree_make_a_dictator_as_good_as_any_rule():
    matrix = ScoreMatrix([[3, 6, 9], [2, 5, 8], [1, 4, 7], [0, 3, 6]])
    chosen = {"rules": ["borda"], "n_trials": 30, "n_resamples": 5, "n_rounds": 1, "baselines": True}
    summary = run_study("judge_bootstrap", matrix, chosen).summary
    assert summary["baselines"]["dictator"] == summary["rules"]["borda"]


@pytest.mark.parametrize("rule", ["win_rate", "win_rate[variant=success_rate]", "copeland", "mean", "median", "borda"])
def test_with_copies_a_system_drawn_several_times_is_ranked_as_often(rule):
    matrix = random_matrix(7, 5, seed=4, n_levels=6)
    parameters = {"n_trials": 1, "n_resamples": 8, "n_rounds": 1, "rules": [rule], "copies": True}
    rankings = []
    for k in range(8):
        systems = generator(3, STUDY.number, 2, 1, k).integers(7, size=7)
        names = [f"{place} {i}" for place, i in enumerate(systems)]
        ranks = rank(ScoreMatrix(matrix.values[systems], system_names=names), rule).ranks
        rankings.append({int(i): int(place) for i, place in zip(systems, ranks, strict=True)})
    correlations = []
    for one, other in itertools.combinations(rankings, 2):
        common = sorted(set(one) & set(other))
        if len(common) >= 3:
            two = [Ranking.from_scores("", np.array([-float(ranks[i]) for i in common])) for ranks in (one, other)]
            correlations.append(spearman(*two))
    summary = run_study("judge_bootstrap", matrix, parameters, seed=3).summary
    figure = summary["rules"][rule]["candidate_stability_copies"]["mean"]
    assert figure == pytest.approx(np.nanmean(correlations))
    without = run_study("judge_bootstrap", matrix, parameters | {"copies": False}, seed=3).summary
    assert without["rules"][rule] == {
        name: entry for name, entry in summary["rules"][rule].items() if name != "candidate_stability_copies"
    }
    assert (summary["copies"], without["copies"]) == (True, False)


def test_copies_move_a_rate_over_rivals_and_no_mean():
    matrix = random_matrix(12, 4, seed=8)
    parameters = SMALL | {"n_resamples": 30, "rules": ["mean", "win_rate"]}
    rules = run_study("judge_bootstrap", matrix, parameters).summary["rules"]
    readings = ("candidate_stability", "candidate_stability_copies")
    mean_once, mean_often = (rules["mean"][name]["mean"] for name in readings)
    rate_once, rate_often = (rules["win_rate"][name]["mean"] for name in readings)
    assert mean_once == pytest.approx(mean_often)
    assert rate_often < rate_once
