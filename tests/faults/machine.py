"""A PostgreSQL, a Redis and a site of this run's own, on ports of their own, all of which may be killed."""

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from config.local_services import (
    make_cluster,
    postgres_answers,
    postgres_command,
    redis_answers,
    redis_command,
)
from tests.faults.ports import free_port

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[2]
LEASE_SECONDS = 2
BOARD_SECONDS = 10


class Machine:
    """Starts everything on entering, ends everything on leaving."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="plurank-faults-"))
        self.folder.chmod(0o755)  # the user postgres must come through
        self.var = self.folder / "var"
        self.var.mkdir(mode=0o700)
        self.ports = {name: free_port() for name in ("web", "postgresql", "redis")}
        self.url = f"http://127.0.0.1:{self.ports['web']}"
        # One fault at a time for what all schedules share.
        self.locks = {name: threading.RLock() for name in ("postgresql", "redis", "site")}
        self._running: dict[str, subprocess.Popen] = {}
        database = make_cluster(self.folder / "postgresql", port=self.ports["postgresql"])
        self.environment = {
            "DATABASE_URL": database,
            "REDIS_URL": f"redis://127.0.0.1:{self.ports['redis']}/0",
            "PLURANK_VAR": str(self.var),
            "PLURANK_SECRET_KEY": secrets.token_urlsafe(50),
            "PLURANK_DEBUG": "true",
            "PLURANK_URL": self.url,
            "PLURANK_LEASE_SECONDS": str(LEASE_SECONDS),
            "PLURANK_BOARD_SECONDS": str(BOARD_SECONDS),
            "PLURANK_JOB_GRACE_SECONDS": "2",
            # Several schedules kill workers at once, so that one job may be hit again and again.
            "PLURANK_JOB_ATTEMPTS": "8",
            "PLURANK_STUDIES_RUN": "demand",
            "PLURANK_BENCHMARKS_PER_ACCOUNT": "100000",
            "PLURANK_API_ADDRESS_RATE": "1000000/min",
            "PLURANK_API_USER_RATE": "1000000/min",
            "PLURANK_API_TOKEN_RATE": "1000000/min",
            "PLURANK_API_WRITE_RATE": "1000000/min",
        }
        os.environ.update(self.environment)

    def __enter__(self) -> "Machine":
        try:
            self.start_postgresql()
            self.start_redis()
            migrate = [sys.executable, "manage.py", "migrate", "--noinput", "-v", "0"]
            subprocess.run(migrate, cwd=ROOT, check=True)
            self.start_site()
            self.wait_until(self.answers, 120, "the web server answers")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        for name in ("site", "postgresql", "redis"):
            self.kill(name)
        time.sleep(0.5)  # the guard kills what the supervisor left
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- Starting and killing ----------------------------------------------------------------------------------------
    def _start(self, name: str, command: list[str]) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            self._running[name] = subprocess.Popen(
                command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    def kill(self, name: str, number: int = signal.SIGKILL) -> None:
        """Send a signal to a service or to the site's supervisor alone, and wait for its end."""
        process = self._running.pop(name, None)
        if process is not None:
            process.send_signal(number)
            process.wait(timeout=30)

    def signal(self, name: str, number: int) -> None:
        """Send a signal that does not end it."""
        self._running[name].send_signal(number)

    def start_postgresql(self) -> None:
        """Start the database, after a crash too, and wait until it answers."""
        command = postgres_command(self.folder / "postgresql", port=self.ports["postgresql"], max_connections="200")
        url = self.environment["DATABASE_URL"]
        for _ in range(20):  # after SIGKILL its children hold the memory that they shared for a moment
            self._start("postgresql", command)
            process = self._running["postgresql"]
            self.wait_until(lambda p=process: p.poll() is not None or postgres_answers(url), 60, "PostgreSQL answers")
            if process.poll() is None:
                return
            time.sleep(0.2)
        raise AssertionError(f"PostgreSQL does not start\n{self.logs()}")

    def start_redis(self) -> None:
        """Start the broker, empty, and wait until it answers."""
        self._start("redis", redis_command(self.folder, port=self.ports["redis"]))
        self.wait_until(lambda: redis_answers(self.ports["redis"]), 30, "Redis answers")

    def start_site(self) -> None:
        """Start the supervisor, which starts everything else."""
        self._start("site", [sys.executable, "-m", "tests.faults.serve", str(self.ports["web"])])

    def children(self) -> dict[str, int]:
        """The process of every child of the supervisor, by its name."""
        try:
            return dict(json.loads((self.var / "supervisor.json").read_text())["children"])
        except (OSError, ValueError):
            return {}

    def signal_group(self, process: int, number: int) -> bool:
        """Send a signal to a child of the supervisor and all that it started. False where it is gone."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process, number)
            return True
        return False

    # --- Waiting -----------------------------------------------------------------------------------------------------
    def answers(self) -> bool:
        """Whether the web server reaches its database."""
        try:
            with urllib.request.urlopen(f"{self.url}/healthz/", timeout=5) as response:
                return response.status == 200
        except OSError:
            return False

    def wait_until(self, condition: Callable[[], T], seconds: float, what: str) -> T:
        """Ask until the answer is true; fails with the ends of all logs."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if answer := condition():
                return answer
            time.sleep(0.1)
        raise AssertionError(f"waited {seconds} s in vain until {what}\n{self.logs()}")

    def logs(self) -> str:
        """The end of every process's log."""
        files = sorted([*self.folder.glob("*.log"), *self.var.glob("log/*.log")])
        ends = {path.name: path.read_text(errors="replace").splitlines()[-60:] for path in files}
        return "\n".join(f"--- {name}\n" + "\n".join(lines) for name, lines in ends.items())
