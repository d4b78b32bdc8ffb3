"""`manage.py retry`: try again what was given up."""

from argparse import ArgumentParser

from django.core.management.base import BaseCommand, CommandError

import config.celery  # noqa: F401 -- wake-ups are sent through this application
from config.processes.arguments import whole
from leaderboard.models import Benchmark, Job
from leaderboard.notifications.outbox import retry_mails
from leaderboard.queue.retry import failed_jobs, retry_board, retry_job


class Command(BaseCommand):
    """Makes due again what was given up: all jobs that are still wanted, one benchmark's board, one job, or emails."""

    help = "Retry what failed: every failed job, the newest board of one benchmark, one job, or the emails."
    requires_system_checks = ()  # they import every page

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say what the command takes."""
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--benchmark", metavar="KEY", help="compute the newest board of this benchmark now")
        what.add_argument("--job", type=whole(1, 2**63 - 1), metavar="NUMBER", help="try this job again")
        what.add_argument("--emails", action="store_true", help="send the emails that were given up and are kept")

    def handle(self, *args: object, **options: object) -> None:
        """Try again, and say what is due now."""
        key, number = options["benchmark"], options["job"]
        if options["emails"]:
            n_mails = retry_mails()
            self.stdout.write(f"{n_mails} email{'' if n_mails == 1 else 's'} due now")
            return
        if key is not None:
            benchmark = Benchmark.objects.filter(key=key).first()
            if benchmark is None:
                raise CommandError(f"there is no benchmark {str(key)[:80]!r}")
            if not retry_board(benchmark):
                raise CommandError(f"the newest board of {key} is already published or being computed")
            self.stdout.write(f"the newest board of {key} is due now")
            return
        jobs = failed_jobs() if number is None else Job.objects.filter(pk=int(str(number)))
        if number is not None and not jobs.exists():
            raise CommandError(f"there is no job {number}")
        n_due = 0
        for job in jobs:
            if retry_job(job):
                n_due += 1
                self.stdout.write(f"due now: job {job.pk}, {job}")
            elif number is not None:
                raise CommandError(
                    f"job {job.pk} is {job.state}; only failed jobs and jobs waiting for a retry can be retried"
                )
        self.stdout.write(f"{n_due} job{'' if n_due == 1 else 's'} due now")
