"""A worker that no longer hears its broker ends itself, so that whoever keeps it running starts it anew.

After its broker went away and came back, a Celery worker may stay deaf: connected and alive, it takes nothing any more.
Nothing is lost by that, as jobs are rows; but they wait. Wake-ups that lie in the queue of a worker that does nothing
are the sign of it.
"""

import logging
import os
import sys
import threading
import time

from celery.signals import task_received, worker_ready

from leaderboard.enqueue import count_wake_ups

CHECK_SECONDS = 5.0
DEAF_SECONDS = 15.0  # a worker that hears takes a message within moments
DEAF_STATUS = 75  # "try again later", as sysexits.h has it

logger = logging.getLogger(__name__)


class Watchdog:
    """Since when wake-ups have been lying there without anybody at work here."""

    def __init__(self, deaf_seconds: float) -> None:
        self.deaf_seconds = deaf_seconds
        self._since: float | None = None

    def hear(self) -> None:
        """A message was taken: the worker is not deaf."""
        self._since = None

    def is_deaf(self, now: float, *, is_at_work: bool, n_waiting: int) -> bool:
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
        return now - self._since >= self.deaf_seconds


@worker_ready.connect
def watch(sender: object = None, **_signal: object) -> None:
    """Look after this worker, in a thread of its main process."""
    watchdog = Watchdog(DEAF_SECONDS)
    task_received.connect(lambda **_: watchdog.hear(), weak=False)
    queues = [getattr(queue, "name", queue) for queue in sender.task_consumer.queues]  # type: ignore[attr-defined]
    threading.Thread(target=_look_after, args=(watchdog, queues), name="watchdog", daemon=True).start()


def _look_after(watchdog: Watchdog, queues: list[str]) -> None:
    from celery.worker import state  # noqa: PLC0415 -- no other process than a worker needs it

    while True:
        time.sleep(CHECK_SECONDS)
        n_waiting = sum(map(count_wake_ups, queues))
        if watchdog.is_deaf(time.monotonic(), is_at_work=bool(state.active_requests), n_waiting=n_waiting):
            logger.error("%d wake-ups wait, and this worker has not taken any for too long: it ends", n_waiting)
            sys.stderr.flush()
            os._exit(DEAF_STATUS)  # an orderly end would wait for what no longer answers
