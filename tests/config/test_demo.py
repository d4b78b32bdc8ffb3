"""What `manage.py demo` prepares before it starts the processes; `.ci/demo.py` runs the whole of it."""

import socket
import stat
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from config.processes.supervisor import Supervisor
from leaderboard.management.commands import demo
from leaderboard.operations.preparing import collect_static, kept_password
from tests.running_site import free_port


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


SLOW_SITE = """
import http.server, sys, time
time.sleep(float(sys.argv[2]))
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), http.server.SimpleHTTPRequestHandler).serve_forever()
"""


def problem_of_start(var: Path, *program: str, port: int, said: list[str]) -> str:
    """What `demo` says of a web server that is this program."""
    commands = {"web": [sys.executable, "-c", *program]}
    with Supervisor(commands, var=var, folder=var, say=said.append) as supervisor:
        return demo.wait_for_site(supervisor, f"http://127.0.0.1:{port}", said.append)


def test_a_site_that_is_slow_to_start_is_waited_for_while_its_web_server_runs(tmp_path, monkeypatch):
    """Takes about three seconds: the web server needs two of them."""
    monkeypatch.setattr(demo, "SECONDS_TO_START", 0.5)
    said, port = [], free_port()
    assert problem_of_start(tmp_path, SLOW_SITE, str(port), "2", port=port, said=said) == ""
    assert len(said) == 1
    assert "this machine is busy. Waiting up to 600 s" in said[0]


def test_a_site_that_never_answers_says_why_and_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "SECONDS_TO_START", 0.5)
    monkeypatch.setattr(demo, "MOST_SECONDS_TO_START", 1.0)
    port = free_port()
    slow = problem_of_start(tmp_path, SLOW_SITE, str(port), "60", port=port, said=[])
    assert "too busy. Run the same command again" in slow
    monkeypatch.setattr(demo, "MOST_SECONDS_TO_START", 600.0)
    ended = problem_of_start(tmp_path, "raise SystemExit(1)", port=port, said=[])
    assert ended == "The site does not answer: its web server ended, for the reason at the end of its log."
