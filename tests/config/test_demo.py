"""What `manage.py demo` prepares before it starts the processes; `.ci/demo.py` runs the whole of it."""

import socket
import stat

import pytest
from django.core.management import CommandError, call_command

from leaderboard.operations.preparing import collect_static, kept_password


def test_the_password_is_made_once_and_only_its_owner_may_read_it(tmp_path):
    file = tmp_path / "demo_password"
    password = kept_password(file)
    assert len(password) == 16
    assert kept_password(file) == password
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_password_that_was_never_written_is_made_again(tmp_path):
    file = tmp_path / "demo_password"
    file.touch()
    password = kept_password(file)
    assert len(password) == 16
    assert kept_password(file) == password


def test_static_files_are_collected_again_only_when_one_changed(tmp_path, settings):
    source = tmp_path / "source"
    source.mkdir()
    (source / "site.css").write_text("one")
    settings.STATICFILES_DIRS = [source]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STATIC_ROOT = tmp_path / "collected"
    stamp = settings.STATIC_ROOT / "collected.stamp"
    said = []
    collect_static(stamp, said.append)
    collect_static(stamp, said.append)
    assert said == ["Collecting static files ..."]
    (source / "site.css").write_text("another")
    collect_static(stamp, said.append)
    assert said == ["Collecting static files ..."] * 2
    assert (settings.STATIC_ROOT / "site.css").read_text() == "another"


def test_a_taken_port_is_one_line_and_prepares_nothing(capsys):
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        with pytest.raises(CommandError, match=f"^Port {port} is taken by another program"):
            call_command("demo", port=str(port))
