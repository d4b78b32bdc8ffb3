"""Who added each webhook, as the audit trail knows, and what the display names of accounts look like."""

from django.db import migrations

from ranking_engine.text.confusables import skeleton


def fill(apps, schema_editor):
    AuditEntry = apps.get_model("leaderboard", "AuditEntry")
    for webhook in apps.get_model("leaderboard", "Webhook").objects.all():
        rows = AuditEntry.objects.filter(benchmark=webhook.benchmark_id, subject="webhook", of=str(webhook.uuid))
        webhook.author_id = rows.exclude(actor=None).order_by("pk").values_list("actor_id", flat=True).first()
        webhook.save(update_fields=["author"])
    for user in apps.get_model("leaderboard", "User").objects.exclude(display_name="").iterator(chunk_size=500):
        user.name_skeleton = (skeleton(user.display_name) or user.display_name.casefold())[:400]
        user.save(update_fields=["name_skeleton"])


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0015_webhook_owners_and_used_codes")]
    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
