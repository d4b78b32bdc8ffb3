"""The installation: ports, stamps, interruptions, and which Python is taken."""

import fcntl
import os
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from config.installation import bootstrap
from config.installation.bootstrap import DEV_LOCK, RUNTIME_LOCK, Problem

ROOT = Path(__file__).resolve().parents[2]


class Pip:
    """Stands in for pip: notes what it was asked for, and fails when told to."""

    def __init__(self):
        self.installed = []
        self.error = None

    def __call__(self, python, lock, on_line):
        on_line("Collecting something\n")
        if self.error:
            raise self.error
        self.installed.append(Path(lock).name)


@pytest.fixture
def checkout(tmp_path):
    """A checkout with two locks and a `.venv` that stands in for one with pip."""
    (tmp_path / "var").mkdir()
    (tmp_path / RUNTIME_LOCK).write_text("django==5.2\n")
    (tmp_path / DEV_LOCK).write_text("django==5.2\npytest==9\n")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(sys.executable)
    return str(tmp_path)


@pytest.fixture
def pip():
    return Pip()


@pytest.fixture
def made(monkeypatch):
    """The virtual environments that were made, by a stand-in: a real one takes seconds."""
    made = []

    def run_logged(command, on_line):
        assert command[:3] == [sys.executable, "-m", "venv"]
        folder = Path(command[3])
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "python").symlink_to(sys.executable)
        made.append(folder.name)

    monkeypatch.setattr(bootstrap, "run_logged", run_logged)
    return made


@contextmanager
def listener():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield listening.getsockname()[1]


# --- The port -----------------------------------------------------------------------------------------------
def test_a_free_port_is_taken_as_it_is():
    with listener() as port:
        pass
    assert bootstrap.free_port(str(port)) == port


def test_a_taken_port_is_one_message_that_offers_a_free_one():
    with listener() as port, pytest.raises(Problem) as problem:
        bootstrap.free_port(str(port))
    message, _, offer = str(problem.value).partition("PORT=")
    assert message == f"Port {port} is taken by another program. Choose another: "
    number, _, command = offer.partition(" ")
    assert command == "make demo"
    assert bootstrap.free_port(number) == int(number)


@pytest.mark.parametrize("value", ["http", "0", "65536", "-1", "80.5", " 80", "٨٠"])
def test_what_is_no_port_is_refused(value):
    with pytest.raises(Problem) as problem:
        bootstrap.free_port(value)
    assert str(problem.value) == f"PORT={value!r} is not a port: it must be a number from 1 to 65535."


def test_the_demo_tests_the_port_before_it_installs_anything(checkout, monkeypatch):
    monkeypatch.setattr(bootstrap, "install", lambda *_: pytest.fail("it installed"))
    monkeypatch.delenv("PLURANK_VAR", raising=False)
    with listener() as port:
        monkeypatch.setenv("PORT", str(port))
        with pytest.raises(Problem, match=f"^Port {port} is taken"):
            bootstrap.demo(checkout)


# --- The stamp ----------------------------------------------------------------------------------------------
def test_a_second_time_nothing_is_installed(checkout, pip):
    bootstrap.prepare(checkout, RUNTIME_LOCK, pip)
    bootstrap.prepare(checkout, RUNTIME_LOCK, pip)
    assert pip.installed == [RUNTIME_LOCK]


def test_after_the_tests_the_demo_installs_nothing(checkout, pip):
    bootstrap.prepare(checkout, DEV_LOCK, pip)
    bootstrap.prepare(checkout, RUNTIME_LOCK, pip)
    assert pip.installed == [DEV_LOCK]


def test_after_the_demo_the_tests_install_their_tools(checkout, pip):
    bootstrap.prepare(checkout, RUNTIME_LOCK, pip)
    bootstrap.prepare(checkout, DEV_LOCK, pip)
    assert pip.installed == [RUNTIME_LOCK, DEV_LOCK]


def test_a_changed_lock_is_installed_even_if_it_returns_to_an_earlier_state(checkout, pip):
    lock = Path(checkout, RUNTIME_LOCK)
    for text in ("django==5.2\n", "django==5.3\n", "django==5.2\n"):
        lock.write_text(text)
        bootstrap.prepare(checkout, RUNTIME_LOCK, pip)
    assert pip.installed == [RUNTIME_LOCK] * 3


@pytest.mark.parametrize("interruption", [KeyboardInterrupt(), SystemExit(1)])
def test_an_interrupted_installation_is_done_again(checkout, pip, interruption):
    bootstrap.prepare(checkout, RUNTIME_LOCK, pip)
    Path(checkout, RUNTIME_LOCK).write_text("django==5.3\n")
    pip.error = interruption
    with pytest.raises(type(interruption)):
        bootstrap.prepare(checkout, RUNTIME_LOCK, pip)
    # Even the old lock is not taken for installed: half of the new one may be there.
    Path(checkout, RUNTIME_LOCK).write_text("django==5.2\n")
    pip.error = None
    bootstrap.prepare(checkout, RUNTIME_LOCK, pip)
    assert pip.installed == [RUNTIME_LOCK] * 2


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"python": "3.11.7"}', '{"locks": []}'])
def test_a_spoilt_stamp_counts_as_none(checkout, pip, text):
    Path(bootstrap.stamp_of(checkout)).write_text(text)
    bootstrap.prepare(checkout, RUNTIME_LOCK, pip)
    assert pip.installed == [RUNTIME_LOCK]


