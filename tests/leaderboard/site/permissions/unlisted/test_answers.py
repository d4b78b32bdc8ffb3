"""Who gets what on every route of a benchmark that is on no list."""

import pytest

from tests.leaderboard.site.permissions.table import assert_everybody_gets_the_answer_of_the_table
from tests.leaderboard.site.world import rows_of

VISIBILITIES = ("unlisted",)


@pytest.mark.parametrize("row", rows_of(*VISIBILITIES), ids=str)
def test_every_kind_of_user_gets_the_answer_of_the_table(worlds, row, caplog):
    assert_everybody_gets_the_answer_of_the_table(worlds[row.visibility], row, caplog)
