"""What a notice says as data beside its English text, so that it is said in the language of the reader."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0054_followed_folders'),
    ]

    operations = [
        migrations.AddField(
            model_name='notice',
            name='sentence',
            field=models.JSONField(null=True),
        ),
    ]
