"""Webhooks of a benchmark: added, tested, switched on and off, given a new secret, deleted by its owners."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext

from leaderboard.access.audit import changes_between, record_changes
from leaderboard.access.locks import lock_as_owner
from leaderboard.common.language.reasons import reason_in_page_language
from leaderboard.models import (
    AuditEntry,
    Benchmark,
    OutboxMessage,
    Publication,
    Revision,
    User,
    Webhook,
    WebhookDelivery,
)
from leaderboard.notifications.deliveries import drop_waiting, secret_of, switch_off_leavers
from leaderboard.notifications.outbox import put_webhook
from leaderboard.notifications.posting import AddressError, read_address

MAX_WEBHOOKS = 10  # a benchmark
Event = Webhook.Event


class WebhookError(ValueError):
    """Something that cannot be done to a webhook now; the message says why."""


@transaction.atomic
def add_webhook(
    benchmark: Benchmark, *, author: User, address: str, events: Sequence[str], file: str = Webhook.File.NONE
) -> tuple[Webhook, str]:
    """Have an address told.

    Args:
        benchmark: whose news.
        author: an owner.
        address: that is posted to.
        events: what it is told of.
        file: as what it gets a new board: "csv", "json", or "none" for a short message with links.

    Returns:
        The webhook, and the secret that its deliveries are signed with.

    Raises:
        ValidationError: the address is none that is posted to, or there are no such events or no such file.
        WebhookError: there are too many.
    """
    try:
        read_address(address)
    except AddressError as error:
        raise ValidationError({"address": reason_in_page_language(str(error))}) from error
    events = _checked(events)
    _require_file(file)
    lock_as_owner(benchmark.pk, author)
    if Webhook.objects.filter(benchmark=benchmark).count() >= MAX_WEBHOOKS:
        raise WebhookError(
            gettext("A benchmark can have at most %(n)s webhooks; delete one first.") % {"n": MAX_WEBHOOKS}
        )
    webhook = Webhook.objects.create(benchmark=benchmark, address=address, events=events, file=file, author=author)
    _record(webhook, {}, author)
    return webhook, secret_of(webhook)


def _checked(events: Sequence[str]) -> list[str]:
    if not events or set(events) - set(Event.values):
        raise ValidationError(
            {"events": gettext("Choose from the events %(events)s.") % {"events": ", ".join(Event.values)}}
        )
    return [event for event in Event.values if event in events]


def _require_file(file: str) -> None:
    if file not in Webhook.File.values:
        raise ValidationError({"file": gettext("Choose csv, json, or no file.")})


@transaction.atomic
def change_webhook(
    webhook: Webhook,
    *,
    author: User,
    is_active: bool | None = None,
    events: Sequence[str] | None = None,
    file: str | None = None,
) -> Webhook:
    """Switch a webhook on or off, or choose other events or another file; what is None stays.

    Raises:
        ValidationError: there are no such events, or no such file.
    """
    lock_as_owner(webhook.benchmark_id, author)
    before = _state(webhook)
    if file is not None:
        _require_file(file)
        webhook.file = file
    if events is not None:
        webhook.events = _checked(events)
    if is_active is not None:
        if not is_active:
            drop_waiting(webhook)
        webhook.is_active, webhook.why_off = is_active, ""
        webhook.author = author if is_active else webhook.author  # from now on it is theirs, and ends with their role
        webhook.n_failures, webhook.failing_since = 0, None
    webhook.save(update_fields=["events", "file", "is_active", "why_off", "n_failures", "failing_since", "author"])
    _record(webhook, before, author)
    return webhook


@transaction.atomic
def renew_secret(webhook: Webhook, *, author: User) -> str:
    """Sign with another secret from now on, deliveries that wait among them; the old one signs, too, for a day.

    Returns:
        The new secret.
    """
    lock_as_owner(webhook.benchmark_id, author)
    Webhook.objects.filter(pk=webhook.pk).update(secret_number=F("secret_number") + 1, renewed_at=timezone.now())
    webhook.refresh_from_db(fields=["secret_number", "renewed_at"])
    before, after = ({"secret": f"number {webhook.secret_number + step}"} for step in (0, 1))
    changes = changes_between(AuditEntry.Subject.WEBHOOK, str(webhook.uuid), before, after)
    record_changes(webhook.benchmark, changes, actor=author)
    return secret_of(webhook)


@transaction.atomic
def delete_webhook(webhook: Webhook, *, author: User) -> None:
    """Forget a webhook with all its deliveries."""
    lock_as_owner(webhook.benchmark_id, author)
    changes = changes_between(AuditEntry.Subject.WEBHOOK, str(webhook.uuid), _state(webhook), {})
    record_changes(webhook.benchmark, changes, actor=author)
    OutboxMessage.objects.filter(delivery__webhook=webhook).delete()
    webhook.delete()


@transaction.atomic
def put_test(webhook: Webhook, *, author: User) -> WebhookDelivery:
    """Put a delivery into the outbox that says nothing but that it is a test.

    Raises:
        WebhookError: the webhook is off, or another test waits.
    """
    lock_as_owner(webhook.benchmark_id, author)
    if not webhook.is_active:
        raise WebhookError(gettext("The webhook is switched off; switch it on first."))
    waiting = webhook.deliveries.filter(event=WebhookDelivery.TEST, message__state=OutboxMessage.State.WAITING)
    if waiting.exists():
        raise WebhookError(gettext("A test is already waiting to be delivered."))
    return _put(webhook, WebhookDelivery.TEST)


def announce_revision(revision: Revision) -> None:
    """Tell the benchmark's webhooks of a new revision, in the transaction that makes it."""
    for webhook in _listening(revision.benchmark_id, Event.REVISION):
        _put(webhook, Event.REVISION, revision=revision)


def announce_publication(publication: Publication) -> None:
    """Tell the benchmark's webhooks of a new board, in the transaction that publishes it."""
    for webhook in _listening(publication.benchmark_id, Event.PUBLICATION):
        _put(webhook, Event.PUBLICATION, publication=publication)


def _listening(benchmark_id: int, event: str) -> list[Webhook]:
    active = Webhook.objects.filter(benchmark=benchmark_id, is_active=True)
    if not active.exists():  # as of most benchmarks: no more is asked
        return []
    switch_off_leavers(Benchmark.objects.get(pk=benchmark_id))
    return [hook for hook in active.all() if event in hook.events]


def _put(
    webhook: Webhook, event: str, *, revision: Revision | None = None, publication: Publication | None = None
) -> WebhookDelivery:
    message = put_webhook(address_without_secret(webhook.address))
    return WebhookDelivery.objects.create(
        webhook=webhook, message=message, event=event, revision=revision, publication=publication
    )


def address_without_secret(address: str) -> str:
    """An address without its path, which may hold a secret of its own."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}/…" if parts.path.strip("/") or parts.query else address


def _state(webhook: Webhook) -> dict[str, object]:
    return {
        "address": address_without_secret(webhook.address),
        "events": list(webhook.events),
        "file": webhook.file,
        "active": webhook.is_active,
    }


def _record(webhook: Webhook, before: dict[str, object], author: User) -> None:
    changes = changes_between(AuditEntry.Subject.WEBHOOK, str(webhook.uuid), before, _state(webhook))
    record_changes(webhook.benchmark, changes, actor=author)
