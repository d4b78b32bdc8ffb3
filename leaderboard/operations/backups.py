"""The whole database in one file, and back: what was accepted must outlive the machine that it was accepted on.

A backup is a tar file of two members: `manifest.json` says what is inside (release, migrations, rows of every table,
and of every benchmark the published revision with the hash of its inputs), and `database` is SQLite's own copy or
PostgreSQL's own dump, both of one moment while the site goes on. The manifest has the SHA-256 of `database`: damage is
found before anything is restored. A restored database is compared with the manifest, and the hashes are computed again
from its scores. A backup of SQLite also restores into PostgreSQL.
"""

import fcntl
import hashlib
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from gzip import BadGzipFile
from lzma import LZMAError
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.management import call_command
from django.db import connection, transaction
from django.db.backends.postgresql.client import DatabaseClient
from django.db.migrations.loader import MigrationLoader

from leaderboard.models import Revision
from leaderboard.operations.database_moves import MoveError, fill_from_sqlite
from leaderboard.rankings.score_matrix import hash_anew

FORMAT = 1
UNFINISHED = ".plurank-"  # begins the name of a folder of what is being written or read
# A child that the kernel kills when this process dies, however that happens: nothing may go on with the database.
_DIES_WITH_ITS_PARENT = """
import ctypes, os, signal, sys
try:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
except (AttributeError, OSError):
    pass  # not on Linux
if os.getppid() != int(sys.argv[1]):
    os._exit(1)
os.execv(sys.argv[2], sys.argv[2:])
"""
Rows = Callable[[str], list[tuple[Any, ...]]]
_BOARDS = (
    "SELECT b.key, r.number, r.input_hash FROM leaderboard_benchmark b JOIN leaderboard_revision r "
    "ON r.benchmark_id = b.id AND r.number = b.published_number WHERE r.input_hash <> '' ORDER BY b.key"
)


class BackupError(Exception):
    """What keeps a backup from being written or restored, in words for an operator."""


def write_backup(file: Path) -> dict[str, Any]:
    """Write the database into a new file that only its owner may read; returns the manifest.

    Raises:
        BackupError: the file is there already, or the database's own program failed.
    """
    if file.exists():
        raise BackupError(f"{file} already exists; choose another name")
    with _folder_beside(file) as folder:
        dump = folder / "database"
        manifest = _dump(dump) | {"database_sha256": _sha256(dump)}
        unfinished = folder / "backup"
        unfinished.touch(mode=0o600)
        with unfinished.open("wb") as stream:
            with tarfile.open(fileobj=stream, mode="w") as archive:
                text = json.dumps(manifest, indent=1).encode()
                head = tarfile.TarInfo("manifest.json")
                head.size = len(text)
                archive.addfile(head, io.BytesIO(text))
                archive.add(dump, "database", filter=_anonymous)
            stream.flush()
            os.fsync(stream.fileno())
        try:
            os.link(unfinished, file)  # unlike a renaming, never over a file that came meanwhile
        except FileExistsError:
            raise BackupError(f"{file} already exists; choose another name") from None
    return manifest


