"""Choices in words that fit into a select on a phone, and what a DOI is."""

import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0057_invitations_by_name'),
    ]

    operations = [
        migrations.AlterField(
            model_name='benchmark',
            name='doi',
            field=models.CharField(blank=True, db_default='', default='', help_text='Such as 10.5281/zenodo.1234567, if the data are archived under one.', max_length=200, validators=[django.core.validators.RegexValidator('^10\\.[0-9]{4,9}(\\.[0-9]+)*/[A-Za-z0-9:/_;.()\\[\\]-]+\\Z', 'A DOI begins with 10., such as 10.5281/zenodo.1234567; write it without https://doi.org/.')]),
        ),
        migrations.AlterField(
            model_name='benchmark',
            name='replacement',
            field=models.CharField(choices=[('row', 'replaces the whole row of the system'), ('task', 'replaces the tasks it mentions')], default='row', max_length=4),
        ),
        migrations.AlterField(
            model_name='followedaddress',
            name='kind',
            field=models.CharField(choices=[('file', 'one file: a table or a result file'), ('list', 'a JSON list of files, or a folder'), ('board', 'a board of another Plurank site')], max_length=5),
        ),
        migrations.AlterField(
            model_name='phase',
            name='split',
            field=models.CharField(choices=[('development', 'development: the instances of this split'), ('public', 'public: the instances of this split'), ('test', 'test: all instances except development')], default='test', max_length=11),
        ),
    ]
