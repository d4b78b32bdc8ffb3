"""A request to stop that waits while a job's row is written.

Celery ends a job by a signal, which raises `SystemExit` wherever its process is, and the job is given back. Raised
between the claim and the job's own `try`, or while a failure is being written, it would leave a row that says that
someone works on it, and the job would wait until its lease ran out.
"""

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

SIGNALS = (signal.SIGTERM, signal.SIGQUIT)


class StopRequest:
    """A context around one job. It begins with holding a request back; one that came is obeyed at its end at last."""

    def __init__(self) -> None:
        self._handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}
        self._number = 0  # of the signal that came
        self._is_held_back = True

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():  # no other may say what signals do
            for number in SIGNALS:
                handler = signal.getsignal(number)
                if callable(handler):
                    self._handlers[number] = handler
                    signal.signal(number, self._hear)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        if error is None:
            self.obey()

    def hold_back(self) -> None:
        """A request that comes from now on waits."""
        self._is_held_back = True

    def obey(self) -> None:
        """A request is obeyed at once from now on.

        Raises:
            SystemExit: one came already.
        """
        self._is_held_back = False
        if self._number:
            self._handlers[self._number](self._number, None)

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        if self._number:  # it is being obeyed, or will be
            return
        self._number = number
        if not self._is_held_back:
            self.obey()
