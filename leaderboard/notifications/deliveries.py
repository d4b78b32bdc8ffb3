"""Carrying out one delivery: what it says, how it is signed, what becomes of an address that never answers."""

import base64
import hmac
import json
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import salted_hmac

from leaderboard.access.audience import audience_of
from leaderboard.common.language.sentences import Sentence
from leaderboard.common.site_address import site_address
from leaderboard.models import (
    Benchmark,
    Membership,
    OutboxMessage,
    Publication,
    Report,
    Webhook,
    WebhookDelivery,
)
from leaderboard.notifications.posting import AddressError, PostError, post
from leaderboard.notifications.switching_off import WEBHOOK, tell_of_switching_off

# Both have to be passed: a busy benchmark fails often within a minute in which a receiver is started again.
MAX_FAILURES, FAILING_FOR = 10, timedelta(hours=12)
WHY_OFF = Sentence("No delivery succeeded for half a day.")
WHY_LEFT = Sentence(
    "Its owner left. If you switch it on, it becomes yours; renew its secret, because the former owner knows it."
)
SWITCHED_OFF = "the webhook was switched off"


def secret_of(webhook: Webhook, number: int | None = None) -> str:
    """The key that deliveries are signed with. It changes with the site's lasting key, and when owners renew it.

    Args:
        webhook: whose.
        number: which of its secrets, from 0; the present one where None.
    """
    number = webhook.secret_number if number is None else number
    name = f"{webhook.uuid} {number}" if number else str(webhook.uuid)
    return f"whsec_{salted_hmac('plurank.webhook', name, secret=settings.LASTING_KEY, algorithm='sha256').hexdigest()}"


def signature(secret: str, body: bytes, at: int) -> str:
    """What is in `Plurank-Signature`, which is to go: when it was signed, and the HMAC of that and the body."""
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, sha256).hexdigest()
    return f"t={at}, v1={digest}"


def standard_signature(secrets: Sequence[str], body: bytes, *, number: str, at: int) -> str:
    """What is in `webhook-signature` by Standard Webhooks 1.0.0: a signature for each secret, with spaces between.

    Args:
        secrets: `whsec_` and the key in base64, as every one of `secret_of` is.
        body: what is posted.
        number: of the delivery, as in `webhook-id`.
        at: seconds since 1970, as in `webhook-timestamp`.
    """
    text = f"{number}.{at}.".encode() + body
    keys = [base64.b64decode(secret.removeprefix("whsec_")) for secret in secrets]
    return " ".join(f"v1,{base64.b64encode(hmac.new(key, text, sha256).digest()).decode()}" for key in keys)


# What makes the file of a published board, as CSV or JSON. Boards are made to the left of this package.
FILES = {Webhook.File.CSV, Webhook.File.JSON}
FileMaker = Callable[[Publication, str], bytes]
CONTENT_TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json; charset=utf-8"}


def deliver(message: OutboxMessage, board_file: FileMaker | None = None) -> None:
    """Post what a message of the outbox stands for, and note what came of it.

    Args:
        message: of the outbox.
        board_file: what makes the files that webhooks may want of a new board; without it they get the short body.

    Raises:
        PostError: it did not arrive.
        AddressError: nothing is posted to this address.
    """
    rows = WebhookDelivery.objects.select_related("webhook__benchmark", "revision", "publication__revision")
    delivery = rows.filter(message=message).first()
    if delivery is None:  # its webhook was deleted
        return
    webhook = delivery.webhook
    if switch_off_leavers(webhook.benchmark) and not Webhook.objects.filter(pk=webhook.pk, is_active=True).exists():
        return
    body, content_type, said = json.dumps(body_of(delivery), ensure_ascii=False).encode(), CONTENT_TYPES["json"], {}
    publication = delivery.publication
    if board_file and webhook.file in FILES and publication and _is_open_to_all(publication, webhook.benchmark):
        body, content_type = board_file(publication, webhook.file), CONTENT_TYPES[webhook.file]
        said = {"Plurank-Benchmark": webhook.benchmark.key, "Plurank-Revision": str(publication.revision.number)}
    at, numbers = int(time.time()), [webhook.secret_number]
    if webhook.old_secret_until is not None:
        numbers.append(webhook.secret_number - 1)
    secrets = [secret_of(webhook, number) for number in numbers]
    headers = {
        "Content-Type": content_type,
        "User-Agent": f"Plurank/{settings.PLURANK_VERSION}",
        "Plurank-Event": delivery.event,
        "Plurank-Delivery": str(delivery.uuid),
        **said,
        "Plurank-Signature": signature(secrets[0], body, at),
        "webhook-id": str(delivery.uuid),
        "webhook-timestamp": str(at),
        "webhook-signature": standard_signature(secrets, body, number=str(delivery.uuid), at=at),
    }
    try:
        status = post(webhook.address, body, headers)
    except (PostError, AddressError) as error:
        now = timezone.now()
        row = Webhook.objects.filter(pk=webhook.pk)
        failing = row.filter(is_active=True, n_failures__gte=MAX_FAILURES, failing_since__lte=now - FAILING_FOR)
        with transaction.atomic():
            WebhookDelivery.objects.filter(pk=delivery.pk).update(status_code=getattr(error, "status", None))
            row.update(n_failures=F("n_failures") + 1, failing_since=Coalesce("failing_since", now))
            if failing.update(is_active=False, why_off=WHY_OFF.text):
                drop_waiting(webhook, str(error))
                tell_of_switching_off(WEBHOOK, webhook, webhook.benchmark, WHY_OFF)
        raise
    WebhookDelivery.objects.filter(pk=delivery.pk).update(status_code=status)
    Webhook.objects.filter(pk=webhook.pk, n_failures__gt=0).update(n_failures=0, failing_since=None)


