"""What hosting a benchmark takes beside its scores: drafts of it, frozen revisions, counts, bans, the audit trail,
invitations."""

import uuid

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy

from leaderboard.models.benchmarks import KEY_LENGTH, NAME_LENGTH, Benchmark, is_key
from leaderboard.models.people import Membership, User
from leaderboard.models.revisions import Revision
from leaderboard.models.texts import LineField, LinesField


class BenchmarkDraft(models.Model):
    """A benchmark that is to be: what was uploaded or typed, checked, and kept until its owner creates it."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="benchmark_drafts")
    name = LineField(max_length=NAME_LENGTH)
    table = models.BinaryField(help_text="scores.csv as it came in; its first line alone where there are no scores.")
    about = models.TextField(blank=True, help_text="benchmark.toml as it came in.")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"draft of {self.name}"


class Release(models.Model):
    """A revision under a name that stays: what people cite. Append-only."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="releases")
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="releases")
    key = models.CharField(max_length=KEY_LENGTH, validators=[is_key])
    name = LineField(max_length=NAME_LENGTH)
    note = LinesField(blank=True)
    author = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "key"], name="release_key_once_a_benchmark")]

    def __str__(self) -> str:
        return f"{self.name} of {self.benchmark}"


class SubmissionCount(models.Model):
    """How many systems a user submitted to a benchmark: on one day, or in all. Taken with one conditional UPDATE."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="submission_counts")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="submission_counts")
    period = models.CharField(max_length=10, help_text="A day in UTC, as 2026-01-31, or `total`.")
    n_submitted = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["benchmark", "user", "period"], name="one_count_a_period")]

    def __str__(self) -> str:
        return f"{self.user}: {self.n_submitted} in {self.period}"


class CellCount(models.Model):
    """How many scores a user stored: on one day, or in all. Taken with one conditional UPDATE."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="cell_counts")
    period = models.CharField(max_length=10, help_text="A day in UTC, as 2026-01-31, or `total`.")
    n_cells = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "period"], name="one_cell_count_a_period")]

    def __str__(self) -> str:
        return f"{self.user}: {self.n_cells} in {self.period}"


class Ban(models.Model):
    """Someone may no longer submit to a benchmark. What they submitted before stays."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="bans")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="bans")
    reason = LinesField()
    author = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["benchmark", "user"], name="banned_once_a_benchmark")]

    def __str__(self) -> str:
        return f"{self.user} may not submit to {self.benchmark}"


class AuditEntry(models.Model):
    """Who changed what from what to what, when and why. Append-only.

    Decisions about submissions are events of their own (`SubmissionEvent`); this is everything else.
    """

    class Subject(models.TextChoices):
        BENCHMARK = "benchmark", gettext_lazy("the benchmark")
        SETTING = "setting", gettext_lazy("setting")
        TASK = "task", gettext_lazy("task")
        GROUP = "group", gettext_lazy("task group")
        PERSON = "person", gettext_lazy("person")
        RELEASE = "release", gettext_lazy("frozen revision")
        WEBHOOK = "webhook", gettext_lazy("webhook")
        SYSTEM = "system", gettext_lazy("system")
        ADDRESS = "address", gettext_lazy("followed URL")

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="audit_entries")
    # None for what the site itself did.
    actor = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    subject = models.CharField(max_length=10, choices=Subject)
    # Which one: a setting's name, a task's key, the number of a user. Never a person's name.
    of = models.CharField(max_length=KEY_LENGTH)
    field = models.CharField(max_length=40)
    before = models.TextField(blank=True)
    after = models.TextField(blank=True)
    reason = LinesField(blank=True)
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, null=True, related_name="audit_entries")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["benchmark", "-id"], name="audit_newest_first")]
        constraints = [models.CheckConstraint(condition=~Q(before=models.F("after")), name="audit_says_a_change")]

    def __str__(self) -> str:
        return f"{self.subject} {self.of}, {self.field}: {self.before} -> {self.after}"


class Invitation(models.Model):
    """A link by which one person takes a role on a benchmark. Only its secret's hash is stored; it works once.

    `name` is what its author calls the person, to greet them and to find the invitation again; empty once it is used.
    """

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=10, choices=Membership.Role)
    name = models.CharField(max_length=NAME_LENGTH, blank=True, default="")
    secret_hash = models.CharField(max_length=64, unique=True)
    author = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    # Whether its author gives the benchmark away: once it is accepted, they are a member.
    hands_over = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"invitation: {self.role} of {self.benchmark}"
