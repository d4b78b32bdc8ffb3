"""Webhooks: URLs that are notified of new revisions and boards, and the results of their deliveries."""

import uuid
from datetime import datetime, timedelta

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy

from leaderboard.models.benchmarks import Benchmark
from leaderboard.models.notices import OutboxMessage
from leaderboard.models.people import User
from leaderboard.models.reports import Publication
from leaderboard.models.revisions import Revision

ADDRESS_LENGTH = 500
BOTH_SIGN = timedelta(days=1)  # after a new secret, so that a receiver has time to learn it


class Webhook(models.Model):
    """An address that owners want told. Its secret is stored nowhere: it is derived from the site's own, and from
    `uuid` and `secret_number`."""

    class Event(models.TextChoices):
        REVISION = "revision", gettext_lazy("a new revision, before its board is there")
        PUBLICATION = "publication", gettext_lazy("a new board")

    class File(models.TextChoices):
        NONE = "none", gettext_lazy("a short message with links")
        CSV = "csv", gettext_lazy("the scores as a CSV file")
        JSON = "json", gettext_lazy("the board as a JSON file")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="webhooks")
    address = models.CharField(max_length=ADDRESS_LENGTH)
    events = models.JSONField(default=list)
    # What is posted of a new board.
    file = models.CharField(max_length=4, choices=File, default=File.NONE, db_default="none")
    is_active = models.BooleanField(default=True)
    why_off = models.CharField(max_length=200, blank=True)  # where the site itself switched it off
    # Attempts that failed since one succeeded, and when the first of them did.
    n_failures = models.PositiveIntegerField(default=0)
    failing_since = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    # The owner who added it or took it over; it ends with their role. None only where no one knows who that was.
    author = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    secret_number = models.PositiveIntegerField(default=0)  # how often the secret was renewed
    renewed_at = models.DateTimeField(null=True)  # when it last was: for some time the one before signs, too

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"webhook {self.uuid} of {self.benchmark}"

    @property
    def old_secret_until(self) -> datetime | None:
        """Until when deliveries are also signed with the secret before this one; None where that is over."""
        until = None if self.renewed_at is None else self.renewed_at + BOTH_SIGN
        return until if until is not None and until > timezone.now() else None


class WebhookDelivery(models.Model):
    """One thing that one address is told, at least once and always by the same number. It goes with its message."""

    TEST = "test"

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    message = models.OneToOneField(OutboxMessage, on_delete=models.CASCADE, related_name="delivery")
    event = models.CharField(max_length=12, choices=[*Webhook.Event.choices, (TEST, "a test")])
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, null=True, related_name="+")
    publication = models.ForeignKey(Publication, on_delete=models.PROTECT, null=True, related_name="+")
    status_code = models.PositiveSmallIntegerField(null=True)  # of the last answer
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.event} {self.uuid}"