def body_of(delivery: WebhookDelivery) -> dict[str, Any]:
    """What a delivery says: nothing that is hidden from anyone, made again for each attempt."""
    benchmark, publication = delivery.webhook.benchmark, delivery.publication
    revision = publication.revision if publication else delivery.revision
    said: dict[str, Any] = {
        "id": str(delivery.uuid),
        "event": delivery.event,
        "benchmark": benchmark.key,
        "at": delivery.created_at.isoformat().replace("+00:00", "Z"),
        "revision": revision.number if revision else None,
        "cause": revision.cause if revision else None,
        "links": {
            "board": site_address(reverse("board", args=[benchmark.key])),
            "history": site_address(reverse("history", args=[benchmark.key])),
            "rankings": site_address(reverse("api:rankings", args=[benchmark.key])),
        },
    }
    if publication:
        said["links"]["board"] += f"?revision={publication.revision.number}"
        # Who is elected by the default rule, where everyone may know it and it is computed.
        anybody = audience_of(AnonymousUser(), benchmark)
        is_open = anybody.may_read and anybody.sees_others and anybody.sees_names
        rule, summary = benchmark.default_rule, None
        if is_open and publication.revision.withdrawn_at is None:
            reports = Report.objects.filter(
                revision_id=publication.revision_id, engine_version=publication.engine_version, kind="ranking"
            )
            summary = reports.filter(summary__rule=rule).values_list("summary", flat=True).first()
        said["winners"] = summary and {"rule": rule, "n": summary["n_winners"], "names": summary["winner_names"]}
    return said


def _is_open_to_all(publication: Publication, benchmark: Benchmark) -> bool:
    """Whether all readers may see all scores and names of a published board."""
    anybody = audience_of(AnonymousUser(), benchmark)
    return anybody.may_read and not anybody.is_restricted and publication.revision.withdrawn_at is None


@transaction.atomic
def switch_off_leavers(benchmark: Benchmark) -> int:
    """Switch off the webhooks of people who no longer own the benchmark; another owner may take them over.

    Asked when an owner goes, and before anything is put into the outbox or posted, however the role was taken.

    Returns:
        How many there were.
    """
    owners = Membership.objects.filter(benchmark=benchmark, role=Membership.Role.OWNER)
    left = Webhook.objects.filter(benchmark=benchmark, is_active=True).exclude(author=None)
    n_left = 0
    for webhook in left.exclude(author__in=owners.values("user")):
        if Webhook.objects.filter(pk=webhook.pk, is_active=True).update(is_active=False, why_off=WHY_LEFT.text):
            drop_waiting(webhook, WHY_LEFT.text)
            tell_of_switching_off(WEBHOOK, webhook, benchmark, WHY_LEFT)
            n_left += 1
    return n_left


def drop_waiting(webhook: Webhook, reason: str = SWITCHED_OFF) -> None:
    """Send nothing more of what waits for an address."""
    waiting = OutboxMessage.objects.filter(delivery__webhook=webhook, state=OutboxMessage.State.WAITING)
    OutboxMessage.objects.filter(pk__in=list(waiting.values_list("pk", flat=True))).update(
        state=OutboxMessage.State.FAILED, finished_at=timezone.now(), last_error=reason
    )
