"""What may happen to SQLite and the folder that carries messages; see `on_processes` for what a fault is."""

import random
import shutil
import signal
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path

from tests.faults.machine import Machine


def database(machine: Machine) -> Path:
    """The file."""
    return machine.hosts[0].var / "plurank.sqlite3"


def messages(machine: Machine) -> Path:
    """The folder of messages."""
    return machine.hosts[0].var / "broker" / "messages"


def keep_write_lock(machine: Machine, draw: random.Random, key: str) -> bool:
    """Somebody else writes for a while, at times for longer than the site waits for its turn."""
    return keep_write_lock_for(machine, draw.uniform(2, 25))


def keep_write_lock_for(machine: Machine, seconds: float) -> bool:
    """Keep the database's one lock for writing for so long."""
    with (
        machine.locks["database"],
        closing(sqlite3.connect(database(machine), timeout=30, isolation_level=None)) as own,
    ):
        try:
            own.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        time.sleep(seconds)
        own.execute("ROLLBACK")
    return True


def fill_folder(machine: Machine, draw: random.Random, key: str) -> bool:
    """The disk of the database and of the messages is full for a while."""
    return fill_folder_for(machine, draw.uniform(3, 12))


def fill_folder_for(machine: Machine, seconds: float) -> bool:
    """Leave database and messages no byte for so long. Only where their folder is a disk of its own."""
    var = machine.hosts[0].var
    if var not in machine.mounts:
        return False
    with machine.locks["database"]:
        machine.fill(var)
        try:
            time.sleep(seconds)
        finally:
            machine.make_room(var)
    return True


def replace_messages_by_file(machine: Machine, draw: random.Random, key: str) -> bool:
    """For a while there is a file where the folder of messages was."""
    return replace_messages_by_file_for(machine, draw.uniform(2, 15))


def replace_messages_by_file_for(machine: Machine, seconds: float) -> bool:
    """Let there be a file in place of the folder for so long."""
    folder = messages(machine)
    with machine.locks["broker"]:
        for _ in range(20):  # somebody may make it again in between
            shutil.rmtree(folder, ignore_errors=True)
            with suppress(OSError):
                folder.write_text("no folder")
                break
        time.sleep(seconds)
        with suppress(OSError):
            folder.unlink()
    return True


def lose_messages(machine: Machine, draw: random.Random, key: str) -> bool:
    """Every message is deleted that lies there in the next moments."""
    n_lost, end = 0, time.monotonic() + 2
    while time.monotonic() < end:
        for path in messages(machine).glob("*.msg"):
            with suppress(OSError):
                path.unlink()
                n_lost += 1
        time.sleep(0.01)
    return n_lost > 0


def garble_messages(machine: Machine, draw: random.Random, key: str) -> bool:
    """Messages that nobody can read lie there: half ones, empty ones, other files."""
    with suppress(OSError):
        for n, content in enumerate([b"", b'{"body": "W1', b"\xff\xfe\x00", b"[]", b"null"]):
            (messages(machine) / f"{time.time_ns() // 10**6:015d}_{n}.rankings.msg").write_bytes(content)
        return True
    return False


def kill_all(machine: Machine, draw: random.Random, key: str) -> bool:
    """SIGKILL of everything at once, as when the power fails; somebody starts it again."""
    with machine.locks["site"]:
        for host in machine.hosts:
            children = machine.children()
            machine.kill(host.name)
            for process in children:
                machine.signal_group(process, signal.SIGKILL)
        for host in machine.hosts:
            machine.start_host(host)
    return True
