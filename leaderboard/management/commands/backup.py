"""`manage.py backup FILE`."""

from argparse import ArgumentParser
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from leaderboard.services.backups import BackupError, write_backup


class Command(BaseCommand):
    """Writes the whole database into one file, while the site goes on."""

    help = "Write the whole database into a new file. PLURANK_SECRET_KEY is not in it: keep that elsewhere."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say what the command takes."""
        parser.add_argument("file", type=Path, help="made, readable by its owner alone; never overwritten")

    def handle(self, *args: object, **options: object) -> None:
        """Write it, or say in one line why not."""
        file = Path(str(options["file"]))
        try:
            manifest = write_backup(file)
        except BackupError as error:
            raise CommandError(str(error)) from error
        n_rows, n_boards = sum(manifest["rows"].values()), len(manifest["boards"])
        self.stdout.write(f"{file}: {n_rows:,} rows, {n_boards} published boards, {file.stat().st_size:,} bytes")
