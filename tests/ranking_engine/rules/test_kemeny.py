from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings

from ranking_engine import RULES, ScoreMatrix, rank, rank_all
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.core.task_distances import weighted_distance
from ranking_engine.rules import kemeny, kemeny_program
from ranking_engine.rules.kemeny_program import OrderProgram, Steps, seconds_left
from ranking_engine.rules.kemeny_search import best_of_all, excess_of, improved, searched
from tests.ranking_engine import naive, naive_consensus
from tests.ranking_engine.strategies import matrices

BOARDS = [
    {"kind": "uniform"},
    {"kind": "uniform", "n_levels": 3},
    {"kind": "skill", "missing": 0.4},
    {"kind": "uniform", "weights": [1, 3, 7, "0.1", "1/13", 0, 19]},
]


@pytest.fixture(params=["subsets", "linear programs"])
def way(request, monkeypatch):
    """Both ways of solving a component, each for components of any size."""
    monkeypatch.setattr(kemeny, "MAX_EXACT", 13 if request.param == "subsets" else 1)
    return request.param


def assert_optimal(matrix: ScoreMatrix, *, knows_all: bool = True) -> None:
    ranking = rank(matrix, "kemeny")
    least, best = naive_consensus.kemeny(matrix)
    order = tuple(int(i) for i in np.argsort(ranking.ranks) if ranking.ranks[i] > 0)
    assert order in best
    details = dict(ranking.details)
    assert details["distance"] == details["lower_bound"] == pytest.approx(float(least), rel=1e-12)
    assert details["proven"] is True
    firsts = tuple(sorted({other[0] for other in best}))
    if knows_all or details["winners_complete"]:
        assert (details["winners_complete"], ranking.winners) == (True, firsts)
    if knows_all or details["unique"] is not None:
        assert details["unique"] is (len(best) == 1)
    assert ranking.scores[list(order)].tolist() == list(range(len(order), 0, -1))


def test_small_boards_are_solved_with_all_their_optima(way):
    @settings(max_examples=60, deadline=None)
    @given(matrices())
    def check(matrix):
        if naive.scored_systems(matrix):
            assert_optimal(matrix)
        else:
            assert rank(matrix, "kemeny").status == "undefined"

    check()


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("board", BOARDS, ids=str)
def test_boards_of_seven_are_the_best_of_all_permutations(way, board, seed):
    assert_optimal(random_matrix(7, 7, seed=seed, **board), knows_all=way == "subsets")


