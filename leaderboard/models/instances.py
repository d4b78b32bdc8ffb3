"""Scores of single instances of a task, from which the task's score comes. Append-only, as scores are."""

from django.db import models

from leaderboard.models.benchmarks import Task
from leaderboard.models.submissions import Submission


class InstanceSet(models.Model):
    """The instances of a task that systems were scored on, stored once for all submissions that have the same."""

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="instance_sets")
    content_hash = models.CharField(max_length=64)  # SHA-256 of the sorted names as canonical JSON
    names = models.BinaryField(help_text="Compressed JSON: the sorted names, the order of every vector.")
    n_instances = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["task", "content_hash"], name="instance_set_once_a_task")]

    def __str__(self) -> str:
        return f"{self.n_instances} instances of {self.task}"


class InstanceScores(models.Model):
    """A submission's scores on the instances of one task."""

    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="instance_scores")
    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="instance_scores")
    instance_set = models.ForeignKey(InstanceSet, on_delete=models.PROTECT, related_name="scores")
    values = models.BinaryField(help_text="Compressed little-endian float64 in the order of the set; NaN = missing.")
    values_hash = models.CharField(max_length=64)  # SHA-256 of the same, not compressed
    clusters = models.BinaryField(
        null=True,
        help_text="Compressed JSON: the cluster of each instance as stated here; empty for one by itself.",
    )

    class Meta:
        verbose_name_plural = "instance scores"
        constraints = [
            models.UniqueConstraint(fields=["submission", "task"], name="instance_scores_once_a_submission_and_task")
        ]

    def __str__(self) -> str:
        return f"{self.submission} on the instances of {self.task}"
