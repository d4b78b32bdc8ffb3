"""`manage.py sweep`: the process that forgets nothing."""

import logging
import signal
import threading
import time
from argparse import ArgumentParser
from collections.abc import Callable

from django.core.management.base import BaseCommand
from django.db import close_old_connections, connection
from django.utils import timezone

import config.celery  # noqa: F401 -- wake-ups are sent through this application
from leaderboard.services.attempts import delete_ended_attempts
from leaderboard.services.board_notices import tell_of_publications
from leaderboard.services.embargo import end_embargoes
from leaderboard.services.health import SWEEP, note_heartbeat
from leaderboard.services.jobs import sweep
from leaderboard.services.notice_mails import put_digests
from leaderboard.services.outbox import delete_old_messages, send_due_messages, send_due_webhooks
from leaderboard.services.overdue import escalate_overdue
from leaderboard.services.sessions import delete_ended_sessions
from leaderboard.services.study_plans import plan_nightly_studies
from leaderboard.services.token_notices import tell_of_expiring_tokens
from leaderboard.services.upkeep import delete_expired_drafts, delete_forgotten_partials, insert_jobs_after_upgrade

logger = logging.getLogger(__name__)
UPKEEP_SECONDS = 60
UPKEEP: tuple[Callable[[], object], ...] = (
    insert_jobs_after_upgrade,
    delete_expired_drafts,
    delete_forgotten_partials,
    delete_ended_attempts,
    delete_old_messages,
    delete_ended_sessions,
    tell_of_expiring_tokens,
    lambda: plan_nightly_studies(timezone.now()),
)
OFTEN: tuple[Callable[[], object], ...] = (end_embargoes, escalate_overdue, sweep, lambda: note_heartbeat(SWEEP))
# A mail server that does not answer costs seconds: these have a thread of their own, and delay nothing above.
NEWS: tuple[Callable[[], object], ...] = (tell_of_publications, put_digests, send_due_messages)
# So do strangers' servers.
HOOKS: tuple[Callable[[], object], ...] = (send_due_webhooks,)


class Command(BaseCommand):
    """Ends leases and embargoes that ran out, wakes workers, sends mails; once a second, straight from the database."""

    help = "Keep every job going: end lost leases, wake workers for what is due, send mails. Any number may run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say what the command takes."""
        parser.add_argument("--every", type=float, default=1.0, metavar="SECONDS")
        parser.add_argument("--once", action="store_true", help="sweep once and leave")

    def handle(self, *args: object, **options: object) -> None:
        """Sweep until told to stop."""
        if options["once"]:
            for step in (*UPKEEP, *OFTEN, *NEWS, *HOOKS):
                step()
            return
        stop, every = threading.Event(), float(str(options["every"]))
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        # Daemons: to stop, nobody waits for a mail server.
        for name, steps in (("news", NEWS), ("hooks", HOOKS)):
            threading.Thread(target=self._tell, args=(steps, stop, every), daemon=True, name=name).start()
        next_upkeep = 0.0
        while not stop.is_set():
            if time.monotonic() >= next_upkeep and self._try(*UPKEEP):
                next_upkeep = time.monotonic() + UPKEEP_SECONDS
            self._try(*OFTEN)
            stop.wait(every)

    def _tell(self, steps: tuple[Callable[[], object], ...], stop: threading.Event, every: float) -> None:
        try:
            while not stop.is_set():
                for step in steps:  # a board that cannot be told of keeps no mail back
                    self._try(step)
                stop.wait(every)
        finally:
            connection.close()

    @staticmethod
    def _try(*steps: Callable[[], object]) -> bool:
        """Do some steps. False where one failed: the database may be away for a moment, and nothing is lost."""
        try:
            close_old_connections()
            for step in steps:
                step()
        except Exception:
            logger.exception("this sweep failed")
            return False
        return True
