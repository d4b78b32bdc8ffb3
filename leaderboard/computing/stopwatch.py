"""How much time a computation takes."""

import time


class Stopwatch:
    """Counts the processor time of this process, in seconds, from when it is made.

    That is what a computation costs on one core, however busy the machine is: what reports and their API state.
    """

    def __init__(self) -> None:
        self._started = time.process_time()

    @property
    def seconds(self) -> float:
        """The time so far."""
        return time.process_time() - self._started
