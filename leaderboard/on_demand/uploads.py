"""Uploaded files that a process of its own reads: a few at once, and not in the turns of what readers have computed."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

from leaderboard.computing.pool import LOOK_EVERY, AbandonedError
from leaderboard.on_demand.budget import BusyError, count_request, reader_now
from ranking_engine.evaluation.rows import PARQUET_MARK

AT_ONCE = 2  # in each web process; such a process may take some hundred megabytes, and a minute
_turns = threading.BoundedSemaphore(AT_ONCE)


@contextmanager
def turn_to_read_parquet(data: bytes) -> Iterator[None]:
    """Wait a little for the turn to read a file, if it is Parquet; others are read in this process, at once.

    Args:
        data: of the file.

    Raises:
        TooOftenError: this reader had too much computed of late.
        BusyError: too many files are being read for others.
        AbandonedError: the client has hung up.
    """
    if not data.startswith(PARQUET_MARK):
        yield
        return
    count_request()
    reader, end = reader_now(), time.monotonic() + settings.ON_DEMAND_PATIENCE_SECONDS
    while not _turns.acquire(timeout=max(0.0, min(LOOK_EVERY, end - time.monotonic()))):
        if reader is not None and reader.is_gone():
            raise AbandonedError
        if time.monotonic() >= end:
            raise BusyError
    try:
        yield
    finally:
        _turns.release()
