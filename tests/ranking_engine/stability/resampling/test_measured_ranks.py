"""Rank intervals from standard errors: against draws counted one by one, normal tails, and the command."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.special import ndtr

from ranking_engine import ScoreMatrix, quick_rules, rank, rank_all
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.command_line import main
from ranking_engine.core.missing import filled_in
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability.resampling.measured_ranks import (
    BATCHED_SHARE,
    NUMBER,
    MeasuredRanks,
    measured_rank_intervals,
)


@pytest.mark.parametrize("rule", ["mean", "borda", "kemeny", "copeland[variant=lower]"])
def test_the_ends_are_quantiles_of_the_ranks_of_the_tables_drawn(rule):
    matrix = random_matrix(5, 6, seed=2, missing=0.1)
    errors = np.abs(random_matrix(5, 6, seed=3).values) / 5
    (intervals,) = measured_rank_intervals(matrix, errors, [rule], n_draws=41, level=0.9, seed=7).values()
    generator, ranks = np.random.default_rng([7, NUMBER]), []
    for _ in range(41):
        drawn = matrix.with_values(matrix.values + errors * generator.standard_normal((5, 6)))
        ranks.append(rank(drawn, rule).ranks.tolist())
    ordered, now = np.sort(np.array(ranks), axis=0), rank(matrix, rule).ranks
    assert intervals.ranks.tolist() == now.tolist()
    assert intervals.lower.tolist() == np.minimum(ordered[2], now).tolist()
    assert intervals.upper.tolist() == np.maximum(ordered[38], now).tolist()
    assert intervals.n_draws == 41


@pytest.mark.parametrize("missing", ["drop_systems", "drop_tasks", "median", "worst"])
def test_every_rule_ranks_the_same_tables_as_one_by_one(missing):
    matrix = random_matrix(6, 7, seed=4, missing=0.04)
    matrix = ScoreMatrix(
        matrix.values,
        directions=[1, 1, -1, 1, 1, 0, 1],
        weights=[1, 2, 1, 1, 3, 1, 0],
        precision=[None, 0.5, None, None, None, None, None],
    )
    errors = np.abs(random_matrix(6, 7, seed=5).values) / 4
    errors[0, :3] = np.nan
    rules = quick_rules(6, 7)
    intervals = measured_rank_intervals(matrix, errors, rules, n_draws=15, level=0.8, seed=1, missing=missing)
    generator, ranks = np.random.default_rng([1, NUMBER]), dict[str, list[list[int]]]()
    for _ in range(15):
        drawn = matrix.with_values(matrix.values + np.nan_to_num(errors) * generator.standard_normal((6, 7)))
        for rule, ranking in rank_all(drawn, rules, missing=missing).items():
            if ranking.status == "ranked":
                ranks.setdefault(rule, []).append(ranking.ranks.tolist())
    assert len(rules) > 20
    for rule, ranking in rank_all(matrix, rules, missing=missing).items():
        if ranking.status != "ranked":
            assert (intervals[rule].lower.tolist(), intervals[rule].n_draws) == ([-1] * 6, 0)
            continue
        assert intervals[rule].n_draws == len(ranks[rule]), rule
        for i in range(6):
            has_rank = any(row[i] >= 1 for row in ranks[rule])
            # Where it has no rank, it comes after those that have one.
            ordered = sorted(row[i] if row[i] >= 1 else 1 + sum(r >= 1 for r in row) for row in ranks[rule])
            below = math.floor(0.1 * (len(ordered) - 1) + 1e-9)
            ends = (ordered[below], ordered[len(ordered) - 1 - below]) if has_rank else (-1, -1)
            if has_rank and (now := int(ranking.ranks[i])) >= 1:
                ends = (min(ends[0], now), max(ends[1], now))
            assert (intervals[rule].lower[i], intervals[rule].upper[i]) == ends, (rule, i)


def test_a_budget_gives_dear_rules_fewer_draws_or_none():
    matrix, errors = random_matrix(30, 20, seed=0), np.full((30, 20), 0.1)
    cheap, dear = ((BATCHED_SHARE if is_fast else 1.0) * get_rule(rule).cost(30, 20)
                   for rule, is_fast in (("mean", True), ("plackett_luce", True)))  # fmt: skip
    assert cheap < dear
    both = measured_rank_intervals(
        matrix, errors, ["plackett_luce", "mean"], n_draws=300, budget=300 * cheap + 150.5 * dear
    )
    assert [both[rule].n_draws for rule in ("mean", "plackett_luce")] == [300, 150]
    alone = measured_rank_intervals(matrix, errors, ["plackett_luce"], n_draws=150)["plackett_luce"]
    assert both["plackett_luce"].lower.tolist() == alone.lower.tolist()
    without = measured_rank_intervals(
        matrix, errors, ["plackett_luce", "mean"], n_draws=300, budget=300 * cheap + 99.5 * dear
    )
    assert without["plackett_luce"].reason == "it takes too long to rank again for every draw"
    assert (without["plackett_luce"].n_draws, without["mean"].n_draws) == (0, 300)
    assert set(without["plackett_luce"].lower.tolist()) == {-1}


def test_the_rank_that_a_system_has_is_in_its_interval():
    """Four others with errors and one without: some of the four pass it in nearly every draw."""
    matrix = ScoreMatrix([[5.0], [5.0], [5.0], [5.0], [5.1]])
    errors = np.array([[9.0]] * 4 + [[0.0]])
    intervals = measured_rank_intervals(matrix, errors, ["mean"], n_draws=1000, level=0.5)["mean"]
    assert intervals.ranks[4] == 1
    assert (intervals.lower[4], intervals.upper[4]) == (1, 4)


def test_draws_lie_around_the_scores_before_they_were_rounded():
    """With a precision of 1 both are 1; before, they were 0.6 and 1.4, four standard errors apart."""
    written = np.array([[0.6], [1.4]])
    matrix = ScoreMatrix(written, precision=[1])
    intervals = measured_rank_intervals(matrix, np.full((2, 1), 0.2), ["mean"], n_draws=400, centres=written)["mean"]
    assert intervals.ranks.tolist() == [1, 1]
    random, ranks = np.random.default_rng([0, NUMBER]), []
    for _ in range(400):
        low, high = np.round(written + 0.2 * random.standard_normal((2, 1)))[:, 0]
        ranks.append([1 + (high > low), 1 + (low > high)])
    ordered = np.sort(np.array(ranks), axis=0)
    assert [intervals.lower.tolist(), intervals.upper.tolist()] == [
        np.minimum(ordered[9], 1).tolist(),
        np.maximum(ordered[390], 1).tolist(),
    ]
    with pytest.raises(ValueError, match="`centres` has shape"):
        measured_rank_intervals(matrix, np.ones((2, 1)), ["mean"], centres=np.ones((1, 2)))


def test_a_draw_without_a_rank_comes_after_those_with_one():
    ranking = rank(ScoreMatrix([[3.0], [2.0], [1.0], [np.nan]]), "mean")
    drawn = np.array([[1, 2, -1, -1], [2, 1, -1, -1], [1, -1, -1, -1], [-1, -1, -1, -1], [1, 2, 3, -1]], dtype=np.int32)
    intervals = MeasuredRanks.of_draws(ranking, drawn, 0.999)
    assert intervals.n_draws == 4
    assert (intervals.lower.tolist(), intervals.upper.tolist()) == ([1, 1, 2, -1], [2, 2, 3, -1])


def test_scores_measured_on_the_same_instances_have_wider_intervals_than_they_need():
    """What two systems share cancels in their difference, which independent draws cannot know: an upper bound."""
    random, abilities = np.random.default_rng(0), np.array([0.6, 0.4, 0.0])
    shared, own = 0.5, 0.1
    errors = np.full((3, 1), math.hypot(shared, own))
    intervals = measured_rank_intervals(ScoreMatrix(abilities[:, None]), errors, ["mean"], n_draws=4_000)["mean"]
    paired = abilities + shared * random.standard_normal((4_000, 1)) + own * random.standard_normal((4_000, 3))
    ranks = np.sort(1 + (paired[:, None, :] > paired[:, :, None]).sum(axis=2), axis=0)
    assert [ranks[99].tolist(), ranks[3_899].tolist()] == [[1, 1, 3], [2, 2, 3]]
    assert [intervals.lower.tolist(), intervals.upper.tolist()] == [[1, 1, 1], [3, 3, 3]]


def test_scores_and_errors_beyond_all_floats_stay_finite():
    matrix = ScoreMatrix([[1e308, -1e308], [0, 0]])
    intervals = measured_rank_intervals(matrix, np.full((2, 2), 1e308), ["borda"], n_draws=50)["borda"]
    assert (intervals.lower.tolist(), intervals.upper.tolist()) == ([1, 1], [2, 2])


@pytest.mark.parametrize(("apart", "overlap"), [(1.0, True), (3.0, True), (6.0, False)])
def test_two_systems_change_places_as_often_as_the_normal_distribution_says(apart, overlap):
    """Two tasks with an error of 2: the mean differs with an error of 2; the 95 % interval overlaps below 3.92."""
    matrix = ScoreMatrix([[apart, apart], [0, 0]])
    intervals = measured_rank_intervals(matrix, np.full((2, 2), 2.0), ["mean"], n_draws=4_000)["mean"]
    assert (ndtr(-apart / 2) > 0.025) == overlap
    assert intervals.lower.tolist() == ([1, 1] if overlap else [1, 2])
    assert intervals.upper.tolist() == ([2, 2] if overlap else [1, 2])


def test_exact_scores_and_systems_without_a_score_stay():
    matrix = ScoreMatrix([[3, 3], [2, np.nan], [1, 1]])
    intervals = measured_rank_intervals(matrix, [[np.nan, 0], [1, 1], [0, 0.01]], ["mean"])["mean"]
    assert (intervals.lower.tolist(), intervals.upper.tolist()) == ([1, -1, 2], [1, -1, 2])


def test_a_rule_that_ranks_no_one_says_why():
    intervals = measured_rank_intervals(ScoreMatrix([[2, 2], [1, 1]]), np.ones((2, 2)), ["condorcet", "bradley_terry"])
    assert intervals["condorcet"].reason == "it names a winner and does not rank"
    assert intervals["bradley_terry"].reason.startswith("no finite strengths")


def test_predicted_scores_are_drawn_with_the_error_of_held_out_scores_of_their_task():
    generator = np.random.default_rng(0)
    values = np.round(generator.normal(size=(12, 1)) * 10 + generator.normal(size=(12, 5)), 1)
    errors, values[0, 0], values[4, 3] = np.ones((12, 5)), np.nan, np.nan
    matrix = ScoreMatrix(values)
    completed = filled_in(matrix)
    placed = completed.placed_in(matrix)
    assert not np.isnan(placed.values).any()
    intervals = measured_rank_intervals(matrix, errors, ["mean", "copeland"], n_draws=50, missing="predicted")
    errors[0, 0], errors[4, 3] = completed.task_error[[0, 3]]
    filled = measured_rank_intervals(placed, errors, ["mean"], n_draws=50)["mean"]
    gaps = measured_rank_intervals(matrix, errors, ["copeland"], n_draws=50)["copeland"]
    for ours, expected in ((intervals["mean"], filled), (intervals["copeland"], gaps)):
        assert (ours.lower.tolist(), ours.upper.tolist()) == (expected.lower.tolist(), expected.upper.tolist())


@pytest.mark.parametrize(
    ("errors", "options", "message"),
    [
        (np.ones((2, 3)), {}, r"shape \(2, 3\)"),
        (-np.ones((2, 2)), {}, "0 or more"),
        ([[np.inf, 1], [1, 1]], {}, "0 or more"),
        (np.zeros((2, 2)), {}, "no score on a task of weight above 0"),
        (np.ones((2, 2)), {"level": 1.0}, "`level` is 1.0"),
        (np.ones((2, 2)), {"n_draws": 0}, "`n_draws` is 0"),
        (np.ones((2, 2)), {"n_draws": 10**9}, "expected 1 to 25000000"),
    ],
)
def test_arguments_out_of_range_are_refused(errors, options, message):
    with pytest.raises(ValueError, match=message):
        measured_rank_intervals(ScoreMatrix([[2, 2], [1, 1]]), errors, **options)


def test_the_command_reads_the_errors_by_name(tmp_path, capsys):
    (tmp_path / "scores.csv").write_text("system,a,b\nX,10,20\nY,11,18\nZ,1,2\n")
    (tmp_path / "errors.csv").write_text("system,b,a\nZ,1,1\nY,2,2\n")
    arguments = ["intervals", str(tmp_path / "scores.csv"), "--rule", "mean", "--errors", str(tmp_path / "errors.csv")]
    assert main([*arguments, "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["rules"]["mean"]["intervals"] == {"X": [1, 2], "Y": [1, 2], "Z": [3, 3]}
    assert (report["drawn"], report["rules"]["mean"]["n_resamples"]) == ("scores", 4_000)
    assert main(arguments) == 0
    assert "if every score were measured again with its standard error on the same tasks" in capsys.readouterr().out
    (tmp_path / "errors.csv").write_text("system,a\nQ,1\n")
    assert main(arguments) == 2
    assert "has the system 'Q'" in capsys.readouterr().err
    assert main([*arguments, "--simultaneous"]) == 2
    assert "--simultaneous does not go with --errors" in capsys.readouterr().err
