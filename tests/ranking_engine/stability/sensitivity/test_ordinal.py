from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from ranking_engine import ScoreMatrix, rank
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability.sensitivity.ordinal import ordinal_sensitivity
from ranking_engine.stability.sensitivity.subsets import Sums, climb, prove, rounded, wander
from reproduction.zhang.unstructured import unstructured_benchmark
from tests.ranking_engine.stability.sensitivity.test_cardinal import figures
from tests.ranking_engine.strategies import matrices
from tests.reference import reference_answers, reference_matrix


def ranks_with(matrix, top, added):
    """The average ranks of `top` by win rate on the board of these and the added systems."""
    rows = [matrix.system_names.index(name) for name in (*top, *added)]
    ranking = rank(matrix.subset(rows), "win_rate", variant="benchbench")
    scores = ranking.scores[: len(top)]
    return rank(ScoreMatrix(scores[:, None]), "mean").average_ranks


def assert_reached(matrix, result):
    share, moved = result.discordant_share, result.max_rank_change
    np.testing.assert_array_equal(result.reference, ranks_with(matrix, result.top, ()))
    assert figures(result.reference, ranks_with(matrix, result.top, share.added))[0] == round(
        share.lower * result.n_pairs
    )
    assert figures(result.reference, ranks_with(matrix, result.top, moved.added))[2] == pytest.approx(moved.lower)
    distance = figures(result.reference, ranks_with(matrix, result.top, result.farthest))[1]
    assert distance == pytest.approx(result.tau_b_distance, abs=1e-12)


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([{}, {"n_levels": 4}, {"missing": 0.3}, {"weights": [1, 2, 3]}]))
def test_intervals_are_those_of_all_subsets_of_the_other_systems(seed, options):
    matrix = random_matrix(10, 3, seed=seed, noise=3.0, **options)
    result = ordinal_sensitivity(matrix, n_top=4)
    if result.reason:
        return
    assert_reached(matrix, result)
    subsets = itertools.chain.from_iterable(
        itertools.combinations(result.others, k) for k in range(len(result.others) + 1)
    )
    measured = [figures(result.reference, ranks_with(matrix, result.top, added)) for added in subsets]
    assert result.discordant_share.is_proven
    assert round(result.discordant_share.lower * result.n_pairs) == max(m[0] for m in measured)
    assert result.max_rank_change.lower <= max(m[2] for m in measured) + 1e-12
    assert result.max_rank_change.upper >= max(m[2] for m in measured) - 1e-12
    assert result.tau_b_distance <= max(m[1] for m in measured) + 1e-12


@settings(max_examples=15, deadline=None)
@given(matrices(max_systems=5, max_tasks=4))
def test_boards_with_ties_gaps_and_silent_tasks_have_an_interval_or_a_reason(matrix):
    result = ordinal_sensitivity(matrix, n_top=2)
    n_scored = int(matrix.has_score.sum())
    if n_scored < 2:
        assert result.summary() == {"reason": result.reason}
        assert result.reason.startswith(("no system has a score", f"only {n_scored} systems have a score"))
        return
    assert len(result.top) == 2
    assert result.discordant_share.is_proven
    assert_reached(matrix, result)


def test_programs_prove_what_all_choices_show_and_bound_it_when_cut_short():
    generator = np.random.default_rng(4)
    sums = Sums.of(-2 * generator.random(24), generator.normal(size=(24, 9)))
    met = []
    climb(sums, [np.zeros(9, dtype=bool)], met.append)
    best = max(sums.n_positive(choice) for choice in met)
    walks = wander(sums, [(met[0], 0.0), (met[0], 0.3)], 200, generator)
    best = max(best, *(sums.n_positive(choice) for choice in walks))
    brute = max(sums.n_positive(np.array(choice, dtype=bool)) for choice in itertools.product((0, 1), repeat=9))
    interval = prove(sums, best, met.append)
    assert (interval.lower, interval.upper) == (brute, brute)
    cut = prove(sums, 0, met.append, max_nodes=1)
    assert cut.lower <= brute <= cut.upper


@pytest.mark.parametrize("seed", [1, 5])
def test_a_short_search_finds_the_systems_that_turn_a_random_top_round(seed):
    """Among 200 random systems some turn the order of six: climbs and walks alone miss them at these seeds."""
    matrix = unstructured_benchmark("random", 200, 20, seed=seed)
    result = ordinal_sensitivity(matrix, n_top=6, max_nodes=0)
    assert result.tau_b_distance == 1.0
    assert_reached(matrix, result)


def test_rounding_meets_sums_that_can_all_be_positive_and_gives_nothing_where_nothing_can_be_chosen():
    generator = np.random.default_rng(0)
    changes = generator.normal(size=(6, 80))
    meant = np.arange(80) < 40
    possible = Sums.of(4.0 - changes @ meant, changes)
    assert possible.n_positive(rounded(possible)) == 6
    assert rounded(Sums.of(np.full(3, -1.0), np.zeros((3, 5)))) is None
    assert rounded(Sums.of(np.ones(3), np.zeros((3, 0)))) is None


def test_systems_without_a_score_count_for_the_fifth_and_are_never_added():
    values = np.vstack([random_matrix(9, 4, seed=1).values, np.full((3, 4), np.nan)])
    result = ordinal_sensitivity(ScoreMatrix(values))
    assert (len(result.top), len(result.others)) == (2, 7)


