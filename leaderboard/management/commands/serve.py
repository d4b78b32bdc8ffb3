"""`manage.py serve`: every process of the site under one supervisor."""

import os
import sys
from argparse import ArgumentParser
from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from config.processes.arguments import PORTS, PROCESSES, duration, whole
from config.processes.commands import QUEUES, address_of, default_host, processes, study_workers
from config.processes.supervisor import LONGEST_PAUSE, AlreadyRunningError, Supervisor, sole_supervisor
from leaderboard.operations.preparing import add_demonstration, prepare_site


class Command(BaseCommand):
    """Runs web server, workers and sweep on the database and the broker of the settings, and restarts what dies."""

    help = "Run web server, workers and sweep under one supervisor until stopped. Migrate first, or use --prepare."
    requires_system_checks = ()  # they import every page

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say what the command takes."""
        parser.add_argument("--port", type=whole(*PORTS), default=os.environ.get("PORT") or "8000")
        parser.add_argument(
            "--host", default=default_host(), help="0.0.0.0 in a container; by default $HOST or 127.0.0.1"
        )
        parser.add_argument("--prepare", action="store_true",
                            help="first bring the database up to date and collect static files")  # fmt: skip
        parser.add_argument("--demonstration", action="store_true", help="then add the demonstration benchmarks")
        parser.add_argument(
            "--web", type=whole(1, PROCESSES), default=1, metavar="N", help="processes of the web server"
        )
        for queue, default in {"rankings": 1, "studies": study_workers(), "scoring": 1}.items():
            parser.add_argument(f"--{queue}", type=whole(0, PROCESSES), default=default, metavar="N",
                                help=f"workers of the queue {queue}; by default {default} on this machine")  # fmt: skip
        parser.add_argument("--longest-pause", type=duration, default=LONGEST_PAUSE, metavar="SECONDS",
                            help="before a process that keeps dying is restarted")  # fmt: skip

    def handle(self, *args: object, **options: object) -> None:
        """Run until asked to stop."""
        port, host = int(str(options["port"])), str(options["host"])
        n_workers = {queue: int(str(options[queue])) for queue in QUEUES}
        commands = processes(sys.executable, port, host=host, n_web=int(str(options["web"])), n_workers=n_workers)
        pause = float(str(options["longest_pause"]))
        folder = Path(settings.ROOT)
        address = address_of(host, port)
        if not (settings.IS_PRODUCTION or settings.CSRF_TRUSTED_ORIGINS):
            os.environ.setdefault("PLURANK_URL", address)  # links in mails and feeds, where no one says another
        try:
            with sole_supervisor(settings.VAR, f"{address}/"):
                if options["prepare"]:
                    prepare_site(self._say)
                if options["demonstration"]:
                    add_demonstration(self._say)
                with Supervisor(commands, var=settings.VAR, folder=folder, longest_pause=pause) as supervisor:
                    self._say(f"Plurank runs at {address}/, logs in {settings.VAR / 'log'}")
                    supervisor.watch()
        except AlreadyRunningError as error:
            raise CommandError(str(error)) from None

    def _say(self, message: str) -> None:
        self.stdout.write(message)
        self.stdout.flush()
