"""One error that is repeated is logged once with its traceback, then as a line a minute with a count.

While the database is away every loop of a process fails the same way many times a second. `RepeatedErrors` is in
front of a process's own handler: the first record of an error passes whole; the same one again only counts. A minute
later one line says how often it came and for how long, and one more when it has ended.
"""

import logging
import os
import threading
import time
import traceback
from dataclasses import dataclass
from typing import Any

EVERY_SECONDS = 60.0
MOST_ERRORS = 200  # different ones that are remembered
# What is no fault of the program, by the names of the classes: it comes from every place that wants the same thing.
SURROUNDINGS = {"DatabaseError", "InterfaceError", "OSError", "KombuError", "RedisError"}
LEAST_ERROR = 500  # a status below is about one request, and every one of them is logged


@dataclass
class Repeats:
    """One error: how often it came, and of these how often since it was last logged."""

    record: logging.LogRecord
    first: float
    last: float
    logged: float
    n_in_all: int = 1
    n_unsaid: int = 0


class RepeatedErrors(logging.Filter):
    """Lets the first of each error through, and of its repetitions one line a minute.

    Two errors are the same where they were logged by the same line of code and say the same. Where the surroundings
    failed, such as a database or a broker that is away, they are the same where the exception is of the same class and
    was raised at the same place, whatever was being done. Records below `WARNING` always pass, and so do answers to
    requests below 500.
    """

    def __init__(self, every_seconds: float = EVERY_SECONDS) -> None:
        super().__init__()
        self.every_seconds = every_seconds
        self._begin()
        os.register_at_fork(after_in_child=self._begin)  # a thread is not inherited, and its lock may be held

    def _begin(self) -> None:
        self._known: dict[tuple[Any, ...], Repeats] = {}
        self._lock = threading.Lock()
        self._teller: threading.Thread | None = None

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is logged now."""
        if record.levelno < logging.WARNING or hasattr(record, "repeats"):
            return True
        if getattr(record, "status_code", LEAST_ERROR) < LEAST_ERROR:
            return True
        now, key = time.monotonic(), _key(record)
        with self._lock:
            known = self._known.get(key)
            if known is None:
                while len(self._known) >= MOST_ERRORS:
                    del self._known[min(self._known, key=lambda one: self._known[one].last)]
                self._known[key] = Repeats(record, first=now, last=now, logged=now)
            else:
                known.record, known.last = record, now
                known.n_in_all += 1
                known.n_unsaid += 1
            if self._teller is None:
                self._teller = threading.Thread(target=self._tell, name="repeated errors", daemon=True)
                self._teller.start()
        return known is None

    def _tell(self) -> None:
        while True:
            time.sleep(self.every_seconds / 4)
            if not self.tell(time.monotonic()):
                return

    def tell(self, now: float) -> bool:
        """Say which errors came again since they were last logged, and which have ended, a minute after that each.

        Returns:
            Whether there is anything left that may have to be said later.
        """
        with self._lock:
            due = {key: known for key, known in self._known.items() if now - known.logged >= self.every_seconds}
            lines = [_line(known, is_over=not known.n_unsaid) for known in due.values() if known.n_in_all > 1]
            for key, known in due.items():
                if not known.n_unsaid:  # it has not come since it was last spoken of
                    del self._known[key]
                known.logged, known.n_unsaid = now, 0
            is_idle = not self._known
            if is_idle:
                self._teller = None
        for line in lines:
            logging.getLogger(line.name).handle(line)
        return not is_idle


def _key(record: logging.LogRecord) -> tuple[Any, ...]:
    error = record.exc_info[1] if record.exc_info else None
    place: tuple[Any, ...] = (record.name, record.pathname, record.lineno)
    if error is None:
        return (*place, record.getMessage())
    raised = traceback.extract_tb(error.__traceback__)[-1:] if error.__traceback__ else []
    where = tuple((frame.filename, frame.lineno) for frame in raised)
    if SURROUNDINGS & {kind.__name__ for kind in type(error).__mro__}:
        return (*place, type(error), where)
    return (*place, type(error), where, record.getMessage())


def _line(known: Repeats, *, is_over: bool) -> logging.LogRecord:
    """What is said of an error that came more than once, in one line."""
    record = known.record
    error = record.exc_info[1] if record.exc_info else None
    lines = str(error).strip().splitlines() if error else []
    cause = f": {type(error).__name__}{f': {lines[0][:300]}' if lines else ''}" if error else ""
    seconds = known.last - known.first
    number, unit = (round(seconds), "second") if seconds < 90 else (round(seconds / 60), "minute")
    times = f"{known.n_in_all:,} times within {number:,} {unit}{'' if number == 1 else 's'}"
    summary = f"it has ended: {times}" if is_over else f"{times}, and goes on"
    line = logging.makeLogRecord(vars(record))
    line.msg, line.args = "%s", (f"{record.getMessage()}{cause} [{summary}]",)
    line.exc_info = line.exc_text = line.stack_info = None
    line.created = time.time()
    line.msecs = (line.created % 1) * 1000
    line.repeats = known.n_in_all
    return line
