"""Recognising a database that is busy or not reachable: the same request may succeed later."""

from django.db import InterfaceError, InternalError, OperationalError

RETRY_SECONDS = 2
AWAY_SECONDS = 5
# PostgreSQL: two transactions waited for each other, or could not be put in an order, or a lock was not to be had.
PASSING = {"40001", "40P01", "55P03"}
IDLE_TOO_LONG = "25P03"  # PostgreSQL ended a transaction in which this side computed for too long


def is_busy(error: BaseException) -> bool:
    """Whether `error` says that other writers were in the way. The transaction it ended left nothing behind."""
    if isinstance(error, InternalError):
        return getattr(error.__cause__, "sqlstate", None) == IDLE_TOO_LONG
    if not isinstance(error, OperationalError):
        return False
    return "database is locked" in str(error) or getattr(error.__cause__, "sqlstate", None) in PASSING


# SQLite has no states, and says by an `OperationalError` that a table is missing, too.
SQLITE_AWAY = ("disk is full", "disk I/O error", "unable to open database file", "readonly database")
READ_ONLY = "25006"  # PostgreSQL: a standby, or a primary that is being failed over


def is_away(error: BaseException) -> bool:
    """Whether `error` says that the database cannot be reached, or cannot store anything now.

    What a request had committed before stays committed.
    """
    if isinstance(error, InterfaceError):
        return True
    sqlstate = getattr(error.__cause__, "sqlstate", None)
    if isinstance(error, InternalError):
        return sqlstate == READ_ONLY
    if not isinstance(error, OperationalError) or is_busy(error):
        return False
    if type(error.__cause__).__module__.startswith("sqlite3"):
        return any(text in str(error) for text in SQLITE_AWAY)
    return True
