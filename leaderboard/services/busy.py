"""What a database says that is busy with others: nothing was done, and the same again may go through."""

from django.db import OperationalError

RETRY_SECONDS = 2
# PostgreSQL: two transactions waited for each other, or could not be put in an order, or a lock was not to be had.
PASSING = {"40001", "40P01", "55P03"}


def is_busy(error: BaseException) -> bool:
    """Whether `error` says that other writers were in the way. The transaction it ended left nothing behind."""
    if not isinstance(error, OperationalError):
        return False
    return "database is locked" in str(error) or getattr(error.__cause__, "sqlstate", None) in PASSING
