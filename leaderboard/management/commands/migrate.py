"""`manage.py migrate`: Django's own, one at a time, each migration whole, and back only where nothing is lost."""

from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections
from django.db.migrations import Migration
from django.db.models.signals import pre_migrate

from config.backends.migration_lock import migration_turn
from config.backends.whole_migrations import WholeMigrations

# Django's command takes no other executor from anywhere.
migrate.MigrationExecutor = WholeMigrations  # type: ignore[attr-defined]


class Command(migrate.Command):
    """Waits for its turn, and refuses to go back where a migration cannot be undone, before anything is changed."""

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 -- as Django has it
        """Migrate, or say why not."""
        if options["plan"] or options["check_unapplied"]:  # both only look
            super().handle(*args, **options)
            return
        pre_migrate.connect(_refuse_to_lose, dispatch_uid="plurank.refuse_to_lose")
        with migration_turn(connections[options["database"]], self._say_that_it_waits):
            super().handle(*args, **options)

    def _say_that_it_waits(self) -> None:
        self.stderr.write("Another migrate is running on this database. Waiting until it is done.")


def _refuse_to_lose(plan: Sequence[tuple[Migration, bool]], **_signal: object) -> None:
    """Look through the whole plan first: Django itself would undo newer migrations until it comes to this one.

    Raises:
        CommandError: the plan goes back beyond a migration that cannot be undone.
    """
    for migration, is_backwards in plan:
        if is_backwards and not all(operation.reversible for operation in migration.operations):
            raise CommandError(
                f"cannot go back beyond {migration}: undoing it would lose what people entered. Nothing was changed. "
                "Restore a backup of the older release instead (docs/operate.md, “Going back”)."
            )
