"""A kind of notice for benchmarks that leave an organisation, and plainer words for votes that were withdrawn."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0055_sentences_of_notices'),
    ]

    operations = [
        migrations.AlterField(
            model_name='notice',
            name='kind',
            field=models.CharField(choices=[('decision', 'A decision on one of my submissions, or a delay'), ('predictions', 'My predictions that were scored or refused'), ('overtaken', 'One of my systems fell in rank'), ('first_place', 'A new first place on one of my benchmarks'), ('waiting', 'A submission that I can decide on'), ('token', 'One of my API tokens expires soon'), ('webhook', 'A webhook of one of my benchmarks that was switched off'), ('followed', 'What a URL that one of my benchmarks follows brought, or that it was switched off'), ('organisation', 'A benchmark that left one of my organisations')], max_length=12),
        ),
        migrations.AlterField(
            model_name='noticechoice',
            name='kind',
            field=models.CharField(choices=[('decision', 'A decision on one of my submissions, or a delay'), ('predictions', 'My predictions that were scored or refused'), ('overtaken', 'One of my systems fell in rank'), ('first_place', 'A new first place on one of my benchmarks'), ('waiting', 'A submission that I can decide on'), ('token', 'One of my API tokens expires soon'), ('webhook', 'A webhook of one of my benchmarks that was switched off'), ('followed', 'What a URL that one of my benchmarks follows brought, or that it was switched off'), ('organisation', 'A benchmark that left one of my organisations')], max_length=12),
        ),
        migrations.AlterField(
            model_name='votebatch',
            name='state',
            field=models.CharField(choices=[('draft', 'not confirmed'), ('pending', 'Pending'), ('accepted', 'Accepted'), ('rejected', 'Rejected'), ('withdrawn', 'Withdrawn'), ('retracted', 'withdrawn before a decision')], default='pending', max_length=10),
        ),
        migrations.AlterField(
            model_name='voteevent',
            name='kind',
            field=models.CharField(choices=[('sent', 'Sent'), ('accepted', 'Accepted'), ('rejected', 'Rejected'), ('withdrawn', 'Withdrawn'), ('reinstated', 'Reinstated'), ('retracted', 'withdrawn before a decision'), ('forgotten', 'a person was forgotten')], max_length=10),
        ),
    ]
