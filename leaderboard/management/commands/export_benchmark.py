"""`manage.py export_benchmark KEY FOLDER`."""

from argparse import ArgumentParser
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from leaderboard.benchmarks.folder_exports import FolderError, folder_of
from leaderboard.models import Benchmark, Revision


class Command(BaseCommand):
    """Writes a benchmark's newest revision as scores.csv and benchmark.toml."""

    help = "Write a benchmark's newest revision into a new folder, as scores.csv and benchmark.toml."
    requires_system_checks = ()  # they import every page

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say what the command takes."""
        parser.add_argument("key", help="the benchmark’s key, as in its URL")
        parser.add_argument(
            "folder", type=Path, help="created if it does not exist; existing files are not overwritten"
        )

    def handle(self, *args: object, **options: object) -> None:
        """Write the folder, or say in one line why not."""
        key, folder = str(options["key"]), Path(str(options["folder"]))
        benchmark = Benchmark.objects.filter(key=key).first()
        if benchmark is None:
            raise CommandError(f"no benchmark has the key {key!r}")
        revision = Revision.objects.filter(benchmark=benchmark).select_related("configuration", "benchmark")
        newest = revision.order_by("-number").first()
        if newest is None:
            raise CommandError(f"{benchmark.name} has no revision yet")
        try:
            files = folder_of(newest)
            folder.mkdir(parents=True, exist_ok=True)
            for name, lines in files.items():
                with (folder / name).open("x", encoding="utf-8", newline="") as file:
                    file.writelines(lines)
        except FolderError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}") from error
        self.stdout.write(f"{folder}: {benchmark.name}, revision {newest.number}")
