"""Close what the triggers of migrations 0002 to 0007 left open.

SQLite deletes the row that `INSERT OR REPLACE` stands in for without asking a DELETE trigger, unless the connection
says `PRAGMA recursive_triggers=ON`: the site's own do (`SQLITE_OPTIONS`), other programs may not. And the hash of a
revision's inputs, once it is there, never changes: it is cited.

A later migration that makes one of these tables anew on SQLite has to create its triggers again.
"""

from django.db import migrations

PERMIT = "NOT EXISTS (SELECT 1 FROM append_only_permit)"
KEPT = [
    "leaderboard_score",
    "leaderboard_submissionevent",
    "leaderboard_batch",
    "leaderboard_systemchange",
    "leaderboard_configuration",
    "leaderboard_publication",
    "leaderboard_release",
    "leaderboard_auditentry",
    "leaderboard_instanceset",
    "leaderboard_instancescores",
    "leaderboard_submission",
    "leaderboard_revision",
]
# Which updates are refused beside those of 0002 and 0007.
FROZEN = {"leaderboard_revision": "OLD.input_hash <> '' AND OLD.input_hash <> NEW.input_hash"}


def create_triggers(apps, schema_editor):
    is_sqlite = schema_editor.connection.vendor == "sqlite"
    with schema_editor.connection.cursor() as cursor:
        for table, changed in FROZEN.items():
            if is_sqlite:
                cursor.execute(
                    f"CREATE TRIGGER {table}_no_rewrite BEFORE UPDATE ON {table} WHEN ({changed}) AND {PERMIT} "
                    f"BEGIN SELECT RAISE(ABORT, '{table} is append-only: UPDATE refused'); END"
                )
            else:
                cursor.execute(
                    f"CREATE TRIGGER {table}_no_rewrite BEFORE UPDATE ON {table} FOR EACH ROW WHEN ({changed}) "
                    "EXECUTE FUNCTION refuse_change()"
                )
        for table in KEPT if is_sqlite else []:
            cursor.execute(
                f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} "
                f"WHEN EXISTS (SELECT 1 FROM {table} WHERE id = NEW.id) AND {PERMIT} "
                f"BEGIN SELECT RAISE(ABORT, '{table} is append-only: REPLACE refused'); END"
            )


def drop_triggers(apps, schema_editor):
    is_sqlite = schema_editor.connection.vendor == "sqlite"
    with schema_editor.connection.cursor() as cursor:
        for table in FROZEN:
            cursor.execute(f"DROP TRIGGER IF EXISTS {table}_no_rewrite" + ("" if is_sqlite else f" ON {table}"))
        for table in KEPT if is_sqlite else []:
            cursor.execute(f"DROP TRIGGER IF EXISTS {table}_no_replace")


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0012_precision_and_cluster")]
    operations = [migrations.RunPython(create_triggers, drop_triggers)]
