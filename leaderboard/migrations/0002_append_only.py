"""Triggers that keep accepted inputs as they are, on SQLite and PostgreSQL.

A migration that alters one of these tables on SQLite makes the table anew and loses its triggers: it must call
`create_triggers` again. `tests/leaderboard/models/test_append_only.py` fails where one is missing.
"""

from django.db import migrations

PERMIT = "NOT EXISTS (SELECT 1 FROM append_only_permit)"
# Tables whose rows never change and never go.
FROZEN = [
    "leaderboard_score",
    "leaderboard_submissionevent",
    "leaderboard_batch",
    "leaderboard_systemchange",
    "leaderboard_configuration",
    "leaderboard_publication",
]
# Tables whose rows never go, with the columns that never change. What is left out is a cache of other rows.
PARTLY_FROZEN = {
    "leaderboard_submission": ["id", "uuid", "batch_id", "benchmark_id", "system_id", "position"],
    "leaderboard_revision": ["id", "benchmark_id", "number", "cause", "configuration_id", "author_id", "note",
                             "created_at"],
}


def sqlite_statements():
    for table in [*FROZEN, *PARTLY_FROZEN]:
        columns = PARTLY_FROZEN.get(table)
        changed = " OR ".join(f"OLD.{c} IS NOT NEW.{c}" for c in columns) if columns else "1"
        for event, condition in (("UPDATE", changed), ("DELETE", "1")):
            yield (
                f"CREATE TRIGGER {table}_no_{event.lower()} BEFORE {event} ON {table} "
                f"WHEN ({condition}) AND {PERMIT} "
                f"BEGIN SELECT RAISE(ABORT, '{table} is append-only: {event} refused'); END"
            )


def postgresql_statements():
    yield """
        CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF NOT EXISTS (SELECT 1 FROM append_only_permit) THEN
                RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001';
            END IF;
            IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
            RETURN NEW;
        END $$"""
    for table in [*FROZEN, *PARTLY_FROZEN]:
        columns = PARTLY_FROZEN.get(table)
        changed = " OR ".join(f"OLD.{c} IS DISTINCT FROM NEW.{c}" for c in columns) if columns else "true"
        yield (f"CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table} FOR EACH ROW "
               f"WHEN ({changed}) EXECUTE FUNCTION refuse_change()")
        yield f"CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION refuse_change()"
        yield (f"CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table} "
               f"FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()")


def create_triggers(apps, schema_editor):
    vendor = schema_editor.connection.vendor
    statements = {"sqlite": sqlite_statements, "postgresql": postgresql_statements}[vendor]
    with schema_editor.connection.cursor() as cursor:
        for statement in statements():
            cursor.execute(statement)


def drop_triggers(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        if schema_editor.connection.vendor == "postgresql":
            cursor.execute("DROP FUNCTION IF EXISTS refuse_change() CASCADE")
            return
        for table in [*FROZEN, *PARTLY_FROZEN]:
            for event in ("update", "delete"):
                cursor.execute(f"DROP TRIGGER IF EXISTS {table}_no_{event}")


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0001_initial")]
    operations = [migrations.RunPython(create_triggers, drop_triggers)]
