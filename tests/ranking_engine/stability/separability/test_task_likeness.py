from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from ranking_engine import ScoreMatrix
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability.separability.task_likeness import effective_number, task_likeness

BOARDS = [{}, {"n_levels": 4}, {"missing": 0.2}, {"weights": [1, 0, 2, 1, 1, 3]}]


def of_two(first, second, statistic):
    """A correlation of two columns on the rows that have both, by scipy."""
    both = ~np.isnan(first + second)
    return statistic(first[both], second[both]).statistic


def by_definition(distances):
    """Average linkage in plain loops: the members and the distance of each merge, the nearest first."""
    branches, merges = [(k,) for k in range(len(distances))], []
    while len(branches) > 1:
        pairs = [
            (np.mean([distances[i, j] for i in a for j in b]), a, b)
            for k, a in enumerate(branches) for b in branches[k + 1 :]
        ]  # fmt: skip
        distance, a, b = min(pairs, key=lambda pair: pair[0])
        merges.append((distance, tuple(sorted(a + b))))
        branches = [branch for branch in branches if branch not in (a, b)] + [a + b]
    return merges


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("board", BOARDS, ids=str)
def test_correlations_tree_and_number_are_those_of_the_definitions(board, seed):
    matrix = random_matrix(14, 6, seed=seed, kind="skill", **board)
    likeness = task_likeness(matrix)
    columns = matrix.scores.T
    assert likeness.tasks == tuple(np.flatnonzero(matrix.votes))
    for name, statistic in (("kendall_tau", scipy.stats.kendalltau), ("spearman", scipy.stats.spearmanr)):
        expected = [[of_two(columns[a], columns[b], statistic) for b in likeness.tasks] for a in likeness.tasks]
        assert getattr(likeness, name) == pytest.approx(np.array(expected))
    eigenvalues = np.linalg.eigvalsh(likeness.spearman)
    assert likeness.effective_number == pytest.approx(eigenvalues.sum() ** 2 / (eigenvalues**2).sum())
    members = {k: (k,) for k in range(len(likeness.tasks))}
    merges = []
    for k, merge in enumerate(likeness.merges):
        members[len(likeness.tasks) + k] = members[merge.first] + members[merge.second]
        merges.append((merge.distance, tuple(sorted(members[len(likeness.tasks) + k]))))
        assert merge.size == len(merges[-1][1])
    expected_merges = by_definition((1 - likeness.kendall_tau) / 2)
    assert [distance for distance, _ in merges] == pytest.approx([distance for distance, _ in expected_merges])
    if not board.get("n_levels"):  # without equal distances the branches are the same, too
        assert [branch for _, branch in merges] == [branch for _, branch in expected_merges]
    assert sorted(likeness.order) == list(range(len(likeness.tasks)))
    for branch in members.values():  # no branches cross: each is a run of the order
        places = sorted(likeness.order.index(k) for k in branch)
        assert places == list(range(places[0], places[0] + len(places)))


def test_copies_are_one_task_and_tasks_without_anything_in_common_count_each():
    column = np.arange(20.0)
    copies = ScoreMatrix(np.column_stack([column, column * 2, column + 1, column**3]))
    assert task_likeness(copies).effective_number == pytest.approx(1)
    assert task_likeness(copies).clusters(0.99) == [(0, 1, 2, 3)]
    assert effective_number(np.eye(7)) == 7
    apart = random_matrix(200, 5, seed=1, kind="uniform")
    assert task_likeness(apart).effective_number == pytest.approx(5, abs=0.2)
    assert task_likeness(apart).clusters(0.5) == [(k,) for k in range(5)]


def test_clusters_are_the_branches_below_a_distance():
    random = np.random.default_rng(2)
    first, second = random.random(40), random.random(40)
    noise = random.normal(0, 0.01, (40, 5))
    matrix = ScoreMatrix(np.column_stack([first, second, first, second, random.random(40)]) + noise)
    assert task_likeness(matrix).clusters(0.7) == [(0, 2), (1, 3), (4,)]
    assert task_likeness(matrix).clusters(1.0) == [(k,) for k in range(5)]


def test_a_task_that_ties_all_is_left_out_and_few_tasks_have_no_tree():
    random = np.random.default_rng(3)
    scores = random.random((8, 5))
    scores[:, 2] = 1.0
    likeness = task_likeness(ScoreMatrix(scores))
    assert (likeness.tasks, likeness.left_out) == ((0, 1, 3, 4), (2,))
    assert "there are 2" in task_likeness(ScoreMatrix(scores[:, :2])).reason
    assert "fewer than 3" in task_likeness(ScoreMatrix(scores[:, [0, 2, 2]])).reason
    assert np.isnan(task_likeness(ScoreMatrix(scores[:, :2])).effective_number)
