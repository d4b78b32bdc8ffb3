from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings

from ranking_engine import ScoreMatrix, listed_rules, rank
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.core.comparison import kendall_tau
from ranking_engine.core.missing import complete, scored_part
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability.catalogue import STUDIES, run_study
from ranking_engine.stability.studies.task_subsets import Subsets
from tests.ranking_engine.strategies import matrices

STUDY = STUDIES["task_subsets"]


def assert_same_as_naive(matrix, parameters):
    result = run_study("task_subsets", matrix, parameters, seed=2)
    whole = STUDY.with_defaults(parameters)
    for rule in result.summary["rules"]:
        part = complete(matrix, "drop_systems") if get_rule(rule).needs_complete else scored_part(matrix)
        subsets = Subsets(part.matrix.n_tasks, whole, 2)
        reference = rank(part.matrix, rule)
        taus = []
        for counts in subsets.counts(range(len(subsets))):
            weights = [w * int(k) for w, k in zip(part.matrix.weights, counts, strict=True)]
            taus.append(kendall_tau(reference, rank(part.matrix.with_weights(weights), rule, missing="undefined")))
        random, best = subsets.split(np.array(taus))
        np.testing.assert_allclose(result.arrays[f"{rule}.tau"], random, atol=1e-12, err_msg=rule)
        for row, expected in zip(result.arrays[f"{rule}.best_tau"], best, strict=True):
            np.testing.assert_allclose(row[: len(expected)], expected, atol=1e-12, err_msg=rule)
    return result


@settings(max_examples=10, deadline=None)
@given(matrices(max_systems=5, max_tasks=4, scales=True))
def test_every_rule_agrees_as_when_subsets_are_ranked_one_by_one(matrix):
    parameters = {"n_repeats": 1, "n_best": 2}
    if not STUDY.why_not(matrix, STUDY.with_defaults(parameters)):
        assert_same_as_naive(matrix, parameters)


@pytest.mark.parametrize(
    "options",
    [{"n_levels": 4}, {"missing": 0.3}, {"weights": [2, 1, "1/3", "1/7", 1, 1]}],
    ids=["ties", "gaps", "fractions"],
)
def test_larger_matrices_agree_as_when_subsets_are_ranked_one_by_one(options):
    base = random_matrix(11, 6, seed=3, **options)
    matrix = ScoreMatrix(np.exp(base.values), weights=base.weights, gamma=2.0, maximum=[9] * 6, chance=[0.1] * 6)
    assert_same_as_naive(matrix, {"n_repeats": 1, "n_best": 2, "largest_best": 3})


def test_subsets_are_enumerated_where_there_are_few_and_drawn_where_there_are_many():
    parameters = STUDY.with_defaults({"n_repeats": 3, "n_best": 10, "largest_best": 3})
    subsets = Subsets(5, parameters, 0)
    every = subsets.counts(range(len(subsets)))
    assert len(subsets) == 5 * 3 + 5 + 10 + 10
    assert every[:15].sum(axis=1).tolist() == [1] * 3 + [2] * 3 + [3] * 3 + [4] * 3 + [5] * 3
    pairs = [tuple(np.flatnonzero(row)) for row in every[20:30]]
    assert pairs == list(itertools.combinations(range(5), 2))
    assert subsets.is_every == [True, True, True]
    assert Subsets(6, parameters, 0).is_every == [True, False, False]
    np.testing.assert_array_equal(subsets.counts(range(7, 23)), every[7:23])


def test_the_smallest_subset_that_gives_the_full_ranking_is_found_and_proven():
    """t1 alone orders the systems as the sum does; the others order them otherwise."""
    matrix = ScoreMatrix([[9, 1, 2], [6, 2, 1], [3, 1, 1], [0, 2, 2]], task_names=["t1", "t2", "t3"])
    entry = run_study("task_subsets", matrix, {"rules": ["mean"]}).summary["rules"]["mean"]
    assert (entry["smallest"], entry["smallest_tasks"], entry["smallest_is_proven"]) == (1, ["t1"], True)
    assert entry["best"] == [1.0, 1.0, 1.0]
    assert entry["mean"][-1] == 1.0


def test_a_smallest_subset_is_an_upper_bound_where_smaller_ones_were_only_drawn():
    """Half of the tasks tell A and B from C and D, the others A and C from B and D: it takes one of each."""
    matrix = ScoreMatrix(np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], 6, axis=1))
    entries = {
        n_best: run_study("task_subsets", matrix, {"rules": ["borda"], "n_best": n_best}).summary["rules"]["borda"]
        for n_best in (8, 12)
    }
    assert [entry["smallest"] for entry in entries.values()] == [2, 2]
    assert [entry["smallest_is_proven"] for entry in entries.values()] == [False, True]
    first, second = (int(name[1:]) for name in entries[12]["smallest_tasks"])
    assert first <= 6 < second


def test_the_summary_of_many_tasks_with_long_names_stays_small():
    names = [f"{t:03}" + "x" * 197 for t in range(150)]
    matrix = ScoreMatrix(np.tile([[3.0], [2], [1]], 150), task_names=names, gamma=2.0)
    parameters = {"n_repeats": 1, "n_best": 1, "rules": [key for key in listed_rules() if key != "condorcet"]}
    result = run_study("task_subsets", matrix, parameters)
    entry = result.summary["rules"]["borda"]
    assert len(json.dumps(result.summary)) < 64_000
    assert (len(entry["sizes"]), entry["sizes"][0], entry["sizes"][-1]) == (100, 1, 150)
    assert entry["mean"] == [1.0] * 100
    assert result.arrays["borda.tau"].shape == (150, 1)
    assert result.arrays["borda.best_subset"].sum(axis=1).tolist() == [1, 2, 3, 4, 5, 6]


def test_one_task_has_no_subsets():
    with pytest.raises(
        ValueError, match=r"too few systems \(2\) or tasks of weight above 0 \(1\): at least 2 of each are needed"
    ):
        run_study("task_subsets", ScoreMatrix([[1], [2]]))
    with pytest.raises(ValueError, match="`n_best` is 0"):
        run_study("task_subsets", random_matrix(3, 3, seed=0), {"n_best": 0})
