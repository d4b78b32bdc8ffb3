"""Keeps named processes running, and stops them all within seconds: after 2.4 by force.

Every child leads a session of its own, so that Ctrl-C on the terminal reaches the supervisor alone, and a
child's own children can be found by its process group. A child that dies is started again after a pause that
grows while it keeps dying. Should the supervisor be killed, a *guard* process at the other end of a pipe
kills its children.
"""

import fcntl
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Self

from config.processes.rotating_log import RotatingLog

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 10.0
HEALTHY_SECONDS = 30.0  # who ran this long is started again after the first pause
LOOK_EVERY = 0.1
LOG_LINES_SHOWN = 20
# Seconds after the request to stop. Celery takes the first as "finish your work" and the second as "drop it":
# a study may work for minutes, and its job is taken up again when its lease has run out.
STOPPING = ((0.0, signal.SIGTERM), (1.2, signal.SIGQUIT), (2.4, signal.SIGKILL))
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class AlreadyRunningError(Exception):
    """Another supervisor holds the folder."""


@contextmanager
def sole_supervisor(var: Path, address: str) -> Iterator[None]:
    """Hold the folder `var` for this process; `address` is what a second one is told.

    Raises:
        AlreadyRunningError: another process holds it.
    """
    descriptor = _lock(var)
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()} {address}".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def refuse_second(var: str | Path) -> None:
    """Find out early whether a supervisor holds the folder `var`.

    Raises:
        AlreadyRunningError: one does.
    """
    if (Path(var) / "supervisor.lock").exists():
        os.close(_lock(Path(var)))


