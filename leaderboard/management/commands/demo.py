"""`manage.py demo`: the whole site with demonstration data, until Ctrl-C."""

import argparse
import hashlib
import http.client
import os
import secrets
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import CommandError, call_command
from django.core.management.base import BaseCommand
from django.db import connection

from config.installation.bootstrap import Problem, free_port
from config.processes.commands import processes, study_workers
from config.processes.supervisor import AlreadyRunningError, Supervisor, sole_supervisor
from leaderboard.benchmarks.demonstration import load_demonstration

OWNER_EMAIL = "owner@plurank.example"
SECONDS_TO_START = 60


class Command(BaseCommand):
    """Prepares database, static files and data, then runs the site's processes under the supervisor."""

    help = "Run the whole site with demonstration data on this machine, until Ctrl-C."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """The port is all there is to choose."""
        parser.add_argument("--port", default=os.environ.get("PORT") or "8000")

    def handle(self, *args: object, port: str, **options: object) -> None:
        """Run until asked to stop."""
        try:
            number = free_port(port)
            with sole_supervisor(settings.VAR, f"http://127.0.0.1:{number}/"):
                self._prepare()
                os.environ.setdefault("PLURANK_URL", f"http://127.0.0.1:{number}")  # links in the mails of the sweep
                commands = processes(sys.executable, number, n_workers={"studies": study_workers()})
                with Supervisor(commands, var=settings.VAR, folder=settings.ROOT, say=self._say) as supervisor:
                    self._say("Starting web server, workers and sweep ...")
                    if supervisor.watch(until=lambda: site_answers(number), seconds=SECONDS_TO_START):
                        self._say(welcome(number))
                        supervisor.watch()
                    elif not supervisor.is_stopping:
                        raise CommandError(
                            f"The site did not answer within {SECONDS_TO_START} s. The end of its log:\n"
                            + last_lines(settings.VAR / "log" / "web.log", 20)
                        )
                    self._say("Stopping ...")
                self._say("Stopped. All data is kept for the next start.")
        except (Problem, AlreadyRunningError) as error:
            raise CommandError(str(error)) from None
        except KeyboardInterrupt:
            self._say("\nStopped before the site was up; run it again to continue.")
            sys.exit(130)

    def _prepare(self) -> None:
        self._say("Preparing the database ...")
        call_command("migrate", interactive=False, verbosity=0)
        collect_static(settings.STATIC_ROOT / "collected.stamp", self._say)
        password = kept_password(settings.VAR / "demo_password")
        load_demonstration(owner_email=OWNER_EMAIL, owner_password=password, progress=self._say)
        connection.close()

    def _say(self, message: str) -> None:
        with suppress(OSError):  # the terminal may be gone
            self.stdout.write(message)
            self.stdout.flush()


def kept_password(file: Path) -> str:
    """The demo owner's password: made at the first start, the same ever after, readable by this user only."""
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        if password := file.read_text().strip():
            return password
        file.unlink()  # killed between making and writing it
        return kept_password(file)
    os.write(descriptor, f"{secrets.token_urlsafe(12)}\n".encode())
    os.close(descriptor)
    return kept_password(file)


def collect_static(stamp: Path, progress: Callable[[str], None]) -> None:
    """Collect the static files for the web server, unless nothing changed since `stamp`, beside them, was written."""
    now = static_digest()
    if stamp.exists() and stamp.read_text() == now:
        return
    progress("Collecting static files ...")
    stamp.unlink(missing_ok=True)
    call_command("collectstatic", interactive=False, verbosity=0, clear=True)
    stamp.write_text(now)


def static_digest() -> str:
    """Distinguishes any two states of all static files, ours and the packages', and of how they are stored."""
    digest = hashlib.sha256(repr(settings.STORAGES["staticfiles"]).encode())
    for finder in get_finders():
        for path, storage in finder.list([]):
            state = Path(storage.path(path)).stat()
            digest.update(f"{path} {state.st_size} {state.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def site_answers(port: int) -> bool:
    """Whether the web server answers a request without an error of its own."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
        try:
            connection.request("GET", "/")
            return connection.getresponse().status < 500
        except (OSError, http.client.HTTPException):
            return False


def welcome(port: int) -> str:
    """What a person needs to know once the site is up."""
    where = settings.VAR if settings.IS_SQLITE else "the database that DATABASE_URL names"
    return f"""
  Plurank is running.

    Address    http://127.0.0.1:{port}/
    Sign in    {OWNER_EMAIL}
    Password   {kept_password(settings.VAR / "demo_password")}
    Data       {where}
    Logs       {settings.VAR / "log"}

  Ctrl-C stops it; the same command starts it again with everything that was in it.
"""


def last_lines(file: Path, number: int) -> str:
    """The end of a text file; empty where there is none."""
    if not file.exists():
        return ""
    return "\n".join(file.read_text(errors="replace").splitlines()[-number:])
