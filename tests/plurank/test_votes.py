"""Votes in the package: ratings as tables, the first place, Elo, and categories as a board."""

import numpy as np
import pytest

import plurank
from ranking_engine.votes.ratings import rate

FIRST = ["A", "B", "A", "B", "C", "B", "A", "C"]
SECOND = ["B", "A", "C", "C", "B", "C", "C", "A"]
WINNERS = ["A", "model_a", "A", "model_a", "C", "both_bad", "a", "C"]


@pytest.fixture
def votes():
    return plurank.VoteSet(FIRST, SECOND, WINNERS, categories=["x", "x", "x", "y", "y", "y", "x", "x"])


def test_ratings_are_a_table(votes):
    table = votes.rate("davidson")
    ratings = rate(votes.votes, "davidson")
    assert table["system"] == ["A", "B", "C"]
    assert table["points"] == ratings.points.tolist()
    assert [row["rank"] for row in table] == [1, 2, 3]
    assert table.to_frame("pandas").loc["B", "n_votes"] == 5
    assert len(votes) == 8
    assert repr(votes) == "VoteSet(8 votes, 3 systems)"


def test_the_first_place_is_told_with_a_sentence(votes):
    first = votes.first_place()
    assert (first["leader"], first["n_votes"], first["is_exact"]) == ("A", 1, True)
    assert first["sentence"].startswith("Without 1 vote (12 % of all), ")


def test_elo_has_its_extremes(votes):
    table = votes.elo(n_orders=5)
    assert table["system"][0] == "A"
    assert all(row["least"] <= row["elo"] <= row["greatest"] for row in table)


def test_categories_are_a_board(votes):
    board = votes.board()
    assert (board.tasks, board.systems) == (("x", "y"), ("A", "B", "C"))
    assert board.matrix.values[:, 1].tolist()[1:] == [1000.0, 1000.0]
    assert np.isnan(board.matrix.values[0, 1])
    assert board.rank("copeland").winners == ["A", "B"]


def test_a_file_has_covariates(tmp_path):
    path = tmp_path / "battles.csv"
    rows = [f"{a},{b},{w},{k},{k % 3}" for k, (a, b, w) in enumerate(zip(FIRST, SECOND, WINNERS, strict=True))]
    path.write_text("a,b,winner,length_a,length_b\n" + "\n".join(rows) + "\n", encoding="utf-8")
    table = plurank.read_votes(path, covariates=["length"]).rate()
    assert list(table.coefficients) == ["length"]
    assert table.notes[0].startswith("length: ")


def test_a_winner_that_is_none_is_refused():
    with pytest.raises(ValueError, match="vote 1: 'C' is no outcome"):
        plurank.VoteSet(["A"], ["B"], ["C"])
