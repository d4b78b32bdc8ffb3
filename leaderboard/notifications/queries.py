"""A person's notices, as far as they can still see their subjects."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext

from leaderboard.models import (
    Benchmark,
    Membership,
    Notice,
    NoticeChoice,
    NoticeKind,
    OutboxMessage,
    User,
    Webhook,
    WebhookDelivery,
)

Way = NoticeChoice.Way


def visible_notices(user: User | OuterRef) -> QuerySet[Notice]:
    """The user's notices, newest first, without those about benchmarks that are closed to them now."""
    is_theirs = Exists(Membership.objects.filter(user=OuterRef("user"), benchmark=OuterRef("benchmark")))
    open_to_them = Q(benchmark=None) | ~Q(benchmark__visibility=Benchmark.Visibility.PRIVATE) | is_theirs
    return Notice.objects.filter(open_to_them, user=user).select_related("benchmark")


def count_unread(user: User) -> int:
    """How many of them the user did not look at."""
    return visible_notices(user).filter(read_at=None).count()


def unread_count() -> Coalesce:
    """Of a query of users: the same of each of them."""
    unread = visible_notices(OuterRef("pk")).filter(read_at=None).order_by()
    return Coalesce(Subquery(unread.values("user").annotate(n=Count("pk")).values("n")), 0)


def ways_of(user: User) -> dict[str, str]:
    """Where the user wants to hear of each kind of thing."""
    chosen = dict(NoticeChoice.objects.filter(user=user).values_list("kind", "way"))
    return {kind: chosen.get(kind, Way.MAIL.value) for kind in NoticeKind.values}


SHOWN = 50


@dataclass(frozen=True)
class OutboxFacts:
    """The outbox at one moment."""

    n_waiting: int
    n_failed: int
    oldest: datetime | None  # of those that wait
    last_error: str  # of the one that waits and failed last
    failed: list[dict[str, object]]


def outbox_facts() -> OutboxFacts:
    """How much waits and since when, and what was given up, newest first."""
    waiting = OutboxMessage.objects.filter(state=OutboxMessage.State.WAITING)
    failed = OutboxMessage.objects.filter(state=OutboxMessage.State.FAILED).order_by("-finished_at")
    due = waiting.filter(created_at__lte=timezone.now())
    return OutboxFacts(
        n_waiting=waiting.count(),
        n_failed=failed.count(),
        oldest=due.aggregate(oldest=Min("created_at"))["oldest"],
        last_error=waiting.exclude(last_error="").order_by("-pk").values_list("last_error", flat=True).first() or "",
        failed=[
            {
                "kind": message.get_kind_display(),
                "to": message.payload.get("to") or message.payload.get("url", ""),
                "subject": message.payload.get("subject", ""),
                "attempts": message.attempts,
                "at": message.finished_at,
                "error": message.last_error,
            }
            for message in failed[:SHOWN]
        ],
    )


def longest_waits() -> dict[str, float]:
    """For how many seconds the oldest message of each kind waits that no receiver has refused; 0 where none does.

    One that was refused is about its own receiver, until it waits for a mail server that is away.
    """
    now = timezone.now()
    waiting = OutboxMessage.objects.filter(state=OutboxMessage.State.WAITING).order_by()
    unrefused = waiting.filter(Q(attempts=0) | Q(last_error__startswith=OutboxMessage.SERVER_ERROR))
    since = dict(unrefused.values_list("kind").annotate(since=Min("created_at")))
    return {
        kind: max(0.0, (now - since[kind]).total_seconds()) if kind in since else 0.0
        for kind in OutboxMessage.Kind.values
    }


SHOWN_DELIVERIES = 20


def webhook_of(benchmark: Benchmark, uuid: UUID) -> Webhook:
    """The benchmark's webhook of this number.

    Raises:
        Http404: there is none.
    """
    webhook = Webhook.objects.select_related("benchmark").filter(benchmark=benchmark, uuid=uuid).first()
    if webhook is None:
        raise Http404(gettext("There is no webhook of this number."))
    return webhook


def webhooks_of(benchmark: Benchmark) -> list[tuple[Webhook, list[WebhookDelivery]]]:
    """The benchmark's webhooks, each with its last deliveries, newest first."""
    webhooks = list(Webhook.objects.filter(benchmark=benchmark))
    return [(webhook, deliveries_of(webhook)) for webhook in webhooks]


def deliveries_of(webhook: Webhook) -> list[WebhookDelivery]:
    """The last deliveries to one address, newest first."""
    rows = WebhookDelivery.objects.filter(webhook=webhook)
    return list(rows.select_related("message", "revision", "publication__revision").order_by("-pk")[:SHOWN_DELIVERIES])
