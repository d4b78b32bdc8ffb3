"""Who may do what, on every route: the one table that says it, held against the site."""

import logging

import pytest
from django.core.cache import cache

from tests.leaderboard.site.labels import SECRET_LABEL
from tests.leaderboard.site.world import USERS, Row, World


def assert_everybody_gets_the_answer_of_the_table(world: World, row: Row, caplog: pytest.LogCaptureFixture) -> None:
    """Each kind of user does, and no label of hidden references is in an answer or in the log."""
    cache.clear()
    with caplog.at_level(logging.DEBUG), caplog.at_level(logging.INFO, logger="markdown_it"):
        answers = {kind: world.answer(row, kind) for kind in USERS}
    expected = dict(zip(USERS, row.answers, strict=True))
    if expected["staff"] == "ruled":
        assert answers["staff"] not in ("500", "login", "admin")
        expected["staff"] = answers["staff"]
    assert answers == expected
    assert SECRET_LABEL not in caplog.text
