"""`manage.py prune`."""

from argparse import ArgumentParser

from django.core.management.base import BaseCommand

from leaderboard.operations.retention import DESCRIPTIONS, count_old, remove_all_old


class Command(BaseCommand):
    """Deletes at once what the sweep deletes bit by bit; scores, events, revisions and releases never."""

    help = (
        "Delete what is old and no longer needed. The sweep does the same a slice a minute; PLURANK_KEEP_DAYS and the "
        "settings beside it say how old: " + "; ".join(DESCRIPTIONS.values()) + "."
    )
    requires_system_checks = ()  # they import every page

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say what the command takes."""
        parser.add_argument("--dry-run", action="store_true", help="only say how many rows there are")

    def handle(self, *args: object, **options: object) -> None:
        """Delete, and say how much."""
        counts = count_old() if options["dry_run"] else remove_all_old()
        verb = "would be deleted" if options["dry_run"] else "deleted"
        for name, description in DESCRIPTIONS.items():
            self.stdout.write(f"{counts.get(name, 0):>8,} {description} {verb}")
