"""Locks: a request that counts a person's rows and adds one waits for others that do the same."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction
from django.db.models import F

from leaderboard.models import User

BRIEF_MS = 50


@contextmanager
def user_lock(user: User) -> Iterator[None]:
    """A transaction in which no other one of the same user runs this block at the same time.

    An UPDATE that changes nothing keeps the user's row until the transaction ends; SQLite has one writer anyway.
    """
    with transaction.atomic():
        User.objects.filter(pk=user.pk).update(n_benchmarks_made=F("n_benchmarks_made"))
        yield


@contextmanager
def without_waiting() -> Iterator[None]:
    """A transaction that waits BRIEF_MS for other writers at most: for what a page can do without.

    Raises:
        DatabaseError: others were in the way, or the database stores nothing now.
    """
    if connection.vendor != "sqlite":
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(f"SET LOCAL lock_timeout = {BRIEF_MS}")
            yield
        return
    connection.ensure_connection()
    own = connection.connection
    (usual,) = own.execute("PRAGMA busy_timeout").fetchone()
    own.execute(f"PRAGMA busy_timeout = {BRIEF_MS}")
    try:
        with transaction.atomic():
            yield
    finally:
        own.execute(f"PRAGMA busy_timeout = {usual}")
