"""Submitters cancel their requests to withdraw accepted scores.

On SQLite the table of events is made anew here and loses its triggers (migrations 0002 and 0013): they are created again.
"""

from django.db import migrations, models

PERMIT = "NOT EXISTS (SELECT 1 FROM append_only_permit)"
TABLE = "leaderboard_submissionevent"
MOVING = ["accepted", "withdrawn", "reinstated"]
OTHERS = ["approved", "rejected", "retracted", "overdue", "taken_down", "asked", "kept", "cancelled"]


def restore_triggers(apps, schema_editor):
    if schema_editor.connection.vendor != "sqlite":
        return
    replaced = f"EXISTS (SELECT 1 FROM {TABLE} WHERE id = NEW.id)"
    for word, event, condition in (("UPDATE", "UPDATE", "1"), ("DELETE", "DELETE", "1"), ("REPLACE", "INSERT", replaced)):
        name = f"{TABLE}_no_{word.lower()}"
        schema_editor.execute(f"DROP TRIGGER IF EXISTS {name}")
        schema_editor.execute(
            f"CREATE TRIGGER {name} BEFORE {event} ON {TABLE} WHEN ({condition}) AND {PERMIT} "
            f"BEGIN SELECT RAISE(ABORT, '{TABLE} is append-only: {word} refused'); END"
        )


def decline_cancelled(apps, schema_editor):
    """Going back: a request that was cancelled becomes one that was declined, which is as closed."""
    schema_editor.execute("INSERT INTO append_only_permit (reason) VALUES ('going back before 0059')")
    schema_editor.execute(f"UPDATE {TABLE} SET kind = 'kept' WHERE kind = 'cancelled'")
    schema_editor.execute("DELETE FROM append_only_permit")


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0058_shorter_choices")]

    operations = [
        migrations.RunPython(migrations.RunPython.noop, restore_triggers),  # going back, after the table is made anew
        migrations.RemoveConstraint(
            model_name="submissionevent", name="what_moves_the_board_causes_a_revision"
        ),
        migrations.AlterField(
            model_name="submissionevent",
            name="kind",
            field=models.CharField(
                choices=[
                    ("approved", "approved, to be accepted when the embargo ends"),
                    ("accepted", "Accepted"),
                    ("rejected", "Rejected"),
                    ("withdrawn", "Withdrawn"),
                    ("reinstated", "Reinstated"),
                    ("retracted", "withdrawn by its submitter"),
                    ("overdue", "overdue: no decision in time"),
                    ("taken_down", "taken down: its scores are deleted"),
                    ("asked", "withdrawal requested"),
                    ("kept", "withdrawal declined"),
                    ("cancelled", "withdrawal request cancelled"),
                ],
                max_length=10,
            ),
        ),
        migrations.AddConstraint(
            model_name="submissionevent",
            constraint=models.CheckConstraint(
                condition=models.Q(kind__in=OTHERS, revision=None)
                | (models.Q(kind__in=MOVING) & ~models.Q(revision=None)),
                name="what_moves_the_board_causes_a_revision",
            ),
        ),
        migrations.RunPython(restore_triggers, decline_cancelled),
    ]
