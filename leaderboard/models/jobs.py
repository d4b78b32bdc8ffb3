"""Background work. The row is the truth; a broker message is only a wake-up."""

from django.db import models

from leaderboard.models.benchmarks import Benchmark

# Two rows that agree in these would be the same job.
ONE_JOB = ("kind", "subject_kind", "subject_id", "parameter_hash", "chunk", "engine_version")


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
        SCORING = "scoring"

    kind = models.CharField(max_length=30)
    subject_kind = models.CharField(max_length=20)
    subject_id = models.BigIntegerField()
    # Its own index would be the beginning of one of those below.
    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, null=True, related_name="jobs", db_index=False)
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
    request_id = models.CharField(
        max_length=64, blank=True, default="", db_default="", help_text="Of the request that caused it, for the logs."
    )
    progress = models.FloatField(default=0, help_text="The share that is done, 0 to 1.")
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True, db_index=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["state", "queue", "-priority", "id"], name="jobs_by_state_and_queue"),
            # What a board is told by: the jobs about a revision, whatever their kind; a benchmark's of one number.
            models.Index(fields=["subject_id", "subject_kind"], name="jobs_by_subject"),
            models.Index(fields=["benchmark", "kind", "sequence"], name="jobs_by_benchmark_and_number"),
        ]
        constraints = [
            models.UniqueConstraint(fields=ONE_JOB, name="a_job_stands_once"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.subject_kind} {self.subject_id}"


class JobCount(models.Model):
    """How many attempts at jobs of a kind ended in one way and took about as long. It only grows."""

    queue = models.CharField(max_length=10)
    kind = models.CharField(max_length=30)
    outcome = models.CharField(max_length=10)
    bucket = models.CharField(max_length=10, blank=True, help_text="Seconds at most; empty: no worker had it.")
    n = models.PositiveBigIntegerField(default=0)
    seconds = models.FloatField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["queue", "kind", "outcome", "bucket"], name="an_end_is_counted_in_one_row")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.outcome}: {self.n}"


class Turn(models.Model):
    """When a benchmark last had its turn in each queue, and when someone last wanted its figures."""

    benchmark = models.OneToOneField(Benchmark, on_delete=models.CASCADE, primary_key=True, related_name="turn")
    board_at = models.DateTimeField(null=True, help_text="When its board was last ranked.")
    parts_at = models.DateTimeField(null=True, help_text="When its last turn for what comes with a board began.")
    parts_sequence = models.PositiveIntegerField(default=0, help_text="The revision that this turn is about.")
    study_at = models.DateTimeField(null=True, help_text="When a part of a study was last begun.")
    wanted_at = models.DateTimeField(null=True, help_text="When someone last submitted to it or waited on a page.")

    def __str__(self) -> str:
        return f"turns of benchmark {self.benchmark_id}"
