"""`manage.py restore FILE`."""

from argparse import ArgumentParser
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from leaderboard.operations.backups import BackupError, restore_backup


class Command(BaseCommand):
    """Fills an empty database from a backup, and computes the input hash of every published board again."""

    help = "Fill the empty database that DATABASE_URL names from a backup, migrate it, and check every board's inputs."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say what the command takes."""
        parser.add_argument("file", type=Path, help="what `manage.py backup` wrote")

    def handle(self, *args: object, **options: object) -> None:
        """Restore it, or say in one line why not."""
        file = Path(str(options["file"]))
        if not file.is_file():
            raise CommandError(f"{file} is not a file")
        try:
            manifest = restore_backup(file, self.stdout.write)
        except BackupError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Restored: {len(manifest['boards'])} boards have the inputs they had at {manifest['at']}.")
