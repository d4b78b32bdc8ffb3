"""Migrations that are there whole or not at all, and that render no model twice without need.

Django commits what a migration changes first and records it afterwards. A `migrate` that is killed in between leaves a
change that no record has, and the next one fails because the table is there already. Here both are one transaction.

After each operation Django also renders every model again that is related to the changed one, directly or not. That is
almost every model, 30 times what most operations need: of a `migrate` from nothing it took four fifths.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations import (
    AddConstraint,
    AddField,
    AddIndex,
    AlterField,
    CreateModel,
    Migration,
    RemoveConstraint,
    RemoveIndex,
    RunPython,
)
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

# What reads nothing of any model but the one that it changes, except the tables and keys that this one refers to.
# Code that a migration runs has models that Django renders for it.
OF_ONE_MODEL = (AddConstraint, AddField, AddIndex, CreateModel, RemoveConstraint, RemoveIndex, RunPython)


class SparingState(ProjectState):
    """Django's own, but while `renders_one` a change renders the changed model alone.

    Models that refer to it then have its class of before. `is_delayed` says so: Django renders all models before code
    that a migration runs, and after the last migration.
    """

    renders_one = False

    @classmethod
    def of(cls, state: ProjectState) -> "SparingState":
        """This state of all models, with the classes that it has rendered."""
        own = cls()
        vars(own).update(vars(state))
        return own

    def reload_model(self, app_label: str, model_name: str, delay: bool = False) -> None:
        """Render a changed model."""
        if self.renders_one and "apps" in self.__dict__:
            self.is_delayed = True
            self._reload({(app_label, model_name)})  # type: ignore[attr-defined]
        else:
            super().reload_model(app_label, model_name, delay=delay)


class WholeMigrations(MigrationExecutor):
    """Django's own executor, with one transaction around each migration that may run in one."""

    def migrate(
        self,
        targets: Sequence[tuple[str, str | None]] | None,
        plan: Sequence[tuple[Migration, bool]] | None = None,
        state: ProjectState | None = None,
        fake: bool = False,
        fake_initial: bool = False,
    ) -> ProjectState:
        """Go to these migrations."""
        sparing = SparingState.of(state) if state else None
        return super().migrate(targets, plan=plan, state=sparing, fake=fake, fake_initial=fake_initial)

    def apply_migration(
        self, state: ProjectState, migration: Migration, fake: bool = False, fake_initial: bool = False
    ) -> ProjectState:
        """Apply a migration and record it."""
        if isinstance(state, SparingState):
            state.renders_one = all(_is_of_one_model(one, migration.app_label, state) for one in migration.operations)
            if state.is_delayed and not state.renders_one:
                state.clear_delayed_apps_cache()
                state.is_delayed = False
        with _one_transaction(self.connection, migration):
            return super().apply_migration(state, migration, fake=fake, fake_initial=fake_initial)

    def unapply_migration(self, state: ProjectState, migration: Migration, fake: bool = False) -> ProjectState:
        """Undo a migration and its record."""
        with _one_transaction(self.connection, migration):
            return super().unapply_migration(state, migration, fake=fake)


def _is_of_one_model(operation: Operation, app_label: str, state: ProjectState) -> bool:
    """Whether an operation does all that it has to without an exact class of any model but its own.

    The type of a key is that of every column that refers to it, too: of a field that may be one only Django's way is
    right.

    Args:
        operation: of a migration.
        app_label: of the migration's application.
        state: the models before the migration.
    """
    if not isinstance(operation, AlterField):
        return type(operation) in OF_ONE_MODEL
    model = state.models.get((app_label, operation.model_name_lower))
    before = model.fields.get(operation.name) if model else None
    fields = (before, operation.field)
    return not any(one is None or one.primary_key or one.unique or one.many_to_many for one in fields)


@contextmanager
def _one_transaction(connection: BaseDatabaseWrapper, migration: Migration) -> Iterator[None]:
    if not migration.atomic:
        yield
        return
    # SQLite copies tables to change them, and can leave references unchecked only from before a transaction begins.
    # Django checks all of them at the end of each migration.
    with connection.constraint_checks_disabled(), transaction.atomic(connection.alias):
        yield
