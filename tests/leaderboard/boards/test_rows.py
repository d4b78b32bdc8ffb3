"""What stands in the cells of a board: its figures for people, and how far a change goes."""

import pytest

from leaderboard.boards.rows import score_text, shade_of


@pytest.mark.parametrize(
    ("score", "text"),
    [(0.1 + 0.2, "0.3"), (1234567.0, "1.23457e+06"), (-3.0, "\N{MINUS SIGN}3"), (0.0, "0"), (float("nan"), "")],
)
def test_a_score_for_people_has_six_digits(score, text):
    assert score_text(score) == text


@pytest.mark.parametrize(
    ("change", "n_systems", "shade"),
    [(None, 10, 0), (0, 10, 0), (3, 101, 1), (-4, 101, -2), (10, 101, 2), (-11, 101, -3), (31, 101, 4), (1, 2, 4)],
)
def test_the_shade_is_the_share_of_the_board_that_a_change_spans(change, n_systems, shade):
    assert shade_of(change, n_systems) == shade
