"""Migrations: back as far as nothing is lost, refused beyond that, and one `migrate` at a time."""

import os
import select
import signal
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, connections, transaction
from django.db.migrations import RunPython
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.state import ProjectState

from config.backends.migration_lock import migration_turn
from leaderboard.models import Score, Submission, SubmissionEvent
from tests.databases import drop
from tests.jobs import forks
from tests.leaderboard.operations.test_operations import facts
from tests.schema import schema

OLDEST = "0048_organisations"  # the schema to which the newest one goes back
N_AT_ONCE = 3
KILLED_MIGRATE = "tests.leaderboard.operations.killed_migrate"


def migrate(*target: str) -> None:
    call_command("migrate", *target, interactive=False, verbosity=0)


def applied() -> list[tuple[str, str]]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT app, name FROM django_migrations ORDER BY app, name")
        return list(cursor.fetchall())


@contextmanager
def empty_database(folder) -> Iterator[str]:
    """Work in a new database without a table; the value is its DATABASE_URL."""
    original = connection.settings_dict["NAME"]
    connections.close_all()
    name = str(folder / "empty.sqlite3") if settings.IS_SQLITE else f"plurank_empty_{uuid.uuid4().hex}"
    url = f"sqlite:///{name}"
    if not settings.IS_SQLITE:
        with connection._nodb_cursor() as cursor:
            cursor.execute(f'CREATE DATABASE "{name}" TEMPLATE template0')
        parts = connection.settings_dict
        password = f":{parts['PASSWORD']}" if parts["PASSWORD"] else ""
        url = f"postgres://{parts['USER']}{password}@{parts['HOST']}:{parts['PORT'] or 5432}/{name}"
    connection.settings_dict["NAME"] = name
    try:
        yield url
    finally:
        connections.close_all()
        connection.settings_dict["NAME"] = original
        if not settings.IS_SQLITE:
            drop(name)


def test_back_to_the_oldest_schema_and_forward_again_leaves_the_same_schema_and_the_same_boards(make_committed):
    benchmark = make_committed.published()
    before, present = schema(), facts()
    assert before["triggers"]
    migrate("leaderboard", OLDEST)
    assert schema() != before
    migrate()
    assert (schema(), facts()) == (before, present)
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        Score.objects.update(value=0.0)
    make_committed.accepted(benchmark, {"E": [9.0] * 5})
    assert make_committed.publish(benchmark).published_number == 2
    connections.close_all()


def test_a_cancelled_request_goes_back_as_a_declined_one(make_committed):
    benchmark = make_committed.benchmark()
    make_committed.accepted(benchmark, {"E": [9.0] * 5})
    submission = Submission.objects.get(system__name="E")
    for kind in ("asked", "cancelled"):
        SubmissionEvent.objects.create(submission=submission, kind=kind)
    before = schema()
    migrate("leaderboard", "0058_shorter_choices")
    kinds = list(submission.events.order_by("pk").values_list("kind", flat=True))
    migrate()
    assert (kinds, schema()) == (["accepted", "asked", "kept"], before)
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        SubmissionEvent.objects.update(kind="kept")
    connections.close_all()


@pytest.mark.parametrize("target", ["zero", "0006", "0017", "0036", "0046", "0047"])
def test_beyond_the_oldest_schema_it_is_refused_in_one_line_and_nothing_is_changed(make_committed, target):
    before, present = schema(), applied()
    with pytest.raises(CommandError) as caught:
        migrate("leaderboard", target)
    assert (schema(), applied()) == (before, present)
    assert str(caught.value) == (
        f"cannot go back beyond leaderboard.{OLDEST}: undoing it would lose what people entered. Nothing was changed. "
        "Restore a backup of the older release instead (docs/operate.md, “Going back”)."
    )
    connections.close_all()


def test_a_migration_with_code_of_its_own_is_undone_whole_or_not_at_all(django_db_setup, django_db_blocker, tmp_path):
    """Takes some seconds: Django's own executor goes once through all migrations, and back where one can be undone.

    What comes of it is what `manage.py migrate` makes, which renders fewer models.
    """
    undone, refused = [], []
    with django_db_blocker.unblock():
        made = schema()
        with empty_database(tmp_path):
            executor = MigrationExecutor(connection)
            executor.recorder.ensure_schema()
            state = ProjectState()
            state.apps  # noqa: B018 -- rendered once; from here on each operation renders what it changes
            for migration, _ in executor.migration_plan(executor.loader.graph.leaf_nodes()):
                has_code = any(isinstance(operation, RunPython) for operation in migration.operations)
                if migration.app_label != "leaderboard" or not has_code:
                    state = executor.apply_migration(state, migration)
                    continue
                if not all(operation.reversible for operation in migration.operations):
                    state = executor.apply_migration(state, migration)
                    refused.append(migration.name)
                    continue
                before, state_before = schema(), state.clone()
                state = executor.apply_migration(state, migration)
                after = schema()
                executor.unapply_migration(state_before, migration)
                assert schema() == before, migration.name
                state = executor.apply_migration(state_before, migration)
                assert schema() == after, migration.name
                undone.append(migration.name)
            assert schema() == made
    assert undone[:3] == ["0002_append_only", "0013_append_only_whole", "0016_fill_webhook_owners"]
    assert refused == [
        "0004_hosting",
        "0006_instances",
        "0007_life_of_scores",
        "0018_statements",
        "0031_invitation_names",
        "0034_withdrawals_by_submitters",
        "0035_metadata_fields",
        "0037_models_and_meta_boards",
        "0047_votes",
        OLDEST,
    ]


