"""`manage.py demo`: the whole site with demonstration data, until Ctrl-C."""

import argparse
import http.client
import os
import sys
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management import CommandError
from django.core.management.base import BaseCommand

from config.installation.bootstrap import Problem, free_port
from config.processes.commands import address_of, default_host, hosts_of, processes, study_workers
from config.processes.supervisor import AlreadyRunningError, Supervisor, sole_supervisor
from leaderboard.operations.preparing import OWNER_EMAIL, add_demonstration, kept_password, prepare_site

SECONDS_TO_START = 60


class Command(BaseCommand):
    """Prepares database, static files and data, then runs the site's processes under the supervisor."""

    help = "Run the whole site with demonstration data on this machine, until Ctrl-C."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Where to listen."""
        parser.add_argument("--port", default=os.environ.get("PORT") or "8000")
        parser.add_argument("--host", default=default_host(), help="0.0.0.0: for all networks")

    def handle(self, *args: object, port: str, host: str, **options: object) -> None:
        """Run until asked to stop."""
        try:
            number = free_port(port)
            address = address_of(host, number)
            with sole_supervisor(settings.VAR, f"{address}/"):
                prepare_site(self._say)
                add_demonstration(self._say)
                os.environ.setdefault("PLURANK_URL", address)  # links in the mails of the sweep
                os.environ.setdefault("PLURANK_HOSTS", hosts_of(host))
                commands = processes(sys.executable, number, host=host, n_workers={"studies": study_workers()})
                with Supervisor(commands, var=settings.VAR, folder=settings.ROOT, say=self._say) as supervisor:
                    self._say("Starting web server, workers and sweep ...")
                    if supervisor.watch(until=lambda: site_answers(address), seconds=SECONDS_TO_START):
                        self._say(welcome(address))
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

    def _say(self, message: str) -> None:
        with suppress(OSError):  # the terminal may be gone
            self.stdout.write(message)
            self.stdout.flush()


def site_answers(address: str) -> bool:
    """Whether the web server at a URL answers a request without an error of its own."""
    with closing(http.client.HTTPConnection(urlsplit(address).netloc, timeout=5)) as connection:
        try:
            connection.request("GET", "/")
            return connection.getresponse().status < 500
        except (OSError, http.client.HTTPException):
            return False


def welcome(address: str) -> str:
    """What a person needs to know once the site is up at a URL."""
    where = settings.VAR if settings.IS_SQLITE else "the database that DATABASE_URL names"
    return f"""
  Plurank is running.

    Address    {address}/
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
