"""What is said of a system stays with the submission that says it.

The column may be empty, so that SQLite adds it without making the table anew, which would lose its triggers. Systems
that were accepted once keep what is said of them: their accepted and withdrawn submissions state it from now on. Systems
that wait get a provisional key; what was said of them, and their key, goes to the oldest submission that waits, which
said it.
"""

from uuid import uuid4

from django.db import migrations, models

FIELDS = ["organisation", "url", "description", "tags", "metadata"]
PERMIT = "NOT EXISTS (SELECT 1 FROM append_only_permit)"
NAME = "leaderboard_submission_no_restatement"


def keep_what_is_said(apps, schema_editor):
    systems = apps.get_model("leaderboard", "System").objects
    submissions = apps.get_model("leaderboard", "Submission").objects
    accepted_once = set(systems.filter(changes__isnull=False).values_list("pk", flat=True))
    first_waiting = {}
    undecided = submissions.filter(state__in=["pending", "approved"]).order_by("-pk")
    for system, submission in undecided.values_list("system_id", "pk"):
        first_waiting[system] = submission
    rows = []
    for row in submissions.select_related("system").order_by("pk").iterator(chunk_size=2000):
        system = row.system
        statement = {"name": system.name}
        told = {name: getattr(system, name) for name in FIELDS if getattr(system, name)}
        if system.pk in accepted_once:
            statement |= told if row.state in {"accepted", "withdrawn"} else {}
        elif first_waiting.get(system.pk) == row.pk:
            statement |= told | {"key": system.key}
        row.statement = statement
        rows.append(row)
        if len(rows) == 500:
            submissions.bulk_update(rows, ["statement"])
            rows = []
    submissions.bulk_update(rows, ["statement"])
    for system in systems.filter(changes__isnull=True).iterator(chunk_size=2000):
        blank = {"organisation": "", "url": "", "description": "", "tags": [], "metadata": {}}
        systems.filter(pk=system.pk).update(key=f"~{uuid4().hex}", **blank)


def create_trigger(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute(
            f"CREATE TRIGGER {NAME} BEFORE UPDATE ON leaderboard_submission "
            f"WHEN OLD.statement IS NOT NEW.statement AND {PERMIT} "
            "BEGIN SELECT RAISE(ABORT, 'leaderboard_submission is append-only: UPDATE refused'); END"
        )
    else:
        schema_editor.execute(
            f"CREATE TRIGGER {NAME} BEFORE UPDATE ON leaderboard_submission FOR EACH ROW "
            "WHEN (OLD.statement IS DISTINCT FROM NEW.statement) EXECUTE FUNCTION refuse_change()"
        )


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0017_studies_while_idle")]
    operations = [
        migrations.AddField("submission", "statement", models.JSONField(editable=False, null=True)),
        migrations.AlterField(
            "auditentry",
            "subject",
            models.CharField(
                choices=[
                    ("benchmark", "the benchmark"),
                    ("setting", "setting"),
                    ("task", "task"),
                    ("group", "task group"),
                    ("person", "person"),
                    ("release", "frozen revision"),
                    ("webhook", "webhook"),
                    ("system", "system"),
                ],
                max_length=10,
            ),
        ),
        # Not to be undone: what submissions state would be lost, and waiting systems would lose their keys for good.
        migrations.RunPython(keep_what_is_said),
        migrations.RunPython(create_trigger),
    ]
