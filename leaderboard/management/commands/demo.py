"""`manage.py demo`: the whole site with demonstration data, until Ctrl-C."""

import argparse
import os
import sys
from collections.abc import Callable
from contextlib import suppress

from django.conf import settings
from django.core.management import CommandError
from django.core.management.base import BaseCommand

from config.installation.bootstrap import Problem, free_port
from config.processes.commands import address_of, default_host, hosts_of, processes, status_of, study_workers
from config.processes.supervisor import AlreadyRunningError, Supervisor, sole_supervisor
from leaderboard.operations.preparing import OWNER_EMAIL, add_demonstration, kept_password, prepare_site

SECONDS_TO_START = 60
MOST_SECONDS_TO_START = 600  # where the machine is busy: the web server runs, and does not answer yet


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
                    if problem := wait_for_site(supervisor, address, self._say):
                        raise CommandError(f"{problem} The end of its log:\n{supervisor.end_of_log('web')}")
                    if not supervisor.is_stopping:
                        self._say(welcome(address))
                        supervisor.watch()
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


def wait_for_site(supervisor: Supervisor, address: str, say: Callable[[str], None]) -> str:
    """Wait until the site answers or the supervisor is asked to stop; longer while its web server runs.

    Args:
        supervisor: of the site's processes, the one named `web` among them.
        address: the URL of the site.
        say: is told that it takes longer.

    Returns:
        Why the site does not answer, and what to do; empty where it answers, or is being stopped.
    """

    def answers() -> bool:  # without an error of its own
        return 0 < status_of(f"{address}/") < 500

    if supervisor.watch(until=answers, seconds=SECONDS_TO_START) or supervisor.is_stopping:
        return ""
    if supervisor.is_steady("web"):
        say(
            f"The site does not answer yet, but its web server runs: this machine is busy. Waiting up to "
            f"{MOST_SECONDS_TO_START} s. Ctrl-C stops it."
        )
        supervisor.watch(
            until=lambda: answers() or not supervisor.is_steady("web"),
            seconds=MOST_SECONDS_TO_START - SECONDS_TO_START,
        )
        if answers() or supervisor.is_stopping:
            return ""
    if not supervisor.is_steady("web"):
        return "The site does not answer: its web server ended, for the reason at the end of its log."
    return (
        f"The site did not answer within {MOST_SECONDS_TO_START} s, although its web server runs: this machine is too "
        "busy. Run the same command again when less runs on it: everything that was loaded is kept."
    )


def welcome(address: str) -> str:
    """What a person needs to know once the site is up at a URL."""
    where = settings.VAR if settings.IS_SQLITE else "the database that DATABASE_URL names"
    return f"""
  Plurank is running.

    URL        {address}/
    Sign in    {OWNER_EMAIL}
    Password   {kept_password(settings.VAR / "demo_password")}
    Data       {where}
    Logs       {settings.VAR / "log"}

  Ctrl-C stops it; the same command starts it again with everything that was in it.
"""
