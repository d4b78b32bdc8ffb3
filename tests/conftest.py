"""Databases for tests.

`db` (pytest-django) rolls back and suits most tests. `committed_db` is for what must commit: it is a copy of the
migrated test database, because the triggers that keep history refuse to let a shared one be emptied.
"""

import os
import shutil
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.conf import settings
from django.core.cache import cache
from django.db import connection, connections
from django.test.utils import setup_databases, teardown_databases
from hypothesis import settings as hypothesis_settings

from leaderboard.queue import wake_ups
from tests.factories import Factory
from tests.running_site import RunningSite

# Where many wait for the answer the same examples are tried each time; everywhere else they are drawn anew.
hypothesis_settings.register_profile("every checkout", derandomize=True, deadline=None)
if os.environ.get("PLURANK_CI"):
    hypothesis_settings.load_profile("every checkout")


@pytest.fixture(scope="session")
def django_db_setup(django_test_environment, django_db_blocker) -> Iterator[None]:
    """The migrated test database, made for whoever asks: pytest-django's own looks for its marks only."""
    with django_db_blocker.unblock():
        before = setup_databases(verbosity=0, interactive=False, aliases={"default"})
    yield
    with django_db_blocker.unblock():
        teardown_databases(before, verbosity=0)


@pytest.fixture(autouse=True)
def _studies_are_planned_at_once(settings):
    """With every revision: the tests of that pause set it themselves."""
    settings.STUDIES_QUIET_SECONDS = 0


@pytest.fixture
def make(db) -> Factory:
    """Makes users, benchmarks and submissions through the services, inside a test that rolls back."""
    empty_broker()
    cache.clear()  # answers on demand, and how often they were asked for: keys are used again after a rollback
    return Factory()


@pytest.fixture
def committed_db(django_db_setup, django_db_blocker) -> Iterator[str]:
    """A database of this test's own, freshly migrated, in which commits are real. Yields its DATABASE_URL."""
    with django_db_blocker.unblock(), own_database() as url:
        yield url


@contextmanager
def own_database() -> Iterator[str]:
    """Work in a copy of the migrated test database, with an empty broker; the value is its DATABASE_URL."""
    empty_broker()
    original = connection.settings_dict["NAME"]
    connections.close_all()
    name, url = _copy(original)
    connection.settings_dict["NAME"] = name
    try:
        yield url
    finally:
        connections.close_all()
        connection.settings_dict["NAME"] = original
        _drop(name)


@pytest.fixture
def site(committed_db, tmp_path) -> Iterator[RunningSite]:
    """The site's processes on this test's own database; the test starts those it needs."""
    running = RunningSite(tmp_path, committed_db)
    try:
        yield running
    finally:
        running.stop_all()


@pytest.fixture
def make_committed(committed_db) -> Factory:
    """As `make`, in a database in which commits are real."""
    return Factory()


def empty_broker() -> None:
    """Forget the wake-ups that tests before this one sent, and that a broker was out of reach."""
    wake_ups._rests_until = 0.0
    if settings.REDIS_URL:
        import redis

        with redis.Redis.from_url(settings.REDIS_URL) as client:
            client.flushdb()
    else:
        shutil.rmtree(settings.BROKER_FOLDER, ignore_errors=True)


def _copy(original: str) -> tuple[str, str]:
    if settings.IS_SQLITE:
        path = settings.VAR / f"copy-{uuid.uuid4().hex}.sqlite3"
        with sqlite3.connect(original) as source, sqlite3.connect(path) as target:
            source.backup(target)
        source.close()
        target.close()
        return str(path), f"sqlite:///{path}"
    name = f"plurank_copy_{uuid.uuid4().hex}"
    _administer(f'CREATE DATABASE "{name}" TEMPLATE "{original}"')
    parts = connection.settings_dict
    password = f":{parts['PASSWORD']}" if parts["PASSWORD"] else ""
    host, port = parts["HOST"] or "127.0.0.1", parts["PORT"] or 5432
    return name, f"postgres://{parts['USER']}{password}@{host}:{port}/{name}"


def _drop(name: str) -> None:
    if settings.IS_SQLITE:
        for path in settings.VAR.glob(f"{name.rsplit('/', 1)[-1]}*"):
            path.unlink()
    else:
        _administer(f'DROP DATABASE "{name}" WITH (FORCE)')


def _administer(statement: str) -> None:
    """Run a statement that needs a connection to no particular database."""
    with connection._nodb_cursor() as cursor:
        cursor.execute(statement)
