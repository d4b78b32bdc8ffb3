"""Studies of a benchmark: which its owners want, what people tried out, and the parts of an unfinished study."""

from django.db import models
from django.utils.translation import gettext_lazy

from leaderboard.models.benchmarks import Benchmark
from leaderboard.models.jobs import Job
from leaderboard.models.people import User
from leaderboard.models.revisions import Revision


class StudyChoice(models.Model):
    """When one study of one benchmark runs, and how long it may take. Without a row the study's default holds."""

    class When(models.TextChoices):
        EVERY = "every", gettext_lazy("after every submission")
        NIGHTLY = "nightly", gettext_lazy("at night")
        DEMAND = "demand", gettext_lazy("when someone asks")
        IDLE = "idle", gettext_lazy("after every submission, while nothing else waits")

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="study_choices")
    study = models.CharField(max_length=24)
    when = models.CharField(max_length=10, choices=When, default=When.EVERY)
    budget_seconds = models.PositiveIntegerField(help_text="Turned into steps before it runs; the steps are stored.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["benchmark", "study"], name="a_study_is_chosen_once")]

    def __str__(self) -> str:
        return f"{self.study} of {self.benchmark}: {self.get_when_display()}"


class Experiment(models.Model):
    """One study of one revision with parameters that someone chose. What it found is the report of the same hash."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="experiments", db_index=False)
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="experiments", db_index=False)
    study = models.CharField(max_length=24)
    parameters = models.JSONField(help_text="All of them, the study and the seed among them.")
    parameter_hash = models.CharField(max_length=64)
    engine_version = models.CharField(max_length=20)
    estimate = models.FloatField(help_text="Seconds of one core, before it ran.")
    requested_by = models.ForeignKey(
        User, on_delete=models.SET_NULL, null=True, related_name="experiments", db_index=False
    )
    requested_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["benchmark", "-id"], name="experiments_by_benchmark"),
            models.Index(fields=["requested_by", "requested_at"], name="experiments_by_person"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["revision", "parameter_hash", "engine_version"], name="an_experiment_is_run_once"
            )
        ]

    def __str__(self) -> str:
        return f"experiment {self.pk} with {self.study} on {self.revision}"


class StudyPartial(models.Model):
    """What one chunk of a study found, until the merge deletes it in the transaction that writes the report."""

    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="partial")
    arrays = models.BinaryField()  # a compressed .npz
    seconds = models.FloatField()
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"chunk {self.job.chunk} of {self.job}"
