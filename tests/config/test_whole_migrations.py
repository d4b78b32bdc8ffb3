"""`manage.py migrate` renders fewer models than Django does, and makes the same tables."""

from functools import partial

import pytest
from django.db import connection, models
from django.db.migrations import (
    AddConstraint,
    AddField,
    AlterField,
    CreateModel,
    DeleteModel,
    Migration,
    RemoveField,
    RenameField,
    RenameModel,
    RunPython,
)
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

from config.backends.whole_migrations import SparingState, WholeMigrations
from tests.databases import own_database
from tests.schema import schema

Reference = partial(models.ForeignKey, on_delete=models.CASCADE)
AUTHORS_AND_BOOKS = [
    CreateModel("Shelf", [("code", models.CharField(max_length=9, primary_key=True))]),
    CreateModel("Author", [("id", models.AutoField(primary_key=True)), ("code", models.CharField(max_length=9))]),
    CreateModel("Book", [("id", models.AutoField(primary_key=True)), ("author", Reference("library.Author"))]),
    AddField("Book", "shelf", Reference("library.Shelf", null=True)),
    AddField("Shelf", "room", models.IntegerField(default=1)),
]
COAUTHOR = AddField("Book", "coauthor", Reference("library.Author", null=True, related_name="+"))
FULL = [
    AddField("Author", "born", models.IntegerField(null=True)),
    AddConstraint("Author", models.CheckConstraint(condition=models.Q(born__gt=0), name="born_after_christ")),
    AlterField("Author", "code", models.CharField(max_length=20)),
    COAUTHOR,
]


def add_a_book(apps, editor):
    """As the code of a migration does: through a reference, and back."""
    author = apps.get_model("library", "Author").objects.create(code="a")
    apps.get_model("library", "Book").objects.create(author=author)
    assert author.book_set.get().author == author


@pytest.fixture(scope="module")
def tables(django_db_setup, django_db_blocker):
    """What an executor makes of lists of operations, one for each migration."""

    def made(executor_class, steps):
        executor = executor_class(connection)
        state = ProjectState()
        state.apps  # noqa: B018 -- as `migrate` does
        if executor_class is WholeMigrations:
            state = SparingState.of(state)
        for number, operations in enumerate(steps):
            migration = Migration(f"{number:04}", "library")
            migration.operations = operations
            state = executor.apply_migration(state, migration)
        try:
            return schema()
        finally:
            with connection.constraint_checks_disabled(), connection.cursor() as cursor:
                cascade = "" if connection.vendor == "sqlite" else " CASCADE"
                for table in connection.introspection.table_names():
                    if table.startswith("library_"):
                        cursor.execute(f"DROP TABLE {table}{cascade}")

    with django_db_blocker.unblock(), own_database():
        yield made


@pytest.mark.parametrize(
    "later",
    [
        FULL,
        [RunPython(add_a_book)],
        [AlterField("Author", "id", models.BigAutoField(primary_key=True))],
        [AlterField("Shelf", "code", models.CharField(max_length=20, primary_key=True))],
        [AlterField("Author", "code", models.CharField(max_length=9, unique=True))],
        [AlterField("Book", "author", Reference("library.Author", null=True))],
        [RenameModel("Author", "Writer"), AddField("Book", "writer", Reference("library.Writer", related_name="+"))],
        [RenameField("Author", "id", "number")],
        [RemoveField("Book", "author"), DeleteModel("Author")],
        [AddField("Book", "readers", models.ManyToManyField("library.Author", related_name="+"))],
    ],
    ids=lambda operations: " ".join(type(operation).__name__ for operation in operations),
)
@pytest.mark.parametrize("between", [[], FULL], ids=["at once", "after changes"])
def test_a_migration_makes_the_tables_that_django_makes(tables, between, later):
    steps = [AUTHORS_AND_BOOKS, [] if later is FULL else [one for one in between if one not in later], later]
    assert tables(WholeMigrations, steps) == tables(MigrationExecutor, steps)


def test_a_change_renders_the_changed_model_alone(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock():
        state = SparingState.of(MigrationLoader(connection).project_state())
    before = {model._meta.label: model for model in state.apps.get_models()}
    state.renders_one = True
    field = models.IntegerField(default=0)
    state.add_field("leaderboard", "benchmark", "further", field, preserve_default=True)
    after = {model._meta.label: model for model in state.apps.get_models()}
    assert [label for label in before if before[label] is not after[label]] == ["leaderboard.Benchmark"]
