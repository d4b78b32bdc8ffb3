"""Jobs that no one woke this worker for, taken from the table.

A wake-up may be lost, and where the broker is away, full or out of order none comes at all. A worker that was idle for
a while then looks for itself. Celery runs no job without a message, so a process beside it does: `manage.py run_due`,
under the same limits, for a minute at most; then the worker looks again whether it is idle.
"""

import logging
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress

from django.conf import settings

from leaderboard.models import Job
from leaderboard.queue.jobs import unwoken_jobs

TURN_SECONDS = 60  # a process begins no job after so long: wake-ups may have come back meanwhile
REST_SECONDS = 60.0  # after a process that failed
STOP_SECONDS = 3.0  # what giving a job back may take

logger = logging.getLogger(__name__)


class Unwoken:
    """Since when a worker is idle, and the process that runs jobs for it."""

    def __init__(self, queues: list[str], now: float, *, include: Sequence[str] = ()) -> None:
        """Of a worker of these queues that imports the modules `include`; `now` as `look` has it."""
        self.queues = queues
        self.include = include
        self._idle_since = now
        self._rests_until = now
        self._process: subprocess.Popen[bytes] | None = None

    def hear(self, now: float) -> None:
        """A wake-up came: the worker is not idle, and its broker is there."""
        self._idle_since = now

    def look(self, now: float, *, processes: list[int], host: str) -> None:
        """Run what waits unwoken, if the worker has been idle for long enough.

        Args:
            now: seconds of a clock that only goes forward.
            processes: the ids of the worker's own processes for jobs.
            host: their machine, as job rows name it.
        """
        if self._process is not None and self._process.poll() is not None:
            if self._process.returncode:
                logger.error("the process for jobs that no one woke ended with status %s", self._process.returncode)
                self._rests_until = now + REST_SECONDS
            if self._process.stdin is not None:
                self._process.stdin.close()
            self._process = None
        workers = [f"{host}:{pid}" for pid in processes]
        if Job.objects.filter(state=Job.State.RUNNING, queue__in=self.queues, worker__in=workers).exists():
            self._idle_since = now
        is_idle = now >= max(self._idle_since + settings.UNWOKEN_SECONDS, self._rests_until)
        if not is_idle or self._process is not None:
            return
        queue = next((queue for queue in self.queues if unwoken_jobs(queue)), None)
        if queue is not None:
            logger.warning("jobs of queue %s wait, and no wake-up comes: they are taken from the table", queue)
            command = [sys.executable, str(settings.ROOT / "manage.py"), "run_due", queue]
            command += ["--for", str(TURN_SECONDS), "--leashed"]
            command += [f"--include={module}" for module in self.include]
            self._process = subprocess.Popen(command, cwd=settings.ROOT, stdin=subprocess.PIPE)  # noqa: S603

    def stop(self) -> None:
        """Have the process give its job back, and end it."""
        if self._process is None or self._process.stdin is None:
            return
        self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(STOP_SECONDS)
        self._process.kill()
