"""The output of a child process in files of a bounded size, however much it writes and however long it runs."""

import os
import threading
from contextlib import suppress
from pathlib import Path

LARGEST_LOG = 5_000_000  # bytes of one file
KEPT_LOGS = 3  # earlier files beside the present one: a process keeps 20 MB at most
CHUNK = 65_536


class RotatingLog:
    """A file that makes room for itself between two lines: `web.log`, `web.log.1`, `web.log.2` ...

    What children write comes through a pipe, so that the file can change while they run.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._is_at_line_start = True

    def follow(self) -> int:
        """Copy what is written to a pipe, until no one can write to it any more.

        Returns:
            The end to write to. Anyone who gets it closes it once a child has it.
        """
        reading, writing = os.pipe()
        threading.Thread(target=self._copy, args=(reading,), name=f"log {self.path.name}", daemon=True).start()
        return writing

    def _copy(self, reading: int) -> None:
        try:
            while data := os.read(reading, CHUNK):
                with suppress(OSError):  # a full disk costs lines, and must not stop the child
                    self.write(data)
        finally:
            os.close(reading)

    def write(self, data: bytes) -> None:
        """Add bytes; the file changes only where a line ends, unless a single line is larger than a file may be."""
        with self._lock:
            while data:
                room = LARGEST_LOG - self._size()
                part = data
                if len(data) > room:
                    end = data.rfind(b"\n", 0, max(room, 0)) + 1
                    if not end and not self._is_at_line_start:  # the line under way is ended in the file it began in
                        end = data.find(b"\n", 0, CHUNK) + 1 or (len(data) if room > -CHUNK else 0)
                    part = data[:end]
                if part:
                    self._append(part)
                    data = data[len(part) :]
                else:
                    self._rotate()
                    if len(data) > LARGEST_LOG:
                        self._append(data[:LARGEST_LOG])
                        data = data[LARGEST_LOG:]

    def _size(self) -> int:
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def _append(self, part: bytes) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.write(part)
        self._is_at_line_start = part.endswith(b"\n")

    def _rotate(self) -> None:
        for number in range(KEPT_LOGS, 0, -1):
            earlier = self.path.with_name(f"{self.path.name}.{number - 1}") if number > 1 else self.path
            with suppress(FileNotFoundError):
                earlier.replace(self.path.with_name(f"{self.path.name}.{number}"))
        self._is_at_line_start = True
