from __future__ import annotations

import time

import numpy as np
import pytest

from ranking_engine import MISSING_POLICIES, ScoreMatrix, listed_rules, rank, rank_all
from ranking_engine.core.missing import complete, filled_in
from tests.ranking_engine import naive_predictions

NAN = float("nan")

# C lacks y, D has nothing; z is lower-is-better; w does not vote, and its gaps do not count
GAPPY = ScoreMatrix(
    [[1, 5, 9, NAN], [2, 6, 8, NAN], [3, NAN, 7, 1], [NAN, NAN, NAN, 1], [4, 8, NAN, NAN]],
    system_names=["A", "B", "C", "D", "E"],
    task_names=["x", "y", "z", "w"],
    directions=[1, 1, -1, 1],
    weights=[1, 1, 1, 0],
)


def test_undefined_says_how_many_scores_are_missing():
    ranking = rank(GAPPY, "borda", missing="undefined")
    assert (ranking.status, ranking.reason) == (
        "undefined",
        "2 missing scores (2 of 4 systems lack at least one)",
    )


def test_drop_systems_leaves_them_unranked_and_says_what_they_lack():
    ranking = rank(GAPPY, "mean", missing="drop_systems")
    assert ranking.ranks.tolist() == [2, 1, -1, -1, -1]
    assert ranking.unranked_reasons == {
        2: "no score on 1 of 3 tasks of weight above 0: y",
        3: "no score on any task of weight above 0",
        4: "no score on 1 of 3 tasks of weight above 0: z",
    }


def test_drop_tasks_says_which():
    ranking = rank(GAPPY, "mean", missing="drop_tasks")
    assert ranking.ranks.tolist() == [4, 3, 2, -1, 1]
    assert ranking.details == {"dropped_tasks": ["y", "z"]}


@pytest.mark.parametrize(("policy", "imputed"), [("median", [6, 8]), ("worst", [5, 9])])
def test_imputation_looks_at_oriented_scores(policy, imputed):
    part = complete(GAPPY, policy)
    assert part.systems.tolist() == [0, 1, 2, 4]
    np.testing.assert_array_equal(part.matrix.values, [[1, 5, 9], [2, 6, 8], [3, imputed[0], 7], [4, 8, imputed[1]]])
    assert part.details == {"n_imputed": 2}
    assert part.unranked_reasons == {3: "no score on any task of weight above 0"}


def test_the_median_of_an_even_number_is_the_midpoint():
    part = complete(ScoreMatrix([[1.0, 1], [4.0, 1], [NAN, 1]]), "median")
    assert part.matrix.values[2, 0] == 2.5


def test_a_task_without_any_score_cannot_be_imputed_and_is_dropped():
    part = complete(ScoreMatrix([[1, NAN, NAN], [2, NAN, 3]]), "worst")
    np.testing.assert_array_equal(part.matrix.values, [[1, 3], [2, 3]])
    assert part.details == {"n_imputed": 1, "dropped_tasks": ["t2"]}


def test_a_task_without_any_score_is_named_where_it_leaves_nobody_complete():
    reason = rank(ScoreMatrix([[1, NAN], [2, NAN]]), "mean").reason
    assert reason == "no system has a score on every task of weight above 0 (no system has a score on t2)"


def test_long_lists_of_tasks_are_cut():
    values = np.ones((2, 9))
    values[1, :5] = NAN
    reasons = rank(ScoreMatrix(values), "mean").unranked_reasons
    assert reasons == {1: "no score on 5 of 9 tasks of weight above 0: t1, t2, t3 and 2 more"}


def test_drop_tasks_may_leave_none():
    ranking = rank(ScoreMatrix([[1, NAN], [NAN, 2]]), "mean", missing="drop_tasks")
    assert (ranking.status, ranking.reason) == ("undefined", "no task of weight above 0 has a score of every system")


@pytest.mark.parametrize(
    ("matrix", "reason"),
    [
        (ScoreMatrix([[NAN], [NAN]]), "no system has a score on a task of weight above 0"),
        (ScoreMatrix([[1.0]], directions=[0]), "no task has an order and a weight above 0"),
    ],
)
def test_where_nothing_votes_every_rule_is_undefined(matrix, reason):
    for ranking in rank_all(matrix).values():
        assert (ranking.status, ranking.reason) == ("undefined", reason)
        assert set(ranking.unranked_reasons.values()) == {reason}


