"""Where the processes of one gunicorn count, so that any of them answers `/metrics/` for all: a folder of files.

Each server has a folder of its own under `PLURANK_VAR`, locked for as long as it lives: servers that share a host or a
volume, and processes of two containers with the same number, never mix. What an ended server left goes with the next
start. Every file has its whole size before it is used: a file that could not grow on a full disk would take its process
along.
"""

import fcntl
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from config import env

ROOT = Path(__file__).resolve().parents[2]
FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
KINDS = ("counter", "histogram")  # what `config/monitoring/meters.py` has
FILE_BYTES = 2**20  # as prometheus_client makes them
ENDED = 0  # stands for the process id of all processes that have ended

logger = logging.getLogger("plurank.web_server")
_locks: list[int] = []  # held open as long as the server lives; its workers inherit them


def on_starting(server: Any) -> None:  # noqa: ANN401 -- gunicorn's arbiter
    """Make the folder before the first worker starts. Without one each process counts in its own memory."""
    try:
        folder = own_folder(env.folder("PLURANK_VAR", ROOT / "var") / "metrics")
        allocate(folder, ENDED)
    except OSError as error:
        logger.warning("no folder for counts, each process counts alone: %s", error)
        return
    os.environ[FOLDER_VARIABLE] = str(folder)


def post_fork(server: Any, worker: Any) -> None:  # noqa: ANN401
    """Give a new worker its files."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder is None:
        return
    try:
        allocate(Path(folder), os.getpid())
    except OSError as error:
        logger.warning("no room for counts, this process counts alone: %s", error)
        del os.environ[FOLDER_VARIABLE]


def child_exit(server: Any, worker: Any) -> None:  # noqa: ANN401
    """Keep what a worker counted that has ended: counters never fall while the server runs."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder is not None:
        with suppress(OSError):
            fold(Path(folder), worker.pid)


def own_folder(parent: Path) -> Path:
    """A new folder that is this process's as long as it lives; those of processes that have ended are deleted.

    Raises:
        OSError: it cannot be made.
    """
    parent.mkdir(parents=True, exist_ok=True)
    with locked(parent, fcntl.LOCK_EX):  # no one takes a folder for left behind that is being made
        for left in parent.iterdir():
            with suppress(OSError), locked(left, fcntl.LOCK_EX | fcntl.LOCK_NB):
                shutil.rmtree(left)
        folder = Path(tempfile.mkdtemp(dir=parent))
        _locks.append(_lock(folder, fcntl.LOCK_EX))
    return folder


def allocate(folder: Path, pid: int) -> None:
    """Make the files into which a process counts, with all the room they will need.

    Raises:
        OSError: the disk is full.
    """
    for kind in KINDS:
        descriptor = os.open(folder / f"{kind}_{pid}.db", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(descriptor, 0, FILE_BYTES)
            else:  # macOS
                os.pwrite(descriptor, bytes(FILE_BYTES), 0)
        finally:
            os.close(descriptor)


def fold(folder: Path, pid: int) -> None:
    """Add what an ended process counted to the counts of all that have ended, and delete its files."""
    from prometheus_client import mmap_dict  # noqa: PLC0415 -- the server itself counts nothing

    counts: Any = mmap_dict.MmapedDict  # it has no types
    with reading_alone(folder):
        for kind in KINDS:
            file = folder / f"{kind}_{pid}.db"
            if not file.exists():
                continue
            total = counts(str(folder / f"{kind}_{ENDED}.db"))
            for key, value, _timestamp, _position in counts.read_all_values_from_file(str(file)):
                before, _ = total.read_value(key)
                total.write_value(key, before + value, 0.0)
            total.close()
            file.unlink()


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Read counts while none are moved from one file to another: what is moved would count twice, or not at all."""
    with locked(folder / f"{KINDS[0]}_{ENDED}.db", fcntl.LOCK_SH):
        yield


@contextmanager
def reading_alone(folder: Path) -> Iterator[None]:
    """Move counts while no one reads them."""
    with locked(folder / f"{KINDS[0]}_{ENDED}.db", fcntl.LOCK_EX):
        yield


def pids(folder: Path) -> list[int]:
    """The living processes that count into a folder."""
    named = (file.stem.rpartition("_")[2] for file in folder.glob(f"{KINDS[0]}_*.db"))
    return sorted(int(pid) for pid in named if int(pid) != ENDED)


@contextmanager
def locked(path: Path, how: int) -> Iterator[None]:
    """Keep a file or folder locked.

    Raises:
        OSError: it is not there, or `how` says not to wait and someone else has it.
    """
    descriptor = _lock(path, how)
    try:
        yield
    finally:
        os.close(descriptor)


def _lock(path: Path, how: int) -> int:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, how)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
