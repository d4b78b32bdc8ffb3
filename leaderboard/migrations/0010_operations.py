from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0009_weight_profiles'),
    ]

    operations = [
        migrations.CreateModel(
            name='Heartbeat',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(max_length=20, unique=True)),
                ('seen_at', models.DateTimeField()),
            ],
        ),
        migrations.AlterField(
            model_name='job',
            name='finished_at',
            field=models.DateTimeField(db_index=True, null=True),
        ),
    ]
