"""Webhooks of receivers that a test runs itself."""

from collections.abc import Sequence

from leaderboard.models import Benchmark, Webhook, WebhookDelivery
from leaderboard.notifications.webhooks import add_webhook, put_test
from tests.factories import owner_of

BOTH = ["revision", "publication"]


def add_hook(benchmark: Benchmark, port: int, events: Sequence[str] = BOTH, path: str = "/hook") -> tuple[Webhook, str]:
    """A webhook of the benchmark's owner to a port of this machine, and its secret."""
    address = f"http://127.0.0.1:{port}{path}"
    return add_webhook(benchmark, author=owner_of(benchmark), address=address, events=events)


def put_own_test(webhook: Webhook) -> WebhookDelivery:
    """Put a test delivery into the outbox, in the name of the webhook's author."""
    return put_test(webhook, author=webhook.author)
