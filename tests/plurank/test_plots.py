"""Plots of results: what is drawn, and on whose axes."""

import matplotlib as mpl
import pytest

mpl.use("Agg")
from matplotlib import pyplot as plt

import plurank
from ranking_engine.core.synthetic import random_matrix


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def board():
    return plurank.Board(random_matrix(6, 12, seed=1))


def test_rank_lines_have_a_line_a_system_and_a_tick_a_rule_that_ranks(board):
    leaderboard = board.rank("mean", "borda", "condorcet")
    axes = leaderboard.plot()
    assert len(axes.lines) == 6
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["Mean", "Borda"]


def test_heat_maps_name_rules_and_tasks(board):
    assert [t.get_text() for t in board.compare("mean", "borda").plot().get_xticklabels()] == ["mean", "borda"]
    assert [t.get_text() for t in board.agreement().plot().get_yticklabels()] == list(board.tasks)


def test_intervals_and_shares_are_drawn_on_the_axes_that_are_handed_in(board):
    _, (left, right) = plt.subplots(1, 2)
    table = board.intervals(n_resamples=100)
    assert table.plot(left) is left
    assert [tick.get_text() for tick in left.get_yticklabels()] == table["system"]
    prospects = board.prospects(n_draws=100)
    assert prospects.plot(right) is right
    assert len(right.patches) == sum(bool(share) for share in prospects["share"])


def test_the_critical_difference_diagram_names_every_system_or_says_why_there_is_none(board):
    texts = [text.get_text() for text in board.significance("mean").plot().texts]
    assert {text.rpartition(" (")[0] for text in texts if "(" in text} == set(board.systems)
    few = plurank.Board({"A": {"x": 1, "y": 2}, "B": {"x": 2, "y": 1}}).significance("borda")
    with pytest.raises(ValueError, match="no critical-difference diagram: "):
        few.plot()


def test_what_cannot_be_drawn_says_why():
    few = plurank.Board({"A": {"x": 1, "y": 2}, "B": {"x": 2, "y": 1}})
    with pytest.raises(ValueError, match="with fewer than 8"):
        few.intervals().plot()
    with pytest.raises(ValueError, match="no rule gives a ranking"):
        few.rank("condorcet", "normalized mean").plot()
