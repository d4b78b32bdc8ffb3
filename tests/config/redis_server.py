"""A Redis of a test's own, which may be stopped and killed."""

import shutil
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def redis_server(port: int, folder: Path):
    """The process of a Redis that listens on that port of 127.0.0.1; killed at the end."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("there is no redis-server here")
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def wait_for_redis(client) -> None:
    """Return once the server of this client answers, after ten seconds at most."""
    from redis import ConnectionError as NoConnectionError

    for _ in range(200):
        try:
            client.ping()
        except NoConnectionError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("this Redis does not answer")
