"""Webhooks of a benchmark and what became of their deliveries."""

from uuid import UUID

from django.http import Http404

from leaderboard.models import Benchmark, Webhook, WebhookDelivery

SHOWN_DELIVERIES = 20


def webhook_of(benchmark: Benchmark, uuid: UUID) -> Webhook:
    """The benchmark's webhook of this number.

    Raises:
        Http404: there is none.
    """
    found = Webhook.objects.select_related("benchmark").filter(benchmark=benchmark, uuid=uuid).first()
    if found is None:
        raise Http404("No webhook of this number stands here.")
    return found


def webhooks_of(benchmark: Benchmark) -> list[tuple[Webhook, list[WebhookDelivery]]]:
    """The benchmark's webhooks, each with its last deliveries, newest first."""
    webhooks = list(Webhook.objects.filter(benchmark=benchmark))
    return [(webhook, deliveries_of(webhook)) for webhook in webhooks]


def deliveries_of(webhook: Webhook) -> list[WebhookDelivery]:
    """The last deliveries to one address, newest first."""
    rows = WebhookDelivery.objects.filter(webhook=webhook)
    return list(rows.select_related("message", "revision", "publication__revision").order_by("-pk")[:SHOWN_DELIVERIES])
