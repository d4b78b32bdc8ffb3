"""What one run of the tests has to itself, so that two at once on one machine do not break each other.

A run locks a file of each thing it takes, until its process ends. A run that was killed leaves its things to the next.
"""

import atexit
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from itertools import chain, count
from pathlib import Path
from urllib.parse import urlsplit
from zlib import crc32

REDIS_DATABASES = 16  # as many as a Redis has that no one configured
_locks: list[int] = []  # open until the process ends


def own_folder(parent: Path | None = None) -> Path:
    """An empty folder of this process's own, which is deleted when it ends.

    Args:
        parent: the folder in which it is made; None for that of the runs of this user.
    """
    folder_of_all, run = parent or folder_of_runs(), os.getpid()
    folder = Path(_first_free(str(folder_of_all / f"var-{number}") for number in count(1)))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)

    @atexit.register
    def delete() -> None:
        if os.getpid() == run:  # not where a forked child ends
            shutil.rmtree(folder, ignore_errors=True)

    return folder


def own_database(server: str, name: str) -> str:
    """The name of a test database beside the database `name` on a server of PostgreSQL that no other run uses."""
    names = (f"test_{name}" if number == 1 else f"test_{name}_{number}" for number in count(1))
    return _first_free(f"{server}/{database}" for database in names).rpartition("/")[2]


def own_redis(url: str) -> str:
    """The URL of a database of that Redis that no other run uses: the one that is named, else one that is empty.

    Tests empty their database again and again, so that another that holds something is not theirs. A run empties its
    database when it ends, too, or the next ones would find none.

    Raises:
        RuntimeError: other runs use the named database, and every other is used or holds something.
    """
    parts = urlsplit(url)
    named = int(parts.path.strip("/") or 0)
    numbers = chain([named], (number for number in range(REDIS_DATABASES) if number != named))
    urls = (parts._replace(path=f"/{number}").geturl() for number in numbers)
    own = _first_free(chain([next(urls)], filter(_is_empty, urls)))
    run = os.getpid()

    @atexit.register
    def empty() -> None:
        import redis  # noqa: PLC0415 -- a run without Redis need not have it

        if os.getpid() == run:  # not where a forked child ends
            with suppress(redis.RedisError), redis.Redis.from_url(own, socket_timeout=2) as client:
                client.flushdb()

    return own


def _is_empty(url: str) -> bool:
    """Whether this database of a Redis that answers has no key."""
    import redis  # noqa: PLC0415 -- a run without Redis need not have it

    try:
        with redis.Redis.from_url(url, socket_timeout=2, socket_connect_timeout=1) as client:
            return bool(client.dbsize() == 0)
    except redis.RedisError:
        return False


def folder_of_runs() -> Path:
    """Where the runs of this user lock what they take, and leave to one another what takes long to make."""
    folder = Path(tempfile.gettempdir()) / f"plurank-tests-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _first_free(names: Iterable[str]) -> str:
    """The first of these names that no other run has taken; it is this run's from now on.

    Raises:
        RuntimeError: all are taken.
    """
    for name in names:
        # A digest, because a URL holds slashes and perhaps a password.
        lock = os.open(folder_of_runs() / f"{crc32(name.encode()):08x}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
        else:
            _locks.append(lock)
            return name
    raise RuntimeError("every database of this Redis is used by another run of the tests or holds something; empty one")
