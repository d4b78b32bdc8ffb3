"""Migrations that are there whole or not at all: what one changes and the row that records it are one transaction.

Django commits the change first and records it afterwards. A `migrate` that is killed in between leaves a change that
no record has, and the next one fails because the table is there already.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.state import ProjectState


class WholeMigrations(MigrationExecutor):
    """Django's own executor, with one transaction around each migration that may run in one."""

    def apply_migration(
        self, state: ProjectState, migration: Migration, fake: bool = False, fake_initial: bool = False
    ) -> ProjectState:
        """Apply a migration and record it."""
        with _one_transaction(self.connection, migration):
            return super().apply_migration(state, migration, fake=fake, fake_initial=fake_initial)

    def unapply_migration(self, state: ProjectState, migration: Migration, fake: bool = False) -> ProjectState:
        """Undo a migration and its record."""
        with _one_transaction(self.connection, migration):
            return super().unapply_migration(state, migration, fake=fake)


@contextmanager
def _one_transaction(connection: BaseDatabaseWrapper, migration: Migration) -> Iterator[None]:
    if not migration.atomic:
        yield
        return
    # SQLite copies tables to change them, and can leave references unchecked only from before a transaction begins.
    # Django checks all of them at the end of each migration.
    with connection.constraint_checks_disabled(), transaction.atomic(connection.alias):
        yield
