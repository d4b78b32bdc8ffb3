"""`manage.py check_health ROLE`: for a container's health check."""

import os
import urllib.error
import urllib.request
from argparse import ArgumentParser

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

import config.celery  # noqa: F401 -- the broker is reached through this application
from config.processes.arguments import PORTS, whole
from leaderboard.operations.health import own_problem, problems
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
        parser.add_argument(
            "--alive",
            action="store_true",
            help="ask only for the process itself: what it depends on, such as the database, may be away",
        )

    def handle(self, *args: object, **options: object) -> None:
        """Ask whatever the role depends on, or the process alone."""
        role, is_alive, is_here = str(options["role"]), bool(options["alive"]), bool(options["here"])
        pid = int(str(options["pid"])) if options["pid"] else None
        if is_alive:
            silent = "" if role == "web" else own_problem(role, is_here=is_here, pid=pid)
            failing = [silent] if silent else []
        else:
            failing = problems(role, is_here=is_here, pid=pid)
        if role == "web" and not failing:
            named = [host.removeprefix(".") for host in settings.ALLOWED_HOSTS if host != "*"]  # which is no name
            headers = {"Host": next(iter(named), "127.0.0.1"), "X-Forwarded-Proto": "https"}
            path = "robots.txt" if is_alive else "healthz/"  # the former needs no database
            request = urllib.request.Request(f"http://127.0.0.1:{int(str(options['port']))}/{path}", headers=headers)
            try:
                with urllib.request.urlopen(request, timeout=10) as response:  # noqa: S310
                    failing = [] if response.status == 200 else [f"the web server answers {response.status}"]
            except urllib.error.HTTPError as error:
                failing = [] if is_alive else [f"the web server answers {error.code}"]
            except (urllib.error.URLError, OSError) as error:
                failing = [f"the web server does not answer: {error}"]
        if failing:
            raise CommandError("; ".join(failing))
        self.stdout.write("well")
