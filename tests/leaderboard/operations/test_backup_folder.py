"""Backups in a folder: the last of each day and of each week are kept, and what killed ones left is removed."""

import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection

from leaderboard.operations.backup_folder import backup_name, surplus_backups
from tests.databases import drop

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)  # a Friday


def put(folder: Path, *moments: datetime) -> None:
    for moment in moments:
        (folder / backup_name(moment)).touch()


def names(*moments: datetime) -> list[str]:
    return [backup_name(moment) for moment in moments]


def test_the_last_of_each_of_the_newest_days_and_weeks_are_kept_and_other_files_are_left_alone(tmp_path):
    nights = [NOON - timedelta(days=days) for days in range(30)]
    earlier = [night - timedelta(hours=5) for night in nights]
    put(tmp_path, *nights, *earlier)
    for other in (
        "plurank.backup",
        "plurank-2020-01-01T000000Z.backup.part",
        "notes",
        "plurank-2020-13-45T990000Z.backup",
    ):
        (tmp_path / other).touch()
    (tmp_path / backup_name(NOON - timedelta(days=400))).mkdir()
    kept_days = nights[:3]
    sundays = [night for night in nights if night.isoweekday() == 7][:3]  # before the week of today
    removed = sorted({*nights, *earlier} - {*kept_days, *sundays})
    assert [path.name for path in surplus_backups(tmp_path, daily=3, weekly=4)] == names(*removed)
    assert [path.name for path in surplus_backups(tmp_path, daily=3, weekly=0)] == names(
        *sorted({*nights, *earlier} - {*kept_days})
    )


def test_days_without_a_backup_do_not_count(tmp_path):
    put(tmp_path, *(NOON - timedelta(days=days) for days in (0, 100, 200)))
    assert surplus_backups(tmp_path, daily=3, weekly=0) == []


def test_the_command_names_the_file_and_removes_older_ones_only_once_it_is_there(db, tmp_path, monkeypatch):
    old = [NOON - timedelta(days=days) for days in range(20)]
    put(tmp_path, *old)
    monkeypatch.setattr("leaderboard.management.commands.backup.write_backup", failing)
    with pytest.raises(RuntimeError):
        call_command("backup", "--folder", str(tmp_path), "--keep", "3")
    assert len(list(tmp_path.iterdir())) == 20


def failing(file: Path) -> None:
    raise RuntimeError(file)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "give either a file or"),
        (["x", "--folder", "."], "give either a file or"),
        (["x", "--keep", "3"], "--keep is for a folder"),
        (["--folder", ".", "--keep", "0"], "--keep takes 1 or more days"),
        (["--folder", ".", "--weekly", "3"], "--keep takes 1 or more days"),
        (["--folder", "/nowhere", "--keep", "3"], "/nowhere is not a folder"),
    ],
)
def test_what_the_command_does_not_take_is_said_in_a_line(arguments, words):
    with pytest.raises(CommandError, match=words):
        call_command("backup", *arguments)


def test_backups_in_a_folder_go_in_turn(make_committed, tmp_path):
    old = [NOON - timedelta(days=days) for days in range(4)]
    put(tmp_path, *old)
    call_command("backup", "--folder", str(tmp_path), "--keep", "3")
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left[:2] == names(old[1], old[0])
    assert (len(left), (tmp_path / left[2]).stat().st_size > 10_000) == (3, True)


HOLDER = """
import time
from pathlib import Path
from leaderboard.operations.backups import _folder_beside
with _folder_beside(Path({file!r})):
    print("there", flush=True)
    time.sleep(120)
"""


def test_what_a_killed_one_left_is_removed_by_the_next_and_not_what_a_living_one_uses(make_committed, tmp_path):
    program = HOLDER.format(file=str(tmp_path / "other.backup"))
    command = [sys.executable, "-c", f"import django; django.setup()\n{program}"]
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings", "PLURANK_VAR": str(tmp_path / "var")}
    holders = [
        subprocess.Popen(command, cwd=settings.ROOT, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    try:
        assert [holder.stdout.readline() for holder in holders] == ["there\n"] * 2
        before = set(tmp_path.glob(".plurank-*"))
        assert len(before) == 2
        holders[0].kill()
        holders[0].wait()
        assert set(tmp_path.glob(".plurank-*")) == before, "killed, it cleans nothing up"
        call_command("backup", str(tmp_path / "plurank.backup"))
        assert len(set(tmp_path.glob(".plurank-*"))) == 1
    finally:
        for holder in holders:
            holder.kill()
            holder.communicate()


@pytest.mark.skipif(settings.IS_SQLITE, reason="SQLite restores within the process itself")
def test_pg_restore_dies_with_a_killed_restore_and_the_database_stays_empty(make_committed, tmp_path):
    make_committed.benchmark()
    file = tmp_path / "plurank.backup"
    call_command("backup", str(file))
    parts = connection.settings_dict
    name = f"{parts['NAME'][:40]}_killed"
    with connection.cursor() as cursor:
        cursor.execute(f'CREATE DATABASE "{name}" TEMPLATE template0')
    try:
        url = f"postgres://{parts['USER']}@{parts['HOST'] or '127.0.0.1'}:{parts['PORT'] or 5432}/{name}"
        environment = os.environ | {"DATABASE_URL": url, "PLURANK_VAR": str(tmp_path / "var")}
        environment.pop("DJANGO_SETTINGS_MODULE", None)
        command = [sys.executable, "manage.py", "restore", str(file)]
        restore = subprocess.Popen(command, cwd=settings.ROOT, env=environment, stdout=subprocess.DEVNULL)
        child = wait_for_child(restore)
        os.kill(child, signal.SIGSTOP)  # in the middle of it
        restore.kill()
        restore.wait()
        end = time.monotonic() + 60
        while Path(f"/proc/{child}").exists() and "\nState:\tZ" not in Path(f"/proc/{child}/status").read_text():
            assert time.monotonic() < end, "pg_restore goes on without its restore"
            time.sleep(0.05)
        again = subprocess.run(command, cwd=settings.ROOT, env=environment, capture_output=True, text=True, check=False)
        assert (again.returncode, "1 published boards" in again.stdout or "Restored:" in again.stdout) == (0, True)
        assert list(tmp_path.glob(".plurank-*")) == []
    finally:
        drop(name)


def wait_for_child(parent: subprocess.Popen) -> int:
    """The pg_restore that a process has started."""
    end = time.monotonic() + 120
    children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
    while time.monotonic() < end and parent.poll() is None:
        for pid in children.read_text().split():
            command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if command[0].endswith(b"pg_restore") or (b"pg_restore" in b" ".join(command[:3]) and b"-c" not in command):
                return int(pid)
        time.sleep(0.002)
    raise AssertionError("it never started pg_restore")
