import django.db.models.deletion
from django.db import migrations, models


def begin_turns(apps, schema_editor):
    """A row for every benchmark: one without would never have had a turn, and go before all others each time."""
    Benchmark, Turn = apps.get_model('leaderboard', 'Benchmark'), apps.get_model('leaderboard', 'Turn')
    keys = Benchmark.objects.order_by('pk').values_list('pk', flat=True)
    Turn.objects.bulk_create((Turn(benchmark_id=key) for key in keys), batch_size=1000)


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0026_experiments'),
    ]

    operations = [
        migrations.CreateModel(
            name='Turn',
            fields=[
                ('benchmark', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='turn', serialize=False, to='leaderboard.benchmark')),
                ('board_at', models.DateTimeField(help_text='When its board was last ranked.', null=True)),
                ('parts_at', models.DateTimeField(help_text='When its last turn for what comes with a board began.', null=True)),
                ('parts_sequence', models.PositiveIntegerField(default=0, help_text='The revision that this turn is about.')),
                ('study_at', models.DateTimeField(help_text='When a part of a study was last begun.', null=True)),
                ('wanted_at', models.DateTimeField(help_text='When somebody last submitted to it or waited on a page.', null=True)),
            ],
        ),
        migrations.RunPython(begin_turns, migrations.RunPython.noop, elidable=True),
    ]
