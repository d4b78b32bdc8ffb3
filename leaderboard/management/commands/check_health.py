"""`manage.py check_health ROLE`: for a container's health check."""

import os
import urllib.error
import urllib.request
from argparse import ArgumentParser

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

import config.celery  # noqa: F401 -- the broker is reached through this application
from config.processes.arguments import PORTS, whole
from leaderboard.operations.health import problems
from leaderboard.queue.heartbeats import LATE_SECONDS, ROLES as BACKGROUND

ROLES = ["web", *BACKGROUND]


class Command(BaseCommand):
    """Exit status 0 when the processes of a role do their work, 1 and the reason when not."""

    help = f"Check whether a process of this role is working: one that was seen within {LATE_SECONDS} seconds."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say what the command takes."""
        parser.add_argument("role", choices=ROLES)
        parser.add_argument(
            "--port", type=whole(*PORTS), default=os.environ.get("PORT") or "8000", help="where the web server listens"
        )
        parser.add_argument("--here", action="store_true", help="a process of this host must do so")
        parser.add_argument("--pid", type=whole(1, 2**31 - 1), help="this process of this host must do so")

    def handle(self, *args: object, **options: object) -> None:
        """Ask whatever the role depends on."""
        pid = int(str(options["pid"])) if options["pid"] else None
        failing = problems(str(options["role"]), is_here=bool(options["here"]), pid=pid)
        if options["role"] == "web" and not failing:
            named = [host.removeprefix(".") for host in settings.ALLOWED_HOSTS if host != "*"]  # which is no name
            host = next(iter(named), "127.0.0.1")
            headers = {"Host": host, "X-Forwarded-Proto": "https"}
            request = urllib.request.Request(f"http://127.0.0.1:{int(str(options['port']))}/healthz/", headers=headers)
            try:
                with urllib.request.urlopen(request, timeout=10) as response:  # noqa: S310
                    failing = [] if response.status == 200 else [f"the web server answers {response.status}"]
            except (urllib.error.URLError, OSError) as error:
                failing = [f"the web server does not answer: {error}"]
        if failing:
            raise CommandError("; ".join(failing))
        self.stdout.write("well")
