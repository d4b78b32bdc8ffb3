"""A child process: it runs the functions of the engine that its parent names, one after the other.

    python -m leaderboard.computing.child MEMORY_BYTES [sealed]

The kernel ends it when it has used the processor for longer than a call may, and refuses it memory beyond its limit.
It ends itself as soon as its parent is gone.
"""

import importlib
import math
import os
import queue
import resource
import signal
import sys
import threading
import types
from pathlib import Path
from typing import Any

from leaderboard.computing.messages import ERROR, PART, RESULT, Reply, first_message, packed, plain_error
from leaderboard.computing.sealing import seal

NICE = 5  # pages come before what is computed
MODULES = ("ranking_engine", "leaderboard.computing")  # what may be called


def main(memory_bytes: int, *, is_sealed: bool = False) -> None:
    """Answer calls until the parent closes the pipe."""
    requests, replies = os.dup(0), os.dup(1)
    os.dup2(2, 1)  # a stray print must not get between the messages
    if is_sealed:
        seal()
    for number in (signal.SIGINT, signal.SIGHUP):  # of a terminal; they are for the parent
        signal.signal(number, signal.SIG_IGN)
    os.nice(NICE)
    # Refuse memory beyond the limit, where the platform can: macOS may refuse to be told.
    limit = resource.RLIMIT_DATA if sys.platform.startswith("linux") else resource.RLIMIT_AS
    try:
        _, hard = resource.getrlimit(limit)
        resource.setrlimit(limit, (memory_bytes if hard < 0 else min(memory_bytes, hard), hard))
    except (ValueError, OSError) as error:
        print(f"no memory limit on this platform: {error}", file=sys.stderr)
    # Before the thread, which imports what a call names: two that import the same modules at once may lock each other.
    importlib.import_module("leaderboard.computing.rankings")
    calls: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests, calls), daemon=True).start()
    while True:
        function, arguments, keywords, seconds = calls.get()
        # Let the kernel end this process once it has used the processor for so much longer. The timer is exact to
        # milliseconds; the limit counts in whole seconds, and nothing can take it back.
        signal.setitimer(signal.ITIMER_PROF, max(0.001, seconds))
        used = resource.getrusage(resource.RUSAGE_SELF)
        ceiling = math.ceil(used.ru_utime + used.ru_stime + seconds) + 1
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (ceiling if hard < 0 else min(ceiling, hard), hard))
        try:
            _check(function)
            result = function(*arguments, **keywords)
            if isinstance(result, types.GeneratorType):
                for part in result:
                    _say(replies, PART, part)
                result = None
            _say(replies, RESULT, result)
        except Exception as error:  # noqa: BLE001 -- it is raised again in the parent
            _say(replies, ERROR, plain_error(error))
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)


def _listen(requests: int, calls: "queue.SimpleQueue[Any]") -> None:
    """Take calls in beside the one that is computed, so that the end of the parent is noticed in the middle of it."""
    received = bytearray()
    try:
        while data := os.read(requests, 1 << 20):
            received += data
            call, is_whole = first_message(received)
            if is_whole:
                calls.put(call)
    finally:
        os._exit(0)  # whatever happened: a child that no longer listens is of no use


def _check(function: object) -> None:
    module = str(getattr(function, "__module__", ""))
    if not any(module == name or module.startswith(f"{name}.") for name in MODULES):
        raise ValueError(f"functions of {module} are not run here")


def _say(replies: int, kind: str, content: object) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    peak = _peak_bytes()
    try:
        message = packed(Reply(kind, content, used.ru_utime + used.ru_stime, peak))
    except Exception:
        if kind != ERROR:
            raise
        text = RuntimeError(f"{type(content).__name__}: {content}")  # an exception that cannot be pickled
        message = packed(Reply(kind, text, used.ru_utime + used.ru_stime, peak))
    view = memoryview(message)
    while view:
        view = view[os.write(replies, view) :]


def _peak_bytes() -> int:
    """The most memory that this process has had at once."""
    try:
        with Path("/proc/self/status").open() as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):  # no Linux; elsewhere the figure may be that of the parent at the start
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main(int(sys.argv[1]), is_sealed="sealed" in sys.argv[2:])
