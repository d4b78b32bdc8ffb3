"""Whether a worker is unresponsive: connected and alive, and taking nothing any more.

A Celery worker may stay so after its broker went away and came back. Nothing is lost by that, as jobs are rows; but
they wait. Wake-ups that wait in the queue of an idle worker are the sign of it. The worker then ends itself, so that
anyone who keeps it running starts it again.
"""

UNRESPONSIVE_SECONDS = 15.0  # others take a message within moments
UNRESPONSIVE_STATUS = 75  # "try again later", as sysexits.h has it


class Watchdog:
    """Since when wake-ups have been waiting without anyone at work here."""

    def __init__(self, limit_seconds: float) -> None:
        self.limit_seconds = limit_seconds
        self._since: float | None = None

    def hear(self) -> None:
        """A message was taken: the worker is not unresponsive."""
        self._since = None

    def is_unresponsive(self, now: float, *, is_at_work: bool, n_waiting: int) -> bool:
        """Whether messages have been waiting for too long beside an idle worker. To be asked again and again.

        Args:
            now: seconds of a clock that only goes forward.
            is_at_work: whether a job is running here; the next one then has to wait.
            n_waiting: messages in the queues that this worker listens to.
        """
        if is_at_work or not n_waiting:
            self._since = None
            return False
        if self._since is None:
            self._since = now
        return now - self._since >= self.limit_seconds
