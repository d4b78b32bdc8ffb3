"""A few child processes of this one, ready to compute: each call has its seconds, its memory and its turn.

A child is used again for the next call. One that takes too long, or whose answer no one waits for any more, is killed,
and another one takes its place.
"""

import os
import resource
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leaderboard.computing.messages import ERROR, PART, Reply, first_message, packed

ROOT = Path(__file__).resolve().parents[2]
LOOK_EVERY = 0.1  # seconds between two looks at whether anyone still waits for the answer
LATITUDE = 2.5  # how much longer by the clock than by the processor: on a machine that does much else
PIPE_BYTES = 1 << 20  # read or written at a time
# A child needs no more of its parent's environment; secrets stay behind.
KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "VIRTUAL_ENV")
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL", "VECLIB_MAXIMUM")}


class NoTurnError(Exception):
    """All children are at work, and no turn came in time."""


class OutOfTimeError(Exception):
    """A call took longer than its seconds; its child was killed."""


class OutOfMemoryError(Exception):
    """A call needed more memory than a child may have, or ended its process in another way."""


class AbandonedError(Exception):
    """No one waits for the answer any more."""


@dataclass(frozen=True)
class Limits:
    """What the calls of one process may take.

    Attributes:
        n_children: how many calls are computed at once.
        n_waiting: how many further ones may wait for their turn; others are refused at once.
        patience: seconds that one waits for its turn.
        seconds: of the processor for one call; by the clock it may take LATITUDE times as long.
        memory_bytes: of one child.
        is_sealed: whether children have neither network nor files to write (`sealing`).
    """

    n_children: int
    n_waiting: int
    patience: float
    seconds: float
    memory_bytes: int
    is_sealed: bool = False