# --- Several at once -------------------------------------------------------------------------------------------------


class Migrate:
    """A process that migrates, and what it says."""

    def __init__(self, url: str, folder: Path, *command: str) -> None:
        streams = [os.pipe(), os.pipe()]
        environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
        environment |= {"DATABASE_URL": url, "PLURANK_VAR": str(folder)}
        command = command or ("manage.py", "migrate", "--noinput")
        with Path(os.devnull).open("rb") as nothing:
            descriptors = [nothing.fileno(), *(end for _, end in streams)]
            self.process = forks.start([sys.executable, *command], environment, descriptors)
        for _, end in streams:
            os.close(end)
        self.output, self.errors = (os.fdopen(start) for start, _ in streams)

    def end(self) -> tuple[int, str, str]:
        """Its status, output and errors, once it has ended."""
        with self.output, self.errors:
            said = self.output.read(), self.errors.read()
        return (self.process.wait(), *said)


def test_of_three_that_migrate_an_empty_database_one_is_killed_at_work_and_the_others_end_well(
    django_db_setup, django_db_blocker, tmp_path
):
    """Takes some seconds: three processes, which wait for their turns."""
    with django_db_blocker.unblock():
        expected, names = schema(), applied()
        with empty_database(tmp_path) as url:
            with migration_turn(connection, lambda: None):  # until all three wait
                several = [Migrate(url, tmp_path) for _ in range(N_AT_ONCE)]
                said = [one.errors.readline() for one in several]
            while "leaderboard_score" not in connection.introspection.table_names():
                assert all(one.process.poll() is None for one in several), [one.end() for one in several]
                time.sleep(0.02)
            (at_work,), _, _ = select.select(
                [one.output for one in several], [], [], 0
            )  # no other has said a thing yet
            [killed] = [one for one in several if one.output is at_work]
            killed.process.kill()
            others = [one.end() for one in several if one is not killed]
            assert said == ["Another migrate is running on this database. Waiting until it is done.\n"] * N_AT_ONCE
            assert killed.end()[0] == -signal.SIGKILL
            assert [status for status, _, _ in others] == [0, 0], others
            # What the first had not done was there for the second, and nothing for the third.
            assert sorted("No migrations to apply." in output for _, output, _ in others) == [False, True]
            assert (schema(), applied()) == (expected, names)


def test_a_migrate_that_is_killed_before_it_records_a_migration_has_not_applied_it(
    django_db_setup, django_db_blocker, tmp_path
):
    """Takes some seconds: two processes that are killed at that very place, and one that is left in peace."""
    with django_db_blocker.unblock():
        undisturbed = tmp_path / "undisturbed"
        undisturbed.mkdir()
        with empty_database(undisturbed):
            migrate("leaderboard", "0006_instances")
            expected, names = schema(), applied()
        with empty_database(tmp_path) as url:
            for killed_at in ("0001_initial", "0006_instances"):
                said = Migrate(url, tmp_path, "-m", KILLED_MIGRATE, killed_at, "leaderboard", "0006_instances").end()
                assert (said[0], ("leaderboard", killed_at) in applied()) == (-signal.SIGKILL, False), said
            said = Migrate(url, tmp_path, "manage.py", "migrate", "--noinput", "leaderboard", "0006_instances").end()
            assert (said[0], said[2]) == (0, ""), said
            assert (schema(), applied()) == (expected, names)


def test_a_migrate_that_is_killed_before_it_forgets_a_migration_has_not_undone_it(committed_db, tmp_path):
    before, names = schema(), applied()
    *_, previous, newest = sorted(name for app, name in names if app == "leaderboard")
    said = Migrate(committed_db, tmp_path, "-m", KILLED_MIGRATE, newest, "leaderboard", previous).end()
    assert (said[0], schema(), applied()) == (-signal.SIGKILL, before, names), said
    said = Migrate(committed_db, tmp_path).end()
    assert (said[0], said[2]) == (0, ""), said
    assert (schema(), applied()) == (before, names)
