"""What the site knows of its own processes."""

from django.db import models


class Heartbeat(models.Model):
    """One process that works in the background, and when it was last heard of."""

    role = models.CharField(max_length=20, help_text="`sweep`, or the queue of a worker.")
    name = models.CharField(max_length=100)
    host = models.CharField(max_length=255)
    pid = models.PositiveBigIntegerField()
    engine_version = models.CharField(max_length=20)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField(db_index=True)

    class Meta:
        ordering = ["role", "host", "pid"]
        constraints = [models.UniqueConstraint(fields=["role", "host", "pid"], name="one_heartbeat_a_process")]

    def __str__(self) -> str:
        return f"{self.name} (process {self.pid} on {self.host})"


class RetentionState(models.Model):
    """How far the sweep is with deleting what is old. One row, and anyone who moves `due_at` on does the next pass."""

    due_at = models.DateTimeField(help_text="When the next pass may begin; far ahead while one runs.")
    ended_at = models.DateTimeField(null=True, help_text="When the last pass ended.")
    removed = models.JSONField(default=dict, help_text="How many rows the last pass deleted, by kind.")
    removed_in_all = models.JSONField(default=dict, help_text="How many rows were ever deleted, by kind.")
    benchmark_id = models.BigIntegerField(default=0, help_text="The benchmark whose ranks were looked through last.")

    def __str__(self) -> str:
        return f"retention, {self.ended_at:%Y-%m-%d %H:%M:%S}" if self.ended_at else "retention, never run"
