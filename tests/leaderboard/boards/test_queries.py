"""How often the board's page asks the database, and that it asks once what its reader is to the benchmark."""

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from leaderboard.rankings import published
from leaderboard.rankings.published import BOARD_CACHE_BYTES

# The benchmark, which reports there are, the systems, their tags, the jobs; and the reports, until they are unpacked.
WARM, COLD = 5, 6
# Of who has signed in: the session, the account, the role, their own systems, what they were told and did not read.
SIGNED_IN = {"": 0, "owner": 5, "member": 6}  # and of a member, who may be banned, whether they are


@pytest.fixture
def unpacked(monkeypatch):
    """Boards that this test has unpacked, and no other."""
    monkeypatch.setattr(published, "_boards", type(published._boards)(BOARD_CACHE_BYTES))


@pytest.mark.parametrize("role", ["", "owner", "member"])
def test_the_board_s_page_asks_the_database_so_often(make, client, unpacked, role):
    benchmark = make.published()
    if role:
        client.force_login(make.member(benchmark, role), backend="django.contrib.auth.backends.ModelBackend")
    cache.clear()
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            assert client.get(reverse("board", args=[benchmark.key])).status_code == 200
        about_roles = [query for query in queries if query["sql"].startswith('SELECT "leaderboard_membership"."role"')]
        assert len(about_roles) == bool(role)
        counts.append(len(queries))
    assert counts == [COLD + SIGNED_IN[role], WARM + SIGNED_IN[role]]
