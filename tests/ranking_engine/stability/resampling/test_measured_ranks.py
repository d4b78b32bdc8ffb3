"""Rank intervals from standard errors: against draws counted one by one, normal tails, and the command."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import ndtr

from ranking_engine import ScoreMatrix, rank
from ranking_engine.command_line import main
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability.resampling.measured_ranks import NUMBER, measured_rank_intervals


@pytest.mark.parametrize("rule", ["mean", "borda", "kemeny", "copeland[variant=lower]"])
def test_the_ends_are_quantiles_of_the_ranks_of_the_tables_drawn(rule):
    matrix = random_matrix(5, 6, seed=2, missing=0.1)
    errors = np.abs(random_matrix(5, 6, seed=3).values) / 5
    (intervals,) = measured_rank_intervals(matrix, errors, [rule], n_draws=41, level=0.9, seed=7).values()
    generator, ranks = np.random.default_rng([7, NUMBER]), []
    for _ in range(41):
        drawn = matrix.with_values(matrix.values + errors * generator.standard_normal((5, 6)))
        ranks.append(rank(drawn, rule).ranks.tolist())
    ordered = np.sort(np.array(ranks), axis=0)
    assert intervals.ranks.tolist() == rank(matrix, rule).ranks.tolist()
    assert (intervals.lower.tolist(), intervals.upper.tolist()) == (ordered[2].tolist(), ordered[38].tolist())
    assert intervals.n_draws == 41


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


@pytest.mark.parametrize(
    ("errors", "stated", "message"),
    [
        (np.ones((2, 3)), {}, r"shape \(2, 3\)"),
        (-np.ones((2, 2)), {}, "0 or more"),
        ([[np.inf, 1], [1, 1]], {}, "0 or more"),
        (np.zeros((2, 2)), {}, "no score on a voting task"),
        (np.ones((2, 2)), {"level": 1.0}, "`level` is 1.0"),
        (np.ones((2, 2)), {"n_draws": 0}, "`n_draws` is 0"),
        (np.ones((2, 2)), {"n_draws": 10**9}, "expected 1 to 25000000"),
    ],
)
def test_arguments_out_of_range_are_refused(errors, stated, message):
    with pytest.raises(ValueError, match=message):
        measured_rank_intervals(ScoreMatrix([[2, 2], [1, 1]]), errors, **stated)


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
