"""Boards with two-step aggregation have no Condorcet winner; what earlier versions summed up of them named one."""

from django.db import migrations


def forget_winners(apps, schema_editor):
    listed = apps.get_model("leaderboard", "ListedBoard").objects
    of_two_steps = listed.filter(publication__revision__configuration__content__aggregation="two_step")
    of_two_steps.exclude(condorcet_winner="").update(condorcet_winner="")


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0029_variants'),
    ]

    operations = [migrations.RunPython(forget_winners, migrations.RunPython.noop)]
