"""A site that began in SQLite's file goes on in PostgreSQL, moved by the commands that an operator types."""

import json
import os
import sqlite3
import subprocess
import sys
import tarfile
from contextlib import closing
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection

from leaderboard.models import Benchmark
from tests.databases import drop

needs_postgresql = pytest.mark.skipif(settings.IS_SQLITE, reason="needs PostgreSQL to move to")


@pytest.fixture
def empty_postgresql(django_db_setup, django_db_blocker):
    """The URL of a database without any table."""
    name, parts = f"plurank_moved_{os.getpid()}", connection.settings_dict
    with django_db_blocker.unblock():
        drop(name)
        with connection._nodb_cursor() as cursor:
            cursor.execute(f'CREATE DATABASE "{name}" TEMPLATE template0')
        password = f":{parts['PASSWORD']}" if parts["PASSWORD"] else ""
        yield f"postgres://{parts['USER']}{password}@{parts['HOST'] or '127.0.0.1'}:{parts['PORT'] or 5432}/{name}"
        drop(name)


@pytest.fixture
def run(tmp_path):
    """Runs a command of Python in a process whose settings name a database; the value is what it printed."""

    def run_there(database_url: str, *command: str, fails: bool = False) -> str:
        done = subprocess.run(
            [sys.executable, *command],
            cwd=settings.ROOT,
            env={name: value for name, value in os.environ.items() if not name.startswith("PLURANK_")}
            | {
                "DJANGO_SETTINGS_MODULE": "config.settings",
                "PLURANK_VAR": str(tmp_path),
                "PLURANK_SECRET_KEY": settings.SECRET_KEY,
                "DATABASE_URL": database_url,
                "REDIS_URL": "",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert bool(done.returncode) == fails, done.stderr[-3000:]
        return done.stderr if fails else done.stdout

    return run_there


def with_manifest(file: Path, **changes: object) -> Path:
    """A copy of a backup whose manifest says something else."""
    folder = file.with_suffix(".unpacked")
    with tarfile.open(file) as archive:
        archive.extractall(folder, filter="data")
    manifest = folder / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | changes))
    changed = file.with_suffix(".changed")
    with tarfile.open(changed, "w") as archive:
        archive.add(manifest, "manifest.json")
        archive.add(folder / "database", "database")
    return changed


@needs_postgresql
@pytest.mark.services
def test_a_site_moves_from_sqlite_to_postgresql_with_every_row_hash_and_rank_and_goes_on(
    run, empty_postgresql, tmp_path
):
    sqlite, site, file = f"sqlite:///{tmp_path / 'site.sqlite3'}", ["-m", "tests.whole_site"], tmp_path / "site.backup"
    token = json.loads(run(sqlite, *site, "make"))
    before = json.loads(run(sqlite, *site, "tell", token))
    run(sqlite, "manage.py", "backup", str(file))
    assert "3 boards have the inputs they had at" in run(empty_postgresql, "manage.py", "restore", str(file))
    after = json.loads(run(empty_postgresql, *site, "tell", token))
    assert (before.pop("vendor"), after.pop("vendor")) == ("sqlite3", "postgresql")
    assert after == before
    assert {table for table, n in before["rows"].items() if n} >= {
        "auth_group_permissions", "django_session", "leaderboard_apitoken", "leaderboard_auditentry",
        "leaderboard_draft", "leaderboard_instancescores", "leaderboard_invitation", "leaderboard_job",
        "leaderboard_release", "leaderboard_report", "leaderboard_score", "leaderboard_submissionevent",
        "leaderboard_user_groups", "leaderboard_webhook",
    }  # fmt: skip
    assert {len(rules) for rules in before["ranks"].values()} == {len(before["ranks"]["to"])}
    assert before["token"].startswith("owner")
    # What was taken over takes more, and keeps what it has.
    numbers = json.loads(run(empty_postgresql, *site, "go-on"))
    assert numbers == {"to": [3, 3], "taken-down": [3, 3], "instances": [2, 2]}
    program = "import django; django.setup(); from leaderboard.models import Score; Score.objects.update(value=0)"
    assert "leaderboard_score is append-only" in run(empty_postgresql, "-c", program, fails=True)


