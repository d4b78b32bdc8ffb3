"""What was computed from a revision, and which of it readers see."""

from django.db import models

from leaderboard.models.benchmarks import NAME_LENGTH, Benchmark
from leaderboard.models.revisions import Revision


class Report(models.Model):
    """Something computed from one revision. Written whole or not at all, never changed."""

    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="reports")
    kind = models.CharField(max_length=20)
    parameters = models.JSONField(default=dict)
    parameter_hash = models.CharField(max_length=64)
    engine_version = models.CharField(max_length=20)
    summary = models.JSONField(default=dict)  # at most SUMMARY_BYTES
    arrays = models.BinaryField(default=bytes)  # a compressed .npz in the revision's system order
    seconds = models.FloatField()
    created_at = models.DateTimeField(auto_now_add=True)

    SUMMARY_BYTES = 64 * 1024

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["revision", "kind", "parameter_hash", "engine_version"], name="a_report_is_computed_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.revision}"


class Publication(models.Model):
    """A revision's rankings under one engine version were published; the benchmark points at the present one."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="publications")
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="publications")
    engine_version = models.CharField(max_length=20)
    # False where a newer revision was published first: computed, but never what readers saw.
    is_pointer_moved = models.BooleanField()
    published_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["revision", "engine_version"], name="a_revision_is_published_once")
        ]

    def __str__(self) -> str:
        return f"{self.revision}, engine {self.engine_version}"


class ListedBoard(models.Model):
    """What lists and feeds say of one published board, so that they read no report.

    Written with the reports that it sums up, in their transaction, and again when the slow rules' reports come.
    """

    publication = models.OneToOneField(
        Publication, on_delete=models.CASCADE, primary_key=True, related_name="listed_board"
    )
    n_systems = models.PositiveIntegerField()
    n_tasks = models.PositiveIntegerField()
    condorcet_winner = models.CharField(max_length=NAME_LENGTH, blank=True, help_text="Empty where there is none.")
    # [rule, names of the first it elects, how many it elects] of each rule that elects, in the order of the reports.
    winners = models.JSONField(default=list)
    updated_at = models.DateTimeField(help_text="When the last of its reports was written.")

    def __str__(self) -> str:
        return f"what lists say of {self.publication}"
