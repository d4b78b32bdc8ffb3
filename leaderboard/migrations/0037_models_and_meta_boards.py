"""Models that systems of several benchmarks are, and saved boards over benchmarks."""

import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0036_withdrawal_requests'),
    ]

    operations = [
        migrations.CreateModel(
            name='ModelIdentity',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=80, unique=True, validators=[django.core.validators.RegexValidator('^[a-z0-9]+(-[a-z0-9]+)*\\Z', 'A key is lower-case letters and digits with single hyphens between them.')])),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['key'],
            },
        ),
        migrations.CreateModel(
            name='MetaBoard',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=80, unique=True, validators=[django.core.validators.RegexValidator('^[a-z0-9]+(-[a-z0-9]+)*\\Z', 'A key is lower-case letters and digits with single hyphens between them.')])),
                ('name', models.CharField(max_length=200)),
                ('description', models.TextField(blank=True)),
                ('is_public', models.BooleanField(default=True)),
                ('rule', models.CharField(blank=True, max_length=200)),
                ('worth', models.CharField(choices=[('share', 'share of rivals beaten'), ('points', 'Borda points')], default='share', max_length=6)),
                ('missing_policy', models.CharField(choices=[('undefined', 'Undefined'), ('drop_systems', 'Drop Systems'), ('drop_tasks', 'Drop Tasks'), ('median', 'Median'), ('worst', 'Worst')], default='drop_systems', max_length=12)),
                ('default_rule', models.CharField(default='copeland', max_length=200)),
                ('least', models.PositiveSmallIntegerField(default=2)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('author', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='meta_boards', to=settings.AUTH_USER_MODEL)),
                ('benchmarks', models.ManyToManyField(related_name='meta_boards', to='leaderboard.benchmark')),
            ],
            options={
                'ordering': ['name', 'key'],
            },
        ),
        migrations.AddField(
            model_name='system',
            name='identity',
            field=models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='systems', to='leaderboard.modelidentity'),
        ),
        migrations.AddConstraint(
            model_name='system',
            constraint=models.UniqueConstraint(fields=('benchmark', 'identity'), name='one_system_a_benchmark_and_model'),
        ),
        migrations.RunPython(migrations.RunPython.noop),  # not to be undone: links and saved boards would be lost
    ]
