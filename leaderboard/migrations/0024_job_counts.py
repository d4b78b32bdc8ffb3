from django.db import migrations, models
from django.db.models import Count


def count_failed(apps, schema_editor):
    """Begin with the failures whose rows are there, so that the count does not fall on the day of the upgrade."""
    Job = apps.get_model('leaderboard', 'Job')
    JobCount = apps.get_model('leaderboard', 'JobCount')
    counts = {}
    for row in Job.objects.filter(state='failed').order_by().values('queue', 'kind').annotate(n=Count('pk')):
        key = row['queue'], row['kind'].partition(':')[0]
        counts[key] = counts.get(key, 0) + row['n']
    JobCount.objects.bulk_create(
        JobCount(queue=queue, kind=kind, outcome='failed', bucket='', n=n) for (queue, kind), n in counts.items()
    )


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0023_job_requests'),
    ]

    operations = [
        migrations.CreateModel(
            name='JobCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('queue', models.CharField(max_length=10)),
                ('kind', models.CharField(max_length=30)),
                ('outcome', models.CharField(max_length=10)),
                ('bucket', models.CharField(blank=True, help_text='Seconds at most; empty: no worker had it.', max_length=10)),
                ('n', models.PositiveBigIntegerField(default=0)),
                ('seconds', models.FloatField(default=0)),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(
                        fields=('queue', 'kind', 'outcome', 'bucket'), name='an_end_is_counted_in_one_row'
                    )
                ],
            },
        ),
        migrations.RunPython(count_failed, migrations.RunPython.noop),
    ]
