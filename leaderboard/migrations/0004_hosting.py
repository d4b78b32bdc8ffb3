"""Hosting: settings of a benchmark, drafts of it, frozen revisions, counts, bans, the audit trail.

Frozen revisions and the audit trail are append-only, as accepted inputs are (migration 0002). On SQLite a new
constraint makes the table of the events anew, without its triggers, so these are created again.
"""

import django.core.validators
import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


PERMIT = "NOT EXISTS (SELECT 1 FROM append_only_permit)"
FROZEN = ["leaderboard_auditentry", "leaderboard_release"]


def create_triggers(apps, schema_editor):
    is_sqlite = schema_editor.connection.vendor == "sqlite"
    tables = [*FROZEN, "leaderboard_submissionevent"] if is_sqlite else FROZEN
    with schema_editor.connection.cursor() as cursor:
        for table in tables:
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
        ('leaderboard', '0003_studies'),
    ]

    operations = [
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('subject', models.CharField(choices=[('benchmark', 'the benchmark'), ('setting', 'setting'), ('task', 'task'), ('group', 'task group'), ('person', 'person'), ('release', 'frozen revision')], max_length=10)),
                ('of', models.CharField(max_length=80)),
                ('field', models.CharField(max_length=40)),
                ('before', models.TextField(blank=True)),
                ('after', models.TextField(blank=True)),
                ('reason', models.TextField(blank=True)),
                ('at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='Ban',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.TextField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name='BenchmarkDraft',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('name', models.CharField(max_length=200)),
                ('table', models.BinaryField(help_text='scores.csv as it came in; its first line alone where there are no scores.')),
                ('about', models.TextField(blank=True, help_text='benchmark.toml as it came in.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name='Release',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=80, validators=[django.core.validators.RegexValidator('^[a-z0-9]+(-[a-z0-9]+)*\\Z', 'A key is lower-case letters and digits with single hyphens between them.')])),
                ('name', models.CharField(max_length=200)),
                ('note', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='SubmissionCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('period', models.CharField(help_text='A day in UTC, as 2026-01-31, or `total`.', max_length=10)),
                ('n_submitted', models.PositiveIntegerField(default=0)),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='submissionevent',
            name='only_a_rejection_causes_no_revision',
        ),
        migrations.AddField(
            model_name='benchmark',
            name='anonymous_until',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='benchmark',
            name='daily_cap',
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='benchmark',
            name='deadline',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='benchmark',
            name='embargo_until',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='benchmark',
            name='is_archived',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='benchmark',
            name='score_view',
            field=models.CharField(choices=[('full', 'ranks and scores'), ('ranks', 'ranks without scores'), ('own', "only what is said of one's own systems")], default='full', max_length=5),
        ),
        migrations.AddField(
            model_name='benchmark',
            name='total_cap',
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name='revision',
            name='cause',
            field=models.CharField(choices=[('batch', 'Batch'), ('withdrawal', 'Withdrawal'), ('reinstatement', 'Reinstatement'), ('configuration', 'change of configuration'), ('renaming', 'Renaming'), ('embargo', 'end of an embargo')], max_length=16),
        ),
        migrations.AlterField(
            model_name='submission',
            name='state',
            field=models.CharField(choices=[('pending', 'Pending'), ('approved', 'Approved'), ('accepted', 'Accepted'), ('rejected', 'Rejected'), ('withdrawn', 'Withdrawn'), ('retracted', 'Retracted')], default='pending', max_length=10),
        ),
        migrations.AlterField(
            model_name='submissionevent',
            name='kind',
            field=models.CharField(choices=[('approved', 'approved, to be accepted when the embargo ends'), ('accepted', 'Accepted'), ('rejected', 'Rejected'), ('withdrawn', 'Withdrawn'), ('reinstated', 'Reinstated'), ('retracted', 'taken back')], max_length=10),
        ),
        migrations.AddIndex(
            model_name='submission',
            index=models.Index(fields=['state', 'benchmark'], name='submissions_by_state'),
        ),
        migrations.AddConstraint(
            model_name='submissionevent',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('kind__in', ['approved', 'rejected', 'retracted']), ('revision', None)), models.Q(('kind__in', ['accepted', 'withdrawn', 'reinstated']), models.Q(('revision', None), _negated=True)), _connector='OR'), name='what_moves_the_board_causes_a_revision'),
        ),
        migrations.AddField(
            model_name='auditentry',
            name='actor',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='auditentry',
            name='benchmark',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='audit_entries', to='leaderboard.benchmark'),
        ),
        migrations.AddField(
            model_name='auditentry',
            name='revision',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='audit_entries', to='leaderboard.revision'),
        ),
        migrations.AddField(
            model_name='ban',
            name='author',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='ban',
            name='benchmark',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='bans', to='leaderboard.benchmark'),
        ),
        migrations.AddField(
            model_name='ban',
            name='user',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='bans', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='benchmarkdraft',
            name='owner',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='benchmark_drafts', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='release',
            name='author',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='release',
            name='benchmark',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='releases', to='leaderboard.benchmark'),
        ),
        migrations.AddField(
            model_name='release',
            name='revision',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='releases', to='leaderboard.revision'),
        ),
        migrations.AddField(
            model_name='submissioncount',
            name='benchmark',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='submission_counts', to='leaderboard.benchmark'),
        ),
        migrations.AddField(
            model_name='submissioncount',
            name='user',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='submission_counts', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddIndex(
            model_name='auditentry',
            index=models.Index(fields=['benchmark', '-id'], name='audit_newest_first'),
        ),
        migrations.AddConstraint(
            model_name='auditentry',
            constraint=models.CheckConstraint(condition=models.Q(('before', models.F('after')), _negated=True), name='audit_says_a_change'),
        ),
        migrations.AddConstraint(
            model_name='ban',
            constraint=models.UniqueConstraint(fields=('benchmark', 'user'), name='banned_once_a_benchmark'),
        ),
        migrations.AddConstraint(
            model_name='release',
            constraint=models.UniqueConstraint(fields=('benchmark', 'key'), name='release_key_once_a_benchmark'),
        ),
        migrations.AddConstraint(
            model_name='submissioncount',
            constraint=models.UniqueConstraint(fields=('benchmark', 'user', 'period'), name='one_count_a_period'),
        ),
        migrations.RunPython(create_triggers),  # not to be undone: events and the trail would be lost
    ]
