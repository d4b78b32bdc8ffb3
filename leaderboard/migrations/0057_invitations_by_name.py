"""Invitations to teams by a name, which the team sees in its list, and a kind of notice for those invited."""

from django.db import migrations, models


def without_kind(apps, schema_editor):
    """Going back: an older release knows no such kind, and no names without a person."""
    apps.get_model('leaderboard', 'Notice').objects.filter(kind='team').delete()
    apps.get_model('leaderboard', 'NoticeChoice').objects.filter(kind='team').delete()
    apps.get_model('leaderboard', 'TeamInvitation').objects.filter(invited=None).exclude(name='').delete()


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0056_notices_of_organisations'),
    ]

    operations = [
        migrations.AddField(
            model_name='teaminvitation',
            name='name',
            field=models.CharField(blank=True, db_default='', default='', max_length=80),
        ),
        migrations.AlterField(
            model_name='notice',
            name='kind',
            field=models.CharField(choices=[('decision', 'A decision on one of my submissions, or a delay'), ('predictions', 'My predictions that were scored or refused'), ('team', 'An invitation to a team'), ('overtaken', 'One of my systems fell in rank'), ('first_place', 'A new first place on one of my benchmarks'), ('waiting', 'A submission that I can decide on'), ('token', 'One of my API tokens expires soon'), ('webhook', 'A webhook of one of my benchmarks that was switched off'), ('followed', 'What a URL that one of my benchmarks follows brought, or that it was switched off'), ('organisation', 'A benchmark that left one of my organisations')], max_length=12),
        ),
        migrations.AlterField(
            model_name='noticechoice',
            name='kind',
            field=models.CharField(choices=[('decision', 'A decision on one of my submissions, or a delay'), ('predictions', 'My predictions that were scored or refused'), ('team', 'An invitation to a team'), ('overtaken', 'One of my systems fell in rank'), ('first_place', 'A new first place on one of my benchmarks'), ('waiting', 'A submission that I can decide on'), ('token', 'One of my API tokens expires soon'), ('webhook', 'A webhook of one of my benchmarks that was switched off'), ('followed', 'What a URL that one of my benchmarks follows brought, or that it was switched off'), ('organisation', 'A benchmark that left one of my organisations')], max_length=12),
        ),
        migrations.RunPython(migrations.RunPython.noop, without_kind),
    ]
