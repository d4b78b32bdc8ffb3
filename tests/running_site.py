"""The site's own processes beside a test: real workers, a real sweep, a real web server, any of which may be killed."""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar

from django.conf import settings

from config.processes.commands import processes
from tests.jobs import forks

T = TypeVar("T")
CHILD = "leaderboard.computing.child"  # in the command line of a child that computes on demand
TICKS = os.sysconf("SC_CLK_TCK")


class RunningSite:
    """Processes that share one database, one broker and one folder; stop them with `stop_all`.

    Those that are forked (`tests/jobs/forks.py`) start soon, and take more memory than they would on their own.
    """

    def __init__(
        self, folder: Path, database_url: str, *, lease_seconds: int = 3, is_forked: bool = False, **environment: str
    ) -> None:
        self.folder = folder
        self.is_forked = is_forked
        self.port = free_port()
        self.n_web = 1
        self.running: dict[str, subprocess.Popen | forks.Forked] = {}
        self.orphaned: list[int] = []
        kept = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
        self.environment = kept | {
            "PLURANK_VAR": str(folder),
            "DATABASE_URL": database_url,
            "REDIS_URL": settings.REDIS_URL,
            "PLURANK_LEASE_SECONDS": str(lease_seconds),
            "PLURANK_SECRET_KEY": settings.SECRET_KEY,
            "PLURANK_STUDIES_RUN": "demand",  # what a test is not about would keep its processors busy for minutes
            "PLURANK_STUDIES_QUIET_SECONDS": "0",
            "PLURANK_URL": self.url,
            "PLURANK_DEBUG": "true",  # static files straight from the checkout
            **environment,
        }

    @property
    def url(self) -> str:
        """Where the web server answers."""
        return f"http://127.0.0.1:{self.port}"

    def start(self, *names: str, include: str = "", through: str = "") -> None:
        """Start processes by their names in `config.processes.commands`.

        A number behind a name makes it another of its kind. Workers import the module `include`, too. The module
        `through` is run in the place of `manage.py`.
        """
        commands = processes(sys.executable, self.port, n_web=self.n_web)
        for name in names:
            log = (self.folder / f"{name}.log").open("ab")
            command = [part.replace("@%h", f"-{name}@%h") for part in commands[name.rstrip("0123456789")]]
            if include and "worker" in command:
                command += ["--include", include]
            if through:
                command[1:2] = ["-m", through]
            with Path(os.devnull).open("rb") as nothing:
                self.running[name] = self.launch(command, nothing.fileno(), log.fileno(), log.fileno())
            log.close()

    def launch(self, command: list[str], stdin: int, stdout: int, stderr: int) -> subprocess.Popen | forks.Forked:
        """Start a process of Python with the environment of this site; the numbers are of open files."""
        # What is to be different from the first import on cannot be forked.
        if self.is_forked and "PYTHONPATH" not in self.environment:
            return forks.start(command, self.environment, [stdin, stdout, stderr])
        streams = {"stdin": stdin, "stdout": stdout, "stderr": stderr}
        return subprocess.Popen(command, cwd=settings.ROOT, env=self.environment, **streams, start_new_session=True)

    def send(self, task: str, job_id: int, **options) -> None:
        """Send a wake-up to the site's own broker, with options that the site itself would not choose."""
        call = f"app.send_task({task!r}, kwargs={{'job_id': {job_id}}}, **{options!r})"
        subprocess.run(
            [sys.executable, "-c", f"from config.celery import app; {call}"],
            cwd=settings.ROOT,
            env=self.environment,
            check=True,
        )

    def kill(self, name: str) -> None:
        """SIGKILL a process and everything it started, and wait until all of them have ended."""
        process = self.running.pop(name)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        # The others end a moment later, and until then keep their locks.
        self.wait_until(lambda: not _living(process.pid), 20, f"all processes of {name} have ended")
        for stream in (process.stdin, process.stdout):
            if stream:
                stream.close()

    def kill_parent_alone(self, name: str) -> None:
        """SIGKILL a process, and leave what it started to itself."""
        process = self.running.pop(name)
        self.orphaned.append(process.pid)
        process.kill()
        process.wait()

    def pause(self, name: str) -> None:
        """Stop a process where it stands, until `resume`."""
        os.killpg(self.running[name].pid, signal.SIGSTOP)

    def pause_all(self, *names: str) -> None:
        """Stop processes, none of them in the middle of writing: on SQLite nobody else could write until `resume`."""
        for _ in range(50):
            for name in names:
                self.pause(name)
            if self._is_writable():
                return
            for name in names:
                self.resume(name)
            time.sleep(0.1)
        raise AssertionError(f"{', '.join(names)} were always in the middle of writing")

    def _is_writable(self) -> bool:
        url = self.environment["DATABASE_URL"]
        if not url.startswith("sqlite"):
            return True
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"), timeout=0.2, isolation_level=None)) as database:
            try:
                database.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return False
            database.execute("ROLLBACK")
        return True

    def resume(self, name: str) -> None:
        """Let a paused process go on."""
        os.killpg(self.running[name].pid, signal.SIGCONT)

    def stop_all(self) -> None:
        """Kill whatever still runs."""
        for name in list(self.running):
            self.kill(name)
        for group in self.orphaned:
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)

    def wait_for_web(self, seconds: float = 30) -> None:
        """Wait until the web server answers."""
        self.wait_until(self._answers, seconds, "the web server answers")

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/status/", timeout=5) as response:
                return response.status == 200
        except OSError:
            return False

    def wait_until(self, condition: Callable[[], T], seconds: float, what: str) -> T:
        """Ask until the answer is true; fails with the processes' logs when it takes three times as long as it should.

        A machine that does much else needs longer to start processes, and that is nothing a test is about.
        """
        end = time.monotonic() + 3 * seconds
        while time.monotonic() < end:
            answer = condition()
            if answer:
                return answer
            time.sleep(0.05)
        raise AssertionError(f"waited {3 * seconds} s in vain until {what}\n{self.logs()}")

    def processes(self, name: str) -> dict[int, str]:
        """The process and everything it started that lives: process ids, and their command lines. Linux alone."""
        group = self.running[name].pid
        return {pid: command for pid, command in _commands() if _group_of(pid) == group}

    def children(self, name: str = "web") -> list[int]:
        """The child processes in which a web process computes on demand."""
        return [pid for pid, command in self.processes(name).items() if CHILD in command]

    def cpu_seconds(self, name: str = "web") -> float:
        """The processor time so far of a process and of everything it started, whether that still lives or not."""
        return sum(_cpu_seconds(pid) for pid in self.processes(name))

    def memory_bytes(self, name: str = "web", *, is_peak: bool = False) -> int:
        """The memory that a process takes, or took at most, without the children in which it computes on demand."""
        living = [pid for pid, command in self.processes(name).items() if CHILD not in command]
        return sum(_memory_bytes(pid, "VmHWM" if is_peak else "VmRSS") for pid in living)

    def health_seconds(self, timeout: float = 30) -> float:
        """How long /healthz/ takes to answer; infinite where it does not within the timeout."""
        began = time.monotonic()
        try:
            with urllib.request.urlopen(f"{self.url}/healthz/", timeout=timeout) as response:
                response.read()
        except OSError:
            return float("inf")
        return time.monotonic() - began

    def logs(self) -> str:
        """The end of every process's log."""
        ends = {p.name: p.read_text(errors="replace").splitlines()[-25:] for p in sorted(self.folder.glob("*.log"))}
        return "\n".join(f"--- {name}\n" + "\n".join(lines) for name, lines in ends.items())


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _commands() -> list[tuple[int, str]]:
    """All processes of this machine with their command lines."""
    commands = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                commands.append((int(folder.name), (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()))
    return commands


def _living(group: int) -> list[int]:
    """The processes of a group that have not ended; none on a system without /proc."""
    pids = [int(folder.name) for folder in Path("/proc").glob("[0-9]*")]
    return [pid for pid in pids if _group_of(pid) == group and _figures_of(pid)[:1] not in ([], ["Z"], ["X"])]


def _figures_of(pid: int) -> list[str]:
    """What the kernel says of a process after its name: from its state on, as in proc(5), `stat`, field 3."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return []


def _group_of(pid: int) -> int:
    figures = _figures_of(pid)
    return int(figures[2]) if figures else 0


def _cpu_seconds(pid: int) -> float:
    """Of the process itself and of its children that it has waited for: utime, stime, cutime, cstime."""
    return sum(int(ticks) for ticks in _figures_of(pid)[11:15]) / TICKS


def _memory_bytes(pid: int, what: str) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(f"{what}:"):
                return int(line.split()[1]) * 1024
    return 0