def test_weights_beyond_64_bits_are_costs_all_the_same(way):
    matrix = random_matrix(5, 5, seed=3, kind="uniform", weights=[2**60 + 1, 2**60, "1/7", 2**59, 2**58 + 3])
    ranking = rank(matrix, "kemeny")
    least, best = naive_consensus.kemeny(matrix)
    assert tuple(np.argsort(ranking.ranks).tolist()) in best or way == "linear programs"
    assert ranking.details["lower_bound"] <= float(least) <= ranking.details["distance"]
    assert ranking.details["distance"] == pytest.approx(float(least), rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_subsets_and_linear_programs_agree_on_components_of_eleven(monkeypatch, seed):
    matrix = random_matrix(11, 9, seed=seed, kind="uniform")
    by_subsets = rank(matrix, "kemeny")
    monkeypatch.setattr(kemeny, "MAX_EXACT", 1)
    by_programs = rank(matrix, "kemeny")
    assert by_programs.details["steps"]["rounds"] > 0
    for key in ("distance", "lower_bound", "proven"):
        assert by_programs.details[key] == by_subsets.details[key]
    if by_programs.details["unique"] is not None:
        assert by_programs.details["unique"] == by_subsets.details["unique"]
    if by_programs.details["winners_complete"]:
        assert by_programs.winners == by_subsets.winners


def test_the_order_of_systems_and_tasks_changes_nothing():
    for rule in [key for key, rule in RULES.items() if rule.is_slow]:
        matrix = random_matrix(24, 9, seed=6, kind="uniform", n_levels=6)
        rows, columns = np.random.default_rng(1).permutation(24), np.random.default_rng(2).permutation(9)
        ranking, shuffled = rank(matrix, rule), rank(matrix.subset(rows, columns), rule)
        np.testing.assert_array_equal(shuffled.scores, ranking.scores[rows])
        assert {rows[i] for i in shuffled.winners} == set(ranking.winners)
        assert shuffled.details == ranking.details


def test_one_of_many_tables_gets_the_order_and_the_winners_of_the_rule(way):
    @settings(max_examples=60, deadline=None)
    @given(matrices())
    def check(matrix):
        if not naive.scored_systems(matrix):
            return
        quick = rank_all(matrix, ["kemeny"], seconds={"kemeny": 1.0})["kemeny"]
        order = tuple(int(i) for i in np.argsort(quick.ranks) if quick.ranks[i] > 0)
        assert order in naive_consensus.kemeny(matrix)[1]
        assert quick.details["proven"] is True
        ranking = rank(matrix, "kemeny")
        assert (quick.ranks.tolist(), quick.winners) == (ranking.ranks.tolist(), ranking.winners)

    check()


@pytest.mark.parametrize("board", [*BOARDS[:3], {"kind": "uniform", "n_levels": 2, "missing": 0.5}], ids=str)
def test_one_of_many_larger_tables_gets_the_order_of_the_rule(board):
    matrix = random_matrix(30, 7, seed=5, **board)
    quick, ranking = rank_all(matrix, ["kemeny"], seconds={"kemeny": 10.0})["kemeny"], rank(matrix, "kemeny")
    assert quick.ranks.tolist() == ranking.ranks.tolist()
    assert quick.details["proven"] is ranking.details["proven"] is True
    if ranking.details["winners_complete"]:
        assert quick.winners == ranking.winners


def test_one_of_many_tables_ends_after_its_steps_with_an_order_and_no_proof():
    matrix = random_matrix(40, 12, seed=1, kind="uniform")
    least = rank(matrix, "kemeny").details["distance"]
    for _ in range(2):
        quick = rank_all(matrix, ["kemeny"], seconds={"kemeny": 0.0})["kemeny"]
        assert quick.details["proven"] is False
        assert sorted(quick.ranks.tolist()) == list(range(1, 41))
        assert weighted_distance(matrix, quick) >= least
    again = rank_all(matrix, ["kemeny"], seconds={"kemeny": 0.0})["kemeny"]
    assert again.ranks.tolist() == quick.ranks.tolist()


def test_rows_that_a_solution_does_not_touch_are_dropped_without_a_change_of_the_optimum(monkeypatch):
    margins = random_margins(24, seed=3)
    kept = OrderProgram(margins, np.arange(24), seconds_left(60), Steps())
    kept.solve()
    monkeypatch.setattr(kemeny_program, "_ROWS_KEPT", 0)
    dropped = OrderProgram(margins, np.arange(24), seconds_left(60), Steps())
    dropped.solve()
    assert (dropped.bound, dropped.excess) == (kept.bound, kept.excess)
    assert kept.bound == kept.excess
    assert len(dropped.rows) == dropped.program._solver.getNumRow() < dropped.steps.rows


def test_of_two_circles_apart_each_is_cut_and_all_firsts_of_the_upper_one_win():
    # A, B, C beat one another in a circle and all of D, E, F, which do too
    circle = np.array([[3, 1, 2], [2, 3, 1], [1, 2, 3]])
    matrix = ScoreMatrix(np.concatenate([circle + 10, circle]), system_names=list("CABFDE"))
    ranking = rank(matrix, "kemeny")
    assert ranking.winners == (0, 1, 2)
    assert ranking.ranks.tolist() == [3, 1, 2, 6, 4, 5]  # A > B > C by name, then D > E > F
    assert {key: ranking.details[key] for key in ("distance", "unique", "winners_complete")} == {
        "distance": 8.0,
        "unique": False,
        "winners_complete": True,
    }


def test_without_time_the_best_order_met_comes_with_a_lower_bound_and_no_proof():
    matrix = random_matrix(40, 12, seed=1, kind="uniform")
    ranking, proven = rank(matrix, "kemeny", seconds=0), rank(matrix, "kemeny")
    details = ranking.details
    assert proven.details["proven"]
    assert details["lower_bound"] <= proven.details["distance"] <= details["distance"]
    assert (details["proven"], details["winners_complete"]) == (False, False)
    assert details["unique"] is None
    assert ranking.winners == (int(np.argmin(ranking.ranks)),)


def test_all_tied_systems_stand_by_name_and_all_win():
    ranking = rank(ScoreMatrix([[1.0], [1.0], [1.0]], system_names=["b", "c", "a"]), "kemeny")
    assert (ranking.ranks.tolist(), ranking.winners) == ([2, 3, 1], (0, 1, 2))
    assert (ranking.details["distance"], ranking.details["unique"]) == (0.0, False)


CIRCLE = np.array([[0, 3, -1, 2], [-3, 0, 5, 1], [1, -5, 0, 4], [-2, -1, -4, 0]])  # A > B > C > A, all beat D


def test_the_excess_is_the_sum_of_the_margins_contradicted():
    assert excess_of(CIRCLE, np.array([0, 1, 2, 3])) == 1
    assert excess_of(CIRCLE, np.array([3, 2, 1, 0])) == 3 + 5 + 2 + 1 + 4
    best = best_of_all(CIRCLE)
    assert (best.order.tolist(), best.excess, best.n_best, best.firsts) == ([0, 1, 2, 3], 1, 1, (0,))


def test_moving_systems_one_at_a_time_ends_where_no_move_gains():
    margins = random_margins(20, seed=0)
    order, _ = improved(margins, np.arange(20))
    assert sorted(order) == list(range(20))
    for v in range(20):
        rest = order[order != v]
        moves = [excess_of(margins, np.insert(rest, place, v)) for place in range(20)]
        assert min(moves) == excess_of(margins, order)
    better, _ = searched(margins, order, 0)
    assert excess_of(margins, better) <= excess_of(margins, order)


@pytest.mark.parametrize("seed", range(12))
def test_systems_are_moved_in_the_order_in_which_they_are_named_each_as_soon_as_it_gains(seed):
    n = 2 + seed
    margins, order = random_margins(n, seed), np.random.default_rng(seed).permutation(n)
    current, n_passes, has_moved = order.tolist(), 0, True
    while has_moved:
        n_passes, has_moved = n_passes + 1, False
        for v in order.tolist():
            rest = [u for u in current if u != v]
            places = [[*rest[:place], v, *rest[place:]] for place in range(n)]
            best = min(places, key=lambda placed: excess_of(margins, np.array(placed)))
            if excess_of(margins, np.array(best)) < excess_of(margins, np.array(current)):
                current, has_moved = best, True
    moved, passes = improved(margins, order)
    assert (excess_of(margins, moved), passes) == (excess_of(margins, np.array(current)), n_passes)
    assert moved.tolist() == current


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_cycles_through_the_few_pairs_against_an_order_are_all_that_are_violated(share):
    """What a linear program returns: most pairs as in one order, some in parts, some on the edge of a tolerance."""
    generator = np.random.default_rng(7)
    for n in (3, 4, 9, 20, 31):
        program = OrderProgram(random_margins(n, n), np.arange(n), seconds_left(10), Steps())
        place = generator.permutation(n)
        x = (place[program.above] < place[program.below]).astype(float)
        is_other = generator.random(len(x)) < share
        x[is_other] = generator.choice([0, 1, 0.25, 1 / 3, 0.5, 0.7, 1e-7, 1 - 2e-6, 1 + 1e-9], is_other.sum())
        matrix = program._matrix(x)
        first, second = np.nonzero(matrix > 0)
        expected = {}
        for i, j, k in combinations(range(n), 3):
            value = matrix[i, j] + matrix[j, k] - matrix[i, k]
            violation = max(value - 1, -value)
            if violation > max(1e-6, expected.get((i, j), (0, 0))[0]):
                expected[i, j] = (violation, k)
        for triples, sizes in (
            kemeny_program.cycles(matrix),
            kemeny_program.cycles_through(matrix, first, second),
        ):
            violated = zip(triples.tolist(), sizes.tolist(), strict=True)
            assert {(i, j): (size, k) for (i, j, k), size in violated} == expected
        with pytest.MonkeyPatch.context() as patched:
            rows = program._violated(matrix)
            patched.setattr(kemeny_program, "_MOST_CYCLES", -1)
            assert rows.tolist() == program._violated(matrix).tolist()


def random_margins(n, seed):
    upper = np.triu(np.random.default_rng(seed).integers(-9, 10, (n, n)), 1)
    return upper - upper.T


@pytest.mark.parametrize("seed", range(4))
def test_bounds_hold_whatever_the_pairs_placed(seed):
    margins = random_margins(7, seed)
    program = OrderProgram(margins, np.arange(7), seconds_left(10), Steps())
    program.solve()
    assert program.bound == program.excess == best_of_all(margins).excess
    for i, j in [(0, 1), (5, 2), (3, 6)]:
        column, value = program.pair(i, j)
        bound = program.least_excess_with(np.array([column], dtype=np.int32), np.array([value]))
        placed = margins.copy()
        placed[i, j], placed[j, i] = 1000, -1000  # no best order then places j above i
        least = best_of_all(placed).excess + max(0, -margins[i, j])
        assert bound <= least
        assert (bound > program.excess) <= (least > program.excess)
