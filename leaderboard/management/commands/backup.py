"""`manage.py backup FILE`, or `manage.py backup --folder FOLDER --keep 7`."""

from argparse import ArgumentParser
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from leaderboard.operations.backup_age import note_backup
from leaderboard.operations.backup_folder import backup_name, surplus_backups
from leaderboard.operations.backups import BackupError, write_backup


class Command(BaseCommand):
    """Writes the whole database into one file, while the site goes on."""

    help = "Write the whole database into a new file. PLURANK_SECRET_KEY is not in it: keep that elsewhere."
    requires_system_checks = ()  # they import every page

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say what the command takes."""
        parser.add_argument("file", type=Path, nargs="?", help="created, readable only by its owner; never overwritten")
        parser.add_argument("--folder", type=Path, help="instead of FILE: a folder; the file is named after the time")
        parser.add_argument("--keep", type=int, metavar="DAYS",
                            help="with --folder: then remove all but the last of each of so many days")  # fmt: skip
        parser.add_argument("--weekly", type=int, default=0, metavar="WEEKS",
                            help="with --keep: and but the last of each of so many weeks")  # fmt: skip

    def handle(self, *args: object, **options: object) -> None:
        """Write it, or say in one line why not; remove older ones only after that."""
        folder = Path(str(options["folder"])) if options["folder"] else None
        keep = None if options["keep"] is None else int(str(options["keep"]))
        weekly = int(str(options["weekly"]))
        if (options["file"] is None) == (folder is None):
            raise CommandError("give either a file or, with --folder, a folder")
        if keep is not None and folder is None:
            raise CommandError("--keep is for a folder: --folder FOLDER --keep 7")
        if (keep is not None and keep < 1) or weekly < 0 or (weekly and keep is None):
            raise CommandError("--keep takes 1 or more days, and --weekly, beside it, 0 or more weeks")
        if folder is not None and not folder.is_dir():
            raise CommandError(f"{folder} is not a folder")
        file = folder / backup_name(timezone.now()) if folder else Path(str(options["file"]))
        try:
            manifest = write_backup(file)
        except BackupError as error:
            raise CommandError(str(error)) from error
        if not note_backup(file.stat().st_size):
            self.stderr.write(
                "The backup was written, but the database could not record it, so /metrics/ does not show it."
            )
        n_rows, n_boards = sum(manifest["rows"].values()), len(manifest["boards"])
        self.stdout.write(f"{file}: {n_rows:,} rows, {n_boards} published boards, {file.stat().st_size:,} bytes")
        for surplus in surplus_backups(folder, daily=keep, weekly=weekly) if folder and keep else []:
            surplus.unlink(missing_ok=True)
            self.stdout.write(f"{surplus}: removed")
