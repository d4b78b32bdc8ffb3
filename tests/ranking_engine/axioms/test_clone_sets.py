"""Clone sets of all pairs at once, against one after the other."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from ranking_engine.axioms import clone_sets as module
from ranking_engine.axioms.clone_sets import clone_set, clone_sets

SCORES = arrays(
    np.float64, array_shapes(min_dims=2, max_dims=2, max_side=7), elements=st.sampled_from([0.0, 1.0, 2.0, 3.0, np.nan])
)


@given(SCORES)
def test_all_pairs_at_once_have_the_sets_that_each_has_by_itself(scores):
    n = len(scores)
    alone = {pair: tuple(clone_set(scores, *pair)) for pair in itertools.permutations(range(n), 2)}
    assert dict(clone_sets(scores)) == {pair: members for pair, members in alone.items() if len(members) < n}


def test_a_board_that_is_looked_at_in_several_blocks_has_the_same_sets(monkeypatch: pytest.MonkeyPatch):
    scores = np.array([[1, 1], [2, 2], [5, 6], [6, 5], [9, 0]], dtype=float)
    at_once = dict(clone_sets(scores))
    module._KNOWN.clear()
    monkeypatch.setattr(module, "_BLOCK_CELLS", 1)
    assert dict(clone_sets(scores)) == at_once != {}
