"""Invitations to organisations that were used are kept until they are old, and the end of an organisation is told of.

They have expired with their use, so that a release before this one opens none of them either.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0059_cancelled_requests'),
    ]

    operations = [
        migrations.AddField(
            model_name='organisationinvitation',
            name='used_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AlterField(
            model_name='notice',
            name='kind',
            field=models.CharField(choices=[('decision', 'A decision on one of my submissions, or a delay'), ('predictions', 'My predictions that were scored or refused'), ('team', 'An invitation to a team'), ('overtaken', 'One of my systems fell in rank'), ('first_place', 'A new first place on one of my benchmarks'), ('waiting', 'A submission that I can decide on'), ('token', 'One of my API tokens expires soon'), ('webhook', 'A webhook of one of my benchmarks that was switched off'), ('followed', 'What a URL that one of my benchmarks follows brought, or that it was switched off'), ('organisation', 'The end of one of my organisations, or a benchmark that left it')], max_length=12),
        ),
        migrations.AlterField(
            model_name='noticechoice',
            name='kind',
            field=models.CharField(choices=[('decision', 'A decision on one of my submissions, or a delay'), ('predictions', 'My predictions that were scored or refused'), ('team', 'An invitation to a team'), ('overtaken', 'One of my systems fell in rank'), ('first_place', 'A new first place on one of my benchmarks'), ('waiting', 'A submission that I can decide on'), ('token', 'One of my API tokens expires soon'), ('webhook', 'A webhook of one of my benchmarks that was switched off'), ('followed', 'What a URL that one of my benchmarks follows brought, or that it was switched off'), ('organisation', 'The end of one of my organisations, or a benchmark that left it')], max_length=12),
        ),
    ]
