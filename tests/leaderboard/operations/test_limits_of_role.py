"""The limits that the role of PostgreSQL has for a site behind PgBouncer, and which commands they end."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from django.conf import settings
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper


class LimitedSite(NamedTuple):
    """A site behind PgBouncer whose role has a limit of a second for each statement.

    Attributes:
        lock: a connection that has locked a table; until it is closed.
        environment: of commands.
    """

    lock: BaseDatabaseWrapper
    environment: dict[str, str]

    def start(self, *command: str) -> subprocess.Popen[str]:
        """Start a command of `manage.py`."""
        program = [sys.executable, "manage.py", *command]
        return subprocess.Popen(program, cwd=settings.ROOT, env=self.environment, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def limited_site(make_committed, committed_db) -> Iterator[LimitedSite]:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no such limits")
    make_committed.benchmark()
    with connection.cursor() as cursor:
        name = connection.ops.quote_name(connection.settings_dict["NAME"])
        cursor.execute(f"ALTER ROLE CURRENT_USER IN DATABASE {name} SET statement_timeout = '1s'")
    own = connection.copy()
    own.set_autocommit(False)
    with own.cursor() as cursor:
        cursor.execute("LOCK TABLE leaderboard_draft")
    environment = os.environ | {"DATABASE_URL": committed_db, "PLURANK_PGBOUNCER": "true"}
    yield LimitedSite(own, environment)
    own.close()


def test_a_command_that_reaches_the_limit_of_the_role_names_it(limited_site):
    """Takes about four seconds: a process starts, and waits for a second."""
    with limited_site.start("prune") as process:
        said = process.communicate(timeout=60)[1]
    assert process.returncode == 1
    assert said.startswith("PostgreSQL ended a statement of this process: canceling statement due to statement timeout")
    assert "PLURANK_PGBOUNCER=true it is that of the role (`ALTER ROLE ... SET statement_timeout`)" in said


def test_a_backup_has_no_limit_whatever_the_role_has(limited_site, tmp_path):
    """Takes about six seconds: the backup waits for the lock, beyond the limit of the role."""
    with limited_site.start("backup", str(tmp_path / "backup")) as process:
        waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        with connection.cursor() as cursor:
            while process.poll() is None and not cursor.execute(waiting).fetchone():
                time.sleep(0.1)
        time.sleep(2)
        assert process.poll() is None, process.communicate()[1]
        limited_site.lock.close()
        assert process.wait(60) == 0
    assert (tmp_path / "backup").stat().st_size > 0
