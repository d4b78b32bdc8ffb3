"""How scores come in: drafts, batches, submissions with their events, scores."""

import uuid

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy

from leaderboard.models.benchmarks import Benchmark, Task
from leaderboard.models.people import User
from leaderboard.models.revisions import Revision
from leaderboard.models.systems import System
from leaderboard.models.texts import LinesField


class Source(models.TextChoices):
    """The door by which scores came in."""

    FORM = "form", gettext_lazy("Form")
    CSV = "csv", gettext_lazy("Csv")
    API = "api", gettext_lazy("Api")
    IMPORTER = "importer", gettext_lazy("Importer")
    CORRECTION = "correction", gettext_lazy("Correction")
    VOTES = "votes", gettext_lazy("Votes")


class Draft(models.Model):
    """A validated upload before it is confirmed. Confirming against a newer revision shows the preview again."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="drafts")
    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="drafts")
    source = models.CharField(max_length=10, choices=Source)
    rows = models.JSONField(help_text="One entry a system: what it is, and its scores by task key.")
    note = LinesField(blank=True)
    previewed_number = models.PositiveIntegerField(default=0, help_text="The revision the preview was made against.")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"draft {self.uuid}"


class ImportChoices(models.Model):
    """What someone said of files of one format in an import to a benchmark; offered to them the next time."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="import_choices")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="import_choices")
    format_key = models.CharField(max_length=30, help_text="The key of the importer.")
    choices = models.JSONField(help_text="By kind (tasks, scales, systems, columns), what was said of each name.")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "user", "format_key"], name="import_choices_once_a_format")
        ]

    def __str__(self) -> str:
        return f"choices for {self.format_key}"


class Batch(models.Model):
    """One upload or API call, stored whole or not at all."""

    SCORED_AGAIN = "scored again "  # how the idempotency key begins where the site corrected scores of predictions

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="batches")
    uploader = models.ForeignKey(User, on_delete=models.PROTECT, related_name="batches")
    source = models.CharField(max_length=10, choices=Source)
    payload_hash = models.CharField(max_length=64)
    idempotency_key = models.CharField(max_length=100, null=True, blank=True)  # noqa: DJ001 -- NULLs are distinct
    note = LinesField(blank=True)
    # What its submitter was told when it came in; a later change of the setting does not move it.
    decide_by = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        verbose_name_plural = "batches"
        constraints = [
            models.UniqueConstraint(
                fields=["uploader", "benchmark", "idempotency_key"], name="idempotency_key_once_a_user_and_benchmark"
            )
        ]

    def __str__(self) -> str:
        return f"batch {self.uuid}"


class Submission(models.Model):
    """One system's scores in one batch. Its content never changes; `state` is a cache of its last event."""

    class State(models.TextChoices):
        PENDING = "pending", gettext_lazy("Pending")
        APPROVED = "approved", gettext_lazy("Approved")  # accepted when the embargo ends
        ACCEPTED = "accepted", gettext_lazy("Accepted")
        REJECTED = "rejected", gettext_lazy("Rejected")
        WITHDRAWN = "withdrawn", gettext_lazy("Withdrawn")
        RETRACTED = "retracted", gettext_lazy("Retracted")  # by its submitter, before it came onto the board

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="submissions")
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="submissions")
    system = models.ForeignKey(System, on_delete=models.PROTECT, related_name="submissions")
    position = models.PositiveIntegerField(help_text="Its place in the batch, from 1.")
    # What it corrects, of the same system. Once accepted it is in the place of that for good: where it is
    # withdrawn, its cells are missing.
    corrects = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="corrections")
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    # What it states of its system: `name`, and where it states them `key`, `organisation`, `url`, `description`, `tags`
    # and `metadata`. The board says it once it is accepted (`submissions.statements`).
    statement = models.JSONField(null=True, editable=False)

    class Meta:
        ordering = ["batch", "position"]
        indexes = [models.Index(fields=["state", "benchmark"], name="submissions_by_state")]
        constraints = [
            models.UniqueConstraint(fields=["batch", "position"], name="position_once_a_batch"),
            models.UniqueConstraint(fields=["batch", "system"], name="system_once_a_batch"),
        ]

    def __str__(self) -> str:
        return f"submission {self.uuid}"

    @property
    def shown_name(self) -> str:
        """What its system is called: on the board, or by itself where nothing of the system was accepted yet."""
        stated_name = (self.statement or {}).get("name")
        return str(stated_name) if stated_name and self.system.is_waiting else self.system.name


