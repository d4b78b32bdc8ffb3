"""`manage.py sweep`: the process that forgets nothing."""

import logging
import signal
import threading
import time
from argparse import ArgumentParser

from django.core.management.base import BaseCommand
from django.db import close_old_connections
from django.utils import timezone

import config.celery  # noqa: F401 -- wake-ups are sent through this application
from leaderboard.services.embargo import end_embargoes
from leaderboard.services.jobs import sweep
from leaderboard.services.study_plans import plan_nightly_studies
from leaderboard.services.upkeep import delete_expired_drafts, delete_forgotten_partials, insert_jobs_after_upgrade

logger = logging.getLogger(__name__)
UPKEEP_SECONDS = 60


class Command(BaseCommand):
    """Ends leases and embargoes that ran out and wakes workers, once a second, straight from the database."""

    help = "Keep every job going: end leases that ran out, wake workers for what is due. Any number may run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say what the command takes."""
        parser.add_argument("--every", type=float, default=1.0, metavar="SECONDS")
        parser.add_argument("--once", action="store_true", help="sweep once and leave")

    def handle(self, *args: object, **options: object) -> None:
        """Sweep until told to stop."""
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        next_upkeep = 0.0
        while not stop.is_set():
            try:
                close_old_connections()
                if time.monotonic() >= next_upkeep:
                    insert_jobs_after_upgrade()
                    delete_expired_drafts()
                    delete_forgotten_partials()
                    plan_nightly_studies(timezone.now())
                    next_upkeep = time.monotonic() + UPKEEP_SECONDS
                end_embargoes()
                sweep()
            except Exception:
                # The database may be away for a moment; nothing is lost by sweeping a second later.
                logger.exception("this sweep failed")
                if options["once"]:
                    raise
            if options["once"]:
                return
            stop.wait(float(str(options["every"])))
