"""Background work. The row is the truth; a broker message is only a wake-up."""

from django.db import models

from leaderboard.models.benchmarks import Benchmark


class Job(models.Model):
    """Background work about one subject, mostly a revision."""

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        SUPERSEDED = "superseded"

    class Queue(models.TextChoices):
        RANKINGS = "rankings"
        STUDIES = "studies"

    kind = models.CharField(max_length=30)
    subject_kind = models.CharField(max_length=20)
    subject_id = models.BigIntegerField()
    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, null=True, related_name="jobs")
    # Within one benchmark, of the same kind: the greatest sequence is the newest. A revision's is its number.
    sequence = models.PositiveIntegerField(default=0)
    parameters = models.JSONField(default=dict)
    parameter_hash = models.CharField(max_length=64)
    chunk = models.PositiveIntegerField(default=0)
    engine_version = models.CharField(max_length=20)

    queue = models.CharField(max_length=10, choices=Queue)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    priority = models.SmallIntegerField(default=0, help_text="Greater goes first.")
    not_before = models.DateTimeField(db_index=True)
    woken_at = models.DateTimeField(null=True, help_text="When a wake-up was last sent.")
    attempts = models.PositiveSmallIntegerField(default=0)
    # A database that is away, a full disk, a killed worker are not the job's fault: such attempts do not end it.
    failures = models.PositiveSmallIntegerField(default=0, help_text="Attempts that ended by the job's own fault.")
    claim_token = models.UUIDField(null=True)
    worker = models.CharField(max_length=100, blank=True)
    lease_until = models.DateTimeField(null=True, db_index=True)
    deadline = models.DateTimeField(null=True, help_text="The lease is never renewed beyond this.")
    progress = models.FloatField(default=0, help_text="The share that is done, 0 to 1.")
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True, db_index=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["state", "queue", "-priority", "id"], name="jobs_by_state_and_queue")]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "subject_kind", "subject_id", "parameter_hash", "chunk", "engine_version"],
                name="a_job_stands_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.subject_kind} {self.subject_id}"