@pytest.mark.parametrize("n_systems", [3, 9])
def test_where_a_fifth_has_no_pair_the_first_two_are_studied_and_the_summary_says_so(n_systems):
    matrix = random_matrix(n_systems, 3, seed=1)
    by_default, by_number = ordinal_sensitivity(matrix), ordinal_sensitivity(matrix, n_top=2)
    assert (len(by_default.top), len(by_default.others)) == (2, n_systems - 2)
    note = f"the first fifth of {n_systems} systems has no pair: the first 2 are studied"
    assert by_default.summary() == by_number.summary() | {"note": note}
    assert by_number.note == ordinal_sensitivity(random_matrix(10, 3, seed=1)).note == ""


@pytest.mark.parametrize(
    ("scores", "n_top", "reason"),
    [
        ([[1.0], [2.0]], None, "2 systems with a score: no other system could join the first 2"),
        ([[1.0], [np.nan], [np.nan]], None, "1 system with a score: no other system could join the first 2"),
        ([[np.nan], [np.nan]], None, "no system has a score on a task of weight above 0"),
        ([[1.0], [2.0], [np.nan]], 3, "only 2 systems have a score; 3 make the top"),
        ([[1.0], [2.0]], 1, "a top of 1 has no pair"),
    ],
)
def test_a_board_without_a_pair_at_the_top_that_others_could_join_says_so(scores, n_top, reason):
    assert ordinal_sensitivity(ScoreMatrix(scores), n_top=n_top).reason == reason


def test_the_same_seed_gives_the_same_answer_and_progress_never_decreases():
    matrix = random_matrix(25, 4, seed=2, noise=2.0)
    steps = []
    first = ordinal_sensitivity(matrix, seed=3, progress=lambda done, total: steps.append(done / total))
    assert first.summary() == ordinal_sensitivity(matrix, seed=3).summary()
    assert steps == sorted(steps)
    assert steps[-1] == 1


@pytest.mark.parametrize(
    ("file", "name"), [("BigCode", "bb-bigcode"), ("HELM-accuracy", "bb-helm-accuracy"), ("HELM-lite", "bb-helm-lite")]
)
def test_the_systems_that_benchbench_selects_give_its_own_figures_and_no_more_than_ours(file, name):
    matrix, theirs = reference_matrix(name), reference_answers(f"benchbench-sens-{file}")["default"]
    result = ordinal_sensitivity(matrix, max_nodes=50)
    assert theirs["n_invariant"] == len(result.top)
    added = [system for system in theirs["selected_systems"] if system not in result.top]
    _, distance, moved = figures(result.reference, ranks_with(matrix, result.top, added))
    assert (distance, moved) == pytest.approx((theirs["tau"], theirs["MRC"]), abs=1e-9)
    assert result.tau_b_distance >= theirs["tau"] - 1e-9
    assert result.max_rank_change.lower >= theirs["MRC"] - 1e-9
    assert_reached(matrix, result)


PROVEN = {  # reversed pairs, pairs of the top, what benchbench finds as (1 - tau) / 2
    "bb-bigcode": (1, 28, 0.0357), "bb-helm-lite": (26, 153, 0.1567), "bb-helm-accuracy": (26, 78, 0.3205),
    "bb-helm-bias": (47, 78, 0.4359), "bb-helm-calibration": (48, 78, 0.5897),
    "bb-helm-fairness": (15, 78, 0.1795), "bb-helm-efficiency": (6, 78, 0.0769),
    "bb-helm-robustness": (21, 78, 0.2564), "bb-helm-summarization": (31, 78, 0.3477),
    "bb-helm-toxicity": (37, 78, 0.4477), "bb-heim-alignment-auto": (3, 10, 0.3), "bb-heim-nsfw": (3, 10, 0.3889),
    "bb-heim-quality-auto": (2, 10, 0.1), "bb-heim-aesthetics-auto": (4, 10, 0.4),
    "bb-heim-alignment-human": (1, 10, 0.1), "bb-heim-nudity": (3, 10, 0.3889),
    "bb-heim-quality-human": (1, 10, 0.1), "bb-heim-aesthetics-human": (1, 10, 0.1),
    "bb-heim-black-out": (0, 10, 0.0), "bb-heim-originality": (3, 10, 0.3419),
}  # fmt: skip
SLOW_BOARDS = {"bb-helm-bias", "bb-helm-calibration", "bb-helm-summarization", "bb-helm-toxicity", "bb-helm-lite"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW_BOARDS)) for name in PROVEN]
)
def test_all_published_boards_are_proven_and_none_is_below_benchbench(name):
    result = ordinal_sensitivity(reference_matrix(name))
    n_reversed, n_pairs, theirs = PROVEN[name]
    assert (round(result.discordant_share.lower * result.n_pairs), result.n_pairs) == (n_reversed, n_pairs)
    assert result.discordant_share.is_proven
    assert result.max_rank_change.is_proven
    assert result.tau_b_distance >= theirs - 5e-5  # printed with four digits


def test_a_tie_with_a_rival_counts_for_the_proven_change_of_a_rank():
    """With s7 and two others s1 draws level with s2: 3 becomes 1.5, where thirds added as floats fell short of 0."""
    rows = ["223", "332", "123", "222", "123", "133", "122", "121", "133", "122", "112", "132"]
    result = ordinal_sensitivity(ScoreMatrix([[float(score) for score in row] for row in rows]), n_top=5)
    assert result.top == ("s2", "s1", "s6", "s9", "s4")
    assert result.reference.tolist() == [1, 3, 3, 3, 5]
    assert result.max_rank_change is not None
    assert (result.max_rank_change.lower, result.max_rank_change.upper) == (1.5 / 4, 1.5 / 4)
