from __future__ import annotations

import numpy as np
import pytest

from ranking_engine import rank
from ranking_engine.core.synthetic import random_matrix


def test_the_seed_decides_everything():
    first, again, other = (random_matrix(5, 4, seed=seed, missing=0.2).values for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other, equal_nan=True)


def test_the_stated_share_is_missing_and_levels_make_ties():
    matrix = random_matrix(10, 10, seed=0, missing=0.25, n_levels=3)
    assert np.isnan(matrix.values).sum() == 25
    assert set(np.unique(matrix.values[~np.isnan(matrix.values)])) <= {0.0, 1.0, 2.0}


def test_without_noise_all_tasks_agree():
    matrix = random_matrix(6, 5, seed=0, noise=0)
    expected = 2 * np.argsort(np.argsort(matrix.values[:, 0])) - 5
    assert rank(matrix, "copeland").scores.tolist() == expected.tolist()


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="`missing` is 1; expected a share"):
        random_matrix(2, 2, seed=0, missing=1)
    with pytest.raises(ValueError, match="`kind` is 'odd'; expected 'skill' or 'uniform'"):
        random_matrix(2, 2, seed=0, kind="odd")