@pytest.mark.parametrize("policy", list(MISSING_POLICIES))
def test_native_rules_ignore_the_policy_and_the_unscored_are_nobodys_rivals(policy):
    for rule in ("copeland", "minimax"):
        ranking = rank(GAPPY, rule, missing=policy)
        assert ranking.unranked_reasons == {3: "no score on any task of weight above 0"}
        assert ranking.scores[:3].tolist() == rank(GAPPY.subset([0, 1, 2, 4]), rule).scores[:3].tolist()


@pytest.mark.parametrize("policy", list(MISSING_POLICIES))
def test_every_policy_leaves_a_complete_matrix_alone(policy):
    scale = {"gamma": 5, "maximum": [5, 5], "chance": [0, 0]}
    matrix = ScoreMatrix([[1.0, NAN], [2.0, 1.0]], weights=[1, 0], **scale)
    for rule in listed_rules():
        ranking = rank(matrix, rule, missing=policy)
        assert ranking.winners == (1,)
        assert "n_imputed" not in ranking.details


def test_an_unknown_policy_is_named():
    with pytest.raises(ValueError, match="`missing` is 'guess'; expected one of undefined, drop_systems, drop_tasks"):
        rank(GAPPY, "copeland", missing="guess")


def board(n=24, T=6, seed=0, share_missing=0.12, noise=0.25, **options):
    """Scores that one factor makes, to one decimal, with gaps; the last task is noise, the one before better low."""
    generator = np.random.default_rng(seed)
    values = 50 + 10 * (generator.normal(size=(n, 1)) + noise * generator.normal(size=(n, T)))
    values[:, -1] = generator.normal(size=n)
    values[:, -2] *= -1
    values = np.where(generator.random((n, T)) < share_missing, NAN, np.round(values, 1))
    return ScoreMatrix(values, directions=[1] * (T - 2) + [-1, 1], **options)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("precision", [NAN, 0.5])
def test_predicted_scores_are_those_of_the_definition(seed, precision):
    matrix = board(seed=seed, precision=[precision] * 6, maximum=[65.0] * 4 + [0.0, 9.0])
    filled = filled_in(matrix)
    cells = naive_predictions.filled_in(matrix)
    assert {tuple(cell) for cell in np.argwhere(filled.is_predicted).tolist()} == set(cells)
    expected = matrix.values.copy()
    for (i, t), score in cells.items():
        expected[i, t] = score * matrix.directions[t]
    np.testing.assert_array_equal(filled.matrix.values, matrix.with_values(expected).values)
    assert not filled.is_predicted[:, -1].any()  # noise tells nothing


@pytest.mark.parametrize("seed", range(3))
def test_rounding_never_leads_beyond_the_worst_and_the_best_measured_score(seed):
    """As 80.9 does, the nearest number with one decimal, where the best is 80.85."""
    matrix = board(seed=seed, noise=0.1)
    matrix = matrix.with_values(matrix.values * 1.03717)
    filled = filled_in(matrix)
    worst, best = np.nanmin(matrix.values, axis=0), np.nanmax(matrix.values, axis=0)
    assert ((filled.matrix.values >= worst) & (filled.matrix.values <= best))[filled.is_predicted].all()
    assert ((filled.matrix.values == worst) | (filled.matrix.values == best))[filled.is_predicted].any()


def test_the_error_is_that_of_the_tasks_of_predicted_scores_each_as_often_as_it_has_one():
    matrix = board(share_missing=0, system_names=[f"s{i:02}" for i in range(24)])
    values = matrix.values.copy()
    values[0, 0] = values[1, 1] = values[2, 1] = NAN
    matrix = matrix.with_values(values)
    _, held_out, _ = naive_predictions.studied(matrix.scores)
    squares = np.nanmean((held_out - matrix.scores) ** 2, axis=0)
    filled = filled_in(matrix)
    np.testing.assert_allclose(filled.task_error[:5], np.sqrt(squares[:5]), rtol=1e-7)
    relative = squares / np.nanvar(matrix.scores, axis=0)
    assert filled.error == pytest.approx(np.sqrt((relative[0] + 2 * relative[1]) / 3))
    assert filled.explained == pytest.approx(1 - (relative[0] + 2 * relative[1]) / 3)
    assert relative[5] > 0.5  # of the task of noise, of which no score is predicted


