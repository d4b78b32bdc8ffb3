"""Looks after a worker, in a thread of its main process.

It writes that the worker lives, tells systemd so, ends it if it is unresponsive, and has jobs run that no one woke it
for.
"""

import faulthandler
import logging
import os
import socket
import sys
import threading
import time
from typing import Any

from celery import bootsteps
from celery.signals import task_received, worker_ready
from django.db import connection

from config.celery import app
from config.processes.systemd import GOES_ON, READY, notify
from jobs import watchdog
from jobs.unwoken import STOP_SECONDS, Unwoken
from leaderboard.queue.heartbeats import Process
from leaderboard.queue.wake_ups import count_wake_ups

CHECK_SECONDS = 5.0
HUNG_SECONDS = 300.0  # a look that takes longer, several limits of the database, is none: the process ends

logger = logging.getLogger(__name__)


class Caretaker:
    """One worker, its heartbeats, its watchdog, and what it does where no one wakes it."""

    def __init__(self, worker: Any) -> None:  # noqa: ANN401 -- Celery has no types
        self.worker = worker
        consumed = worker.app.amqp.queues.consume_from
        self.queues = [queue.alias or name for name, queue in consumed.items()]
        self.processes = [Process(queue, name=worker.hostname) for queue in self.queues]
        self.watchdog = watchdog.Watchdog(watchdog.UNRESPONSIVE_SECONDS)
        self.unwoken = Unwoken(self.queues, time.monotonic(), include=worker.include or ())
        self.is_connected = threading.Event()  # before, a broker that is not reached yet makes no one unresponsive
        self.is_stopping = threading.Event()

    def hear(self) -> None:
        """A wake-up came."""
        self.watchdog.hear()
        self.unwoken.hear(time.monotonic())

    def look_after(self) -> None:
        """Do so until the worker stops."""
        from celery.worker import state  # noqa: PLC0415 -- no other process than a worker needs it

        notify(READY)
        while not self.is_stopping.is_set():
            # No part of this process can keep it from ending then. Celery has put a log in the place of `sys.stderr`.
            faulthandler.dump_traceback_later(HUNG_SECONDS, exit=True, file=sys.__stderr__ or 2)
            try:
                for process in self.processes:
                    process.beat()
                pids = self.worker.pool.info["processes"]
                self.unwoken.look(time.monotonic(), processes=pids, host=socket.gethostname())
            except Exception as error:  # noqa: BLE001 -- whatever it is, the next look tries again
                logger.warning("the worker could not write its heartbeat or look for jobs: %s", error)
            finally:  # on a connection for this moment alone: a worker keeps no more of them than its jobs need
                connection.close()
            n_waiting = sum(map(count_wake_ups, self.queues)) if self.is_connected.is_set() else 0
            if self.watchdog.is_unresponsive(
                time.monotonic(), is_at_work=bool(state.active_requests), n_waiting=n_waiting
            ):
                logger.error("%d wake-ups wait, and this worker has not taken any for too long: it ends", n_waiting)
                sys.stderr.flush()
                os._exit(watchdog.UNRESPONSIVE_STATUS)  # an orderly end would wait for what no longer answers
            notify(GOES_ON)
            self.is_stopping.wait(CHECK_SECONDS)
        faulthandler.cancel_dump_traceback_later()  # a job may still take its time
        self.unwoken.stop()


class CaretakerStep(bootsteps.StartStopStep):
    """A step of a worker's start: after its processes for jobs, and before it has reached its broker.

    It lives, and jobs wait for it, whether there is a broker or not. A process that is forked beside a thread may take
    over a lock that this thread has at that moment, so the first ones come before.
    """

    requires = ("celery.worker.components:Pool",)

    def start(self, worker: Any) -> None:  # noqa: ANN401
        """Begin to look after the worker."""
        self.caretaker = Caretaker(worker)
        task_received.connect(lambda **_: self.caretaker.hear(), weak=False)
        worker_ready.connect(lambda **_: self.caretaker.is_connected.set(), weak=False)
        self.thread = threading.Thread(target=self.caretaker.look_after, name="caretaker", daemon=True)
        self.thread.start()

    def stop(self, worker: Any) -> None:  # noqa: ANN401
        """Have a job given back that runs beside the worker."""
        self.caretaker.is_stopping.set()
        self.thread.join(2 * STOP_SECONDS)

    terminate = stop


app.steps["worker"].add(CaretakerStep)
