"""One heartbeat a process in place of one a role. What was heard of before is of no worth: processes write again."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0019_cell_counts")]

    operations = [
        migrations.DeleteModel(name="Heartbeat"),
        migrations.CreateModel(
            name="Heartbeat",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("role", models.CharField(help_text="`sweep`, or the queue of a worker.", max_length=20)),
                ("name", models.CharField(max_length=100)),
                ("host", models.CharField(max_length=255)),
                ("pid", models.PositiveBigIntegerField()),
                ("engine_version", models.CharField(max_length=20)),
                ("started_at", models.DateTimeField()),
                ("seen_at", models.DateTimeField(db_index=True)),
            ],
            options={
                "ordering": ["role", "host", "pid"],
                "constraints": [
                    models.UniqueConstraint(fields=("role", "host", "pid"), name="one_heartbeat_a_process")
                ],
            },
        ),
    ]
