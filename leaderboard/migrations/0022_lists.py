"""What lists show and search, and indexes of jobs. Of boards that are published already the sweep writes the former."""

import django.db.models.deletion
from django.db import migrations, models

from leaderboard.models.benchmarks import searched_text

ROWS_AT_ONCE = 500


def fill_searched_text(apps, schema_editor):
    """Fold what is stored already."""
    benchmarks = apps.get_model('leaderboard', 'Benchmark').objects
    last = 0
    while rows := list(benchmarks.filter(pk__gt=last).order_by('pk').only('name', 'description')[:ROWS_AT_ONCE]):
        for row in rows:
            row.searched_text = searched_text(row.name, row.description)
        benchmarks.bulk_update(rows, ['searched_text'])
        last = rows[-1].pk


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0021_retention'),
    ]

    operations = [
        migrations.CreateModel(
            name='ListedBoard',
            fields=[
                ('publication', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='listed_board', serialize=False, to='leaderboard.publication')),
                ('n_systems', models.PositiveIntegerField()),
                ('n_tasks', models.PositiveIntegerField()),
                ('condorcet_winner', models.CharField(blank=True, help_text='Empty where there is none.', max_length=200)),
                ('winners', models.JSONField(default=list)),
                ('updated_at', models.DateTimeField(help_text='When the last of its reports was written.')),
            ],
        ),
        migrations.AddField(
            model_name='benchmark',
            name='searched_text',
            field=models.TextField(db_default='', default='', editable=False),
        ),
        migrations.AlterField(
            model_name='job',
            name='benchmark',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='jobs', to='leaderboard.benchmark'),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(fields=['subject_id', 'subject_kind'], name='jobs_by_subject'),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(fields=['benchmark', 'kind', 'sequence'], name='jobs_by_benchmark_and_number'),
        ),
        migrations.RunPython(fill_searched_text, migrations.RunPython.noop),
    ]
