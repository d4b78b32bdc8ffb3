"""A separate PostgreSQL and Redis on this machine, with their own folder and ports, without any system service.

For `make production-like` and for tests that kill them. PostgreSQL refuses to run as root: then its programs run as the
user `postgres`, who must be able to reach the folder.
"""

import os
import pwd
import secrets
import shutil
import socket
import subprocess
from contextlib import suppress
from pathlib import Path

import psycopg

POSTGRESQL_FOLDERS = "/usr/lib/postgresql"
USER, DATABASE = "plurank", "plurank"


class MissingProgramError(Exception):
    """A program that is needed is not installed; the message says in which package it is."""


def find_program(name: str, package: str) -> str:
    """The path of a program, of the newest PostgreSQL where Debian keeps several apart.

    Raises:
        MissingProgramError: it is not there.
    """
    versions = Path(POSTGRESQL_FOLDERS).glob(f"*/bin/{name}")
    newest = sorted(versions, key=lambda path: float(path.parts[-3]) if path.parts[-3].isdecimal() else 0.0)
    path = shutil.which(name) or (str(newest[-1]) if newest else None)
    if path is None:
        raise MissingProgramError(f"{name} is not installed; it is in the package {package}")
    return path


def as_postgres() -> list[str]:
    """What is before a command of PostgreSQL's: nothing, or for root a change to the user `postgres`."""
    if os.geteuid() != 0:
        return []
    return [find_program("setpriv", "util-linux"), "--reuid=postgres", "--regid=postgres", "--init-groups", "--"]


def make_cluster(folder: Path, *, port: int) -> str:
    """Make a PostgreSQL cluster in `folder`, unless there is one; the URL of its database on `port`.

    Raises:
        MissingProgramError: PostgreSQL is not installed.
        subprocess.CalledProcessError: it refused; `stderr` says why.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o755)
    password_file = folder / "password"
    if not (folder / "data" / "PG_VERSION").exists():
        initdb = find_program("initdb", "postgresql")
        password_file.touch(mode=0o600)
        password_file.write_text(secrets.token_hex(16))
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            for path in (folder, password_file):
                os.chown(path, user.pw_uid, user.pw_gid)
        options = [f"--pgdata={folder / 'data'}", f"--username={USER}", "--auth=scram-sha-256", "--encoding=UTF8"]
        command = [*as_postgres(), initdb, *options, f"--pwfile={password_file}", "--locale=C.UTF-8", "--no-sync"]
        subprocess.run(command, check=True, capture_output=True, text=True, cwd="/")  # noqa: S603
    return f"postgres://{USER}:{password_file.read_text().strip()}@127.0.0.1:{port}/{DATABASE}"


def postgres_command(folder: Path, *, port: int, **parameters: str) -> list[str]:
    """The command line of the cluster's server, which stays in the foreground."""
    chosen = {"port": str(port), "listen_addresses": "127.0.0.1", "unix_socket_directories": str(folder)} | parameters
    options = [part for name, value in chosen.items() for part in ("-c", f"{name}={value}")]
    return [*as_postgres(), find_program("postgres", "postgresql"), "-D", str(folder / "data"), *options]


def redis_command(folder: Path, *, port: int) -> list[str]:
    """The command line of a Redis that keeps nothing: messages are wake-ups, and the cache can be computed again."""
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(folder)]
    memory = ["--maxmemory", "256mb", "--maxmemory-policy", "volatile-lru"]
    return [find_program("redis-server", "redis-server"), *options, *memory]


def postgres_answers(url: str) -> bool:
    """Whether the server takes connections; makes the database on the first time that it does."""
    try:
        with psycopg.connect(url, connect_timeout=2):
            return True
    except psycopg.OperationalError as error:
        if f'database "{DATABASE}" does not exist' not in str(error):
            return False
    server = url.removesuffix(DATABASE) + "postgres"
    with (
        suppress(psycopg.errors.DuplicateDatabase, psycopg.OperationalError),
        psycopg.connect(server, connect_timeout=2, autocommit=True) as connection,
    ):
        connection.execute(f"CREATE DATABASE {DATABASE}")
    return False


def redis_answers(port: int) -> bool:
    """Whether Redis answers on `port`."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
            connection.settimeout(2)
            connection.sendall(b"PING\r\n")
            return connection.recv(7) == b"+PONG\r\n"
    except OSError:
        return False
