"""What stands in the cells of a board: its figures for people, and how far a change goes."""

import pytest

from leaderboard.boards.rows import score_text, shade_of


@pytest.mark.parametrize(
    ("score", "text"),
    [
        (0.1 + 0.2, "0.3"),
        (0.81234567, "0.8123"),
        (41.6666, "41.67"),
        (9.99999, "10"),
        (1234567.0, "1234567"),
        (1234.56, "1235"),
        (0.000123456, "0.0001235"),
        (1e-7, "1e\N{MINUS SIGN}07"),
        (5e12, "5e+12"),
        (-3.0, "\N{MINUS SIGN}3"),
        (0.0, "0"),
        (float("nan"), ""),
        (float("inf"), "inf"),
    ],
)
def test_a_score_for_people_has_four_digits_and_all_of_a_whole_number(score, text):
    assert score_text(score) == text


def test_an_average_rank_is_written_as_it_is_called():
    assert [score_text(-4.16667, rule) for rule in ("average_rank", "borda")] == ["4.167", "\N{MINUS SIGN}4.167"]
    assert score_text(-0.0, "average_rank") == "0"


@pytest.mark.parametrize(
    ("change", "n_systems", "shade"),
    [(None, 10, 0), (0, 10, 0), (3, 101, 1), (-4, 101, -2), (10, 101, 2), (-11, 101, -3), (31, 101, 4), (1, 2, 4)],
)
def test_the_shade_is_the_share_of_the_board_that_a_change_spans(change, n_systems, shade):
    assert shade_of(change, n_systems) == shade
