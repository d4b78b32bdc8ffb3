"""Which system a model was made for, as the trail says, or else the oldest that is linked to it."""

import django.db.models.deletion
from django.db import migrations, models


def fill_made_for(apps, schema_editor):
    model, trail = apps.get_model("leaderboard", "ModelIdentity"), apps.get_model("leaderboard", "AuditEntry")
    for identity in model.objects.all():
        made = trail.objects.filter(subject="system", field="model", after=identity.key, at__gte=identity.created_at)
        first = made.order_by("pk").values("benchmark", "of").first()
        linked = identity.systems.order_by("pk")
        declared = linked.filter(benchmark=first["benchmark"], key=first["of"]).first() if first else None
        identity.made_for = declared or linked.first()
        identity.save(update_fields=["made_for"])


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0039_webhook_rotation'),
    ]

    operations = [
        migrations.AddField(
            model_name='modelidentity',
            name='made_for',
            field=models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='leaderboard.system'),
        ),
        migrations.RunPython(fill_made_for, migrations.RunPython.noop),
    ]
