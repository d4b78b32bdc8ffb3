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


def test_a_landscape_has_the_figures_of_the_studies_and_a_dot_and_a_line_a_board():
    boards = {"one": plurank.Board(random_matrix(12, 5, seed=1)), "two": plurank.Board(random_matrix(11, 4, seed=2))}
    few = plurank.Board({"A": {"x": 1}})
    table = plurank.landscape(boards | {"few": few}, "ordinal_sensitivity")
    assert table["board"] == ["one", "two"]
    assert table.notes[0].startswith("few is not on the plane: ")
    for row in table:
        board = boards[row["board"]]
        share = board.study("ordinal_sensitivity").summary["discordant_share"]
        agreement = dict(board.agreement().columns)
        diversity = dict(zip(agreement["measure"], agreement["value"], strict=True))["diversity_tie_corrected"]
        assert (row["lower"], row["upper"], row["diversity"]) == (share["lower"], share["upper"], diversity)
    axes = table.plot()
    assert [text.get_text() for text in axes.texts] == ["one", "two"]
    assert axes.lines[0].get_xydata().tolist() == [[row["diversity"], row["lower"]] for row in table]
    cardinal = plurank.landscape({"one": boards["one"]}, seed=3)
    share = boards["one"].study("cardinal_sensitivity", seed=3).summary["feasible"]["scaled"]["discordant_share"]
    assert (cardinal["lower"], cardinal["upper"]) == ([share["lower"]], [share["upper"]])
    with pytest.raises(ValueError, match="no board is on the plane: few"):
        plurank.landscape({"few": few}).plot()
    with pytest.raises(ValueError, match="`boards` is empty"):
        plurank.landscape({})
    with pytest.raises(ValueError, match="expected one of cardinal_sensitivity, ordinal_sensitivity"):
        plurank.landscape(boards, "worst_case")
    with pytest.raises(ValueError, match="sed"):
        plurank.landscape(boards, sed=3)


def test_what_cannot_be_drawn_says_why():
    few = plurank.Board({"A": {"x": 1, "y": 2}, "B": {"x": 2, "y": 1}})
    with pytest.raises(ValueError, match="with fewer than 8"):
        few.intervals().plot()
    with pytest.raises(ValueError, match="no rule gives a ranking"):
        few.rank("condorcet", "normalized mean").plot()