@needs_postgresql
def test_what_postgresql_does_not_take_is_named_with_its_table_and_nothing_is_moved(run, empty_postgresql, tmp_path):
    sqlite, file = tmp_path / "site.sqlite3", tmp_path / "site.backup"
    run(f"sqlite:///{sqlite}", "manage.py", "migrate", "-v", "0")
    with closing(sqlite3.connect(sqlite)) as database, database:
        database.execute("INSERT INTO django_session VALUES (?, '', '2030-01-01 00:00:00')", ["k" * 41])
    run(f"sqlite:///{sqlite}", "manage.py", "backup", str(file))
    error = run(empty_postgresql, "manage.py", "restore", str(file), fails=True)
    assert "PostgreSQL does not accept what SQLite accepted: django_session: value too long" in error
    program = "import django; django.setup(); from django.contrib.sessions.models import Session as S; "
    assert run(empty_postgresql, "-c", f"{program}print(S.objects.count())") == "0\n"


@needs_postgresql
@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("rows", {"django_session": 99}, "differs from the backup's manifest in the rows of"),
        ("boards", [["none", 1, "f"]], "in the input hashes of none: none has None, not f"),
    ],
)
def test_what_differs_from_the_manifest_is_not_moved(run, empty_postgresql, sqlite_site, tmp_path, name, value, words):
    file = tmp_path / "site.backup"
    with closing(sqlite3.connect(sqlite_site.removeprefix("sqlite:///"))) as database, database:
        database.execute("INSERT INTO django_session VALUES ('k', '', '2030-01-01 00:00:00')")
    run(sqlite_site, "manage.py", "backup", str(file))
    error = run(empty_postgresql, "manage.py", "restore", str(with_manifest(file, **{name: value})), fails=True)
    assert words in error
    program = "import django; django.setup(); from django.contrib.sessions.models import Session as S; "
    assert run(empty_postgresql, "-c", f"{program}print(S.objects.count())") == "0\n"


@needs_postgresql
def test_an_sqlite_site_of_an_older_release_is_to_be_migrated_first(run, empty_postgresql, tmp_path):
    sqlite, file = f"sqlite:///{tmp_path / 'site.sqlite3'}", tmp_path / "site.backup"
    run(sqlite, "manage.py", "migrate", "leaderboard", "0003", "-v", "0")
    run(sqlite, "manage.py", "backup", str(file))
    error = run(empty_postgresql, "manage.py", "restore", str(file), fails=True)
    assert "this backup of sqlite lacks the migration account.0001_initial: bring that site to this" in error
    program = "import django; django.setup(); from django.db import connection as c; "
    assert run(empty_postgresql, "-c", f"{program}print(c.introspection.table_names())") == "[]\n"


@pytest.fixture
def sqlite_site(request, run, tmp_path):
    """The DATABASE_URL of a migrated SQLite without a row; to migrate one takes long, and SQLite's tests have one."""
    if settings.IS_SQLITE:
        return request.getfixturevalue("committed_db")
    url = f"sqlite:///{tmp_path / 'site.sqlite3'}"
    run(url, "manage.py", "migrate", "-v", "0")
    return url


def test_a_backup_without_room_says_so_in_one_line_and_leaves_nothing(run, sqlite_site, tmp_path):
    folder = tmp_path / "backups"
    folder.mkdir()
    file = folder / "site.backup"
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)); "
    command = f"from django.core.management import execute_from_command_line as run; run(['', 'backup', {str(file)!r}])"
    error = run(sqlite_site, "-c", limit + command, fails=True)
    assert [line for line in error.splitlines() if line.startswith(("CommandError", "Traceback"))] == [
        f"CommandError: {file}: disk I/O error"
    ]
    assert list(folder.iterdir()) == []


def test_a_backup_of_postgresql_is_not_restored_into_sqlite(make_committed, tmp_path):
    if connection.vendor != "sqlite":
        pytest.skip("asks SQLite to take it")
    file = tmp_path / "site.backup"
    make_committed.published()
    call_command("backup", str(file))
    with pytest.raises(CommandError, match="a backup of postgresql, and DATABASE_URL names a database of sqlite"):
        call_command("restore", str(with_manifest(file, vendor="postgresql")))
    assert Benchmark.objects.count() == 1
