"""The optimality threshold that follows from the tasks' scales, and the reasons where none does."""

import pytest

from ranking_engine import ScoreMatrix, rank
from ranking_engine.core.threshold import derived_gamma_of, why_no_gamma

STATE_IT = "state it, in the unit of all scores"
NONE, NAN = None, float("nan")


def board(maximum, **fields):
    return ScoreMatrix([[60.0] * len(maximum), [97.0] * len(maximum)], maximum=maximum, **fields)


@pytest.mark.parametrize(
    ("maximum", "gamma"),
    [([100, 100], 95.0), ([1, 1], 0.95), ([0.7, 0.7], 0.665), ([5, 5], 4.75), ([1e300, 1e300], 9.5e299)],
)
def test_the_threshold_is_95_per_cent_of_the_one_maximum_as_a_decimal(maximum, gamma):
    derived = derived_gamma_of(board(maximum))
    assert (derived.gamma, derived.maximum) == (gamma, maximum[0])


@pytest.mark.parametrize(
    ("maximum", "cause"),
    [
        ([NONE, NONE], ", nor a maximum of which it is 95 %; state either (for percentages 95 is usual)"),
        ([100, NONE], ", and task t2 has no maximum of which it could be 95 %"),
        ([100, NONE, NONE], ", and tasks t2, t3 have no maximum of which it could be 95 %"),
        ([100, 1], f", and the maxima differ, so that it cannot be 95 % of one; {STATE_IT}"),
        ([0, 0], f", and 95 % of the maximum 0 is none; {STATE_IT}"),
        ([-1, -1], f", and 95 % of the maximum -1 is none; {STATE_IT}"),
    ],
)
def test_without_one_positive_maximum_nothing_is_derived_and_the_reason_says_what_to_do(maximum, cause):
    matrix = board(maximum, task_names=[f"t{t}" for t in range(1, len(maximum) + 1)])
    assert derived_gamma_of(matrix) is None
    assert rank(matrix, "optimality_gap").reason == f"no optimality threshold (gamma) is stated{cause}"


def test_only_tasks_that_vote_decide():
    silent = {"weights": [1, 0, 1], "directions": [1, -1, 0]}
    assert derived_gamma_of(board([100, 7, NAN], **silent)).gamma == 95.0


def test_no_threshold_helps_where_less_is_better_on_a_task_and_the_reason_says_that():
    matrix = board([100, 100], directions=[1, -1], task_names=["a", "b"])
    assert derived_gamma_of(matrix) is None
    assert rank(matrix, "optimality_gap").reason == "task b has lower-is-better scores"


def test_the_matrix_itself_derives_nothing_so_that_what_is_stored_ranks_as_it_did():
    matrix = board([100, 100])
    reason = "no optimality threshold (gamma) is stated; 95 % of the maximum 100 would be 95"
    assert (matrix.gamma, why_no_gamma(matrix), rank(matrix, "optimality_gap").reason) == (None, reason, reason)
    assert rank(matrix.with_gamma(95), "optimality_gap").scores.tolist() == [-35, 0]
