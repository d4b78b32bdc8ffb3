"""What charts of pairs are drawn from."""

import numpy as np

from leaderboard.computing.pairs import scale_ends


def test_the_ends_of_a_scale_are_scores_as_they_were_submitted_the_worst_first():
    values = np.array([[1.0, 30.0, np.nan], [3.0, 10.0, np.nan], [np.nan, 20.0, np.nan]])
    scores = values * [1, -1, 1]  # less is better on the second task
    assert [tuple(map(str, ends)) for ends in scale_ends(values, scores)] == [
        ("1.0", "3.0"),
        ("30.0", "10.0"),
        ("nan", "nan"),
    ]
