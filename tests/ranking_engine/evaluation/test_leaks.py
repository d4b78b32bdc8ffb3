"""The boosting attack: what its authors found, and what a quota allows."""

import math

import numpy as np
import pytest

from ranking_engine.core.clusters import effective_number
from ranking_engine.evaluation import boosting_attack, quota


@pytest.fixture(scope="module")
def attacks():
    """Repeats of the authors' largest attack: 400 submissions to 4,000 instances."""
    return [boosting_attack(4_000, 400, seed=seed) for seed in range(12)]


def test_many_random_submissions_overfit_a_plain_board_as_its_authors_found(attacks):
    # Their file csvs/kaggleboosting-4000-400-5-highacc.csv: 0.42745 at 400 submissions, the mean of five attacks. On
    # the Ladder 0.4847, the mean of their eleven figures from 300 to 400 submissions.
    assert np.mean([attack.plain for attack in attacks]) == pytest.approx(0.42745, abs=0.01)
    assert np.mean([attack.ladder for attack in attacks]) == pytest.approx(0.4847, abs=0.006)


def test_coarse_answers_leak_less_and_still_much(attacks):
    coarse = [boosting_attack(4_000, 400, seed=seed, digits=2).plain for seed in range(5)]
    # Their file csvs/kaggleboosting-4000-400-5-lowacc.csv: 0.45065.
    assert np.mean(coarse) == pytest.approx(0.45065, abs=0.01)
    assert np.mean(coarse) > np.mean([attack.plain for attack in attacks])


def test_what_the_ladder_states_is_what_it_kept_and_no_more(attacks):
    assert [attack.ladder_states <= 0.5 for attack in attacks] == [True] * 12
    assert all(attack.ladder_states <= attack.ladder + 3 / math.sqrt(4 * 4_000) for attack in attacks)
    assert all(attack.n_kept[1] < 10 < 150 < attack.n_kept[0] < 250 for attack in attacks)


@pytest.mark.parametrize(("n_instances", "error"), [(4_000, 0.05), (4_000, 0.02), (1_000, 0.05)])
def test_an_attack_within_the_quota_gains_about_the_stated_error(n_instances, error):
    n_submissions = quota(n_instances, error)
    gains = [0.5 - boosting_attack(n_instances, n_submissions, seed=seed).plain for seed in range(20)]
    assert np.mean(gains) == pytest.approx(error, rel=0.2)


def test_a_quota_grows_with_the_instances_and_the_square_of_the_error():
    assert [quota(n, error) for n, error in [(1_000, 0.01), (4_000, 0.01), (4_000, 0.02), (1, 0.001)]] == [1, 7, 31, 0]


def test_weights_make_fewer_instances_of_them():
    assert effective_number(np.full(50, 1e-200)) == pytest.approx(50)
    assert effective_number(np.array([1.0] * 10 + [1e-9] * 990)) == pytest.approx(10)
    assert effective_number(np.array([1.0, 3.0])) == pytest.approx(16 / 10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_instances": 1, "n_submissions": 5}, "1 instances and 5 submissions"),
        ({"n_instances": 5, "n_submissions": 0}, "5 instances and 0 submissions"),
        ({"n_instances": 100_000, "n_submissions": 1_001}, "at most 100,000,000 predictions"),
        ({"n_instances": 5, "n_submissions": 5, "digits": 16}, "`digits` is 16"),
    ],
)
def test_an_attack_of_impossible_size_is_refused_before_it_begins(arguments, message):
    with pytest.raises(ValueError, match=message):
        boosting_attack(**arguments, seed=0)


@pytest.mark.parametrize(("n_instances", "error"), [(0, 0.1), (10, 0.0), (10, 0.6), (10, math.nan)])
def test_a_quota_needs_instances_and_an_error_between_none_and_a_half(n_instances, error):
    with pytest.raises(ValueError, match="expected 1 or more"):
        quota(n_instances, error)
