"""One `migrate` at a time: several containers or machines that start at once may all run it."""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any
from zlib import crc32

from django.db.backends.base.base import BaseDatabaseWrapper

ADVISORY_KEY = crc32(b"plurank migrate")  # within one database of PostgreSQL
LOOK_SECONDS = 0.2


@contextmanager
def migration_turn(connection: BaseDatabaseWrapper, waits: Callable[[], None]) -> Iterator[None]:
    """Keep every other `migrate` of this database waiting. A process that is killed lets go at once.

    Args:
        connection: to the database. The turn is kept on a connection of its own.
        waits: called once where another has its turn.
    """
    if connection.vendor == "sqlite":
        name = str(connection.settings_dict["NAME"])
        if connection.is_in_memory_db():  # type: ignore[attr-defined]
            yield
            return
        # Not the database itself, which Django has to write to meanwhile.
        with closing(sqlite3.connect(f"{name}.migrating", timeout=0, isolation_level=None)) as lock:
            _wait(lambda: _locks_file(lock), waits)
            yield
        return
    own: Any = connection.copy()
    try:
        _wait(lambda: _takes_advisory_lock(own), waits)
        yield
    finally:
        own.close()


def _wait(is_ours: Callable[[], bool], waits: Callable[[], None]) -> None:
    if is_ours():
        return
    waits()
    while not is_ours():
        time.sleep(LOOK_SECONDS)


def _locks_file(lock: sqlite3.Connection) -> bool:
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True


def _takes_advisory_lock(connection: Any) -> bool:  # noqa: ANN401 -- a backend's own parts are not typed
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [ADVISORY_KEY])
        return bool(cursor.fetchone()[0])
