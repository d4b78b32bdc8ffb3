"""Votes as a benchmark's data: batches of them, what happened to these, and ratings. Append-only, as scores are.

A batch may change its state, and a draft of one may go; an event never changes.
"""

import django.db.models.deletion
import leaderboard.models.votes
import uuid
from django.conf import settings
from django.db import migrations, models


PERMIT = "NOT EXISTS (SELECT 1 FROM append_only_permit)"
EVENTS, BATCHES = "leaderboard_voteevent", "leaderboard_votebatch"
# What of a batch never changes.
CONTENT = ["id", "uuid", "benchmark_id", "uploader_id", "payload_hash", "votes", "n_votes", "systems", "categories"]


def create_triggers(apps, schema_editor):
    is_sqlite = schema_editor.connection.vendor == "sqlite"
    differs = "IS NOT" if is_sqlite else "IS DISTINCT FROM"
    changed = " OR ".join(f"OLD.{column} {differs} NEW.{column}" for column in CONTENT)
    true = "1" if is_sqlite else "true"
    rules = [
        (EVENTS, "UPDATE", true),
        (EVENTS, "DELETE", true),
        (BATCHES, "UPDATE", changed),
        (BATCHES, "DELETE", "OLD.state <> 'draft'"),
    ]
    with schema_editor.connection.cursor() as cursor:
        for table, event, condition in rules:
            name = f"{table}_no_{event.lower()}"
            if is_sqlite:
                cursor.execute(
                    f"CREATE TRIGGER {name} BEFORE {event} ON {table} WHEN ({condition}) AND {PERMIT} "
                    f"BEGIN SELECT RAISE(ABORT, '{table} is append-only: {event} refused'); END"
                )
            else:
                cursor.execute(
                    f"CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH ROW WHEN ({condition}) "
                    f"EXECUTE FUNCTION refuse_change()"
                )
        for table in (EVENTS, BATCHES):
            if is_sqlite:
                cursor.execute(
                    f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} "
                    f"WHEN EXISTS (SELECT 1 FROM {table} WHERE id = NEW.id) AND {PERMIT} "
                    f"BEGIN SELECT RAISE(ABORT, '{table} is append-only: REPLACE refused'); END"
                )
            else:
                cursor.execute(
                    f"CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table} "
                    f"FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
                )


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0046_following'),
    ]

    operations = [
        migrations.CreateModel(
            name='VoteSettings',
            fields=[
                ('benchmark', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='vote_settings', serialize=False, to='leaderboard.benchmark')),
                ('tie_model', models.CharField(default='half_wins', max_length=20)),
                ('cluster', models.CharField(default='vote', max_length=10)),
                ('covariates', models.JSONField(default=list)),
                ('n_resamples', models.PositiveIntegerField(default=0, help_text='0: intervals by the sandwich formula.')),
                ('shows_elo', models.BooleanField(default=False)),
                ('exports_voters', models.BooleanField(default=False, help_text='Whether downloads have the hashes of people.')),
                ('voter_key', models.BinaryField(default=leaderboard.models.votes.new_voter_key)),
                ('last_change', models.PositiveIntegerField(default=0, editable=False)),
                ('resting_tasks', models.JSONField(default=list, editable=False)),
            ],
            options={
                'verbose_name_plural': 'vote settings',
            },
        ),
        migrations.AddField(
            model_name='benchmark',
            name='kind',
            field=models.CharField(choices=[('scores', 'scores, which submitters send'), ('votes', 'votes on pairs of systems, from which scores are computed')], db_default='scores', default='scores', editable=False, max_length=6),
        ),
        migrations.AlterField(
            model_name='batch',
            name='source',
            field=models.CharField(choices=[('form', 'Form'), ('csv', 'Csv'), ('api', 'Api'), ('importer', 'Importer'), ('correction', 'Correction'), ('votes', 'Votes')], max_length=10),
        ),
        migrations.AlterField(
            model_name='draft',
            name='source',
            field=models.CharField(choices=[('form', 'Form'), ('csv', 'Csv'), ('api', 'Api'), ('importer', 'Importer'), ('correction', 'Correction'), ('votes', 'Votes')], max_length=10),
        ),
        migrations.AlterField(
            model_name='predictionsubmission',
            name='source',
            field=models.CharField(choices=[('form', 'Form'), ('csv', 'Csv'), ('api', 'Api'), ('importer', 'Importer'), ('correction', 'Correction'), ('votes', 'Votes')], max_length=10),
        ),
        migrations.CreateModel(
            name='VoteBatch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('source', models.CharField(max_length=10)),
                ('note', models.TextField(blank=True)),
                ('state', models.CharField(choices=[('draft', 'not confirmed'), ('pending', 'Pending'), ('accepted', 'Accepted'), ('rejected', 'Rejected'), ('withdrawn', 'Withdrawn'), ('retracted', 'withdrawn by its submitter')], default='pending', max_length=10)),
                ('payload_hash', models.CharField(max_length=64)),
                ('idempotency_key', models.CharField(blank=True, max_length=100, null=True)),
                ('votes', models.BinaryField(help_text='As `ranking_engine.votes.packing` has them.')),
                ('n_votes', models.PositiveIntegerField()),
                ('n_voters', models.PositiveIntegerField(default=0)),
                ('systems', models.JSONField(help_text='The names of the systems, with the number of votes on each.')),
                ('categories', models.JSONField(default=dict, help_text='The names of the categories, with their numbers of votes.')),
                ('decide_by', models.DateTimeField(blank=True, null=True)),
                ('expires_at', models.DateTimeField(blank=True, db_index=True, null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='vote_batches', to='leaderboard.benchmark')),
                ('uploader', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='vote_batches', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'vote batches',
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='VoteEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('sent', 'Sent'), ('accepted', 'Accepted'), ('rejected', 'Rejected'), ('withdrawn', 'Withdrawn'), ('reinstated', 'Reinstated'), ('retracted', 'withdrawn by its submitter'), ('forgotten', 'a person was forgotten')], max_length=10)),
                ('reason', models.TextField(blank=True)),
                ('change', models.PositiveIntegerField(default=0, help_text='The change of the ratings that it caused; 0: none.')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('batch', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='events', to='leaderboard.votebatch')),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
        migrations.CreateModel(
            name='VoteReport',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('change', models.PositiveIntegerField()),
                ('batches', models.JSONField(help_text='The numbers of the batches whose votes were counted.')),
                ('report', models.BinaryField(help_text='Compressed JSON: as `vote_report` has it.')),
                ('n_votes', models.PositiveIntegerField()),
                ('engine_version', models.CharField(max_length=20)),
                ('seconds', models.FloatField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='vote_reports', to='leaderboard.benchmark')),
                ('scores', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='vote_reports', to='leaderboard.batch')),
            ],
            options={
                'verbose_name_plural': 'vote reports',
                'ordering': ['-pk'],
            },
        ),
        migrations.AddIndex(
            model_name='votebatch',
            index=models.Index(fields=['benchmark', 'state'], name='vote_batches_by_state'),
        ),
        migrations.AddConstraint(
            model_name='votebatch',
            constraint=models.UniqueConstraint(fields=('uploader', 'benchmark', 'idempotency_key'), name='vote_key_once_a_user_and_benchmark'),
        ),
        migrations.AddConstraint(
            model_name='votereport',
            constraint=models.UniqueConstraint(fields=('benchmark', 'change'), name='vote_report_once_a_change'),
        ),
        migrations.RunPython(create_triggers),  # not to be undone: votes would be lost
    ]
