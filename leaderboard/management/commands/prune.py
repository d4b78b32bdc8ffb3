"""`manage.py prune`."""

from argparse import ArgumentParser

from django.core.management.base import BaseCommand, CommandError

from leaderboard.services.retention import LEAST_DAYS, RETAINED, prune


class Command(BaseCommand):
    """Deletes what is old and no longer needed; scores, events, revisions and boards never."""

    help = "Delete old rows that nothing needs any more: " + "; ".join(kind.told for kind in RETAINED) + "."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say what the command takes."""
        parser.add_argument("--days", type=int, default=90, help=f"how old (at least {LEAST_DAYS}; default 90)")
        parser.add_argument("--dry-run", action="store_true", help="only say how many rows there are")

    def handle(self, *args: object, **options: object) -> None:
        """Delete, and say how much."""
        is_trial = bool(options["dry_run"])
        try:
            found = prune(int(str(options["days"])), is_trial=is_trial)
        except ValueError as error:
            raise CommandError(str(error)) from error
        verb = "would be deleted" if is_trial else "deleted"
        for kind in RETAINED:
            self.stdout.write(f"{found[kind.name]:>8,} {kind.told} {verb}")