def _lock(var: Path) -> int:
    var.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(var / "supervisor.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        process, _, address = os.pread(descriptor, 200, 0).decode().partition(" ")
        os.close(descriptor)
        where = f" at {address}" if address else ""
        how = f", or with: kill {process}" if process else ""
        raise AlreadyRunningError(
            f"Plurank already runs from this folder{where}. Stop it with Ctrl-C in its terminal{how}"
        ) from None
    return descriptor


@dataclass
class Child:
    """A process that is kept running."""

    name: str
    command: Sequence[str]
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    start_at: float = 0.0
    pause: float = FIRST_PAUSE


def _say(message: str) -> None:
    # The terminal may be gone; the children are not to suffer from that.
    with suppress(OSError):
        print(message, flush=True)


class Supervisor:
    """Runs the `commands`, each by its name, in `folder`; logs and the list of processes go under `var`.

    As a context manager it takes over the signals that ask to stop, and stops every child at the end.
    """

    def __init__(
        self,
        commands: Mapping[str, Sequence[str]],
        *,
        var: Path,
        folder: Path,
        say: Callable[[str], None] = _say,
        longest_pause: float = LONGEST_PAUSE,
    ) -> None:
        self.children = [Child(name, command) for name, command in commands.items()]
        self.var = var
        self.folder = folder
        self.say = say
        self.longest_pause = longest_pause
        self.is_stopping = False
        self._is_list_written = True
        self._guard: subprocess.Popen[bytes] | None = None
        self._handlers: dict[int, Any] = {}
        self._logs: dict[str, RotatingLog] = {}

    def __enter__(self) -> Self:
        for number in STOP_SIGNALS:
            self._handlers[number] = signal.signal(number, self._request_stop)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        try:
            self.stop()
        finally:
            for number, handler in self._handlers.items():
                signal.signal(number, handler)

    def _request_stop(self, number: int, frame: FrameType | None) -> None:
        self.is_stopping = True

    def watch(self, until: Callable[[], bool] = lambda: False, seconds: float = math.inf) -> bool:
        """Keep the children running until asked to stop, or for so long; whether `until` came true."""
        end = time.monotonic() + seconds
        while not self.is_stopping and time.monotonic() < end:
            self._tend_guard()
            for child in self.children:
                if child.process is None:
                    if time.monotonic() >= child.start_at:
                        self._start(child)
                elif (status := child.process.poll()) is not None:
                    self._forget(child)
                    self._postpone(child, _how_it_ended(status))
            if not self._is_list_written:
                self._write_list()
            if until():
                return True
            time.sleep(LOOK_EVERY)
        return False

    def is_steady(self, name: str) -> bool:
        """Whether a child runs that has not ended of late.

        Args:
            name: of the child.
        """
        child = next(child for child in self.children if child.name == name)
        return child.process is not None and child.process.poll() is None and child.pause == FIRST_PAUSE

    def add(self, commands: Mapping[str, Sequence[str]]) -> None:
        """Keep these running, too, from the next look on: what needs the others to be there before it starts."""
        self.children += [Child(name, command) for name, command in commands.items()]

    # --- Starting -------------------------------------------------------------------------------------------

    def _start(self, child: Child) -> None:
        child.started_at = time.monotonic()
        output = self._logs.setdefault(child.name, RotatingLog(self._log_path(child.name))).follow()
        try:
            child.process = subprocess.Popen(  # noqa: S603 -- the commands are ours
                child.command,
                cwd=self.folder,
                env=os.environ | {"PYTHONUNBUFFERED": "1"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            self._postpone(child, f"could not start: {error}")
            return
        finally:
            os.close(output)
        self._tell_guard(f"+{child.process.pid}")
        self._write_list()

    def _postpone(self, child: Child, why: str) -> None:
        if time.monotonic() - child.started_at >= HEALTHY_SECONDS:
            child.pause = FIRST_PAUSE
        child.start_at = time.monotonic() + child.pause
        log = self._log_path(child.name)
        self.say(f"{child.name} {why}; starting it again in {child.pause:g} s (see {log})")
        child.pause = min(2 * child.pause, self.longest_pause)

    def _forget(self, child: Child) -> None:
        """Kill what a dead child left of its process group, and take it off the lists."""
        if child.process is None:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.process.pid, signal.SIGKILL)
        self._tell_guard(f"-{child.process.pid}")
        child.process = None
        self._write_list()

    def end_of_log(self, name: str) -> str:
        """The last lines of the log of one of the processes; empty where there is none."""
        log = self._log_path(name)
        return "\n".join(log.read_text(errors="replace").splitlines()[-LOG_LINES_SHOWN:]) if log.exists() else ""

    def _log_path(self, name: str) -> Path:
        return self.var / "log" / f"{name}.log"

    def _write_list(self) -> None:
        """Keep on file who lives. A disk that is full ends no one: the next look tries again."""
        children = {child.name: child.process.pid for child in self.children if child.process}
        unfinished = self.var / "supervisor.json.new"
        try:
            unfinished.write_text(json.dumps({"pid": os.getpid(), "children": children}))
            unfinished.replace(self.var / "supervisor.json")
        except OSError as error:
            if self._is_list_written:
                self.say(f"the list of processes could not be written: {error}")
            self._is_list_written = False
        else:
            self._is_list_written = True

    # --- The guard ------------------------------------------------------------------------------------------
    def _tend_guard(self) -> None:
        if self._guard and self._guard.poll() is None:
            return
        self._dismiss_guard()
        guard = str(Path(__file__).with_name("guard.py"))
        self._guard = subprocess.Popen(  # noqa: S603 -- our own file
            [sys.executable, "-I", guard], stdin=subprocess.PIPE, start_new_session=True
        )
        for child in self.children:
            if child.process:
                self._tell_guard(f"+{child.process.pid}")

    def _tell_guard(self, line: str) -> None:
        if self._guard and self._guard.stdin:
            with suppress(OSError):  # a dead guard is replaced at the next look
                self._guard.stdin.write(f"{line}\n".encode())
                self._guard.stdin.flush()

    def _dismiss_guard(self) -> None:
        if self._guard and self._guard.stdin:
            with suppress(OSError):
                self._guard.stdin.close()
            self._guard.wait()
        self._guard = None

    # --- Stopping -------------------------------------------------------------------------------------------
    def stop(self) -> None:
        """End every child: politely, then plainly, then by force with all its own children."""
        began = time.monotonic()
        for after, number in STOPPING:
            while self._living() and time.monotonic() < began + after:
                time.sleep(LOOK_EVERY / 2)
            for process in self._living():
                with suppress(ProcessLookupError):
                    process.send_signal(number)
        for child in self.children:
            if child.process:
                with suppress(subprocess.TimeoutExpired):  # stuck in the kernel: it dies when it comes back
                    child.process.wait(timeout=1)
                self._forget(child)
        self._dismiss_guard()
        (self.var / "supervisor.json").unlink(missing_ok=True)

    def _living(self) -> list[subprocess.Popen[bytes]]:
        return [child.process for child in self.children if child.process and child.process.poll() is None]


def _how_it_ended(status: int) -> str:
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"was killed by signal {-status}"
