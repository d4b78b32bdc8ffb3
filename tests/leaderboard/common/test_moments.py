"""Moments in sentences."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from leaderboard.common.moments import moment_in_words


@pytest.mark.parametrize(
    ("when", "text"),
    [
        (datetime(2026, 2, 3, 14, 5, 59, tzinfo=UTC), "3 Feb 2026, 14:05 UTC"),
        (datetime(2026, 12, 31, 23, 30, tzinfo=timezone(timedelta(hours=-2))), "1 Jan 2027, 01:30 UTC"),
    ],
)
def test_a_moment_is_said_in_utc_with_the_month_in_letters(when, text):
    assert moment_in_words(when) == text
