"""Uploaded files that a process of its own reads: as many at once as are computed on demand, counted with these."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from leaderboard.computing.pool import NoTurnError
from leaderboard.on_demand.budget import BusyError, children, count_request, reader_now
from ranking_engine.evaluation.rows import PARQUET_MARK


@contextmanager
def turn_to_read(data: bytes) -> Iterator[None]:
    """Wait a little for the turn to read a file, if it is Parquet; others are read in this process, at once.

    Args:
        data: of the file.

    Raises:
        TooOftenError: this reader had too much computed of late.
        BusyError: too much is being read and computed for others.
        AbandonedError: the client has hung up.
    """
    with ExitStack() as stack:
        if data.startswith(PARQUET_MARK):
            count_request()
            reader = reader_now()
            try:
                stack.enter_context(children().turn(reader.is_gone if reader else lambda: False))
            except NoTurnError as error:
                raise BusyError from error
        yield
