"""Scores of single instances. Append-only, as scores are (migration 0002)."""

import django.db.models.deletion
from django.db import migrations, models

PERMIT = "NOT EXISTS (SELECT 1 FROM append_only_permit)"
FROZEN = ["leaderboard_instanceset", "leaderboard_instancescores"]


def create_triggers(apps, schema_editor):
    is_sqlite = schema_editor.connection.vendor == "sqlite"
    with schema_editor.connection.cursor() as cursor:
        for table in FROZEN:
            for event in ("UPDATE", "DELETE") if is_sqlite else ("UPDATE", "DELETE", "TRUNCATE"):
                name = f"{table}_no_{event.lower()}"
                if is_sqlite:
                    cursor.execute(
                        f"CREATE TRIGGER {name} BEFORE {event} ON {table} WHEN {PERMIT} "
                        f"BEGIN SELECT RAISE(ABORT, '{table} is append-only: {event} refused'); END"
                    )
                else:
                    each = "STATEMENT" if event == "TRUNCATE" else "ROW"
                    cursor.execute(
                        f"CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH {each} "
                        f"EXECUTE FUNCTION refuse_change()"
                    )


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0005_invitations'),
    ]

    operations = [
        migrations.CreateModel(
            name='InstanceSet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('content_hash', models.CharField(max_length=64)),
                ('names', models.BinaryField(help_text='Compressed JSON: the sorted names, the order of every vector.')),
                ('n_instances', models.PositiveIntegerField()),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='instance_sets', to='leaderboard.task')),
            ],
        ),
        migrations.CreateModel(
            name='InstanceScores',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('values', models.BinaryField(help_text='Compressed little-endian float64 in the order of the set; NaN = missing.')),
                ('values_hash', models.CharField(max_length=64)),
                ('submission', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='instance_scores', to='leaderboard.submission')),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='instance_scores', to='leaderboard.task')),
                ('instance_set', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='scores', to='leaderboard.instanceset')),
            ],
            options={
                'verbose_name_plural': 'instance scores',
            },
        ),
        migrations.AddConstraint(
            model_name='instanceset',
            constraint=models.UniqueConstraint(fields=('task', 'content_hash'), name='instance_set_once_a_task'),
        ),
        migrations.AddConstraint(
            model_name='instancescores',
            constraint=models.UniqueConstraint(fields=('submission', 'task'), name='instance_scores_once_a_submission_and_task'),
        ),
        migrations.RunPython(create_triggers),  # not to be undone: scores of single instances would be lost
    ]
