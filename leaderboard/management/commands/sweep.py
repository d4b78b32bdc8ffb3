"""`manage.py sweep`: the process that forgets nothing."""

import faulthandler
import logging
import signal
import threading
import time
from argparse import ArgumentParser
from collections.abc import Callable

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import close_old_connections, connection
from django.utils import timezone

import config.celery  # noqa: F401 -- wake-ups are sent through this application
from config.processes.arguments import duration
from config.processes.systemd import GOES_ON, READY, notify
from leaderboard.accounts.tokens import tell_of_expiring_tokens
from leaderboard.boards.public.published_file import published_file
from leaderboard.evaluation.private_boards import open_private_boards
from leaderboard.notifications.mails import put_digests
from leaderboard.notifications.outbox import end_old_mails, send_due_messages, send_due_webhooks
from leaderboard.operations.future_times import mend_future_times
from leaderboard.operations.retention import retain
from leaderboard.queue.heartbeats import SWEEP, Process, delete_old_heartbeats
from leaderboard.queue.jobs import sweep
from leaderboard.queue.recomputation import Recomputations
from leaderboard.rankings.listed_boards import store_missing_listed_boards
from leaderboard.rankings.notices import tell_of_publications
from leaderboard.studies.plans import plan_nightly_studies
from leaderboard.submissions.embargo import end_embargoes
from leaderboard.submissions.following.rounds import fetch_due_addresses
from leaderboard.submissions.overdue import escalate_overdue
from leaderboard.votes.overdue import reject_overdue_votes

logger = logging.getLogger(__name__)
UPKEEP_SECONDS = 60
UPKEEP: tuple[Callable[[], object], ...] = (
    mend_future_times,
    store_missing_listed_boards,
    delete_old_heartbeats,
    tell_of_expiring_tokens,
    end_old_mails,
    lambda: plan_nightly_studies(timezone.now()),
    reject_overdue_votes,
)
OFTEN: tuple[Callable[[], object], ...] = (
    end_embargoes,
    open_private_boards,
    escalate_overdue,
    Recomputations(),
    sweep,
)
# A mail server that does not answer costs seconds: these have a thread of their own, and delay nothing above.
NEWS: tuple[Callable[[], object], ...] = (tell_of_publications, put_digests, send_due_messages)
# So do strangers' servers.
HOOKS: tuple[Callable[[], object], ...] = (lambda: send_due_webhooks(published_file),)
FOLLOWING: tuple[Callable[[], object], ...] = (fetch_due_addresses,)
# And so may deleting what is old.
KEEPING: tuple[Callable[[], object], ...] = (retain,)


class Command(BaseCommand):
    """Ends leases and embargoes that ran out, wakes workers, sends mails, once a second; deletes what is old."""

    help = (
        "Keep every job going: end lost leases, wake workers for due jobs, send emails, delete old data. Any number "
        "can run."
    )
    requires_system_checks = ()  # they import every page

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say what the command takes."""
        parser.add_argument("--every", type=duration, default=1.0, metavar="SECONDS")
        parser.add_argument("--once", action="store_true", help="sweep once and exit")

    def handle(self, *args: object, **options: object) -> None:
        """Sweep until told to stop."""
        process = Process(SWEEP, name=SWEEP)
        if options["once"]:
            for step in (*UPKEEP, *OFTEN, process.beat, *NEWS, *HOOKS, *FOLLOWING, *KEEPING):
                step()
            return
        stop, every = threading.Event(), float(str(options["every"]))
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        # Daemons: to stop, no one waits for a mail server.
        threads = {"news": NEWS, "hooks": HOOKS, "following": FOLLOWING, "keeping": KEEPING}
        for name, steps in threads.items():
            threading.Thread(target=self._tell, args=(steps, stop, every), daemon=True, name=name).start()
        next_upkeep = 0.0
        # Should a sweep hang, whatever it waits for, the process says where and ends: anyone who keeps it running
        # starts
        # another. A thread of Python's own interpreter sees to that, so that nothing in here can keep it from doing so.
        longest = settings.SWEEP_SECONDS + every
        faulthandler.dump_traceback_later(longest, exit=True)
        while not stop.is_set():
            if time.monotonic() >= next_upkeep and self._try(*UPKEEP):
                next_upkeep = time.monotonic() + UPKEEP_SECONDS
            if self._try(*OFTEN, process.beat):
                faulthandler.dump_traceback_later(longest, exit=True)
                notify(READY, GOES_ON)
            stop.wait(every)
        faulthandler.cancel_dump_traceback_later()

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
