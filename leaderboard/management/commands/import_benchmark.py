"""`manage.py import_benchmark FOLDER --owner EMAIL`."""

from argparse import ArgumentParser
from pathlib import Path

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import IntegrityError

from leaderboard.benchmarks.folders import import_folder
from leaderboard.models import Benchmark, User
from ranking_engine.files.tables import TableError


class Command(BaseCommand):
    """Creates a benchmark from scores.csv and benchmark.toml."""

    help = "Create a benchmark from a folder with scores.csv and, if tasks need a description, benchmark.toml."
    requires_system_checks = ()  # they import every page

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say what the command takes."""
        parser.add_argument("folder", type=Path)
        parser.add_argument("--owner", required=True, help="the email address of the account that will own it")
        parser.add_argument("--key", default="", help="its key, as in its URL (default: the folder's name)")
        parser.add_argument("--visibility", choices=Benchmark.Visibility.values, default="public")
        parser.add_argument("--submissions", choices=Benchmark.SubmissionPolicy.values, default="moderated")

    def handle(self, *args: object, **options: object) -> None:
        """Import the folder, or say in one line what is wrong with it."""
        folder = Path(str(options["folder"])).resolve()
        owner = User.objects.filter(email__iexact=str(options["owner"])).first()
        if owner is None:
            raise CommandError(f"no account has the email address {options['owner']}; sign up first")
        notes: list[str] = []
        try:
            benchmark = import_folder(
                folder,
                notes=notes,
                owner=owner,
                key=str(options["key"]),
                visibility=options["visibility"],
                submission_policy=options["submissions"],
            )
        except TableError as error:
            raise CommandError(error.one_line()) from error
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}") from error
        except ValidationError as error:
            remedy = " Choose it with --key." if "key" in getattr(error, "error_dict", ()) else ""
            raise CommandError("; ".join(error.messages) + remedy) from error
        except (IntegrityError, ValueError) as error:
            raise CommandError(str(error)) from error
        for note in notes:
            self.stdout.write(f"note: {note}")
        self.stdout.write(f"/b/{benchmark.key}/  {benchmark.name}, revision {benchmark.last_revision_number}")