def restore_backup(file: Path, say: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Fill the empty database that the settings name from a backup, migrate it, and check it; returns the manifest.

    Args:
        file: what `write_backup` wrote.
        say: is told each step.

    Raises:
        BackupError: it is no backup, of PostgreSQL where the settings name SQLite, or of a newer release; the database
            is not empty; or what is in it afterwards is not what the manifest says.
    """
    with _folder_beside(file) as folder:
        dump = folder / "database"
        try:
            with tarfile.open(file) as archive:
                manifest = json.loads(_member(archive, "manifest.json").read(50_000_000))
                with dump.open("wb") as target:
                    shutil.copyfileobj(_member(archive, "database"), target)
        except (tarfile.TarError, KeyError, ValueError, EOFError, zlib.error, BadGzipFile, LZMAError) as error:
            # What tarfile says of a file that it cannot open is a line for each compression that it has tried.
            reason = "no tar file, or cut off" if isinstance(error, tarfile.ReadError) else error
            raise BackupError(f"{file} is not a backup of Plurank: {reason}") from error
        _refuse_malformed(file, manifest)
        if manifest.get("database_sha256", digest := _sha256(dump)) != digest:  # backups of older releases have none
            raise BackupError(f"{file} is damaged: its database is not the one that was backed up (SHA-256)")
        _refuse_misfit(manifest, dump)
        say(f"Restoring {sum(manifest['rows'].values()):,} rows of {manifest['at']} ...")
        if _moves(manifest["vendor"]):
            call_command("migrate", interactive=False, verbosity=0)
            with transaction.atomic():  # what differs afterwards is not moved
                _restore(manifest, dump)
                _compare_contents(manifest, say)
            return manifest
        _restore(manifest, dump)
    _compare_contents(manifest, say)
    return manifest


def _compare_contents(manifest: dict[str, Any], say: Callable[[str], None]) -> None:
    _compare("rows", manifest["rows"], _row_counts(_rows_of_connection))
    if set(_known_migrations()) - set(manifest["migrations"]):
        say("Migrating from the older release ...")
        call_command("migrate", interactive=False, verbosity=0)
    say(f"Computing the input hashes of {len(manifest['boards'])} boards again ...")
    hashes = {}
    for key, number, _ in manifest["boards"]:
        of_board = Revision.objects.select_related("configuration").filter(benchmark__key=key, number=number)
        if revision := of_board.first():
            # What was taken down keeps the hash of what it was.
            hashes[key] = revision.input_hash if revision.withdrawn_at is not None else hash_anew(revision)
    _compare("input hashes", {key: digest for key, _, digest in manifest["boards"]}, hashes)


# --- What a backup says of itself -------------------------------------------------------------------------------------


def _manifest(vendor: str, rows: Rows) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "plurank": settings.PLURANK_VERSION,
        "engine": settings.ENGINE_VERSION,
        "vendor": vendor,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "migrations": sorted(f"{app}.{name}" for app, name in rows("SELECT app, name FROM django_migrations")),
        "rows": _row_counts(rows),
        "boards": [list(row) for row in rows(_BOARDS)],
    }


def _row_counts(rows: Rows) -> dict[str, int]:
    listed = (
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        if connection.vendor == "sqlite"
        else "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
    )
    tables = sorted(name for (name,) in rows(listed))
    return {table: rows(f'SELECT count(*) FROM "{table}"')[0][0] for table in tables}  # noqa: S608 -- our own tables


def _rows_of_connection(statement: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())


def _known_migrations() -> list[str]:
    return [f"{app}.{name}" for app, name in MigrationLoader(None).disk_migrations]


def _refuse_malformed(file: Path, manifest: Any) -> None:  # noqa: ANN401 -- any JSON
    if not isinstance(manifest, dict) or "format" not in manifest:
        raise BackupError(f"{file} is not a backup of Plurank: its manifest has no format")
    if manifest["format"] != FORMAT:
        raise BackupError(f"{file} has format {manifest['format']!r}; this release reads {FORMAT}")
    is_right: dict[str, Callable[[Any], bool]] = {
        "vendor": lambda value: value in ("sqlite", "postgresql"),
        "at": lambda value: isinstance(value, str),
        "migrations": lambda value: all(isinstance(name, str) for name in value),
        "rows": lambda value: all(isinstance(n, int) for n in value.values()),
        "boards": lambda value: all([type(part) for part in board] == [str, int, str] for board in value),
    }
    for name, check in is_right.items():
        try:
            is_well_formed = check(manifest[name])
        except (KeyError, TypeError, AttributeError):
            is_well_formed = False
        if not is_well_formed:
            raise BackupError(f"{file} is damaged: {name!r} of its manifest is missing or malformed")


def _refuse_misfit(manifest: dict[str, Any], dump: Path) -> None:
    if manifest["vendor"] != connection.vendor and not _moves(manifest["vendor"]):
        raise BackupError(
            f"this is a backup of {manifest['vendor']}, and DATABASE_URL names a database of {connection.vendor}"
        )
    if _moves(manifest["vendor"]) and (missing := set(_known_migrations()) - set(manifest["migrations"])):
        raise BackupError(
            f"this backup of sqlite lacks the migration {min(missing)}: bring that site to this release first, with "
            "`manage.py migrate`, and back it up again; only then PostgreSQL can take it over"
        )
    unknown = set(manifest["migrations"]) - set(_known_migrations())
    if unknown:
        raise BackupError(f"this backup is of a newer release: it has the migration {min(unknown)}")
    if tables := connection.introspection.table_names():
        raise BackupError(f"the database is not empty: it has {len(tables)} tables; restore into a new one")
    if manifest["vendor"] == "sqlite":
        with closing(sqlite3.connect(dump)) as copy:
            try:
                (verdict,) = copy.execute("PRAGMA integrity_check").fetchone()
            except sqlite3.DatabaseError as error:
                verdict = str(error)
        if verdict != "ok":
            raise BackupError(f"the backup's database is damaged: {verdict}")


def _compare(what: str, expected: dict[str, Any], restored: dict[str, Any]) -> None:
    wrong = sorted(name for name in expected.keys() | restored.keys() if expected.get(name) != restored.get(name))
    if wrong:
        name = wrong[0]
        raise BackupError(
            f"the restored database differs from the backup's manifest in the {what} of {', '.join(wrong[:5])}: "
            f"{name} has {restored.get(name)}, not {expected.get(name)}"
        )


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


# --- Files ------------------------------------------------------------------------------------------------------------


@contextmanager
def _folder_beside(file: Path) -> Iterator[Path]:
    """A folder of our own on the same disk; what is in it is no one else's to read."""
    parent = file.resolve().parent
    try:
        # What killed backups and restores left there: the folders that no living process has locked.
        for abandoned in parent.glob(f"{UNFINISHED}*"):
            try:
                with (abandoned / "lock").open("rb") as other:
                    fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(abandoned, ignore_errors=True)
            except OSError:  # it lives, has no lock yet, or is another user's
                continue
        folder = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=parent))
        lock = (folder / "lock").open("wb")
        fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError as error:
        raise BackupError(f"cannot write beside {file}: {error.strerror}") from error
    try:
        yield folder
    except OSError as error:
        raise BackupError(f"{error.filename or file}: {error.strerror}") from error
    except sqlite3.Error as error:
        raise BackupError(f"{file}: {error}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.close()


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def _member(archive: tarfile.TarFile, name: str) -> IO[bytes]:
    member = archive.extractfile(name)
    if member is None:
        raise KeyError(name)
    return member


# --- The two kinds of database ----------------------------------------------------------------------------------------


def _dump(target: Path) -> dict[str, Any]:
    """The database's own copy of itself, and a manifest of the same moment."""
    if connection.vendor == "sqlite":
        if connection.in_atomic_block:  # SQLite would wait for the end of it, and for good
            raise BackupError("a backup of SQLite cannot be made within a transaction")
        connection.ensure_connection()
        with closing(sqlite3.connect(target)) as copy:
            connection.connection.backup(copy)
            return _manifest("sqlite", lambda statement: copy.execute(statement).fetchall())
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")  # the dump may take its time
        cursor.execute("SELECT pg_export_snapshot()")
        (snapshot,) = cursor.fetchone()
        manifest = _manifest("postgresql", _rows_of_connection)
        options = ["--format=custom", "--no-owner", "--no-privileges", f"--snapshot={snapshot}", f"--file={target}"]
        _run("pg_dump", [*options, "--dbname"])
    return manifest


def _restore(manifest: dict[str, Any], dump: Path) -> None:
    if manifest["vendor"] == "postgresql":
        connection.close()
        options = ["--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction"]
        _run("pg_restore", [*options, str(dump), "--dbname"])
        return
    if not _moves("sqlite"):
        with closing(sqlite3.connect(dump)) as copy:
            _compare("rows", manifest["rows"], _row_counts(lambda statement: copy.execute(statement).fetchall()))
            connection.ensure_connection()
            copy.backup(connection.connection)
        connection.close()
        return
    try:
        fill_from_sqlite(dump)
    except MoveError as error:
        raise BackupError(f"PostgreSQL does not accept what SQLite accepted: {error}") from error


def _moves(vendor: str) -> bool:
    """Whether what was an SQLite file becomes a PostgreSQL database."""
    return (vendor, connection.vendor) == ("sqlite", "postgresql")


def _run(program: str, arguments: list[str]) -> None:
    """Run a program of PostgreSQL's against our database, named last; its password is never among the arguments."""
    path = shutil.which(program)
    if path is None:
        raise BackupError(f"{program} is not installed; it is in the package postgresql-client")
    (_, *reach, name), environment = DatabaseClient.settings_to_cmd_args_env(connection.settings_dict, [])
    wrapper = [sys.executable, "-I", "-c", _DIES_WITH_ITS_PARENT, str(os.getpid())]
    done = subprocess.run(  # noqa: S603 -- no shell, our own settings
        [*wrapper, path, "--no-password", *reach, *arguments, name],
        env=os.environ | (environment or {}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        reason = " ".join(done.stderr.split())[:1000]
        raise BackupError(f"{program} failed: {reason or f'exit status {done.returncode}, without a reason'}")
