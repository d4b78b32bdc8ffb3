"""`manage.py run_due QUEUE`: run the jobs of a queue that wait without a wake-up, here and now."""

import os
import signal
import socket
import threading
import time
from argparse import ArgumentParser
from importlib import import_module
from typing import cast

from django.conf import settings
from django.core.management.base import BaseCommand

import config.celery  # noqa: F401 -- jobs send wake-ups through this application
from config.processes.arguments import duration
from jobs.limits import limit_memory
from jobs.runner import run_job
from leaderboard.models import Job
from leaderboard.queue.jobs import unwoken_jobs
from leaderboard.queue.kinds import kind_of


class Command(BaseCommand):
    """What a worker of the queue would do on wake-ups, under the same limits of memory and time."""

    help = "Run the jobs of a queue that have waited too long for a wake-up. Workers start it where none comes."
    requires_system_checks = ()  # they import every page

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say what the command takes."""
        parser.add_argument("queue", choices=Job.Queue.values)
        parser.add_argument("--for", type=duration, default=60.0, metavar="SECONDS", help="begin no job after so long")
        parser.add_argument("--include", action="append", default=[], metavar="MODULE", help="import this, too")
        parser.add_argument("--leashed", action="store_true", help="give the job back when standard input ends")

    def handle(self, *args: object, **options: object) -> None:
        """Run one after the other until none waits."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
            signal.signal(number, _leave)  # the runner then gives the job back
        for module in cast("list[str]", options["include"]):
            import_module(module)
        if options["leashed"]:
            threading.Thread(target=_leave_with_parent, daemon=True).start()
        limit_memory()
        worker, queue = f"{socket.gethostname()}:{os.getpid()}", str(options["queue"])
        end = time.monotonic() + float(str(options["for"]))
        while time.monotonic() < end and (waiting := unwoken_jobs(queue)):
            for job in waiting:
                # A job that never returns ends the process, as Celery would do it.
                signal.alarm(kind_of(job.kind).limit_seconds + settings.JOB_GRACE_SECONDS)
                run_job(job.pk, worker=worker)  # which logs what came of it
                signal.alarm(0)
                if time.monotonic() >= end:
                    break


def _leave(*_signal: object) -> None:
    raise SystemExit(0)


def _leave_with_parent() -> None:
    os.read(0, 1)  # nothing is ever sent: it returns when the other end is closed, or dead
    os.kill(os.getpid(), signal.SIGTERM)
