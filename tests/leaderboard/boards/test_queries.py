"""How often the board's page asks the database, and that it asks once what its reader is to the benchmark."""

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from leaderboard.rankings import published
from leaderboard.rankings.published import BOARD_CACHE_BYTES

# The benchmark with what its reader is to it, which reports there are, the systems with their tags and whose they are,
# the jobs; and the reports, until they are unpacked.
WARM, COLD = 4, 5
SIGNED_IN = 3  # the session, the account, how many notices they did not read


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
        about_roles = [query for query in queries if '"viewer_role"' in query["sql"]]
        assert len(about_roles) == bool(role)
        counts.append(len(queries))
    assert counts == [COLD + SIGNED_IN * bool(role), WARM + SIGNED_IN * bool(role)]
