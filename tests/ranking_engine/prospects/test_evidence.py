"""Nearest weights, needed tasks, shares, objectives and conditions, against exact vertex enumeration."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from ranking_engine import UNRANKED, ScoreMatrix, rank
from ranking_engine.core.aggregation import voting_groups
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.prospects import (
    Bound,
    Conditions,
    Objective,
    Order,
    Prospects,
    TaskSet,
    pair_prospect,
    prospects,
)
from ranking_engine.prospects.shares import winning_share
from tests.ranking_engine import naive_prospects as naive
from tests.ranking_engine.strategies import matrices


def as_list(weights, tasks):
    return [weights.get(task, Fraction(0)) for task in tasks]


def own_weights(matrix):
    total = sum(matrix.weights[t] for t in np.flatnonzero(matrix.votes))
    return [matrix.weights[t] / total for t in np.flatnonzero(matrix.votes)]


@settings(max_examples=35, deadline=None)
@given(matrices(max_systems=4, max_tasks=3))
def test_nearest_weights_and_needed_tasks_agree_with_vertex_enumeration(matrix):
    result = prospects(matrix, n_draws=0)
    T = len(result.tasks)
    origins = {"equal": [Fraction(1, T)] * T, "own": own_weights(matrix)} if T else {}
    for i, prospect in enumerate(result.systems):
        if not prospect.is_prospective:
            assert (prospect.nearest, prospect.needed_tasks) == ({}, ())
            continue
        rows = list(naive.majority_leads(matrix, i).values())
        assert set(prospect.nearest) == {"equal", "own"}
        for name, origin in origins.items():
            check_nearest(prospect.nearest[name], rows, origin, result.tasks)
        corners = naive.vertices(T, rows, rows)
        assert list(prospect.needed_tasks) == needed_tasks(matrix, i, result.tasks, corners)


def needed_tasks(matrix, i, tasks, corners):
    """Those that weigh something in every winning corner, and in every one that ranks the system."""
    scored = naive.scored_tasks(matrix, i)
    ranked_without = [
        any(not w[t] and sum(naive.on(scored, mixed(w, corners, t))) > 0 for w in corners) for t in range(len(tasks))
    ]
    return [name for name, is_spared in zip(tasks, ranked_without, strict=True) if not is_spared]


def mixed(corner, corners, t):
    """A mixture of all corners in which task t weighs nothing."""
    return [sum(column) for column in zip(*(w for w in [corner, *corners] if not w[t]), strict=True)]


def weighted_mean(pairs):
    return sum(weight * value for weight, value in pairs) / sum(weight for weight, _ in pairs)


def check_nearest(nearest, rows, origin, tasks):
    total, largest = naive.least_changes(rows, origin)
    for change, distance, least in (
        (nearest.total_change, naive.total_change, total),
        (nearest.largest_change, naive.largest_change, largest),
    ):
        weights = as_list(change.weights, tasks)
        assert sum(weights) == 1
        assert min(weights) >= 0
        assert all(naive.lead(row, weights) >= 0 for row in rows)
        assert change.change == float(distance(weights, origin)) == pytest.approx(float(least), abs=1e-7)


@st.composite
def conditions_on(draw, matrix):
    names = [name for name, votes in zip(matrix.task_names, matrix.votes, strict=True) if votes]
    sets = st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True).map(lambda n: TaskSet(tuple(n)))
    shares = st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 3), Fraction(1, 2), Fraction(1)])
    bounds = draw(st.lists(st.builds(Bound, sets, at_least=shares), max_size=2))
    bounds += draw(st.lists(st.builds(Bound, sets, at_most=shares), max_size=1))
    orders = draw(st.lists(st.builds(Order, sets, sets), max_size=1))
    goals = st.sampled_from(["minimise", "maximise"])
    objective = draw(st.none() | st.builds(Objective, goals, sets))
    return Conditions(tuple(bounds), tuple(orders), objective)


@settings(max_examples=50, deadline=None)
@given(st.data(), matrices(max_systems=4, max_tasks=3).filter(lambda m: m.votes.any()))
def test_conditions_agree_with_vertex_enumeration(data, matrix):
    conditions = data.draw(conditions_on(matrix))
    result = prospects(matrix, conditions=conditions, n_draws=0)
    terms = conditions.rows(matrix)
    T = len(result.tasks)
    if not any(p.verdict != "no_scores" for p in result.systems):
        return
    is_feasible = bool(naive.vertices(T, terms, terms))
    assert result.conditions_reason == ("" if is_feasible else "no weights satisfy the conditions")
    for i, prospect in enumerate(result.systems):
        rows = list(naive.majority_leads(matrix, i).values())
        if prospect.verdict == "no_scores" or not rows:
            continue
        if not is_feasible:
            assert (prospect.verdict, prospect.reason) == ("undecided", result.conditions_reason)
            continue
        corners = naive.vertices(T, [*rows, *terms], [*rows, *terms])
        scored = naive.scored_tasks(matrix, i)
        can_win = any(sum(naive.on(scored, corner)) > 0 for corner in corners)
        assert prospect.verdict == (naive.verdict(rows, terms) if can_win else "none")
        if len(scored) == T:
            assert prospect.margin == pytest.approx(float(naive.largest_margin(rows, terms)), abs=1e-9)
        check_condition_evidence(prospect, result, rows, terms, conditions, matrix, i)


def check_condition_evidence(prospect, result, rows, terms, conditions, matrix, i):
    weights = as_list(prospect.weights, result.tasks)
    if prospect.is_prospective:
        corners = naive.vertices(len(weights), [*rows, *terms], [*rows, *terms])
        assert all(naive.lead(row, weights) >= 0 for row in [*rows, *terms])
        assert list(prospect.needed_tasks) == needed_tasks(matrix, i, result.tasks, corners)
        if conditions.objective is not None:
            members = conditions.objective.of.indicator(matrix)
            best = min if conditions.objective.goal == "minimise" else max
            optimum = best(naive.lead(members, corner) for corner in corners)
            if prospect.objective is not None:
                assert prospect.objective == naive.lead(members, weights) == optimum
            else:  # only weights that do not rank the system reach it
                assert len(naive.scored_tasks(matrix, i)) < len(weights)
    else:
        by_rival = naive.majority_leads(matrix, i)
        gains = [
            sum(y * by_rival[matrix.system_names.index(name)][t] for name, y in prospect.certificate.items())
            for t in range(len(weights))
        ]
        for place, share in prospect.condition_shares.items():
            assert share > 0
            gains = [gain + share * entry for gain, entry in zip(gains, terms[place], strict=True)]
        if prospect.certificate:
            assert max(naive.on(naive.scored_tasks(matrix, i), gains)) < 0
        else:  # some weights lose to no one, and none of them weighs a task on which it has a score
            assert len(naive.scored_tasks(matrix, i)) < len(weights)


def test_infeasible_conditions_are_told_apart_from_a_system_that_cannot_win():
    matrix = ScoreMatrix([[3, 1], [1, 3]], system_names=["A", "B"], task_names=["x", "y"])
    demanding = prospects(matrix, conditions=Conditions.parse(["x >= 0.6"]))
    assert [(p.system, p.verdict) for p in demanding.systems] == [("A", "strict"), ("B", "none")]
    assert (demanding.conditions_reason, demanding["B"].certificate) == ("", {"A": 1})
    # B's lead over A, -1 on x and +1 on y, and twice the condition's row, 0.4 and -0.6, make -0.2 on both
    assert demanding["B"].condition_shares == {0: 2}
    impossible = prospects(matrix, conditions=Conditions.parse(["x >= 0.6", "y >= 0.6"]))
    assert impossible.conditions_reason == "no weights satisfy the conditions"
    assert [p.verdict for p in impossible.systems] == ["undecided", "undecided"]


def test_the_share_is_the_length_of_the_winning_interval():
    # A wins where x weighs at least as much as y, B where y does
    matrix = ScoreMatrix([[2, 0], [0, 2], [1, 1]], system_names=["A", "B", "C"])
    result = prospects(matrix, n_draws=20_000, seed=1)
    for prospect in result.systems[:2]:
        assert abs(prospect.share - 0.5) < 5 * prospect.share_error
        assert prospect.share_error == pytest.approx(math.sqrt(prospect.share * (1 - prospect.share) / 20_000))
        assert prospect.share_bound is None
    tie = result["C"]  # wins only at half and half
    assert (tie.verdict, tie.share, tie.share_bound) == ("tie_only", 0, pytest.approx(3 / 20_000))
    assert prospects(matrix, n_draws=20_000, seed=1) == result


def test_the_share_of_what_cannot_win_is_zero_without_drawing():
    result = prospects(ScoreMatrix([[1, 1], [0, 0]]), n_draws=10)
    assert [(p.share, p.share_error, p.share_bound) for p in result.systems] == [(1, 0, None), (0, 0, None)]


def test_with_conditions_the_share_is_that_among_the_weights_they_allow():
    matrix = ScoreMatrix([[2, 0], [0, 2]], task_names=["x", "y"])
    result = prospects(matrix, conditions=Conditions.parse(["x >= 0.25"]), n_draws=20_000)
    assert result["s1"].share == pytest.approx(2 / 3, abs=0.02)
    nothing_left = prospects(matrix, conditions=Conditions.parse(["x = 1/3"]), n_draws=100)
    assert nothing_left["s2"].share is None


def test_duplicates_can_only_tie():
    result = prospects(ScoreMatrix([[1, 2], [1, 2], [0, 3]]), n_draws=100)
    assert [p.verdict for p in result.systems] == ["tie_only", "tie_only", "strict"]
    assert result.systems[0].share == result.systems[1].share > 0
    assert result.systems[0].certificate == {"s2": 1}


@pytest.mark.parametrize("rule", ["majority", "mean", "borda", "plurality", "dowdall"])
def test_a_single_system_wins(rule):
    result = prospects(ScoreMatrix([[1.5, -2]], task_names=["x", "y"]), rule=rule, n_draws=10)
    (only,) = result.systems
    assert (only.verdict, only.margin, only.share) == ("strict", None, 1)
    assert sum(only.weights.values()) == 1
    assert only.nearest["own"].total_change.change == 0


def test_a_single_task_needs_itself():
    result = prospects(ScoreMatrix([[1], [2], [2]]), n_draws=10)
    assert [p.verdict for p in result.systems] == ["none", "tie_only", "tie_only"]
    assert result.systems[1].weights == {"t1": 1}
    assert result.systems[1].needed_tasks == ("t1",)
    assert result.systems[0].certificate == {"s2": 1}


def test_rivals_without_a_common_task_cannot_beat_it_and_are_counted():
    result = prospects(ScoreMatrix([[1, np.nan], [np.nan, 1], [0, 0]]), n_draws=0)
    assert [(p.verdict, p.n_incomparable) for p in result.systems] == [("tie_only", 1), ("tie_only", 1), ("none", 0)]


def test_a_system_wins_nothing_by_weight_on_a_task_that_it_has_no_score_on():
    matrix = ScoreMatrix(
        [[9, 9, 5], [8, 8, 4], [1, 1, np.nan]], system_names=["A", "B", "C"], task_names=["x", "y", "z"]
    )
    verdicts = [(p.verdict, p.weights, p.certificate, p.margin) for p in prospects(matrix, n_draws=0).systems]
    assert verdicts == [("strict", {"x": 1}, {}, 1), ("none", {}, {"A": 1}, -1), ("none", {}, {"A": 1}, -1)]
    assert rank(matrix.with_weights([0, 0, 1]), "copeland").ranks[2] == UNRANKED


def test_a_rival_that_is_not_compared_at_the_weights_shown_is_counted():
    matrix = ScoreMatrix([[5, 5, 5, 1], [1, 1, 1, 9], [2, 2, 2, np.nan]], task_names=["a", "b", "c", "d"])
    result = prospects(matrix, n_draws=0)
    assert [(p.verdict, p.weights, p.n_incomparable, p.needed_tasks) for p in result.systems] == [
        ("strict", {"b": 1}, 0, ()), ("tie_only", {"d": 1}, 1, ("d",)), ("none", {}, 0, ()),
    ]  # fmt: skip


def test_conditions_that_demand_weight_on_a_task_without_a_score_leave_what_else_it_can_win():
    matrix = ScoreMatrix([[9, np.nan, 3], [8, 5, 4]], system_names=["A", "B"], task_names=["x", "y", "z"])
    half = prospects(matrix, conditions=Conditions.parse(["y >= 0.5", "minimise x"]), n_draws=0)["A"]
    assert (half.verdict, half.weights["y"] >= Fraction(1, 2), half.weights["x"] > 0) == ("strict", True, True)
    behind = ScoreMatrix([[7, np.nan], [8, 5]], system_names=["A", "B"], task_names=["x", "y"])
    alone = prospects(behind, conditions=Conditions.parse(["y >= 0.5"]), n_draws=0)["A"]
    assert (alone.verdict, alone.weights, alone.certificate) == ("none", {}, {})


def test_unordered_and_silent_tasks_do_not_vote_unless_all_tasks_do():
    matrix = ScoreMatrix([[1, 0, 0], [0, 1, 1]], weights=[1, 0, 1], directions=[1, 1, 0], task_names=["x", "y", "z"])
    silent = prospects(matrix, n_draws=0)
    assert (silent.tasks, [p.verdict for p in silent.systems]) == (("x",), ["strict", "none"])
    loud = prospects(matrix, all_tasks=True, n_draws=0)
    assert (loud.tasks, [p.verdict for p in loud.systems]) == (("x", "y"), ["strict", "strict"])
    nearest = loud["s2"].nearest
    assert nearest["own"].total_change.change == 0.5  # its own weights are 1 and 0
    assert nearest["equal"].total_change.change == 0


def test_work_that_is_cut_short_says_so():
    matrix = random_matrix(6, 4, seed=2, kind="uniform")
    whole = prospects(matrix, n_draws=0)
    assert whole.is_complete
    cut = prospects(matrix, n_draws=0, max_steps=3)
    assert not cut.is_complete
    assert cut.n_steps == 3
    undecided = [p for p in cut.systems if p.verdict == "undecided"]
    assert undecided
    assert {p.reason for p in undecided} == {"not reached within the number of steps allowed"}
    decided = [p for p in cut.systems if p.verdict != "undecided"]
    assert [p.verdict for p in decided] == [whole[p.system].verdict for p in decided]


def test_progress_counts_the_systems():
    steps = []
    prospects(random_matrix(3, 2, seed=1), n_draws=0, progress=lambda done, total: steps.append((done, total)))
    assert steps == [(1, 3), (2, 3), (3, 3)]


def test_no_verdict_depends_on_the_other_systems_asked_for():
    matrix = random_matrix(8, 4, seed=5, kind="uniform", n_levels=4)
    every = prospects(matrix, n_draws=100)
    one = prospects(matrix, systems=["s4"], n_draws=100)
    assert one.systems == (every["s4"],)
    assert Prospects.from_arrays(one.summary(), one.as_arrays()) == one


def test_a_pair_is_a_contest_with_a_single_rival():
    matrix = ScoreMatrix([[3, 0, 0], [0, 1, 1], [9, 9, 9]], system_names=["A", "B", "C"], task_names=["x", "y", "z"])
    prospect = pair_prospect(matrix, "A", "B", n_draws=0)
    assert (prospect.verdict, prospect.margin) == ("strict", 1)
    total = prospect.nearest["own"].total_change
    assert (total.weights["x"], total.change) == (Fraction(1, 2), pytest.approx(1 / 6))
    largest = prospect.nearest["equal"].largest_change
    assert (largest.weights["x"], largest.change) == (Fraction(1, 2), pytest.approx(1 / 6))
    assert pair_prospect(matrix, "B", "C", n_draws=0).certificate == {"C": 1}
    by_mean = pair_prospect(matrix, "A", "B", rule="mean", n_draws=0)
    assert by_mean.nearest["own"].total_change.change == 0  # a mean of 1 against 2/3


def test_what_a_pair_cannot_be_is_told():
    matrix = ScoreMatrix([[1], [2], [np.nan]], system_names=["A", "B", "C"])
    with pytest.raises(ValueError, match="`rival` is 'A', which is the system itself"):
        pair_prospect(matrix, "A", "A")
    with pytest.raises(ValueError, match="unknown system 'D'"):
        pair_prospect(matrix, "A", "D")
    prospect = pair_prospect(matrix, "A", "C")
    assert (prospect.verdict, prospect.reason) == ("no_scores", "C: no score on any task of weight above 0")


def test_groups_carry_their_tasks_along():
    matrix = ScoreMatrix(
        [[2, 0, 1], [1, 1, 0], [0, 2, 2]],
        system_names=["A", "B", "C"],
        task_names=["x", "y", "z"],
        weights=[2, 1, 1],
        groups=["g", "g", None],
    )
    result = prospects(matrix, by_group=True, n_draws=0)
    assert result.tasks == ("group g", "z")
    # in g, x counts two thirds: A leads B by 1/3 there and by 1 on z, C by 1/3 and -1
    assert [(p.verdict, p.margin) for p in result.systems] == [
        ("strict", pytest.approx(1 / 3)),
        ("none", pytest.approx(-1 / 3)),
        ("strict", pytest.approx(1)),
    ]
    assert result["A"].weights == {"group g": 1}
    # A is level with C where g weighs 3/4, as it does in the benchmark's own weights
    assert result["A"].nearest["own"].total_change.change == 0
    assert result["A"].nearest["equal"].total_change.weights == {"group g": Fraction(3, 4), "z": Fraction(1, 4)}
    bounded = prospects(matrix, by_group=True, conditions=Conditions.parse(["group:g <= 0.7"]), n_draws=0)
    assert bounded["A"].verdict == "none"


@settings(max_examples=40, deadline=None)
@given(matrices(max_systems=4, max_tasks=4, groups=True))
def test_groups_agree_with_an_exact_linear_program_over_group_weights(matrix):
    result = prospects(matrix, by_group=True, n_draws=0, nearest=False, needed=False)
    groups = voting_groups(matrix)
    place = {t: k for k, t in enumerate(np.flatnonzero(matrix.votes))}
    for i, prospect in enumerate(result.systems):
        rows = {
            j: [weighted_mean([(matrix.weights[t], row[place[t]]) for t in group.tasks]) for group in groups]
            for j, row in naive.majority_leads(matrix, i).items()
        }
        if prospect.verdict == "no_scores" or not rows:
            continue
        assert len(result.tasks) == len(groups)
        own = naive.scored_tasks(matrix, i)
        scored = [k for k, group in enumerate(groups) if any(place[t] in own for t in group.tasks)]
        on_scored = [naive.on(scored, row) for row in rows.values()]
        assert prospect.verdict == naive.verdict(on_scored)
        assert prospect.margin == pytest.approx(float(naive.largest_margin(on_scored)), abs=1e-9)
        naive.assert_evidence_holds(prospect, rows, result.tasks, matrix.system_names, scored)


@pytest.mark.parametrize("n", [3, 50, 10_000])
def test_a_share_that_was_missed_once_or_never_has_the_interval_of_its_complement(n):
    draws = np.zeros((n, 2))
    draws[:, 1] = 1.0
    draws[0] = [1.0, 0.0]
    seldom, often = (winning_share(np.array([leads]), draws) for leads in ([1.0, -1.0], [-1.0, 1.0]))
    assert (often.share, often.bound) == (pytest.approx(1 - 1 / n), None)
    assert often.interval == pytest.approx((1 - seldom.interval[1], 1 - seldom.interval[0]))
    always = winning_share(np.array([[-1.0, 1.0]]), draws[1:])
    assert (always.share, always.error, always.bound) == (1.0, 0.0, None)
    assert always.interval == (max(0.0, 1 - 3 / (n - 1)), 1.0)


@pytest.mark.parametrize("n", [2, 50, 10_000])
def test_a_share_that_was_seen_once_has_the_exact_interval(n):
    """Its ends are the shares under which so few draws, or so many, come in 2.5 % of all samples."""
    draws = np.zeros((n, 2))
    draws[:, 1] = 1.0
    draws[0] = [1.0, 0.0]
    estimate = winning_share(np.array([[1.0, -1.0]]), draws)
    lower, upper = estimate.interval
    assert estimate.share == 1 / n
    assert 1 - (1 - lower) ** n == pytest.approx(0.025)
    at_most_one = (1 - upper) ** n + n * upper * (1 - upper) ** (n - 1)
    assert at_most_one == pytest.approx(0.025)
    assert winning_share(np.array([[-1.0, -1.0]]), draws).interval is None
    assert winning_share(np.array([[1.0, 1.0]]), np.ones((9, 2))).interval is None
