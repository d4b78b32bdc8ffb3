"""Make a checkout ready to run: `.venv` with every package of a lock file, or one clear message.

    python -m config.installation.bootstrap demo          test the port, install requirements.lock, run the site
    python -m config.installation.bootstrap install-dev   install requirements-dev.lock

The standard library only. Packages are installed when the lock or the Python differs from the stamp in
`.venv`; the stamp is removed before an installation and written after it succeeded, so an interrupted one is
done again.
"""

import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from typing import Callable, Iterator, List, Optional, Sequence

RUNTIME_LOCK = "requirements.lock"
DEV_LOCK = "requirements-dev.lock"  # holds everything that RUNTIME_LOCK holds, in the same versions
DEFAULT_PORT = "8000"
LOG_LINES_SHOWN = 25

# Installs a lock: (python of the virtual environment, path of the lock, called with each line of output).
Installer = Callable[[str, str, Callable[[str], None]], None]


class Problem(Exception):  # noqa: N818 -- it is shown to a person, not a programmer
    """What stops us, in words for the person at the keyboard."""


def say(message: str) -> None:
    """Tell the person at the keyboard; that no one reads it is no reason to fail."""
    with suppress(OSError):
        print(message, flush=True)


# --- The port -----------------------------------------------------------------------------------------------
def is_taken(port: int) -> bool:
    """Whether something listens on `port` of this machine.

    Raises:
        Problem: this user may not listen on the port at all.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As gunicorn does: connections of the last run that still linger do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except PermissionError:
            raise Problem(f"Port {port} is reserved for root. Choose another: PORT=8123 make demo") from None
        except OSError:
            return True
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_port(value: str, command: str = "make demo") -> int:
    """The port that the text `value` names, after testing that nothing listens there.

    The message says how to run `command` with another.

    Raises:
        Problem: it is no port number, or taken.
    """
    if not (value.isascii() and value.isdigit() and 1 <= int(value) <= 65535):
        raise Problem(f"PORT={value!r} is not a port: it must be a number from 1 to 65535.")
    port = int(value)
    if is_taken(port):
        another = next(other for other in range(8123, 65536) if other != port and not is_taken(other))
        raise Problem(f"Port {port} is taken by another program. Choose another: PORT={another} {command}")
    return port


# --- The virtual environment --------------------------------------------------------------------------------
def python_of(root: str) -> str:
    """The path of the virtual environment's Python."""
    return os.path.join(root, ".venv", "bin", "python")


def stamp_of(root: str) -> str:
    """The path of the stamp that tells what was installed completely."""
    return os.path.join(root, ".venv", "plurank-installed.json")


