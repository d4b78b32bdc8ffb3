"""Webhooks: bodies and answers."""

from rest_framework import serializers as s

from leaderboard.models import OutboxMessage, Webhook, WebhookDelivery


class WebhookBody(s.Serializer):
    """An address that is to be told."""

    address = s.CharField(help_text="It begins with https://.")
    events = s.ListField(child=s.ChoiceField(choices=Webhook.Event.values))


class WebhookChange(s.Serializer):
    """What is to change of a webhook; what is left out stays."""

    is_active = s.BooleanField(required=False)
    events = s.ListField(child=s.ChoiceField(choices=Webhook.Event.values), required=False)


class Delivery(s.Serializer):
    """One thing that an address is told, at least once."""

    uuid = s.UUIDField(help_text="As in the header Plurank-Delivery.")
    event = s.ChoiceField(choices=[*Webhook.Event.values, WebhookDelivery.TEST])
    revision = s.IntegerField(allow_null=True)
    state = s.ChoiceField(choices=OutboxMessage.State.values, help_text="`failed`: given up.")
    attempts = s.IntegerField()
    status_code = s.IntegerField(allow_null=True, help_text="Of the last answer.")
    error = s.CharField(allow_blank=True)
    created_at = s.DateTimeField()


class WebhookEntry(s.Serializer):
    """A webhook."""

    uuid = s.UUIDField()
    address = s.CharField()
    events = s.ListField(child=s.ChoiceField(choices=Webhook.Event.values))
    is_active = s.BooleanField()
    why_off = s.CharField(allow_blank=True, help_text="Why the site switched it off.")
    n_failures = s.IntegerField(help_text="Attempts that failed since one succeeded.")
    created_at = s.DateTimeField()


class WebhookDetail(WebhookEntry):
    """A webhook with its last deliveries, newest first."""

    deliveries = Delivery(many=True)


class NewWebhook(WebhookEntry):
    """A webhook with the secret that its deliveries are signed with from now on."""

    secret = s.CharField(allow_null=True, help_text="Shown once; null in a dry run.")


class WebhookList(s.Serializer):
    """All webhooks of a benchmark."""

    results = WebhookEntry(many=True)


class Deleted(s.Serializer):
    """What was deleted."""

    deleted = s.UUIDField()
