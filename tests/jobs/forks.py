"""Processes of the site that start soon: forked from one that has imported what every process of the site imports.

Most of what a process takes until it works are the imports of packages. What reads the settings is imported by each
process itself, so that each has its own. `python -m tests.jobs.forks NUMBER` serves at the socket of that number.
"""

import atexit
import functools
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[2]
MOST_BYTES = 2**17  # of one request, most of it an environment
# What sites import without asking for a setting, as `tests/jobs/test_start.py` says of each. prometheus_client is left
# out: imported, it looks for the folder into which its process counts.
PACKAGES = (
    "celery.apps.worker",
    "celery.bin.celery",
    "celery.concurrency.prefork",
    "celery.worker.consumer",
    "django.contrib.staticfiles",
    "django.core.management.commands.migrate",
    "django.core.serializers.json",
    "django.db.backends.sqlite3.base",
    "django.forms",
    "django.http",
    "django.template.defaultfilters",
    "django.urls",
    "django.views.generic",
    "gunicorn.app.wsgiapp",
    "gunicorn.workers.gthread",
    "numpy",
    "psycopg",
    "ranking_engine.axioms.search",
    "ranking_engine.catalogue.dispatch",
    "ranking_engine.prospects",
    "ranking_engine.stability.catalogue",
    "redis",
    "requests",
    "sqlparse",
)


class Forked:
    """A process that was forked, like a `subprocess.Popen` in what tests ask of one."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.stdin: IO[str] | None = None
        self.stdout: IO[str] | None = None

    def poll(self) -> int | None:
        """Its status, or None while it runs."""
        if self.returncode is None:
            self.returncode = _server().ask({"ended": self.pid})
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Its status, once it has ended.

        Raises:
            subprocess.TimeoutExpired: it has not within so many seconds.
        """
        began = time.monotonic()
        while (status := self.poll()) is None:
            if timeout is not None and time.monotonic() - began > timeout:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
            time.sleep(0.01)
        return status

    def send_signal(self, number: int) -> None:
        """Send a signal unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)


def start(command: Sequence[str], environment: Mapping[str, str], streams: Sequence[int]) -> Forked:
    """Start `python -m MODULE ...` or `python FILE ...` in this checkout, as the leader of a session of its own.

    Args:
        command: the interpreter and what it is told.
        environment: all of it.
        streams: the descriptors of what it reads, writes and complains to.
    """
    return Forked(_server().ask({"start": command[1:], "environment": dict(environment)}, streams))


class _Server:
    """This process's end of the socket to the process from which others are forked."""

    def __init__(self) -> None:
        self._connection, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = threading.Lock()
        one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        with other:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.jobs.forks", str(other.fileno())],
                cwd=ROOT,
                env=os.environ | one_thread,
                stdin=subprocess.DEVNULL,
                pass_fds=[other.fileno()],
            )
        atexit.register(self.close)

    def ask(self, request: dict[str, Any], descriptors: Sequence[int] = ()) -> Any:
        """The answer to one request."""
        with self._lock:
            socket.send_fds(self._connection, [json.dumps(request).encode()], descriptors)
            return json.loads(self._connection.recv(MOST_BYTES))

    def close(self) -> None:
        """Let the process end."""
        self._connection.close()
        self._process.wait()


@functools.cache
def _server() -> _Server:
    return _Server()


def serve(connection: socket.socket) -> list[str] | None:
    """Fork processes, and tell what became of them, until no one can ask any more.

    Returns:
        In a process that was forked: what it is to run. None at the end.
    """
    while True:
        message, descriptors, _, _ = socket.recv_fds(connection, MOST_BYTES, 3)
        if not message:
            return None
        request = json.loads(message)
        if "ended" in request:
            pid, status = os.waitpid(request["ended"], os.WNOHANG)
            connection.send(json.dumps(os.waitstatus_to_exitcode(status) if pid else None).encode())
        elif os.fork():
            for descriptor in descriptors:
                os.close(descriptor)
        else:
            os.setsid()
            connection.send(json.dumps(os.getpid()).encode())  # whoever asked may signal the group from now on
            for stream, descriptor in enumerate(descriptors):
                os.dup2(descriptor, stream)
                os.close(descriptor)
            # As the interpreter makes it: whether it can be sought in depends on where it leads now.
            sys.stdout = open(1, "w", encoding=sys.stdout.encoding, closefd=False)  # noqa: SIM115 -- to the end
            os.environ.clear()
            os.environ.update(request["environment"])
            return request["start"]


def main() -> None:
    """Serve, and in each process that is forked run what was asked for, as the interpreter would."""
    for package in PACKAGES:
        importlib.import_module(package)
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        command = serve(connection)
    if command is None:
        return
    if command[0] == "-m":
        sys.argv = command[1:]
        runpy.run_module(command[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = command
        runpy.run_path(command[0], run_name="__main__")


if __name__ == "__main__":
    main()