@pytest.mark.parametrize("seed", range(3))
def test_names_and_places_decide_nothing_that_is_predicted(seed):
    matrix = board(seed=seed, n=10)
    random = np.random.default_rng(seed)
    systems, tasks = random.permutation(10), random.permutation(6)
    values, directions = matrix.values[np.ix_(systems, tasks)], matrix.directions[tasks]
    other = ScoreMatrix(values, directions=directions, system_names=list("zyxwvutsrq"), task_names=list("pfedcb"))
    before, after = rank(matrix, "mean", missing="predicted"), rank(other, "mean", missing="predicted")
    assert (before.status, before.ranks[systems].tolist()) == (after.status, after.ranks.tolist())
    assert before.details.get("held_out") == after.details.get("held_out")


def test_a_system_with_a_gap_that_cannot_be_predicted_is_unranked_and_the_others_say_how_many_are():
    matrix = board(share_missing=0)
    values = matrix.values.copy()
    values[0, 0] = values[1, 1] = values[1, 4] = NAN  # these can be predicted
    values[2, 5] = NAN  # from the task of noise
    values[3, :4] = NAN  # two scores of six are too few
    matrix = matrix.with_values(values)
    ranking = rank(matrix, "mean", missing="predicted")
    assert ranking.unranked_reasons == {
        2: "no score, and none that can be predicted, on 1 of 6 tasks of weight above 0: t6",
        3: "no score, and none that can be predicted, on 4 of 6 tasks of weight above 0: t1, t2, t3 and 1 more",
    }
    assert (ranking.details["n_imputed"], ranking.details["predicted"]) == (3, {"s1": 1, "s2": 2})
    assert ranking.details["held_out"].keys() == {"error", "explained"}
    assert rank(matrix, "copeland", missing="predicted").details == rank(matrix, "copeland").details


def test_half_of_the_scores_are_enough_and_no_fewer():
    values = board(T=9, share_missing=0).values.copy()
    values[0, :4] = values[1, :5] = NAN
    ranking = rank(ScoreMatrix(values[:, :8]), "mean", missing="predicted")
    assert ranking.details["predicted"] == {"s1": 4}
    assert ranking.unranked_reasons.keys() == {1}


@pytest.mark.parametrize(
    ("matrix", "reason"),
    [
        (ScoreMatrix([[1, 5], [2, NAN], [3, 4]]), "fewer than 20 scores on two tasks or more"),
        (ScoreMatrix(np.where(np.eye(30, 4) > 0, NAN, 7.0)), "each with two different ones"),
        (
            ScoreMatrix(np.where(np.eye(30, 4) > 0, NAN, np.random.default_rng(0).normal(size=(30, 4)))),
            "no task with a gap has scores of which predictions explain 50 % of the variance",
        ),
    ],
)
def test_where_predictions_are_no_good_there_is_no_ranking_and_the_reason_says_why(matrix, reason):
    ranking = rank(matrix, "mean", missing="predicted")
    assert ranking.status == "undefined"
    assert ranking.reason.startswith("missing scores cannot be predicted: ")
    assert reason in ranking.reason
    assert rank(matrix, "mean", missing="predicted", aggregation="two_step").reason == ranking.reason


def test_predictions_do_not_depend_on_the_order_of_rows_and_columns():
    matrix = board()
    rows, columns = np.random.default_rng(1).permutation(24), np.random.default_rng(2).permutation(6)
    moved = filled_in(matrix.subset(rows, columns))
    np.testing.assert_array_equal(moved.matrix.values, filled_in(matrix).matrix.values[np.ix_(rows, columns)])


def test_in_two_steps_scores_are_predicted_from_all_tasks_and_not_from_their_group_alone():
    matrix = board(groups=["g", "g", "h", "h", None, None])
    filled = filled_in(matrix)
    assert filled.is_predicted.any()
    for rule in ("mean", "borda", "copeland"):
        ranking = rank(matrix, rule, missing="predicted", aggregation="two_step")
        needs_all = rule != "copeland"
        expected = rank(filled.placed_in(matrix) if needs_all else matrix, rule, aggregation="two_step")
        np.testing.assert_array_equal(ranking.ranks, expected.ranks)
        assert ("predicted" in ranking.details) == needs_all


def test_a_board_of_100_000_scores_takes_far_less_than_a_second():
    """In seconds of the processor: what else the machine does makes no difference."""
    generator = np.random.default_rng(0)
    values = generator.normal(size=(1000, 1)) + generator.normal(size=(1000, 100))
    values[generator.random(values.shape) < 0.2] = NAN
    matrix = ScoreMatrix(values)
    started = time.process_time()
    assert filled_in(matrix) is not None
    assert time.process_time() - started < 3