@dataclass
class Child:
    """A child process, and what it last said of itself."""

    process: subprocess.Popen[bytes]
    cpu_seconds: float = 0.0
    peak_bytes: int = 0

    @classmethod
    def start(cls, limits: Limits) -> "Child":
        """Start one. It takes its first call at once, and is ready for it a moment later."""
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        environment |= {name: value for name, value in os.environ.items() if name.startswith("PYTHON")}
        process = subprocess.Popen(  # noqa: S603 -- our own module
            [
                sys.executable,
                "-m",
                "leaderboard.computing.child",
                str(limits.memory_bytes),
                *(["sealed"] if limits.is_sealed else []),
            ],
            cwd=ROOT,
            env=environment | ONE_THREAD,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        child = cls(process)
        for descriptor in child.pipes:
            os.set_blocking(descriptor, False)
        return child

    @property
    def pipes(self) -> tuple[int, int]:
        """Where calls are written, and where replies are read."""
        if self.process.stdin is None or self.process.stdout is None:
            raise ValueError("the child was started without pipes")
        return self.process.stdin.fileno(), self.process.stdout.fileno()

    @property
    def is_alive(self) -> bool:
        """Whether it still runs."""
        return self.process.poll() is None

    def end(self) -> int:
        """Kill it, and return its status."""
        self.process.kill()
        status = self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
        return status


class Pool:
    """The children of this process. Safe to use from several threads; a process that was forked has its own."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._forget()

    def _forget(self) -> None:
        self._owner = os.getpid()
        self._turns = threading.Condition()
        self._idle: list[Child] = []
        self._busy: list[Child] = []
        self._n_taken = self._n_waiting = 0

    def start(self) -> None:
        """Have every child ready before the first call."""
        self._check_owner()
        with self._turns, suppress(OSError):  # no room for a process now; the first call tries again
            for _ in range(self.limits.n_children - len(self._idle) - self._n_taken):
                self._idle.append(Child.start(self.limits))

    def stop(self) -> None:
        """End the children that are at rest; those at work end with their calls."""
        self._check_owner()
        with self._turns:
            ended, self._idle = self._idle, []
        for child in ended:
            child.end()

    @property
    def process_ids(self) -> list[int]:
        """Of the children that live, at rest or at work."""
        self._check_owner()
        with self._turns:
            return [child.process.pid for child in (*self._idle, *self._busy) if child.is_alive]

    @property
    def cpu_seconds(self) -> float:
        """The processor time of all children up to their last replies, those that have ended included."""
        self._check_owner()
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        with self._turns:
            living = sum(child.cpu_seconds for child in (*self._idle, *self._busy) if child.is_alive)
        return ended.ru_utime + ended.ru_stime + living

    def run(
        self,
        function: Callable[..., Any],
        *arguments: object,
        keywords: Mapping[str, object] | None = None,
        on_part: Callable[[Any], None] | None = None,
        is_abandoned: Callable[[], bool] = lambda: False,
        seconds: float | None = None,
    ) -> Any:  # noqa: ANN401 -- what the function returns
        """Run a function of the engine, or of this package, in a child.

        Args:
            function: at the top of its module.
            arguments, keywords: its own.
            on_part: takes each value that the function yields, as soon as it is there.
            is_abandoned: asked again and again; the child is killed when it says yes.
            seconds: fewer than those of the limits, where the call has no more.

        Returns:
            What the function returns; None where it yields.

        Raises:
            NoTurnError: too many calls at once.
            OutOfTimeError: it took longer than its seconds. Parts that were there before were taken.
            OutOfMemoryError: it needed more memory than a child may have.
            AbandonedError: no one waits for the answer any more.
            Exception: whatever the function raised.
        """
        allowed = self.limits.seconds if seconds is None else max(0.0, seconds)
        message = packed((function, arguments, dict(keywords or {}), allowed))
        with self.turn(is_abandoned):
            child = self._child()
            try:
                reply = _Conversation(child, message, allowed, is_abandoned).last_reply(on_part or _ignored)
            except BaseException:
                self._replace(child)
                raise
            if child.peak_bytes > self.limits.memory_bytes / 2 or isinstance(reply.content, MemoryError):
                self._replace(child)  # what a process once had, it seldom gives back
            else:
                with self._turns:
                    self._busy.remove(child)
                    self._idle.append(child)
        if isinstance(reply.content, MemoryError):
            raise OutOfMemoryError
        if reply.kind == ERROR:
            raise reply.content
        return reply.content

    def _check_owner(self) -> None:
        if self._owner != os.getpid():  # a fork of the process that these children belong to
            self._forget()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count among those who wait: for a turn, or for what another call computes.

        Raises:
            NoTurnError: too many wait already.
        """
        self._check_owner()
        with self._turns:
            if self._n_waiting >= self.limits.n_waiting:
                raise NoTurnError
            self._n_waiting += 1
        try:
            yield
        finally:
            with self._turns:
                self._n_waiting -= 1

    @contextmanager
    def turn(self, is_abandoned: Callable[[], bool]) -> Iterator[None]:
        """Take one of the turns, of which there are as many as children.

        Raises:
            NoTurnError: too many are taken, and none came in time.
            AbandonedError: no one waits for the answer any more.
        """
        self._check_owner()
        if not self._took_turn(seconds=0):
            with self.waiting():
                end = time.monotonic() + self.limits.patience
                while not self._took_turn(min(LOOK_EVERY, end - time.monotonic())):
                    if is_abandoned():
                        raise AbandonedError
                    if time.monotonic() >= end:
                        raise NoTurnError
        try:
            yield
        finally:
            with self._turns:
                self._n_taken -= 1
                self._turns.notify()

    def _took_turn(self, seconds: float) -> bool:
        """Take a turn, if there is one within so many seconds."""
        with self._turns:
            is_free = self._turns.wait_for(lambda: self._n_taken < self.limits.n_children, max(0.0, seconds))
            self._n_taken += is_free
            return is_free

    def _child(self) -> Child:
        """One that is at rest, or a new one."""
        while True:
            with self._turns:
                child = self._idle.pop() if self._idle else None
            if child is None:
                child = Child.start(self.limits)
            elif not child.is_alive:
                child.end()
                continue
            with self._turns:
                self._busy.append(child)
            return child

    def _replace(self, child: Child) -> None:
        with self._turns:
            self._busy.remove(child)
        child.end()
        with suppress(OSError):  # no room for another process now; the next call tries again
            successor = Child.start(self.limits)
            with self._turns:
                self._idle.append(successor)


def _ignored(part: object) -> None:
    """What becomes of parts that no one takes."""


class _Conversation:
    """One call: sent to a child piece by piece, and its replies read, until the last one or the end of the time."""

    def __init__(self, child: Child, message: bytes, seconds: float, is_abandoned: Callable[[], bool]) -> None:
        self.child, self.is_abandoned = child, is_abandoned
        self.to_send, self.received = memoryview(message), bytearray()
        self.end = time.monotonic() + LATITUDE * seconds

    def last_reply(self, on_part: Callable[[Any], None]) -> Reply:
        """The reply after which there is none; parts that come before go to `on_part`."""
        calls, replies = self.child.pipes
        with selectors.DefaultSelector() as selector:
            selector.register(calls, selectors.EVENT_WRITE)
            selector.register(replies, selectors.EVENT_READ)
            while True:
                # The pipes that are ready, within a moment.
                left = self.end - time.monotonic()
                if left <= 0:
                    raise OutOfTimeError
                ready = {key.fd for key, _ in selector.select(min(left, LOOK_EVERY))}
                if not ready and self.is_abandoned():
                    raise AbandonedError
                if calls in ready:
                    try:  # as much of the call as fits
                        self.to_send = self.to_send[os.write(calls, self.to_send[:PIPE_BYTES]) :]
                    except BrokenPipeError:
                        raise _death(self.child) from None
                    if not self.to_send:
                        selector.unregister(calls)
                if replies in ready:
                    for reply in self._receive(replies):
                        if reply.kind != PART:
                            return reply
                        on_part(reply.content)

    def _receive(self, replies: int) -> Iterator[Reply]:
        """The replies that are there as a whole."""
        data = os.read(replies, PIPE_BYTES)
        if not data:
            raise _death(self.child)
        self.received += data
        while True:
            reply, is_whole = first_message(self.received, is_reply=True)
            if not is_whole:
                return
            self.child.cpu_seconds, self.child.peak_bytes = reply.cpu_seconds, reply.peak_bytes
            yield reply


def _death(child: Child) -> Exception:
    """What it means that a child is gone in the middle of a call."""
    status = child.process.wait()
    if status in (-signal.SIGPROF, -signal.SIGXCPU):
        return OutOfTimeError()
    return OutOfMemoryError(f"the child ended with status {status}")
