"""One import of large files at a time, for the memory that reading them takes."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ranking_engine.files.problems import InputError
from ranking_engine.files.workbooks import table_kind
from ranking_engine.importers import SourceFile
from ranking_engine.importers.archives import is_archive

LARGE_BYTES = 1_000_000
PATIENCE_SECONDS = 10
one_large = threading.BoundedSemaphore(1)


@contextmanager
def turn_to_read_large_files(files: Sequence[SourceFile]) -> Iterator[None]:
    """Wait until no other import of this process reads large files, where these are.

    What is packed counts as large, whatever its size: a small workbook may hold much.

    Args:
        files: that are about to be read.

    Raises:
        InputError: another import took too long.
    """
    is_large = sum(len(file.data) for file in files) > LARGE_BYTES or any(
        is_archive(file.data) or table_kind(file.data) for file in files
    )
    if is_large and not one_large.acquire(timeout=PATIENCE_SECONDS):
        raise InputError.of("the site is busy importing other large files; try again in a moment")
    try:
        yield
    finally:
        if is_large:
            one_large.release()
