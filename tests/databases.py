"""The databases of the tests: one that is migrated, and copies of it.

To migrate an empty database takes longer than the tests of most packages. What comes of it is kept until a migration, a
model, a setting or a package changes: on SQLite as a file beside the locks of the runs (`config/settings/tests.py`), on
PostgreSQL as a database beside the site's. `tests/leaderboard/operations/test_going_back.py` compares its schema with
that of databases which `manage.py migrate` has just made.
"""

import fcntl
import hashlib
import shutil
import sqlite3
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, ProgrammingError, connection, connections

from config.settings.tests import folder_of_runs
from leaderboard.queue import wake_ups

MAX_KEPT = 3  # of this checkout, and of others that are at work on other migrations
DIGITS = 16  # of a digest
INSUFFICIENT_PRIVILEGE = "42501"
MADE_OF = ("leaderboard/migrations/*.py", "leaderboard/models/*.py", "config/settings/*.py", "requirements.lock")


@contextmanager
def migrated_database() -> Iterator[None]:
    """Work in this run's test database, which is migrated and empty."""
    name, prefix = connection.settings_dict["TEST"]["NAME"], _prefix_of_kept()
    kept = f"{prefix}{_digest()}"
    connections.close_all()
    drop(name)
    with (folder_of_runs() / "migrating.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one migrates, and the others copy what it made
        if kept in _kept(prefix):
            _copy(kept, name)
        else:
            if not settings.IS_SQLITE:
                _administer(f'CREATE DATABASE "{name}"')
            with connected_to(name):
                call_command("migrate", interactive=False, verbosity=0)
            _copy(name, kept)
            for older in _kept(prefix)[MAX_KEPT:]:
                with suppress(DatabaseError):  # somebody copies it just now
                    drop(older)
    with connected_to(name):
        yield
    drop(name)


@contextmanager
def own_database() -> Iterator[str]:
    """Work in a copy of the migrated test database, with an empty broker; the value is its DATABASE_URL."""
    empty_broker()
    unique = uuid.uuid4().hex
    name = str(settings.VAR / f"copy-{unique}.sqlite3") if settings.IS_SQLITE else f"plurank_copy_{unique}"
    connections.close_all()
    _copy(connection.settings_dict["NAME"], name)
    try:
        with connected_to(name):
            yield _url(name)
    finally:
        drop(name)


def empty_broker() -> None:
    """Forget the wake-ups that tests before this one sent, and that a broker was out of reach."""
    wake_ups._rests_until = 0.0
    if settings.REDIS_URL:
        import redis

        with redis.Redis.from_url(settings.REDIS_URL) as client:
            client.flushdb()
    else:
        shutil.rmtree(settings.BROKER_FOLDER, ignore_errors=True)


@contextmanager
def connected_to(name: str) -> Iterator[None]:
    """Work in the database of this name."""
    original = connection.settings_dict["NAME"]
    connections.close_all()
    connection.settings_dict["NAME"] = name
    try:
        yield
    finally:
        connections.close_all()
        connection.settings_dict["NAME"] = original


def _prefix_of_kept() -> str:
    """How the names of the databases begin that are kept for the next run."""
    if settings.IS_SQLITE:
        return f"{folder_of_runs()}/migrated-"
    return f"{connection.settings_dict['NAME']}_migrated_"


def _digest() -> str:
    """A digest of all that a migrated database is made of."""
    files = sorted(file for pattern in MADE_OF for file in settings.ROOT.glob(pattern))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:DIGITS]


def _kept(prefix: str) -> list[str]:
    """The databases that are kept, the newest first."""
    if settings.IS_SQLITE:
        folder, name = Path(prefix).parent, Path(prefix).name
        files = folder.glob(f"{name}{'?' * DIGITS}")
        return [str(file) for file in sorted(files, key=lambda file: file.stat().st_mtime, reverse=True)]
    with connection._nodb_cursor() as cursor:
        cursor.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s) ORDER BY oid DESC", [prefix])
        return [name for (name,) in cursor.fetchall()]


def _copy(original: str, name: str) -> None:
    if not settings.IS_SQLITE:
        _administer(f'CREATE DATABASE "{name}" TEMPLATE "{original}"')
        return
    unfinished = Path(f"{name}.unfinished")
    with sqlite3.connect(original) as source, sqlite3.connect(unfinished) as target:
        source.backup(target)
    source.close()
    target.close()
    unfinished.replace(name)


def drop(name: str) -> None:
    if settings.IS_SQLITE:
        for suffix in ("", "-wal", "-shm"):
            Path(f"{name}{suffix}").unlink(missing_ok=True)
    else:
        for n_left in reversed(range(50)):
            try:
                _administer(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
            except ProgrammingError as error:
                # PostgreSQL does not let this role end its own autovacuum of the database, which soon ends by itself.
                if getattr(error.__cause__, "sqlstate", "") != INSUFFICIENT_PRIVILEGE or not n_left:
                    raise
                time.sleep(0.2)
            else:
                return


def _url(name: str) -> str:
    """The DATABASE_URL of a database on the server of the tests, or of a file."""
    if settings.IS_SQLITE:
        return f"sqlite:///{name}"
    parts = connection.settings_dict
    password = f":{parts['PASSWORD']}" if parts["PASSWORD"] else ""
    return f"postgres://{parts['USER']}{password}@{parts['HOST'] or '127.0.0.1'}:{parts['PORT'] or 5432}/{name}"


def _administer(statement: str) -> None:
    """Run a statement that needs a connection to no particular database."""
    with connection._nodb_cursor() as cursor:
        cursor.execute(statement)