def test_another_python_makes_the_virtual_environment_anew(checkout, pip, made, monkeypatch):
    bootstrap.prepare(checkout, RUNTIME_LOCK, pip)
    monkeypatch.setattr(bootstrap, "python_version", lambda: "3.12.99")
    bootstrap.prepare(checkout, RUNTIME_LOCK, pip)
    assert pip.installed == [RUNTIME_LOCK] * 2
    assert made == [".venv"]


@pytest.mark.parametrize("ruin", ["a dangling python", "an empty folder", "a file", "a dangling link"])
def test_a_broken_virtual_environment_is_made_anew(checkout, pip, made, ruin):
    bootstrap.prepare(checkout, RUNTIME_LOCK, pip)
    venv = Path(checkout, ".venv")
    python = venv / "bin" / "python"
    if ruin == "a dangling python":
        python.unlink()
        python.symlink_to("/no/such/python")
    else:
        bootstrap.remove(str(venv))
        {
            "an empty folder": venv.mkdir,
            "a file": venv.touch,
            "a dangling link": lambda: venv.symlink_to("/no/such/folder"),
        }[ruin]()
    bootstrap.prepare(checkout, RUNTIME_LOCK, pip)
    assert pip.installed == [RUNTIME_LOCK] * 2
    assert made == [".venv"]


# --- Failures -----------------------------------------------------------------------------------------------
def test_a_failure_shows_the_end_of_pips_output(checkout, capfd):
    def fail(python, lock, on_line):
        program = "for i in range(100): print('line', i)\nraise SystemExit(1)"
        bootstrap.run_logged([sys.executable, "-c", program], on_line)

    with pytest.raises(Problem) as problem:
        bootstrap.prepare(checkout, RUNTIME_LOCK, fail)
    lines = str(problem.value).splitlines()
    assert lines[0] == "line 76"
    assert lines[-1] == "Mostly the network or the disk is the cause. Run the same command again to go on."
    assert Path(checkout, "var", "install.log").read_text().startswith("line 0\nline 1\n")
    assert not bootstrap.is_installed(checkout, RUNTIME_LOCK)


def test_an_interruption_ends_pip(checkout):
    seen = []

    def interrupt(line):
        seen.append(int(line))
        raise KeyboardInterrupt

    program = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    with pytest.raises(KeyboardInterrupt):
        bootstrap.run_logged([sys.executable, "-c", program], interrupt)
    with pytest.raises(ProcessLookupError):
        os.kill(seen[0], 0)


def test_a_second_installation_waits_for_the_first(checkout, pip, capsys):
    with Path(checkout, "var", "install.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        second = threading.Thread(target=bootstrap.prepare, args=(checkout, RUNTIME_LOCK, pip))
        second.start()
        second.join(0.3)
        assert second.is_alive()
        assert pip.installed == []
    second.join(4)
    assert pip.installed == [RUNTIME_LOCK]
    assert "Another process is installing packages into .venv; waiting" in capsys.readouterr().out


def test_an_unknown_command_is_told_what_there_is(capsys):
    assert bootstrap.main(["deploy"]) == 2
    assert capsys.readouterr().out == "Usage: python -m config.installation.bootstrap demo|install-dev\n"


def test_the_locks_agree():
    def pins(name):
        lines = (ROOT / name).read_text().splitlines()
        return {line.split(" ")[0] for line in lines if "==" in line and not line.startswith((" ", "#"))}

    assert pins(RUNTIME_LOCK) <= pins(DEV_LOCK)


# --- Finding a Python ---------------------------------------------------------------------------------------
@pytest.fixture
def find_python(tmp_path):
    """Runs find_python.sh with only the given fake Pythons on the path, each a shell script by its name."""

    def find(python="", **fakes):
        folder = tmp_path / "bin"
        folder.mkdir()
        (folder / "tail").symlink_to("/usr/bin/tail")
        (folder / "cat").symlink_to("/bin/cat")
        for name, script in fakes.items():
            fake = folder / name.replace("_", ".")
            fake.write_text(f"#!/bin/sh\n{script}\n")
            fake.chmod(0o755)
        return subprocess.run(
            ["/bin/sh", str(ROOT / "config" / "installation" / "find_python.sh")],
            cwd=tmp_path,
            env={"PATH": str(folder), "PYTHON": python},
            capture_output=True,
            text=True,
            check=False,
        )

    return find


REAL = f'exec "{sys.executable}" "$@"'
SHIM = 'echo "pyenv: command not found" >&2; exit 127'


def test_a_name_that_does_not_run_is_passed_over(find_python):
    answer = find_python(python3_13=SHIM, python3=REAL)
    assert answer.returncode == 0
    assert Path(answer.stdout.strip()).exists()


def test_without_a_python_the_message_says_what_was_tried_and_how_to_get_one(find_python):
    answer = find_python(
        python3_13=SHIM,
        python3_12='echo "is Python 3.12, but venv or ensurepip is missing" >&2; exit 1',
        python3='echo "is Python 3.9" >&2; exit 1',
    )
    assert answer.returncode == 1
    assert answer.stdout == ""
    assert answer.stderr.splitlines()[:6] == [
        "Plurank needs Python 3.11, 3.12 or 3.13 with venv, and finds none on the path.",
        "  python3.13 does not run",
        "  python3.12 is Python 3.12, but venv or ensurepip is missing",
        "  python3 is Python 3.9",
        "Install one, then run make again:",
        "  Debian, Ubuntu   sudo apt install python3 python3-venv",
    ]


def test_a_named_python_is_the_only_candidate(find_python):
    answer = find_python(python="python3.12", python3=REAL)
    assert answer.returncode == 1
    assert answer.stderr.startswith(
        "PYTHON=python3.12 is not a Python that Plurank can use.\n  python3.12 is not found\n"
    )
