"""A progress bar on standard error, for the person who waits; a file or a pipe gets nothing."""

from __future__ import annotations

import shutil
import sys
import time
from types import TracebackType
from typing import TextIO

WIDTH = 24
SECONDS_BETWEEN = 0.1  # drawing more often than this would take time from the work


class ProgressBar:
    """Draws how far some work is; a context manager that wipes the bar at its end.

    Call it with the number of steps done, their total and, where there is one, the name of the step that begins.
    """

    def __init__(self, what: str, stream: TextIO | None = None) -> None:
        self.what, self.stream = what, sys.stderr if stream is None else stream
        self.is_shown = self.stream.isatty()
        self._drawn_at, self._label = 0.0, ""

    def __call__(self, done: int, total: int, label: str = "") -> None:
        """Show that `done` of `total` steps are done."""
        now = time.monotonic()
        is_news = label != self._label or done == total
        if not self.is_shown or not (is_news or now - self._drawn_at >= SECONDS_BETWEEN):
            return
        self._drawn_at, self._label = now, label
        line = bar_line(self.what, done, total, label)[: shutil.get_terminal_size().columns - 1]
        self.stream.write(f"\r\x1b[K{line}")
        self.stream.flush()

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._drawn_at:
            self.stream.write("\r\x1b[K")
            self.stream.flush()


def bar_line(what: str, done: int, total: int, label: str = "") -> str:
    """Return the bar as text, such as `ranking [######      ] 12/24 Borda`."""
    filled = WIDTH * done // total if total else WIDTH
    return f"{what} [{'#' * filled}{' ' * (WIDTH - filled)}] {done}/{total} {label}".rstrip()
