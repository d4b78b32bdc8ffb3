"""How often the board's page asks the database, and that it asks once what its reader is to the benchmark."""

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

# The benchmark with what its reader is to it, the reports or, once they are unpacked, which there are, the systems with
# their tags and whose they are, the jobs.
QUERIES = 4
SIGNED_IN = 2  # the session; the account with the number of its unread notices
# Whether they looked at the board before, and the row that says so from then on: between the beginning and the end of
# its own transaction, which on PostgreSQL says first that it does not wait.
N_FIRST_LOOK, N_NEXT_LOOK = 4 if connection.vendor == "sqlite" else 5, 1


@pytest.mark.parametrize("role", ["", "owner", "member"])
def test_the_board_s_page_asks_the_database_four_times_and_seven_for_whoever_signed_in(make, client, role):
    benchmark = make.published()
    if role:
        client.force_login(make.member(benchmark, role), backend="django.contrib.auth.backends.ModelBackend")
    cache.clear()
    for n_visit in (N_FIRST_LOOK, N_NEXT_LOOK):
        with CaptureQueriesContext(connection) as queries:
            assert client.get(reverse("board", args=[benchmark.key])).status_code == 200
        about_roles = [query for query in queries if '"viewer_role"' in query["sql"]]
        assert len(about_roles) == bool(role)
        assert len(queries) == QUERIES + (SIGNED_IN + n_visit) * bool(role)
