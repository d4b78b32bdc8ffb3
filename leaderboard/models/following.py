"""Addresses that benchmarks follow, and the history of what was fetched from them."""

import uuid

from django.db import models
from django.utils.translation import gettext_lazy

from leaderboard.models.benchmarks import Benchmark
from leaderboard.models.people import User
from leaderboard.models.webhooks import ADDRESS_LENGTH


class FollowedAddress(models.Model):
    """An address whose scores a benchmark takes over as they change, in the name of the owner who added it."""

    class Kind(models.TextChoices):
        FILE = "file", gettext_lazy("one file: a table or a result file")
        LIST = "list", gettext_lazy("a JSON list of files, or a folder")
        BOARD = "board", gettext_lazy("a board of another Plurank site")

    class Every(models.IntegerChoices):
        QUARTER = 15, gettext_lazy("every 15 minutes")
        HOUR = 60, gettext_lazy("every hour")
        QUARTER_DAY = 360, gettext_lazy("every 6 hours")
        DAY = 1440, gettext_lazy("every day")
        WEEK = 10080, gettext_lazy("every week")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="followed_addresses")
    address = models.CharField(max_length=ADDRESS_LENGTH)
    kind = models.CharField(max_length=5, choices=Kind)
    every_minutes = models.PositiveIntegerField(choices=Every)
    # Whether changes join the board without a person, and new systems among them.
    is_direct = models.BooleanField(default=False)
    creates_systems = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    why_off = models.CharField(max_length=200, blank=True)  # where the site itself switched it off
    # Attempts that failed since one succeeded, and when the first of them did.
    n_failures = models.PositiveIntegerField(default=0)
    failing_since = models.DateTimeField(null=True)
    next_at = models.DateTimeField(db_index=True)
    # Whether a person asked for it: then what is known already is fetched again.
    is_asked_for = models.BooleanField(default=False)
    validators = models.JSONField(default=dict)  # by the address of a file: its ETag and its Last-Modified
    content_hash = models.CharField(max_length=64, blank=True)  # SHA-256 of what was fetched last
    # The owner who added it or took it over; it ends with their role.
    author = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="followed_addresses")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"address {self.uuid} that {self.benchmark} follows"


class Fetch(models.Model):
    """One attempt to bring a benchmark into step with an address."""

    class Outcome(models.TextChoices):
        UNCHANGED = "unchanged", gettext_lazy("nothing changed")
        DRAFT = "draft", gettext_lazy("a draft to confirm")
        ACCEPTED = "accepted", gettext_lazy("on the board")
        FAILED = "failed", gettext_lazy("failed")

    followed = models.ForeignKey(FollowedAddress, on_delete=models.CASCADE, related_name="fetches")
    at = models.DateTimeField(auto_now_add=True)
    seconds = models.FloatField(default=0)
    outcome = models.CharField(max_length=9, choices=Outcome)
    status_code = models.PositiveSmallIntegerField(null=True)  # of the last answer
    n_bytes = models.PositiveBigIntegerField(default=0)
    etag = models.CharField(max_length=200, blank=True)
    content_hash = models.CharField(max_length=64, blank=True)
    n_new = models.PositiveIntegerField(default=0)  # systems that are not on the board
    n_changed = models.PositiveIntegerField(default=0)  # systems with other scores than on the board
    error = models.TextField(blank=True)
    # What came of it: a draft goes once it is confirmed or old, so that this is no foreign key.
    draft_uuid = models.UUIDField(null=True)
    batch_uuid = models.UUIDField(null=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "fetches"

    def __str__(self) -> str:
        return f"fetch {self.pk} of {self.followed_id}: {self.outcome}"
