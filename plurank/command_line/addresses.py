"""Addresses of boards as people copy them, and what a site refuses as an exit status."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ranking_engine.command_line.inputs import UsageError

if TYPE_CHECKING:
    from plurank.client import RemoteBenchmark

EXIT_STATUS = """
exit status: 0 it is done; 1 a fault in the program itself, or its output cannot be written; 2 bad input or arguments;
3 the site refused or did not answer; 4 the submission was rejected or withdrawn, or its board is not published yet; 130
interrupted.

The token is taken from PLURANK_TOKEN, else from ~/.config/plurank/tokens.toml, which only you may read:
  "https://boards.example" = "plurank_..."
"""
_BOARD = re.compile(r"(?P<site>https?://.+?)/(?:b|api/v1/benchmarks)/(?P<key>[^/?#]+)/?(?:[?#].*)?")


class RefusedError(UsageError):
    """A site refused, or did not answer."""

    status = 3


class RejectedError(UsageError):
    """A submission that is not on the board."""

    status = 4


def add_board_argument(command: argparse.ArgumentParser) -> None:
    """Declare --board."""
    command.add_argument(
        "--board", metavar="URL", required=True, help="the URL of the board, such as https://boards.example/b/glue/"
    )


def board_at(url: str) -> RemoteBenchmark:
    """Return the benchmark of a board's address.

    Raises:
        UsageError: it is none.
    """
    from plurank.client import Site  # noqa: PLC0415 -- needs urllib3

    parts = _BOARD.fullmatch(url.strip())
    if parts is None:
        raise UsageError(f"--board {url[:200]}: expected the URL of a board, such as https://boards.example/b/glue/")
    try:
        return Site(parts["site"]).benchmark(parts["key"])
    except (ValueError, ImportError, PermissionError) as error:
        raise UsageError(str(error)) from error


@contextmanager
def refusals() -> Iterator[None]:
    """Turn what a site refuses into an exit status."""
    from plurank.client import SiteError  # noqa: PLC0415 -- needs urllib3

    try:
        yield
    except SiteError as error:
        raise RefusedError(str(error)) from error
