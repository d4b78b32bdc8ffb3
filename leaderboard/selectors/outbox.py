"""What waits to be sent, and what could not be: for those who operate the site."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Min
from django.utils import timezone

from leaderboard.models import OutboxMessage

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