class SubmissionEvent(models.Model):
    """What happened to a submission, when, by whom and why. Append-only."""

    class Kind(models.TextChoices):
        APPROVED = "approved", gettext_lazy("approved, to be accepted when the embargo ends")
        ACCEPTED = "accepted", gettext_lazy("Accepted")
        REJECTED = "rejected", gettext_lazy("Rejected")
        WITHDRAWN = "withdrawn", gettext_lazy("Withdrawn")
        REINSTATED = "reinstated", gettext_lazy("Reinstated")
        RETRACTED = "retracted", gettext_lazy("withdrawn by its submitter")
        OVERDUE = "overdue", gettext_lazy("overdue: no decision in time")
        TAKEN_DOWN = "taken_down", gettext_lazy("taken down: its scores are deleted")
        ASKED = "asked", gettext_lazy("withdrawal requested")
        KEPT = "kept", gettext_lazy("withdrawal declined")
        CANCELLED = "cancelled", gettext_lazy("withdrawal request cancelled")

    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="events")
    kind = models.CharField(max_length=10, choices=Kind)
    actor = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    reason = LinesField(blank=True)
    # The revision that this event caused: none, where the submission was not on the board and does not come onto it.
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, null=True, related_name="events")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    kind__in=[
                        "approved",
                        "rejected",
                        "retracted",
                        "overdue",
                        "taken_down",
                        "asked",
                        "kept",
                        "cancelled",
                    ],
                    revision=None,
                )
                | (Q(kind__in=["accepted", "withdrawn", "reinstated"]) & ~Q(revision=None)),
                name="what_moves_the_board_causes_a_revision",
            ),
            models.UniqueConstraint(
                fields=["submission"], condition=Q(kind__in=["accepted", "rejected"]), name="decided_once"
            ),
            models.UniqueConstraint(fields=["submission"], condition=Q(kind="overdue"), name="overdue_once"),
            models.UniqueConstraint(fields=["submission"], condition=Q(kind="taken_down"), name="taken_down_once"),
        ]
        # Requests to withdraw scores are few among many events, and three pages look for the open ones.
        indexes = [models.Index(fields=["kind"], condition=Q(kind="asked"), name="withdrawal_requests")]

    def __str__(self) -> str:
        return f"{self.submission} {self.kind}"


class Score(models.Model):
    """A submission's value on one task, or NULL with the reason why there is none. Append-only."""

    class MissingReason(models.TextChoices):
        NOT_REPORTED = "not_reported", gettext_lazy("not reported")
        NOT_APPLICABLE = "not_applicable", gettext_lazy("not applicable")
        FAILED = "failed", gettext_lazy("failed")
        WITHHELD = "withheld", gettext_lazy("withheld")
        WITHDRAWN = "withdrawn", gettext_lazy("withdrawn")

    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="scores")
    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="scores")
    value = models.FloatField(null=True)
    missing_reason = models.CharField(max_length=14, choices=MissingReason, blank=True)
    standard_error = models.FloatField(null=True, blank=True)
    n_instances = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["submission", "task"], name="score_once_a_submission_and_task"),
            models.CheckConstraint(
                condition=Q(value=None) & ~Q(missing_reason="") | ~Q(value=None) & Q(missing_reason=""),
                name="a_missing_score_has_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.submission} on {self.task}: {self.missing_reason or self.value}"
