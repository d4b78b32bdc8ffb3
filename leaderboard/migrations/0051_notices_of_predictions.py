"""A kind of notice of its own for predictions that were scored or refused."""

from django.db import migrations, models


def as_decisions(apps, schema_editor):
    """Going back: an older release knows no such kind, and could send no mail about it."""
    apps.get_model('leaderboard', 'Notice').objects.filter(kind='predictions').update(kind='decision')
    apps.get_model('leaderboard', 'NoticeChoice').objects.filter(kind='predictions').delete()


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0050_effective_instances'),
    ]

    operations = [
        migrations.RunPython(migrations.RunPython.noop, as_decisions),
        migrations.AlterField(
            model_name='notice',
            name='kind',
            field=models.CharField(choices=[('decision', 'A decision on one of my submissions, or a delay'), ('predictions', 'My predictions that were scored or refused'), ('overtaken', 'One of my systems fell in rank'), ('first_place', 'A new first place on one of my benchmarks'), ('waiting', 'A submission that I can decide on'), ('token', 'One of my API tokens expires soon'), ('webhook', 'A webhook of one of my benchmarks that was switched off'), ('followed', 'What a URL that one of my benchmarks follows brought, or that it was switched off')], max_length=12),
        ),
        migrations.AlterField(
            model_name='noticechoice',
            name='kind',
            field=models.CharField(choices=[('decision', 'A decision on one of my submissions, or a delay'), ('predictions', 'My predictions that were scored or refused'), ('overtaken', 'One of my systems fell in rank'), ('first_place', 'A new first place on one of my benchmarks'), ('waiting', 'A submission that I can decide on'), ('token', 'One of my API tokens expires soon'), ('webhook', 'A webhook of one of my benchmarks that was switched off'), ('followed', 'What a URL that one of my benchmarks follows brought, or that it was switched off')], max_length=12),
        ),
    ]
