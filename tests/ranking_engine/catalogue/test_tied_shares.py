"""Shares of ties: what is stored, counted again by hand, and where every rule has one."""

import numpy as np
import pytest

from ranking_engine import RULES, rank
from ranking_engine.catalogue.tied_shares import N_BOARDS, N_SYSTEMS, board, measured_share, stored_shares, tied_share


def test_every_rule_that_the_chooser_offers_has_a_stored_share():
    assert list(stored_shares()) == [key for key, rule in RULES.items() if not rule.parameters]


@pytest.mark.parametrize("rule", [key for key, rule in RULES.items() if not (rule.parameters or rule.is_slow)])
def test_the_stored_share_is_that_of_systems_with_another_one_on_their_rank(rule):
    n_tied = 0
    for seed in range(N_BOARDS):
        ranks = rank(board(seed), rule).ranks.tolist()
        n_tied += sum(ranks.count(r) > 1 for r in ranks)
    assert stored_shares()[rule] == pytest.approx(n_tied / (N_BOARDS * N_SYSTEMS), abs=6e-4)


def test_no_board_has_equal_scores_on_a_task_and_every_score_is_above_nought():
    for seed in range(N_BOARDS):
        values = board(seed).values
        assert all(len(np.unique(column)) == N_SYSTEMS for column in values.T)
        assert values.min() > 0


def test_what_is_not_stored_is_measured_and_what_is_no_rule_is_refused():
    assert tied_share("positional") == measured_share("positional") > 0.5
    with pytest.raises(ValueError, match="`rule` is 'bordo'"):
        tied_share("bordo")
