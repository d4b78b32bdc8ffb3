"""The life of scores: corrections, deadlines of decisions, takedowns, closed accounts.

On SQLite the tables of events and submissions are made anew here and lose their triggers: they are created again, and
what a submission corrects becomes part of its content, which never changes (migration 0002).
"""

import django.core.validators
import django.db.models.deletion
from django.db import migrations, models

PERMIT = "NOT EXISTS (SELECT 1 FROM append_only_permit)"
SUBMISSION = ["id", "uuid", "batch_id", "benchmark_id", "system_id", "position", "corrects_id"]
COLUMNS = {"leaderboard_batch": None, "leaderboard_submissionevent": None, "leaderboard_submission": SUBMISSION}


def restore_triggers(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        changed = " OR ".join(f"OLD.{column} IS DISTINCT FROM NEW.{column}" for column in SUBMISSION)
        schema_editor.execute("DROP TRIGGER leaderboard_submission_no_update ON leaderboard_submission")
        schema_editor.execute(
            "CREATE TRIGGER leaderboard_submission_no_update BEFORE UPDATE ON leaderboard_submission FOR EACH ROW "
            f"WHEN ({changed}) EXECUTE FUNCTION refuse_change()"
        )
        return
    for table, columns in COLUMNS.items():
        changed = " OR ".join(f"OLD.{column} IS NOT NEW.{column}" for column in columns) if columns else "1"
        for event, condition in (("UPDATE", changed), ("DELETE", "1")):
            name = f"{table}_no_{event.lower()}"
            schema_editor.execute(f"DROP TRIGGER IF EXISTS {name}")
            schema_editor.execute(
                f"CREATE TRIGGER {name} BEFORE {event} ON {table} WHEN ({condition}) AND {PERMIT} "
                f"BEGIN SELECT RAISE(ABORT, '{table} is append-only: {event} refused'); END"
            )


def count_made_benchmarks(apps, schema_editor):
    """Who owns a benchmark is taken for its maker."""
    owned = apps.get_model("leaderboard", "Membership").objects.filter(role="owner").order_by()
    counts = {}
    for user in owned.values_list("user_id", flat=True):
        counts[user] = counts.get(user, 0) + 1
    for user, count in counts.items():
        apps.get_model("leaderboard", "User").objects.filter(pk=user).update(n_benchmarks_made=count)


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0006_instances'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='submissionevent',
            name='what_moves_the_board_causes_a_revision',
        ),
        migrations.AddField(
            model_name='batch',
            name='decide_by',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='benchmark',
            name='decision_days',
            field=models.PositiveSmallIntegerField(default=14, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(365)]),
        ),
        migrations.AddField(
            model_name='benchmark',
            name='rejects_overdue',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='submission',
            name='corrects',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='corrections', to='leaderboard.submission'),
        ),
        migrations.AddField(
            model_name='revision',
            name='withdrawn_at',
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name='user',
            name='closed_at',
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name='user',
            name='n_benchmarks_made',
            field=models.PositiveIntegerField(default=0, editable=False),
        ),
        migrations.AlterField(
            model_name='revision',
            name='cause',
            field=models.CharField(choices=[('batch', 'Batch'), ('withdrawal', 'Withdrawal'), ('reinstatement', 'Reinstatement'), ('configuration', 'change of configuration'), ('renaming', 'Renaming'), ('embargo', 'end of an embargo'), ('correction', 'Correction'), ('takedown', 'Takedown')], max_length=16),
        ),
        migrations.AlterField(
            model_name='submissionevent',
            name='kind',
            field=models.CharField(choices=[('approved', 'approved, to be accepted when the embargo ends'), ('accepted', 'Accepted'), ('rejected', 'Rejected'), ('withdrawn', 'Withdrawn'), ('reinstated', 'Reinstated'), ('retracted', 'taken back'), ('overdue', 'overdue: nobody decided in time'), ('taken_down', 'taken down: its scores are deleted')], max_length=10),
        ),
        migrations.AddConstraint(
            model_name='submissionevent',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('kind__in', ['approved', 'rejected', 'retracted', 'overdue', 'taken_down']), ('revision', None)), models.Q(('kind__in', ['accepted', 'withdrawn', 'reinstated']), models.Q(('revision', None), _negated=True)), _connector='OR'), name='what_moves_the_board_causes_a_revision'),
        ),
        migrations.AddConstraint(
            model_name='submissionevent',
            constraint=models.UniqueConstraint(condition=models.Q(('kind', 'overdue')), fields=('submission',), name='overdue_once'),
        ),
        migrations.AddConstraint(
            model_name='submissionevent',
            constraint=models.UniqueConstraint(condition=models.Q(('kind', 'taken_down')), fields=('submission',), name='taken_down_once'),
        ),
        migrations.RunPython(restore_triggers),  # not to be undone: corrections and takedowns would be lost
        migrations.RunPython(count_made_benchmarks, migrations.RunPython.noop),
    ]
