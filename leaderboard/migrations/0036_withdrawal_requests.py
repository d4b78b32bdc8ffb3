"""Open requests to withdraw scores are looked for among all events: an index of the requests alone."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0035_metadata_fields'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='submissionevent',
            index=models.Index(condition=models.Q(('kind', 'asked')), fields=['kind'], name='withdrawal_requests'),
        ),
    ]
