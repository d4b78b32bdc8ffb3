"""Kills the children of a supervisor that was killed. A program of its own, which needs nothing but Python."""

import os
import signal
import sys
from contextlib import suppress
from typing import IO


def guard(lines: IO[str]) -> None:
    """Follow which process groups live (`+123`, `-123`); when the lines end, kill those that are left.

    They end in order, with nothing left, when the supervisor stops; or too early, when it was killed.
    """
    groups: set[int] = set()
    for line in lines:
        (groups.add if line.startswith("+") else groups.discard)(int(line[1:]))
    for group in groups:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    guard(sys.stdin)
