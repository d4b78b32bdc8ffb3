"""Revisions: immutable, numbered states of a benchmark's inputs."""

from django.db import models
from django.utils.translation import gettext_lazy

from leaderboard.models.benchmarks import NAME_LENGTH, Benchmark
from leaderboard.models.people import User
from leaderboard.models.systems import System


class Configuration(models.Model):
    """Tasks, groups, directions, weights, scales, γ and policy as they were: shared by every revision they held for."""

    content = models.JSONField()
    content_hash = models.CharField(max_length=64, unique=True)

    def __str__(self) -> str:
        return self.content_hash[:12]


class Revision(models.Model):
    """One immutable state of a benchmark's inputs, numbered from 1."""

    class Cause(models.TextChoices):
        BATCH = "batch", gettext_lazy("Batch")
        WITHDRAWAL = "withdrawal", gettext_lazy("Withdrawal")
        REINSTATEMENT = "reinstatement", gettext_lazy("Reinstatement")
        CONFIGURATION = "configuration", gettext_lazy("change of configuration")
        RENAMING = "renaming", gettext_lazy("Renaming")
        EMBARGO = "embargo", gettext_lazy("end of an embargo")
        CORRECTION = "correction", gettext_lazy("Correction")
        TAKEDOWN = "takedown", gettext_lazy("Takedown")

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField()
    cause = models.CharField(max_length=16, choices=Cause)
    configuration = models.ForeignKey(Configuration, on_delete=models.PROTECT, related_name="revisions")
    author = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    note = models.TextField(blank=True)
    # SHA-256 of scores, tasks, weights and groups; written together with the first rankings report.
    input_hash = models.CharField(max_length=64, blank=True)
    # Scores that held at it were taken down then: it keeps its hash, is shown no more and never computed again.
    withdrawn_at = models.DateTimeField(null=True, editable=False)
    # When retention deleted its ranks. The scores stay, and the same ranks can be computed from them again.
    ranks_removed_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["benchmark", "-number"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "number"], name="revision_number_once")]

    def __str__(self) -> str:
        return f"revision {self.number} of {self.benchmark}"


class SystemChange(models.Model):
    """A system joins the board, is renamed, or leaves it, from one revision on."""

    class Kind(models.TextChoices):
        JOINED = "joined", gettext_lazy("Joined")
        RENAMED = "renamed", gettext_lazy("Renamed")
        LEFT = "left", gettext_lazy("Left")

    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="system_changes")
    system = models.ForeignKey(System, on_delete=models.PROTECT, related_name="changes")
    kind = models.CharField(max_length=8, choices=Kind)
    name = models.CharField(max_length=NAME_LENGTH, help_text="The system's name from this revision on.")

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["revision", "system"], name="one_change_a_revision_and_system")]

    def __str__(self) -> str:
        return f"{self.name} {self.kind} at {self.revision}"
