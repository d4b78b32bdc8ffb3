"""A bound on every wait for PostgreSQL, on the server and on this side.

The server ends statements and waits for locks that take too long (`statement_timeout`, `lock_timeout`). A server that
vanished or hangs ends nothing, and a socket waits for it for minutes or hours. So a thread of this process looks at the
statements under way once a second and closes the connection of one that is overdue: its thread gets an
`OperationalError` and goes on.
"""

import logging
import math
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

GRACE_SECONDS = 3.0  # beyond the server's own limit: it ends a statement more gently than a closed socket
CHECK_SECONDS = 1.0
WAITING = ("_commit", "_rollback", "is_usable")  # what waits for the server past Django's wrappers of statements

logger = logging.getLogger(__name__)
_lock = threading.Lock()
_under_way: dict[int, tuple[BaseDatabaseWrapper, float]] = {}  # by thread: its connection, and when it is overdue
_hurried = threading.local()  # `until`: when the statements of a thread are overdue that is in more of a hurry
_watcher_pid = 0


def bound_waits(seconds: int) -> None:
    """Bound every statement of this process from its next connection to PostgreSQL on.

    Args:
        seconds: how long a statement may take; the server has the same limit as `statement_timeout`.
    """
    limit = seconds + GRACE_SECONDS

    def bound(connection: Any, **_signal: object) -> None:  # noqa: ANN401 -- a backend's own parts are not typed
        if connection.vendor != "postgresql" or hasattr(connection, "is_bounded"):  # it may connect again and again
            return

        def within(execute: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ANN401
            until = getattr(_hurried, "until", math.inf)
            with _watched(connection, min(until, time.monotonic() + limit)):
                return execute(*arguments)

        connection.execute_wrappers.append(within)
        for name in WAITING:
            setattr(connection, name, partial(within, getattr(connection, name)))
        connection.is_bounded = True
        connection.wait_seconds = limit

    connection_created.connect(bound, weak=False, dispatch_uid="plurank.query_limits")


@contextmanager
def bounded(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Bound what waits for PostgreSQL past Django's wrappers of statements, such as COPY, as these are bounded."""
    seconds = getattr(connection, "wait_seconds", None)
    if seconds is None:
        yield
        return
    with _watched(connection, time.monotonic() + seconds):
        yield


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Bound all that this thread waits for PostgreSQL inside, where the process bounds its statements at all.

    Args:
        seconds: for all statements together; the connection of one that is overdue is closed a second later at most.
    """
    _hurried.until = time.monotonic() + seconds
    try:
        yield
    finally:
        del _hurried.until


@contextmanager
def _watched(connection: BaseDatabaseWrapper, overdue_at: float) -> Iterator[None]:
    global _watcher_pid  # noqa: PLW0603 -- a forked process has no watcher yet
    thread = threading.get_ident()
    with _lock:
        _under_way[thread] = (connection, overdue_at)
        if _watcher_pid != os.getpid():
            _watcher_pid = os.getpid()
            threading.Thread(target=_watch, daemon=True, name="query limits").start()
    try:
        yield
    finally:
        with _lock:
            _under_way.pop(thread, None)


def _watch() -> None:
    while True:
        time.sleep(CHECK_SECONDS)
        now = time.monotonic()
        with _lock:
            overdue = [thread for thread, (_, at) in _under_way.items() if at <= now]
            for thread in overdue:
                connection, _ = _under_way.pop(thread)
                logger.error("PostgreSQL did not answer in time: the connection is closed")
                try:  # closing the socket under it ends the wait of the other thread
                    with socket.socket(fileno=os.dup(connection.connection.pgconn.socket)) as own:
                        own.shutdown(socket.SHUT_RDWR)
                except Exception as error:  # noqa: BLE001 -- it may have ended just now, and the watcher must go on
                    logger.debug("the connection was closed already: %s", error)
