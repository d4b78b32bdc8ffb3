"""A site of this run's own, all of which may be killed: its hosts, their processes, and what they share."""

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tests.faults.ports import free_port

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[2]
# What Plurank ships, unless a README's variable says otherwise; the runs set none of them.
LEASE_SECONDS, BOARD_SECONDS, ATTEMPTS = 30, 120, 3
FILLER = "filler"


@dataclass
class Host:
    """Processes under one supervisor, with a folder `PLURANK_VAR` of their own."""

    name: str
    var: Path
    port: int
    roles: Sequence[str]
    version: str = ""  # of the engine, where it is not this checkout's

    @property
    def url(self) -> str:
        """Where its web server answers."""
        return f"http://127.0.0.1:{self.port}"


class Machine:
    """SQLite and a folder of messages: one host. Starts everything on entering, ends everything on leaving."""

    stack = "sqlite"

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="plurank-faults-"))
        self.folder.chmod(0o755)  # the user postgres must come through
        # One fault at a time for what all schedules share.
        self.locks = {name: threading.RLock() for name in ("database", "broker", "site")}
        self.running: dict[str, subprocess.Popen] = {}
        self.mounts: list[Path] = []
        self.hosts = self.make_hosts()
        self.own_environment = {
            "PLURANK_SECRET_KEY": secrets.token_urlsafe(50),
            "PLURANK_DEBUG": "true",
            "PLURANK_URL": self.hosts[0].url,
            "PLURANK_STUDIES_RUN": "demand",
            "PLURANK_BENCHMARKS_PER_ACCOUNT": "100000",
            "PLURANK_API_ADDRESS_RATE": "1000000/min",
            "PLURANK_API_USER_RATE": "1000000/min",
            "PLURANK_API_TOKEN_RATE": "1000000/min",
            "PLURANK_API_WRITE_RATE": "1000000/min",
        }
        self.prepare()
        os.environ.update(self.own_environment)

    def make_hosts(self) -> list[Host]:
        """The hosts; their roles are names of `config.processes.commands`, a number makes it another of its kind."""
        return [self.make_host("one", "web", "rankings", "rankings2", "sweep")]

    def make_host(self, name: str, *roles: str, version: str = "") -> Host:
        """A host that is not started yet."""
        var = self.folder / name
        var.mkdir(mode=0o700)
        return Host(name, var, free_port(), roles, version)

    def prepare(self) -> None:
        """Say in the environment where database and broker are. Their folder has an end, where one can be mounted."""
        var = self.hosts[0].var
        self.mount(var, megabytes=300)
        self.own_environment |= {"PLURANK_VAR": str(var), "DATABASE_URL": f"sqlite:///{var / 'plurank.sqlite3'}"}
        self.own_environment["REDIS_URL"] = ""

    def start_services(self) -> None:
        """Start what the site needs beside it: nothing here."""

    def environment_of(self, host: Host) -> dict[str, str]:
        """The environment of a host's processes."""
        return os.environ | self.own_environment | {"PLURANK_VAR": str(host.var)}

    def __enter__(self) -> "Machine":
        try:
            self.start_services()
            migrate = [sys.executable, "manage.py", "migrate", "--noinput", "-v", "0"]
            subprocess.run(migrate, cwd=ROOT, check=True)
            for host in self.hosts:
                self.start_host(host)
            self.wait_until(self.answers, 120, "the web servers answer")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        for name in list(self.running):
            self.kill(name)
        time.sleep(0.5)  # the guards kill what the supervisors left
        for folder in self.mounts:
            subprocess.run(["umount", "--lazy", str(folder)], check=False)
        if os.environ.get("FAULTS_KEEP_LOGS"):
            print(f"The logs are in {self.folder}.")
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    # --- Starting and killing ----------------------------------------------------------------------------------------
    def start(self, name: str, command: list[str], environment: dict[str, str] | None = None) -> None:
        """Start a process whose log has its name."""
        with (self.folder / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self, name: str, number: int = signal.SIGKILL) -> None:
        """Send a signal to a service or to a host's supervisor alone, and wait for its end."""
        process = self.running.get(name)
        if process is not None:
            process.send_signal(number)
            process.wait(timeout=180)  # PostgreSQL ends its own processes first, on a machine with much else to do
            del self.running[name]

    def signal(self, name: str, number: int) -> None:
        """Send a signal that does not end it."""
        self.running[name].send_signal(number)

    def start_host(self, host: Host) -> None:
        """Start a host's supervisor, which starts everything else."""
        command = [sys.executable, "-m", "tests.faults.serve", str(host.port), host.version, *host.roles]
        self.start(host.name, command, self.environment_of(host))

    def children(self, prefix: str = "") -> list[int]:
        """The processes under supervisors whose role begins so, of all hosts."""
        process_ids = []
        for host in self.hosts:
            with suppress(OSError, ValueError):
                children = json.loads((host.var / "supervisor.json").read_text())["children"]
                process_ids += [process for role, process in sorted(children.items()) if role.startswith(prefix)]
        return process_ids

    def signal_group(self, process: int, number: int) -> bool:
        """Send a signal to a child of a supervisor and all that it started. False where it is gone."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process, number)
            return True
        return False

    # --- Folders with an end -----------------------------------------------------------------------------------------
    def mount(self, folder: Path, *, megabytes: int) -> None:
        """Let a folder be a small disk of its own, where this user may mount one; then it can become full."""
        folder.mkdir(exist_ok=True)
        command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0755", "tmpfs", str(folder)]
        with suppress(FileNotFoundError):
            if subprocess.run(command, check=False, capture_output=True).returncode == 0:
                self.mounts.append(folder)

    def fill(self, folder: Path) -> None:
        """Leave no byte on the disk of a mounted folder."""
        with (folder / FILLER).open("wb", buffering=0) as file:
            for size in (2**20, 2**12):
                with suppress(OSError):
                    while True:
                        file.write(bytes(size))

    def make_room(self, folder: Path) -> None:
        """Undo `fill`."""
        (folder / FILLER).unlink(missing_ok=True)

    # --- Waiting -----------------------------------------------------------------------------------------------------
    def host_answers(self, host: Host) -> bool:
        """Whether a host's web server reaches its database."""
        try:
            with urllib.request.urlopen(f"{host.url}/healthz/", timeout=5) as response:
                return response.status == 200
        except OSError:
            return False

    def answers(self) -> bool:
        """Whether every host's web server does."""
        return all(self.host_answers(host) for host in self.hosts)

    def n_sweeps(self) -> int:
        """How many sweeps came to their end so far."""
        files = [host.var / "sweeps" for host in self.hosts]
        return sum(file.stat().st_size for file in files if file.exists())

    def wait_until(self, condition: Callable[[], T], seconds: float, what: str) -> T:
        """Ask until the answer is true; fails with the ends of all logs."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if answer := condition():
                return answer
            time.sleep(0.1)
        raise AssertionError(f"waited {seconds} s in vain until {what}\n{self.logs()}")

    def logs(self) -> str:
        """The end of every process's log."""
        files = sorted([*self.folder.glob("*.log"), *self.folder.glob("*/log/*.log")])
        ends = {f"{path.parent.parent.name} {path.name}": path for path in files}
        lines = {name: path.read_text(errors="replace").splitlines()[-40:] for name, path in ends.items()}
        return "\n".join(f"--- {name}\n" + "\n".join(end) for name, end in lines.items())
