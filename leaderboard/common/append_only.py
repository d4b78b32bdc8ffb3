"""The permit to change append-only rows. Code that asks for it also records what was changed, and why."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction

from leaderboard.models import AppendOnlyPermit


@contextmanager
def append_only_permit(reason: str) -> Iterator[None]:
    """Open the append-only tables to this transaction alone: no other one ever sees the permit's row.

    Raises:
        RuntimeError: no transaction is open.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("a permit is given inside the transaction that it is for")
    permit = AppendOnlyPermit.objects.create(reason=reason[:200])
    yield
    permit.delete()
