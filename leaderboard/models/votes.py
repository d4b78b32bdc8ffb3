"""Votes as a benchmark's data: batches of comparisons of two systems, what happened to them, and their ratings."""

import secrets
import uuid

from django.db import models
from django.utils.translation import gettext_lazy

from leaderboard.models.benchmarks import Benchmark
from leaderboard.models.people import User
from leaderboard.models.submissions import Batch
from leaderboard.models.texts import LinesField


def new_voter_key() -> bytes:
    """A random key for hashes of voters."""
    return secrets.token_bytes(32)


class VoteSettings(models.Model):
    """How a benchmark rates its votes."""

    benchmark = models.OneToOneField(
        Benchmark, on_delete=models.CASCADE, primary_key=True, related_name="vote_settings"
    )
    # What follows are keys of the engine: of a model of ties, and of what errors are clustered by.
    tie_model = models.CharField(max_length=20, default="half_wins")
    cluster = models.CharField(max_length=10, default="vote")
    covariates = models.JSONField(default=list)
    n_resamples = models.PositiveIntegerField(default=0, help_text="0: intervals by the sandwich formula.")
    shows_elo = models.BooleanField(default=False)
    exports_voters = models.BooleanField(default=False, help_text="Whether downloads have the hashes of people.")
    # Of the hashes that stand for voters and prompts; no one is shown it. Another one for each benchmark, so that the
    # same person is not recognised on two.
    voter_key = models.BinaryField(default=new_voter_key, editable=False)
    # Counts what changes the ratings: batches accepted, withdrawn and reinstated, and these settings.
    last_change = models.PositiveIntegerField(default=0, editable=False)
    # Keys of tasks that were archived because no votes are of their category any more.
    resting_tasks = models.JSONField(default=list, editable=False)

    class Meta:
        verbose_name_plural = "vote settings"

    # What owners choose; the rest is kept by the ratings.
    CHOSEN = ("tie_model", "cluster", "covariates", "n_resamples", "shows_elo", "exports_voters")

    def __str__(self) -> str:
        return f"how {self.benchmark} rates votes"

    def copied_to(self, benchmark: Benchmark) -> "VoteSettings":
        """Store the same choices for a benchmark that has no votes yet.

        Its voters get hashes of its own. Of the tasks that came along, those without votes rest there, too.
        """
        chosen = {name: getattr(self, name) for name in self.CHOSEN}
        resting = benchmark.tasks.filter(key__in=self.resting_tasks, is_archived=True).order_by("key")
        keys = list(resting.values_list("key", flat=True))
        return VoteSettings.objects.create(benchmark=benchmark, **chosen, resting_tasks=keys)


class VoteBatch(models.Model):
    """One upload or API call of votes. Its content never changes, except where someone who voted is to be forgotten."""

    class State(models.TextChoices):
        DRAFT = "draft", gettext_lazy("not confirmed")
        PENDING = "pending", gettext_lazy("Pending")
        ACCEPTED = "accepted", gettext_lazy("Accepted")
        REJECTED = "rejected", gettext_lazy("Rejected")
        WITHDRAWN = "withdrawn", gettext_lazy("Withdrawn")
        RETRACTED = "retracted", gettext_lazy("withdrawn before a decision")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="vote_batches")
    uploader = models.ForeignKey(User, on_delete=models.PROTECT, related_name="vote_batches")
    source = models.CharField(max_length=10)
    note = LinesField(blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    payload_hash = models.CharField(max_length=64)  # SHA-256 of what was sent
    idempotency_key = models.CharField(max_length=100, null=True, blank=True)  # noqa: DJ001 -- NULLs are distinct
    votes = models.BinaryField(help_text="As `ranking_engine.votes.packing` has them.")
    n_votes = models.PositiveIntegerField()
    n_voters = models.PositiveIntegerField(default=0)
    systems = models.JSONField(help_text="The names of the systems, with the number of votes on each.")
    categories = models.JSONField(default=dict, help_text="The names of the categories, with their numbers of votes.")
    # What its submitter was told when it came in.
    decide_by = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True, db_index=True)  # of a draft
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "vote batches"
        indexes = [models.Index(fields=["benchmark", "state"], name="vote_batches_by_state")]
        constraints = [
            models.UniqueConstraint(
                fields=["uploader", "benchmark", "idempotency_key"], name="vote_key_once_a_user_and_benchmark"
            )
        ]

    def __str__(self) -> str:
        return f"{self.n_votes} votes {self.uuid}"


class VoteEvent(models.Model):
    """What happened to a batch of votes, when, by whom and why. Append-only."""

    class Kind(models.TextChoices):
        SENT = "sent", gettext_lazy("Sent")
        ACCEPTED = "accepted", gettext_lazy("Accepted")
        REJECTED = "rejected", gettext_lazy("Rejected")
        WITHDRAWN = "withdrawn", gettext_lazy("Withdrawn")
        REINSTATED = "reinstated", gettext_lazy("Reinstated")
        RETRACTED = "retracted", gettext_lazy("withdrawn before a decision")
        FORGOTTEN = "forgotten", gettext_lazy("a person was forgotten")

    batch = models.ForeignKey(VoteBatch, on_delete=models.PROTECT, related_name="events")
    kind = models.CharField(max_length=10, choices=Kind)
    actor = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    reason = LinesField(blank=True)
    change = models.PositiveIntegerField(default=0, help_text="The change of the ratings that it caused; 0: none.")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.batch} {self.kind}"


class VoteReport(models.Model):
    """What was computed from the votes that were accepted at one change, and the scores that came of it."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="vote_reports")
    change = models.PositiveIntegerField()
    scores = models.ForeignKey(Batch, on_delete=models.PROTECT, null=True, related_name="vote_reports")
    batches = models.JSONField(help_text="The numbers of the batches whose votes were counted.")
    report = models.BinaryField(help_text="Compressed JSON: as `vote_report` has it.")
    n_votes = models.PositiveIntegerField()
    engine_version = models.CharField(max_length=20)
    seconds = models.FloatField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "vote reports"
        constraints = [models.UniqueConstraint(fields=["benchmark", "change"], name="vote_report_once_a_change")]

    def __str__(self) -> str:
        return f"ratings of {self.benchmark}, change {self.change}"
