"""Whom an invitation is for, so that it can greet them and be found again."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0030_listed_condorcet_winners")]

    operations = [
        migrations.AddField(
            model_name="invitation", name="name", field=models.CharField(blank=True, default="", max_length=200)
        ),
        migrations.RunPython(migrations.RunPython.noop),  # not to be undone: whom invitations are for would be lost
    ]