def digest(path: str) -> str:
    """The SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def python_version() -> str:
    """The version of this Python, as the stamp keeps it."""
    return sys.version.split()[0]


def is_usable(root: str) -> bool:
    """Whether the virtual environment's Python runs, has pip, and is the version that runs this."""
    program = "import sys, importlib.util as u; print(u.find_spec('pip') and sys.version.split()[0])"
    try:
        answer = subprocess.run(  # noqa: S603 -- our own virtual environment
            [python_of(root), "-c", program], capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return answer.stdout.strip() == python_version()


def is_installed(root: str, lock: str) -> bool:
    """Whether the stamp says that exactly this lock was installed, by exactly this Python, to the end."""
    try:
        with open(stamp_of(root), encoding="utf-8") as file:
            stamp = json.load(file)
        return bool(
            stamp["python"] == python_version()
            and stamp["locks"].get(lock) == digest(os.path.join(root, lock))
            and is_usable(root)
        )
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return False


def remove(path: str) -> None:
    """Remove a file, a link or a folder with all that is in it, if it is there."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def run_logged(command: List[str], on_line: Callable[[str], None], keep_open: Sequence[int] = ()) -> None:
    """Run a command and hand over its output line by line; it inherits the files in `keep_open`.

    Raises:
        subprocess.CalledProcessError: it failed.
    """
    # A user's own pip settings may send packages elsewhere, which pip refuses inside a virtual environment.
    environment = dict(os.environ, PIP_USER="0", PYTHONUNBUFFERED="1")
    process = subprocess.Popen(  # noqa: S603 -- our own virtual environment
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=environment,
        pass_fds=keep_open,
    )
    try:
        assert process.stdout is not None  # noqa: S101 -- it is a pipe
        with process.stdout as output:
            for line in output:
                on_line(line)
        status = process.wait()
    except BaseException:
        process.kill()
        process.wait()
        raise
    if status != 0:
        raise subprocess.CalledProcessError(status, command)


@contextmanager
def only_one_installation(root: str) -> Iterator[int]:
    """Wait until no other process installs into this checkout; yields the lock's file descriptor."""
    import fcntl  # noqa: PLC0415 -- Windows has none, and gets a clear message instead

    descriptor = os.open(os.path.join(root, "var", "install.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another process is installing packages into .venv; waiting for it ...")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def prepare(root: str, lock: str, installer: Optional[Installer] = None) -> None:
    """Make sure that `.venv` holds every package of `lock`.

    Raises:
        Problem: the installation failed; the message ends with the last lines of its log.
    """
    os.makedirs(os.path.join(root, "var"), exist_ok=True)
    with only_one_installation(root) as lock_file:

        def run_pip(python: str, lock: str, on_line: Callable[[str], None]) -> None:
            options = ["--require-hashes", "--no-deps", "--no-input", "--disable-pip-version-check"]
            options += ["--progress-bar", "off", "--requirement", lock]
            # It inherits the lock's file: no one starts beside an orphaned pip.
            run_logged([python, "-m", "pip", "install", *options], on_line, keep_open=(lock_file,))

        if not is_installed(root, lock):
            install(root, lock, installer or run_pip)


def install(root: str, lock: str, installer: Installer) -> None:
    """Install `lock`, into a new virtual environment where there is no usable one.

    Raises:
        Problem: as `prepare`.
    """
    log_path = os.path.join(root, "var", "install.log")
    began = time.monotonic()
    with open(log_path, "w", encoding="utf-8") as log:
        progress = Progress(os.path.join(root, lock))

        def on_line(line: str) -> None:
            log.write(line)
            log.flush()
            progress.see(line)

        try:
            remove(stamp_of(root))
            if not is_usable(root):
                progress.show("Making .venv")
                remove(os.path.join(root, ".venv"))
                run_logged([sys.executable, "-m", "venv", os.path.join(root, ".venv")], on_line)
            progress.show(f"Installing {progress.n_packages} packages into .venv; this takes a minute")
            installer(python_of(root), os.path.join(root, lock), on_line)
        except (OSError, subprocess.SubprocessError) as error:
            log.write(f"{error}\n")
            log.flush()
            raise Problem(failure(log_path)) from error
    # The developers' lock has all of the other one, too.
    locks = [RUNTIME_LOCK, DEV_LOCK] if lock == DEV_LOCK else [lock]
    stamp = {"python": python_version(), "locks": {name: digest(os.path.join(root, name)) for name in locks}}
    unfinished = stamp_of(root) + ".new"
    with open(unfinished, "w", encoding="utf-8") as file:
        json.dump(stamp, file)
    os.replace(unfinished, stamp_of(root))
    say(f"Installed in {time.monotonic() - began:.0f} s.")


def failure(log_path: str) -> str:
    """What to say when an installation failed: the end of its log, and what mostly causes it."""
    with open(log_path, encoding="utf-8") as log:
        last = log.read().splitlines()[-LOG_LINES_SHOWN:]
    return "\n".join(
        [
            *last,
            "",
            f"The installation failed; its whole output is in {os.path.relpath(log_path)}.",
            "Mostly the network or the disk is the cause. Run the same command again to go on.",
        ]
    )


class Progress:
    """Shows how far pip is: a line that counts up on a terminal, nothing but the start in a log."""

    def __init__(self, lock: str) -> None:
        with open(lock, encoding="utf-8") as file:
            self.n_packages = sum("==" in line and not line.startswith((" ", "#")) for line in file)
        self.n_seen = 0
        self.is_terminal = sys.stdout.isatty()

    def show(self, message: str) -> None:
        """Say what begins."""
        say(message + " ...")

    def see(self, line: str) -> None:
        """Count the packages that pip has fetched."""
        if not line.startswith("Collecting "):
            return
        self.n_seen += 1
        if self.is_terminal:
            end = "\n" if self.n_seen == self.n_packages else ""
            print(f"\r  {self.n_seen} of {self.n_packages}", end=end, flush=True)


# --- The commands -------------------------------------------------------------------------------------------
def demo(root: str) -> None:
    """Become the demo: test the port, install what is missing, then run the site in this process's place.

    Raises:
        Problem: the site runs already, the port is taken, or the installation failed.
    """
    from config.processes import supervisor  # noqa: PLC0415 -- needs the Python that `main` has checked

    try:
        supervisor.refuse_second(os.path.abspath(os.environ.get("PLURANK_VAR") or os.path.join(root, "var")))
    except supervisor.AlreadyRunningError as error:
        raise Problem(str(error)) from None
    port = free_port(os.environ.get("PORT") or DEFAULT_PORT)
    prepare(root, RUNTIME_LOCK)
    python = python_of(root)
    os.execv(python, [python, "manage.py", "demo", "--port", str(port)])  # noqa: S606 -- no shell is wanted


def _install_dev(root: str) -> None:
    """Install what tests and checks need, too."""
    prepare(root, DEV_LOCK)


COMMANDS = {"demo": demo, "install-dev": _install_dev}


def main(arguments: List[str]) -> int:
    """Run one command and return the exit status."""
    if len(arguments) != 1 or arguments[0] not in COMMANDS:
        say("Usage: python -m config.installation.bootstrap {}".format("|".join(COMMANDS)))
        return 2
    if sys.platform == "win32":
        say("Plurank needs a Unix; on Windows run it inside WSL (wsl --install).")
        return 1
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        say(f"Plurank needs Python 3.11, 3.12 or 3.13; this is {python_version()}.")
        return 1
    # A shell's background job ignores Ctrl-C; and a request to end must end pip, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    root = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
    os.chdir(root)
    try:
        COMMANDS[arguments[0]](root)
    except Problem as problem:
        say(str(problem))
        return 1
    except OSError as error:
        say(f"Could not prepare {root}: {error}")
        return 1
    except KeyboardInterrupt:
        say("\nInterrupted; run the same command again to go on.")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
