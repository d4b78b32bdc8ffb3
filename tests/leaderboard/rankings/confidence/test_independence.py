from __future__ import annotations

import pytest

from leaderboard.rankings.confidence.independence import tasks_phrase


@pytest.mark.parametrize(
    ("n_clusters", "n_tasks", "phrase"),
    [
        (27, 27, "27 tasks, taken as independent"),
        (23, 27, "23 clusters of tasks, by group or as the owners declared"),
        (1, 1, "1 task, taken as independent"),
        (1, 3, "1 cluster of tasks, by group or as the owners declared"),
    ],
)
def test_the_phrase_says_who_takes_the_tasks_for_independent(n_clusters, n_tasks, phrase):
    assert tasks_phrase(n_clusters, n_tasks) == phrase
