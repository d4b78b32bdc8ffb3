"""A followed list can be a folder of any git forge, and its choice says so."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0053_predicted_scores'),
    ]

    operations = [
        migrations.AlterField(
            model_name='followedaddress',
            name='kind',
            field=models.CharField(choices=[('file', 'one file: a table, or a result file that an upload accepts'), ('list', 'a JSON list of files, or a folder on GitHub, GitLab, Gitea or Forgejo'), ('board', 'a board of another Plurank site')], max_length=5),
        ),
    ]
